"""``privet score``: how well a model predicts rows whose labels are known; exact scores, for the owner's eyes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.options import reads_csv
from privet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privet.cli.support.scores import HeldOut, LabelledRows

_MOST_GROUPS = 50
_NOTICE = "these scores are computed from the rows without noise; unless the rows are public, do not publish them"


@reads_csv
def score(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="COLUMN", help="Also for each group of rows; repeat for more.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score a model on rows that it was not fitted to, all together and by group.

    The scores are exact, so they are for the owner of the rows. With --json they can be attached to a report, which
    then says so.

    Example:  privet score model.privet test.csv

    Example:  privet score model.privet test.csv --by sex --json
    """
    with output.working("scoring"):
        from privet.cli.support.scores import read_labelled
        from privet.model_file import read_document
        from privet.registry import model_of

        document = read_document(model_file)
        model = model_of(document, model_file)
        read = read_labelled(rows, model.schema_, by or ())
        found = _scores_of(model, read)
        groups = {name: dict(_by_group(name, read.table.column(name), found)) for name in by or ()}
    output.say(_NOTICE)
    if as_json:
        classes = model.schema_.classes
        own = {name: {value: _plain(one, classes) for value, one in each.items()} for name, each in groups.items()}
        about = {"model": document["checksum"], **_plain(found, classes)}
        output.print_json({**about, **({"by_group": own} if own else {}), "notice": _NOTICE})
        return
    shown = [score for score in found.scores if score != "log loss"]
    lines = [("all", *_cells(found, shown))]
    lines += [
        (f"{name} = {value}", *_cells(one, shown)) for name, each in groups.items() for value, one in each.items()
    ]
    output.print_table(["rows", "number", *shown], lines, right=range(1, len(shown) + 2))


def _scores_of(model: Any, read: "LabelledRows") -> "HeldOut":
    """Return what the model says of all rows, as one fold."""
    import numpy as np

    from privet.cli.support.scores import Answered, held_out_of, said_of

    answered = Answered(np.arange(len(read.truth)), read.truth, said_of(model, read.features))
    return held_out_of(model.schema_)((answered,))


def _by_group(name: str, column: Any, found: "HeldOut") -> "Iterator[tuple[str, HeldOut]]":
    """Yield the scores of the rows with each value of a column, by the value as text."""
    import numpy as np

    values = np.array([_spelled(value) for value in column.to_pylist()])
    groups = np.unique(values)
    if len(groups) > _MOST_GROUPS:
        raise ParameterError(f"--by {name!r} has more than {_MOST_GROUPS} values; choose a column with few")
    for group in groups:
        own = found.within(values == group)
        if own is not None:
            yield str(group), own


def _spelled(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a category 1 is read as 1.0
    return "missing" if value is None else str(value)


def _plain(found: "HeldOut", classes: tuple[Any, ...]) -> dict[str, Any]:
    """Return exact scores, without those that these rows do not tell; recall is that of each class."""
    recall = found.to_json(classes).get("recall", {})
    own = {**found.mean_scores(), **({"recall": _told(recall)} if recall else {})}
    return {"rows": _size(found), **_told(own)}


def _told(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _cells(found: "HeldOut", shown: list[str]) -> tuple[str, ...]:
    means = found.means()
    return f"{_size(found):,}", *(output.score_text(score, means[score][0]) for score in shown)


def _size(found: "HeldOut") -> int:
    return len(found.folds[0].rows)
