"""``privet evaluate``: stratified cross-validation of a file's rows; exact scores, for the owner's eyes."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.csv_options import reads_csv
from privet.cli.support.held_out import Answered, HeldOutClasses
from privet.cli.support.local_methods import refuse_local
from privet.cli.support.progress import Progress
from privet.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privet.schema import Categorical, Schema

_FOREST_TREES = 100
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
_UNEVEN = "a class is rarer than the number of folds, so some folds lack it; lower --folds to have it in each"


class _Fold(NamedTuple):
    """Which rows train and which test, and a seed for what is public or promises nothing."""

    train: "NDArray[np.int64]"
    test: "NDArray[np.int64]"
    seed: int


@dataclass(frozen=True)
class _Table:
    """All rows in memory, and their labels as positions in the schema's classes."""

    schema: "Schema"
    X: Any
    labels: "NDArray[np.uint16]"


_Results: TypeAlias = dict[str, HeldOutClasses]
# Fits to the rows of a fold that train, and returns the class chances of those that test.
_Fit: TypeAlias = Callable[[_Table, _Fold], "NDArray[np.float64]"]


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
        bool,
        typer.Option("--baseline", help="Also score scikit-learn's random forest, which promises nothing."),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Also the scores of each of its categories.", show_default=False),
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
    chosen = options.ModelOptions(method, trees, height, jobs, variant=variant, delta=delta)
    epsilons = options.parse_epsilons(epsilon)
    for one in epsilons:
        chosen.estimator(declared, epsilon=one, random_state=random_state)  # refuses before any data are read
    if declared.number is not None:
        if by is not None or confusion:
            raise ParameterError("--by and --confusion are about classes, and this is a number; leave them out")
        shape = {"folds": folds, "repeats": repeats, "random_state": random_state, "baseline": baseline}
        _evaluate_number(rows, declared, chosen, epsilons, as_json=as_json, **shape)
        return
    if by is not None:
        _category(declared, by)
    with output.working("reading the rows"):
        table = _read_table(rows, declared)
        groups = _groups(table, by)
        parts, even = _split(table, folds=folds, repeats=repeats, random_state=random_state)
    if not even:
        output.say(_UNEVEN)
    fits = {f"epsilon = {repr(one).removesuffix('.0')}": _private_forest(chosen, one) for one in epsilons}
    fits |= {"random forest, not private": _random_forest(jobs)} if baseline else {}
    fits |= {"majority class": _majority_guess}
    output.say(_NOTICE)
    results = _run(table, parts, fits)
    if as_json:
        settings = {"method": method, "trees": trees, "height": height, "folds": folds, "repeats": repeats}
        output.print_json(
            {**settings, **_summary(epsilons, results, table, groups, baseline=baseline), "notice": _NOTICE}
        )
    else:
        _print_scores(results)
        _print_classes(results, declared, confusion=confusion)
        _print_groups(results, groups, declared)
    if _no_better_than_guessing(results, len(epsilons)):
        output.say(_TALLER if chosen.has_height else _NO_BETTER)


def _evaluate_number(
    rows: Path, schema: "Schema", chosen: options.ModelOptions, epsilons: list[float], *, as_json: bool, **shape: Any
) -> None:
    """Score a regressor in place of a classifier."""
    from privet.cli.support import number_scores

    with output.working("reading the rows"):
        table = number_scores.NumberTable.read(rows, schema, shape["folds"])
    output.say(_NOTICE)
    results = number_scores.number_scores(table, chosen, epsilons, **shape)
    if as_json:
        found = number_scores.summary(results)
        others = {"random_forest": found["random forest, not private"]} if shape["baseline"] else {}
        scores = [{"epsilon": one, **own} for one, own in zip(epsilons, found.values(), strict=False)]
        asked = {"method": chosen.method, "folds": shape["folds"], "repeats": shape["repeats"]}
        output.print_json({**asked, "scores": scores, **others, "mean": found["mean of the rows"], "notice": _NOTICE})
    else:
        number_scores.print_scores(results)
    if number_scores.is_no_better_than_the_mean(results, len(epsilons)):
        output.say(_NO_BETTER_THAN_THE_MEAN)


def _read_table(rows: Path, schema: "Schema") -> _Table:
    """Read the whole file once."""
    from privet.cli.support.labelled_rows import read_labelled

    read = read_labelled(rows, schema)
    if read is None:
        raise _too_few()
    return _Table(schema, *read)


def _split(table: _Table, *, folds: int, repeats: int, random_state: int | None) -> tuple[list[_Fold], bool]:
    """Return the folds, and whether every class that occurs is frequent enough to be in each of them."""
    import numpy as np
    from sklearn.model_selection import RepeatedStratifiedKFold

    from privet.rng import public_generator

    exact_sizes = np.bincount(table.labels)
    if not len(exact_sizes) or exact_sizes.max() < folds:
        raise _too_few()
    rng = public_generator(random_state)
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=_seed(rng))
    with warnings.catch_warnings():
        # The warning about rare classes quotes a count.
        warnings.simplefilter("ignore", UserWarning)
        parts = list(splitter.split(np.zeros(len(table.labels)), table.labels))
    even = bool((exact_sizes[exact_sizes > 0] >= folds).all())
    return [_Fold(train, test, _seed(rng)) for train, test in parts], even


def _private_forest(chosen: options.ModelOptions, epsilon: float) -> _Fit:
    """Return the fit of privet's model at one epsilon; a fold has the same trees at every epsilon."""
    import numpy as np

    def chances(table: _Table, fold: _Fold) -> "NDArray[np.float64]":
        classes = np.array(table.schema.classes)
        model = chosen.estimator(table.schema, epsilon=epsilon, random_state=fold.seed)
        model.fit(table.X.take(fold.train), classes[table.labels[fold.train]])
        found: NDArray[np.float64] = model.predict_proba(table.X.take(fold.test))
        return found

    return chances


