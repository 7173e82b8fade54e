"""Public tables: of UCI, of a folder beside them where there is one, and generated; and parts of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.utility.splits import TABLES
from privet import Categorical, Schema
from privet.datasets import Dataset, agrawal, uci, uci_folder

UCI = tuple(TABLES)
# In a folder beside that of the UCI tables; without it the others are measured.
MORE = (
    "cmc", "steel-plates-fault", "segment", "sick", "abalone", "waveform-5000", "phoneme", "satimage", "mozilla4",
    "magic-telescope", "letter", "electricity",
)  # fmt: skip
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
    if name in UCI:
        return uci(name).with_categories()
    if name in GENERATED:
        return agrawal(_GENERATED_ROWS, function=int(name.partition("-")[2]), random_state=0)
    folder = uci_folder()
    assert folder is not None
    path = folder.with_name(f"{folder.name}-more")
    schema = Schema.load(path / f"{name}.json")
    texts = {a.name: str for a in schema.attributes if isinstance(a, Categorical)} | {schema.target: str}
    X = pd.read_csv(path / f"{name}.csv.gz", dtype=texts, keep_default_na=False, na_values=[""])
    y = X.pop(schema.target).to_numpy(dtype=np.str_)
    return Dataset(X=X, y=y, schema=schema, name=name).with_categories()


def names() -> Iterator[str]:
    """Return the tables that are here."""
    folder = uci_folder()
    more = folder is not None and folder.with_name(f"{folder.name}-more").is_dir()
    return iter((*UCI, *(MORE if more else ()), *GENERATED))


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
