"""Cross-validation where the target is a number: R2 and the size of errors, exact, for the owner's eyes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.cli.support import output
from privet.cli.support.options import ModelOptions
from privet.cli.support.progress import Progress
from privet.counting.files import read_batches
from privet.errors import DataError
from privet.rng import public_generator
from privet.schema.encoding import encoder_of, numbers_of

if TYPE_CHECKING:
    from privet.schema import Schema

_FOREST_TREES = 100
_SEEDS = 2**31


class NumberScores(NamedTuple):
    """How far predictions are from the truth; both errors in units of the target."""

    r2: float
    mean_absolute_error: float
    root_mean_squared_error: float


_Prediction: TypeAlias = Callable[["NumberTable", NDArray[np.int64], NDArray[np.int64], int], NDArray[np.float64]]


@dataclass(frozen=True)
class NumberTable:
    """All rows in memory, and their targets, clipped to their bounds as a fit clips them."""

    schema: "Schema"
    X: Any
    targets: NDArray[np.float64]

    @classmethod
    def read(cls, rows: Path, schema: "Schema", folds: int) -> "NumberTable":
        """Read the whole file once."""
        import pyarrow as pa

        number = schema.number
        batches = list(read_batches(rows, schema, [*schema.names, schema.target]))
        if number is None or sum(batch.num_rows for batch in batches) < 2 * folds:
            raise DataError("the table has too few rows for that many folds; lower --folds")
        table = pa.Table.from_batches(batches)
        encoder_of(schema).encode_labels(table.column(schema.target))  # refuses what a fit would
        targets = np.clip(numbers_of(table.column(schema.target), schema.target), number.low, number.high)
        return cls(schema, table.select(list(schema.names)), targets)

    def scores(self, test: NDArray[np.int64], predicted: NDArray[np.float64]) -> NumberScores:
        """Return how far what is predicted for these rows is from the truth."""
        from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

        truth = self.targets[test]
        found = (score(truth, predicted) for score in (r2_score, mean_absolute_error, root_mean_squared_error))
        return NumberScores(*map(float, found))


def number_scores(
    table: NumberTable, chosen: ModelOptions, epsilons: Sequence[float], *, folds: int, repeats: int,
    random_state: int | None, baseline: bool,
) -> dict[str, list[NumberScores]]:  # fmt: skip
    """Return the scores of every fold at each epsilon, of a random forest if asked for, and of always the mean."""
    from sklearn.model_selection import RepeatedKFold

    rng = public_generator(random_state)
    splitter = RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=_seed(rng))
    parts = [(train, test, _seed(rng)) for train, test in splitter.split(table.targets)]
    predictions: dict[str, _Prediction] = {
        f"epsilon = {repr(one).removesuffix('.0')}": _private_forest(chosen, one) for one in epsilons
    }
    predictions |= {"random forest, not private": _random_forest(chosen.jobs)} if baseline else {}
    predictions["mean of the rows"] = lambda own, train, test, _: np.full(len(test), own.targets[train].mean())
    results: dict[str, list[NumberScores]] = {}
    with Progress("cross-validation", steps="folds") as progress:
        for name, predict in predictions.items():
            results[name] = []
            for train, test, seed in parts:
                progress.step(name, len(results[name]), len(parts))
                results[name].append(table.scores(test, predict(table, train, test, seed)))
            progress.step(name, len(parts), len(parts))
    return results


def summary(results: dict[str, list[NumberScores]]) -> dict[str, dict[str, float]]:
    """Return mean scores over folds, and the standard deviation of R2."""
    means = {name: NumberScores(*map(float, np.mean(own, axis=0))) for name, own in results.items()}
    return {name: {**own._asdict(), "r2_deviation": _spread(results[name])} for name, own in means.items()}


def print_scores(results: dict[str, list[NumberScores]]) -> None:
    """Print a line for each model."""
    cells = []
    for name, own in summary(results).items():
        errors = (f"{own[error]:,.4g}" for error in NumberScores._fields[1:])
        cells.append((name, f"{own['r2']:.3f}", f"{own['r2_deviation']:.3f}", *errors))
    heads = ["", "R2", "standard deviation over folds", "mean absolute error", "root mean squared error"]
    output.print_table(heads, cells, right=[1, 2, 3, 4])


def is_no_better_than_the_mean(results: dict[str, list[NumberScores]], n_epsilons: int) -> bool:
    """Return whether no epsilon explains more than a hundredth of the variance."""
    means = [own["r2"] for own in summary(results).values()]
    return max(means[:n_epsilons]) < means[-1] + 0.01


def _spread(scores: Sequence[NumberScores]) -> float:
    values = [own.r2 for own in scores]
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _private_forest(chosen: ModelOptions, epsilon: float) -> _Prediction:
    def predict(
        table: NumberTable, train: NDArray[np.int64], test: NDArray[np.int64], seed: int
    ) -> NDArray[np.float64]:
        model = chosen.estimator(table.schema, epsilon=epsilon, random_state=seed)
        predicted: NDArray[np.float64] = model.fit(table.X.take(train), table.targets[train]).predict(
            table.X.take(test)
        )
        return predicted

    return predict


def _random_forest(jobs: int) -> _Prediction:
    """Return what scikit-learn's forest predicts from encoded rows: no noise, no promise."""
    from sklearn.ensemble import RandomForestRegressor

    def predict(
        table: NumberTable, train: NDArray[np.int64], test: NDArray[np.int64], seed: int
    ) -> NDArray[np.float64]:
        codes = encoder_of(table.schema).encode(table.X)
        model = RandomForestRegressor(_FOREST_TREES, random_state=seed, n_jobs=jobs)
        predicted: NDArray[np.float64] = model.fit(codes[train], table.targets[train]).predict(codes[test])
        return predicted

    return predict


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(_SEEDS))