def _random_forest(jobs: int) -> _Fit:
    """Return the fit of scikit-learn's forest to the encoded rows: no noise, no promise."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from privet.schema.encoding import Encoder

    def chances(table: _Table, fold: _Fold) -> "NDArray[np.float64]":
        codes = Encoder(table.schema).encode(table.X)
        model = RandomForestClassifier(_FOREST_TREES, random_state=fold.seed, n_jobs=jobs)
        model.fit(codes[fold.train], table.labels[fold.train])
        found = np.zeros((len(fold.test), len(table.schema.classes)))
        found[:, model.classes_] = model.predict_proba(codes[fold.test])  # a fold may lack a class
        return found

    return chances


def _majority_guess(table: _Table, fold: _Fold) -> "NDArray[np.float64]":
    """Return each class's share of the training rows, for every row."""
    import numpy as np

    shares = np.bincount(table.labels[fold.train], minlength=len(table.schema.classes)) / len(fold.train)
    return np.tile(shares, (len(fold.test), 1))


def _seed(rng: "np.random.Generator") -> int:
    return int(rng.integers(2**31))


def _too_few() -> DataError:
    return DataError("the table has too few rows for that many folds; lower --folds")


def _no_better_than_guessing(results: _Results, n_epsilons: int) -> bool:
    means = [found.means()["accuracy"][0] for found in results.values()]
    return max(means[:n_epsilons]) < means[-1] + 0.01


def _run(table: _Table, parts: list[_Fold], fits: dict[str, _Fit]) -> _Results:
    """Return what every fit says of the rows of each fold that test."""
    results: _Results = {}
    with Progress("cross-validation", steps="folds") as progress:
        for name, fit in fits.items():
            folds: list[Answered] = []
            for part in parts:
                progress.step(name, len(folds), len(parts))
                folds.append(Answered(part.test, table.labels[part.test].astype(int), fit(table, part)))
            progress.step(name, len(folds), len(parts))
            results[name] = HeldOutClasses(tuple(folds))
    return results


def _groups(table: _Table, by: str | None) -> "dict[str, NDArray[np.bool_]]":
    """Return which rows have each category of an attribute, by its name; none where no attribute is asked for."""
    from privet.schema.encoding import Encoder

    if by is None:
        return {}
    attribute = _category(table.schema, by)
    codes = Encoder(table.schema).encode(table.X, allow_missing=True)[:, table.schema.names.index(by)]
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


def _summary(
    epsilons: list[float], results: _Results, table: _Table, groups: "dict[str, NDArray[np.bool_]]", *, baseline: bool
) -> dict[str, Any]:
    def plain(found: HeldOutClasses) -> dict[str, Any]:
        own = {name: found.within(rows) for name, rows in groups.items()}
        by = {name: None if own is None else own.to_json(table.schema.classes) for name, own in own.items()}
        return {**found.to_json(table.schema.classes), **({"groups": by} if groups else {})}

    each = [plain(found) for found in results.values()]
    return {
        "scores": [{"epsilon": one, **own} for one, own in zip(epsilons, each[: len(epsilons)], strict=True)],
        **({"random_forest": each[-2]} if baseline else {}),
        "majority_class": each[-1],
    }


def _print_scores(results: _Results) -> None:
    cells = []
    for name, found in results.items():
        means = found.means()
        accuracy, deviation = means["accuracy"]
        balanced, auc, loss = (means[score][0] for score in ("balanced accuracy", "AUC", "log loss"))
        cells.append((name, *map(output.percent, (accuracy, deviation, balanced)), _figure(auc), _figure(loss)))
    headings = ["", "accuracy", "sd over folds", "balanced", "AUC", "log loss"]
    output.print_table(headings, cells, right=range(1, len(headings)))


def _print_classes(results: _Results, schema: "Schema", *, confusion: bool) -> None:
    """Print every class's recall; with ``confusion``, what the rows of each class were taken for."""
    shares = {name: found.confusion() for name, found in results.items()}
    output.print_text()
    cells = [[f"{label}", *(_share(own[c, c]) for own in shares.values())] for c, label in enumerate(schema.classes)]
    output.print_table(["recall of", *results], cells, right=range(1, len(results) + 1))
    for name, own in shares.items() if confusion else ():
        output.print_text()
        lines = [[f"{label}", *map(_share, own[c])] for c, label in enumerate(schema.classes)]
        headings = [f"{name}: of", *(f"as {label}" for label in schema.classes)]
        output.print_table(headings, lines, right=range(1, len(headings)))


def _print_groups(results: _Results, groups: "dict[str, NDArray[np.bool_]]", schema: "Schema") -> None:
    """Print accuracy and every class's recall in each group."""
    for name, found in results.items() if groups else ():
        lines = []
        for group, rows in groups.items():
            own = found.within(rows)
            if own is not None:
                shares, means = own.confusion(), own.means()
                recalls = [_share(shares[c, c]) for c in range(len(schema.classes))]
                lines.append([group, output.percent(means["accuracy"][0]), _figure(means["AUC"][0]), *recalls])
        output.print_text()
        headings = [name, "accuracy", "AUC", *(f"recall of {label}" for label in schema.classes)]
        output.print_table(headings, lines, right=range(1, len(headings)))


def _share(share: float) -> str:
    return "" if math.isnan(share) else output.percent(share)


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
