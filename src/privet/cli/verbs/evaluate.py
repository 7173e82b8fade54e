"""``privet evaluate``: stratified cross-validation of a file's rows; exact scores, for the owner's eyes."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.local_methods import refuse_local
from privet.cli.support.progress import Progress
from privet.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privet.schema import Schema

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


_Score: TypeAlias = Callable[[_Table, _Fold], float]


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
    random_state: options.RandomState = None,
    jobs: options.Jobs = -1,
    as_json: options.Json = False,
) -> None:
    """Estimate by cross-validation how well a forest predicts, at one epsilon or at several.

    Of classes it shows accuracy, of a number R2 and the size of errors. The scores are exact, so they are for the owner
    of the rows; publish them only where the rows are public.

    Example:  privet evaluate rows.csv --schema schema.json --epsilon 0.1,1,inf
    """
    refuse_local(method, _ON_CLEAR_ROWS)
    declared = options.load_schema(schema)
    chosen = options.ModelOptions(method, trees, height, jobs, variant=variant, delta=delta)
    epsilons = _parse_epsilons(epsilon)
    for one in epsilons:
        chosen.estimator(declared, epsilon=one, random_state=random_state)  # refuses before any data are read
    if declared.number is not None:
        shape = {"folds": folds, "repeats": repeats, "random_state": random_state, "baseline": baseline}
        _evaluate_number(rows, declared, chosen, epsilons, as_json=as_json, **shape)
        return
    with output.working("reading the rows"):
        table = _read_table(rows, declared)
        parts, even = _split(table, folds=folds, repeats=repeats, random_state=random_state)
    if not even:
        output.say(_UNEVEN)
    scores = {f"epsilon = {repr(one).removesuffix('.0')}": _private_forest(chosen, one) for one in epsilons}
    scores |= {"random forest, not private": _random_forest(jobs)} if baseline else {}
    scores |= {"majority class": _majority_guess}
    output.say(_NOTICE)
    results = _run(table, parts, scores)
    if as_json:
        settings = {"method": method, "trees": trees, "height": height, "folds": folds, "repeats": repeats}
        output.print_json({**settings, **_summary(epsilons, results, baseline=baseline), "notice": _NOTICE})
    else:
        _print_scores(results)
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
    import pyarrow as pa

    from privet.counting.files import read_batches
    from privet.schema.encoding import Encoder

    batches = list(read_batches(rows, schema, [*schema.names, schema.target]))
    if not batches:
        raise _too_few()
    table = pa.Table.from_batches(batches)
    labels = Encoder(schema).encode_labels(table.column(schema.target))
    return _Table(schema, table.select(list(schema.names)), labels)


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


def _private_forest(chosen: options.ModelOptions, epsilon: float) -> _Score:
    """Return the score of privet's model at one epsilon; a fold has the same trees at every epsilon."""
    import numpy as np

    def score(table: _Table, fold: _Fold) -> float:
        classes = np.array(table.schema.classes)
        model = chosen.estimator(table.schema, epsilon=epsilon, random_state=fold.seed)
        model.fit(table.X.take(fold.train), classes[table.labels[fold.train]])
        return float((model.predict(table.X.take(fold.test)) == classes[table.labels[fold.test]]).mean())

    return score


def _random_forest(jobs: int) -> _Score:
    """Return the score of scikit-learn's forest on the encoded rows: no noise, no promise."""
    from sklearn.ensemble import RandomForestClassifier

    from privet.schema.encoding import Encoder

    def score(table: _Table, fold: _Fold) -> float:
        codes = Encoder(table.schema).encode(table.X)
        model = RandomForestClassifier(_FOREST_TREES, random_state=fold.seed, n_jobs=jobs)
        model.fit(codes[fold.train], table.labels[fold.train])
        return float(model.score(codes[fold.test], table.labels[fold.test]))

    return score


def _majority_guess(table: _Table, fold: _Fold) -> float:
    """Return the score of always guessing the class that is most frequent in the training rows."""
    import numpy as np

    guess = np.bincount(table.labels[fold.train]).argmax()
    return float((table.labels[fold.test] == guess).mean())


def _seed(rng: "np.random.Generator") -> int:
    return int(rng.integers(2**31))


def _too_few() -> DataError:
    return DataError("the table has too few rows for that many folds; lower --folds")


def _no_better_than_guessing(results: dict[str, tuple[float, float]], n_epsilons: int) -> bool:
    means = [mean for mean, _ in results.values()]
    return max(means[:n_epsilons]) < means[-1] + 0.01


def _parse_epsilons(text: str) -> list[float]:
    """Return the epsilons of a list such as 0.1,1,inf."""
    try:
        epsilons = [float(word) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"--epsilon {text!r} is not a number or a list such as 0.1,1,inf") from None
    # NaN equals nothing, and is refused later with the other values that are out of range.
    return list(dict.fromkeys(epsilons))


def _run(table: _Table, parts: list[_Fold], scores: dict[str, _Score]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of every score over the folds."""
    results: dict[str, tuple[float, float]] = {}
    with Progress("cross-validation", steps="folds") as progress:
        for name, score in scores.items():
            values: list[float] = []
            for part in parts:
                progress.step(name, len(values), len(parts))
                values.append(score(table, part))
            progress.step(name, len(values), len(parts))
            results[name] = _mean_and_deviation(values)
    return results


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _summary(epsilons: list[float], results: dict[str, tuple[float, float]], *, baseline: bool) -> dict[str, Any]:
    pairs = [{"accuracy": mean, "standard_deviation": deviation} for mean, deviation in results.values()]
    return {
        "scores": [{"epsilon": one, **pair} for one, pair in zip(epsilons, pairs[: len(epsilons)], strict=True)],
        **({"random_forest": pairs[-2]} if baseline else {}),
        "majority_class": pairs[-1],
    }


def _print_scores(results: dict[str, tuple[float, float]]) -> None:
    cells = [(name, output.percent(mean), output.percent(deviation)) for name, (mean, deviation) in results.items()]
    output.print_table(["", "accuracy", "standard deviation over folds"], cells, right=[1, 2])
