"""Stratified cross-validation of a file's rows: exact scores, for the owner's eyes."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold

from privet.cli.support.options import ModelOptions
from privet.counting.files import read_batches
from privet.errors import DataError
from privet.rng import public_generator
from privet.schema import Schema
from privet.schema.encoding import Encoder

_FOREST_TREES = 100


class Fold(NamedTuple):
    """Which rows train and which test, and a seed for what is public or promises nothing."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


@dataclass(frozen=True)
class Table:
    """All rows in memory, and their labels as positions in the schema's classes."""

    schema: Schema
    X: Any
    labels: NDArray[np.uint16]


Score: TypeAlias = Callable[[Table, Fold], float]


def read_table(rows: Path, schema: Schema) -> Table:
    """Read the whole file once."""
    batches = list(read_batches(rows, schema, [*schema.names, schema.target]))
    if not batches:
        raise _too_few()
    table = pa.Table.from_batches(batches)
    labels = Encoder(schema).encode_labels(table.column(schema.target))
    return Table(schema, table.select(list(schema.names)), labels)


def split(table: Table, *, folds: int, repeats: int, random_state: int | None) -> tuple[list[Fold], bool]:
    """Return the folds, and whether every class that occurs is frequent enough to be in each of them."""
    exact_sizes = np.bincount(table.labels)
    if not len(exact_sizes) or exact_sizes.max() < folds:
        raise _too_few()
    coins = public_generator(random_state)
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=_seed(coins))
    with warnings.catch_warnings():
        # The warning about rare classes quotes a count.
        warnings.simplefilter("ignore", UserWarning)
        parts = list(splitter.split(np.zeros(len(table.labels)), table.labels))
    even = bool((exact_sizes[exact_sizes > 0] >= folds).all())
    return [Fold(train, test, _seed(coins)) for train, test in parts], even


def private_forest(chosen: ModelOptions, epsilon: float) -> Score:
    """Return the score of privet's model at one price; a fold has the same trees at every price."""

    def score(table: Table, fold: Fold) -> float:
        classes = np.array(table.schema.classes)
        model = chosen.estimator(table.schema, epsilon=epsilon, random_state=fold.seed)
        model.fit(table.X.take(fold.train), classes[table.labels[fold.train]])
        return float((model.predict(table.X.take(fold.test)) == classes[table.labels[fold.test]]).mean())

    return score


def random_forest(jobs: int) -> Score:
    """Return the score of scikit-learn's forest on the encoded rows: no noise, no promise."""

    def score(table: Table, fold: Fold) -> float:
        codes = Encoder(table.schema).encode(table.X)
        model = RandomForestClassifier(_FOREST_TREES, random_state=fold.seed, n_jobs=jobs)
        model.fit(codes[fold.train], table.labels[fold.train])
        return float(model.score(codes[fold.test], table.labels[fold.test]))

    return score


def majority_guess(table: Table, fold: Fold) -> float:
    """Return the score of always guessing the class that is most frequent in the training rows."""
    guess = np.bincount(table.labels[fold.train]).argmax()
    return float((table.labels[fold.test] == guess).mean())


def _seed(coins: np.random.Generator) -> int:
    return int(coins.integers(2**31))


def _too_few() -> DataError:
    return DataError("the table has too few rows for that many folds; lower --folds")
