"""``privet evaluate``: cross-validation of a file's rows; exact scores, for the owner's eyes."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.local_methods import refuse_local
from privet.cli.support.option_values import parse_epsilons
from privet.cli.support.options import reads_csv
from privet.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privet.cli.support.scores import HeldOut, LabelledRows
    from privet.schema import Categorical, Schema

_NOTICE = (
    "these scores are computed from the rows without noise, and every fold is a fit that costs its epsilon; "
    "unless the rows are public, the figures must not be published"
)
_ON_CLEAR_ROWS = (
    "folds of them do not tell how well it predicts for clear rows; fit with `privet fit --channel`, and compare what "
    "`privet predict` says of clear test rows"
)
_NO_BETTER = "no better than guessing the majority class; a larger epsilon or more rows may help"
_TALLER = (
    "no better than guessing the majority class; taller or more trees may help (--height, --trees), or a larger epsilon"
)
_NO_BETTER_THAN_THE_MEAN = (
    "no better than guessing the mean; a larger epsilon, more rows or narrower bounds of the target may help"
)
_BASELINE, _MAJORITY, _MEAN = "random forest, not private", "majority class", "mean of the rows"
_NAMES_IN_JSON = {_BASELINE: "random_forest", _MAJORITY: "majority_class", _MEAN: "mean"}
_HEADINGS = {"balanced accuracy": "balanced"}
_NOT_BY_GROUP = ("balanced accuracy", "log loss")
_UNEVEN = "a class is rarer than the number of folds, so some folds lack it; lower --folds to have it in each"

_Results: TypeAlias = "dict[str, HeldOut]"


@reads_csv
def evaluate(
    rows: options.RowsFile,
    schema: options.SchemaFile = None,
    epsilon: Annotated[str, typer.Option("--epsilon", help="One epsilon, or several: 0.1,1,inf.")] = "1.0",
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Parts of the table; each is tested on once.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often, with other parts each time.")] = 1,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Also score scikit-learn's random forest, which promises nothing.")
    ] = False,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Also the scores of each of its categories.")
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Also what the rows of each class were taken for.")
    ] = False,
    random_state: options.RandomState = None,
    jobs: options.Jobs = -1,
    as_json: options.Json = False,
) -> None:
    """Estimate by cross-validation how well a forest predicts, at one epsilon or at several.

    Scores of classes are accuracy, balanced accuracy, AUC (each class against the rest), log loss, and the recall of
    each class; of a number R2 and the size of errors. They are exact, so they are for the owner of the rows; publish
    them only where the rows are public.

    Example:  privet evaluate rows.csv --schema schema.json --epsilon 0.1,1,inf

    Example:  privet evaluate rows.csv --schema schema.json --by sex --confusion
    """
    refuse_local(method, _ON_CLEAR_ROWS)
    declared = options.load_schema(schema)
    chosen = options.ModelOptions(method=method, jobs=jobs, trees=trees, height=height, variant=variant, delta=delta)
    epsilons = parse_epsilons(epsilon)
    for one in epsilons:
        chosen.estimator(declared, epsilon=one, random_state=random_state)  # refuses before any data are read
    if declared.number is not None and confusion:
        raise ParameterError("--confusion is about classes, and this is a number; leave it out")
    if by is not None:
        _category(declared, by)
    from privet.cli.support import cross_validation
    from privet.cli.support.scores import read_labelled

    with output.working("reading the rows"):
        read = read_labelled(rows, declared)
        parts, is_even = cross_validation.folds_of(read, folds=folds, repeats=repeats, random_state=random_state)
        groups = _groups(read, by)
    if not is_even:
        output.say(_UNEVEN)
    fits = {_at(one): cross_validation.private_forest(chosen, one) for one in epsilons}
    fits |= {_BASELINE: cross_validation.random_forest(jobs)} if baseline else {}
    fits |= {_MAJORITY if declared.number is None else _MEAN: cross_validation.guess}
    output.say(_NOTICE)
    results = cross_validation.cross_validate(read, parts, fits)
    if as_json:
        asked = {"method": method, "trees": trees, "height": height, "folds": folds, "repeats": repeats}
        output.print_json({**asked, **_summary(epsilons, results, declared, groups), "notice": _NOTICE})
    else:
        _print_scores(results)
        _print_classes(results, declared, confusion=confusion)
        _print_groups(results, groups, declared)
    if _no_better_than_guessing(results, len(epsilons)):
        output.say(_advice(chosen, declared))


def _groups(read: "LabelledRows", by: str | None) -> "dict[str, NDArray[np.bool_]]":
    """Return which rows have each category of an attribute, by its name; none where no attribute is asked for."""
    from privet.schema.encoding import Encoder

    if by is None:
        return {}
    attribute = _category(read.schema, by)
    codes = Encoder(read.schema).encode(read.features, allow_missing=True)[:, read.schema.names.index(by)]
    groups = {f"{by} = {category}": codes == code for code, category in enumerate(attribute.categories)}
    return {
        name: rows for name, rows in {**groups, f"{by} missing": codes == attribute.missing_code}.items() if rows.any()
    }


def _category(schema: "Schema", by: str) -> "Categorical":
    """Return the attribute that groups are told by, or refuse one that has none."""
    from privet.schema import Categorical

    own = next((attribute for attribute in schema.attributes if attribute.name == by), None)
    if not isinstance(own, Categorical):
        known = ", ".join(attribute.name for attribute in schema.attributes if isinstance(attribute, Categorical))
        raise ParameterError(
            f"--by {by!r} is no attribute with categories; choose from {known or 'none: leave it out'}"
        )
    return own


def _advice(chosen: options.ModelOptions, schema: "Schema") -> str:
    """Return what may help a forest that only guesses."""
    if schema.number is not None:
        return _NO_BETTER_THAN_THE_MEAN
    return _TALLER if chosen.has_height else _NO_BETTER


def _no_better_than_guessing(results: _Results, n_epsilons: int) -> bool:
    """Return whether the best epsilon is not a hundredth above guessing, by the first score."""
    means = [next(iter(found.means().values()))[0] for found in results.values()]
    return max(means[:n_epsilons]) < means[-1] + 0.01


def _summary(
    epsilons: list[float], results: _Results, schema: "Schema", groups: "dict[str, NDArray[np.bool_]]"
) -> dict[str, Any]:
    def plain(found: "HeldOut") -> dict[str, Any]:
        own = {name: found.within(rows) for name, rows in groups.items()}
        by = {name: None if own is None else own.to_json(schema.classes) for name, own in own.items()}
        return {**found.to_json(schema.classes), **({"groups": by} if groups else {})}

    each = {name: plain(found) for name, found in results.items()}
    own = [each.pop(_at(epsilon)) for epsilon in epsilons]
    named = {_NAMES_IN_JSON[name]: found for name, found in each.items()}
    return {"scores": [{"epsilon": one, **found} for one, found in zip(epsilons, own, strict=True)], **named}


def _print_scores(results: _Results) -> None:
    """Print a line for each fit: the mean of the first score and its deviation over folds, then of the others."""
    headings, lines = [""], []
    for name, found in results.items():
        first, *others = found.means().items()
        headings = ["", first[0], "sd over folds", *(_HEADINGS.get(score, score) for score, _ in others)]
        means = [output.score_text(score, mean) for score, (mean, _) in others]
        lines.append([name, *(output.score_text(first[0], value) for value in first[1]), *means])
    output.print_table(headings, lines, right=range(1, len(headings)))


def _print_classes(results: _Results, schema: "Schema", *, confusion: bool) -> None:
    """Print every class's recall; with ``confusion``, what the rows of each class were taken for."""
    from privet.cli.support.scores import HeldOutClasses

    shares = {name: found.confusion() for name, found in results.items() if isinstance(found, HeldOutClasses)}
    if not shares:  # a number has none
        return
    output.print_text()
    recalls = [own.diagonal() for own in shares.values()]
    cells = [[f"{label}", *(output.share_text(own[c]) for own in recalls)] for c, label in enumerate(schema.classes)]
    output.print_table(["recall of", *results], cells, right=range(1, len(results) + 1))
    for name, own in shares.items() if confusion else ():
        output.print_text()
        lines = [[f"{label}", *map(output.share_text, own[c])] for c, label in enumerate(schema.classes)]
        headings = [f"{name}: of", *(f"as {label}" for label in schema.classes)]
        output.print_table(headings, lines, right=range(1, len(headings)))


def _print_groups(results: _Results, groups: "dict[str, NDArray[np.bool_]]", schema: "Schema") -> None:
    """Print scores, and every class's recall, in each group."""
    from privet.cli.support.scores import HeldOutClasses

    for name, found in results.items() if groups else ():
        scores, lines = [score for score in found.scores if score not in _NOT_BY_GROUP], []
        for group, rows in groups.items():
            own = found.within(rows)
            if own is not None:
                means = own.means()
                recalls = map(output.share_text, own.confusion().diagonal()) if isinstance(own, HeldOutClasses) else ()
                lines.append([group, *(output.score_text(score, means[score][0]) for score in scores), *recalls])
        output.print_text()
        headings = [name, *scores, *(f"recall of {label}" for label in schema.classes)]
        output.print_table(headings, lines, right=range(1, len(headings)))


def _at(epsilon: float) -> str:
    """Return what the fit at an epsilon is called."""
    return f"epsilon = {repr(epsilon).removesuffix('.0')}"
