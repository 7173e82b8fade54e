"""Public tables: of UCI, of a folder beside them where there is one, and generated; and parts of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.utility import splits
from benchmarks.utility.splits import GROUPS, PEOPLE, TABLES
from privet import Schema
from privet.datasets import Dataset, agrawal

UCI = tuple(GROUPS[PEOPLE])
GENERATED = tuple(f"agrawal-{function}" for function in range(1, 6))
_GENERATED_ROWS = 40_000
_MOST_TEST_ROWS = 20_000


class Part(NamedTuple):
    """Rows to fit and rows to test."""

    schema: Schema
    X: pd.DataFrame
    y: NDArray[Any]
    X_test: pd.DataFrame
    y_test: NDArray[Any]


@lru_cache(maxsize=2)
def loaded(name: str) -> Dataset:
    """Return a table with its text as categories."""
    if name in GENERATED:
        return agrawal(_GENERATED_ROWS, function=int(name.partition("-")[2]), random_state=0)
    return splits.loaded(name)


def names() -> Iterator[str]:
    """Return the tables that are here; without the folder of more tables the others are measured."""
    return iter((*filter(splits.is_within_reach, TABLES), *GENERATED))


def n_train(name: str) -> int:
    """Return how many rows there are to fit: four fifths."""
    return int(0.8 * len(loaded(name).y))


def part_of(name: str, n_rows: int, seed: int) -> Part:
    """Return ``n_rows`` random rows to fit, their number declared, and of all others as many as are worth a test."""
    data = loaded(name)
    order = np.random.default_rng(seed).permutation(len(data.y))
    train, test = order[:n_rows], order[n_train(name) :][:_MOST_TEST_ROWS]
    schema = replace(data.schema, rows=n_rows)
    return Part(schema, data.X.iloc[train], data.y[train], data.X.iloc[test], data.y[test])
