"""``privet score``: how well a model predicts rows whose labels are known; exact scores, for the owner's eyes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.csv_options import reads_csv
from privet.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_GROUPS = 50
_NOTICE = "these scores are computed from the rows without noise; unless the rows are public, do not publish them"


@reads_csv
def score(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="COLUMN", help="Also for each group of rows; repeat for more.", show_default=False
        ),
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
        from privet.cli.support.labelled_rows import read_labelled
        from privet.model_file import read_document
        from privet.registry import model_of

        document = read_document(model_file)
        model = model_of(document, model_file)
        read = read_labelled(rows, model.schema_, by or ())
        if read is None:
            raise DataError("the table has no rows; pass rows with their labels")
        table, labels = read
        chances = model.predict_proba(table.select(list(model.schema_.names)))
        found = _scores(chances, labels, model.schema_.classes)
        groups = {name: dict(_by_group(name, table, chances, labels, model.schema_.classes)) for name in by or ()}
    output.say(_NOTICE)
    if as_json:
        output.print_json(
            {"model": document["checksum"], **found, **({"by_group": groups} if groups else {}), "notice": _NOTICE}
        )
        return
    lines = [("all", *_cells(found))]
    lines += [(f"{name} = {value}", *_cells(own)) for name, values in groups.items() for value, own in values.items()]
    output.print_table(["rows", "number", "accuracy", "balanced accuracy", "AUC"], lines, right=[1, 2, 3, 4])


def _scores(chances: "NDArray[np.float64]", labels: "NDArray[np.uint16]", classes: tuple[Any, ...]) -> dict[str, Any]:
    """Return exact scores; recall is that of each class, and none of a class that does not occur."""
    import numpy as np
    from sklearn.metrics import log_loss, roc_auc_score

    said, present = chances.argmax(axis=1), np.unique(labels)
    recall = {str(classes[k]): float((said[labels == k] == k).mean()) for k in present}
    scores: dict[str, Any] = {
        "rows": len(labels),
        "accuracy": float((said == labels).mean()),
        "balanced_accuracy": sum(recall.values()) / len(recall),
        "log_loss": float(log_loss(labels, chances, labels=range(len(classes)))),
        "recall": recall,
    }
    if len(classes) == 2 and len(present) == 2:
        scores["auc"] = float(roc_auc_score(labels, chances[:, 1]))
    return scores


def _by_group(
    name: str, table: Any, chances: "NDArray[np.float64]", labels: "NDArray[np.uint16]", classes: tuple[Any, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the scores of the rows with each value of a column, by the value as text."""
    import numpy as np

    values = np.array([_spelled(value) for value in table.column(name).to_pylist()])
    groups = np.unique(values)
    if len(groups) > _MOST_GROUPS:
        raise ParameterError(f"--by {name!r} has more than {_MOST_GROUPS} values; choose a column with few")
    for group in groups:
        own = values == group
        yield str(group), _scores(chances[own], labels[own], classes)


def _spelled(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a category 1 is read as 1.0
    return "missing" if value is None else str(value)


def _cells(scores: dict[str, Any]) -> tuple[str, ...]:
    auc = f"{scores['auc']:.3f}" if "auc" in scores else ""
    return f"{scores['rows']:,}", output.percent(scores["accuracy"]), output.percent(scores["balanced_accuracy"]), auc
