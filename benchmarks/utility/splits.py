"""A public table cut into four fifths to train on and one fifth to test on, in the forms that models take.

The cut is scikit-learn's ``train_test_split``, stratified, with the number of the repeat as its ``random_state``. It
depends on how the classes are numbered: as the file beside the table lists them, which is not always the order of the
alphabet. The number of rows that the schema declares is that of the training part.
"""

import json
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from privet import Categorical, Numeric, Schema
from privet.datasets import Dataset, uci, uci_folder
from privet.errors import DatasetUnavailable
from privet.schema.encoding import Encoder


class Facts(NamedTuple):
    """How large a table is."""

    rows: int
    attributes: int
    classes: int


# Into how many cells of equal width a number is cut for peers that take no numbers, as for naive Bayes.
BINS = 16
PEOPLE, MEASUREMENTS = "people and everyday things", "measurements"
# Small ones first. The tables of the first group have mostly categories, those of the second mostly numbers, which tell
# more together than one by one, and more of them have many classes. The second lies in a folder beside the first.
GROUPS = {
    PEOPLE: {
        "congressional-voting": Facts(435, 16, 2),
        "breast-cancer-wisconsin": Facts(699, 9, 2),
        "pima-diabetes": Facts(768, 8, 2),
        "tic-tac-toe": Facts(958, 9, 2),
        "german-credit": Facts(1_000, 20, 2),
        "car-evaluation": Facts(1_728, 6, 4),
        "page-blocks": Facts(5_473, 10, 5),
        "compas": Facts(6_172, 8, 2),
        "mushroom": Facts(8_124, 22, 2),
        "nursery": Facts(12_960, 8, 5),
        "chess-krk": Facts(28_056, 6, 18),
        "bank-marketing": Facts(45_211, 16, 2),
        "adult": Facts(48_842, 14, 2),
        "connect-4": Facts(67_557, 42, 3),
        "census-income-kdd": Facts(299_285, 40, 2),
    },
    MEASUREMENTS: {
        "cmc": Facts(1_473, 9, 3),
        "steel-plates-fault": Facts(1_941, 26, 7),
        "segment": Facts(2_310, 19, 7),
        "sick": Facts(3_772, 27, 2),
        "abalone": Facts(4_177, 8, 3),
        "waveform-5000": Facts(5_000, 40, 3),
        "phoneme": Facts(5_404, 5, 2),
        "satimage": Facts(6_430, 36, 6),
        "mozilla4": Facts(15_545, 4, 2),
        "magic-telescope": Facts(19_020, 10, 2),
        "letter": Facts(20_000, 16, 26),
        "electricity": Facts(45_312, 8, 2),
    },
}
TABLES = {table: facts for group in GROUPS.values() for table, facts in group.items()}


@dataclass(frozen=True)
class Split:
    """One table, cut once."""

    table: str
    repeat: int

    @cached_property
    def _parts(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        numbers = class_numbers(self.table)
        train, test = train_test_split(
            np.arange(len(numbers)), test_size=0.2, stratify=numbers, random_state=self.repeat
        )
        return train, test

    @property
    def train(self) -> NDArray[np.intp]:
        """The rows to train on."""
        return self._parts[0]

    @property
    def test(self) -> NDArray[np.intp]:
        """The rows to test on."""
        return self._parts[1]

    @property
    def schema(self) -> Schema:
        """The table's public domains, with the number of training rows declared."""
        return replace(loaded(self.table).schema, rows=len(self.train))

    @property
    def labels(self) -> NDArray[np.str_]:
        """The labels of the training rows."""
        return loaded(self.table).y[self.train]

    @property
    def truth(self) -> NDArray[np.intp]:
        """The classes of the test rows, by their positions in the schema."""
        return positions(loaded(self.table).y[self.test], self.schema.classes)

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the training rows and the test rows as privet takes them."""
        X = loaded(self.table).X
        return X.iloc[self.train], X.iloc[self.test]

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the training rows and the test rows as `numbers_of` has them."""
        X = numbers_of(self.table)
        return X[self.train], X[self.test]

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the training rows and the test rows as `cells_of` has them."""
        codes = cells_of(self.table)
        return codes[self.train], codes[self.test]


@cache
def loaded(table: str) -> Dataset:
    """Return the table with its text as categories, which are coded faster, fit by fit."""
    if table in GROUPS[PEOPLE]:
        return uci(table).with_categories()
    description = described(table)
    if description is None:
        raise DatasetUnavailable(f"{table}.json is not in the folder of more tables beside that of the UCI tables")
    schema = Schema.load(description)
    texts = {a.name: str for a in schema.attributes if isinstance(a, Categorical)} | {schema.target: str}
    X = pd.read_csv(description.with_suffix(".csv.gz"), dtype=texts, keep_default_na=False, na_values=[""])
    y = X.pop(schema.target).to_numpy(dtype=np.str_)
    return Dataset(X=X, y=y, schema=schema, name=table).with_categories()


def is_within_reach(table: str) -> bool:
    """Return whether a table can be loaded: those of the second group are not fetched."""
    return table not in GROUPS[MEASUREMENTS] or described(table) is not None


def described(table: str) -> Path | None:
    """Return the file beside the table that has its public domains, or None where it is not on this machine."""
    folder = uci_folder()
    if folder is not None and table in GROUPS[MEASUREMENTS]:
        folder = folder.with_name(f"{folder.name}-more")
    description = None if folder is None else folder / f"{table}.json"
    return description if description is not None and description.exists() else None


@cache
def class_numbers(table: str) -> NDArray[np.intp]:
    """Return each row's class as its position in the file beside the table."""
    data, description = loaded(table), described(table)
    if description is None:  # the table came from OpenML
        return positions(data.y, data.schema.classes)
    return positions(data.y, json.loads(description.read_text(encoding="utf-8"))["classes"])


def positions(labels: NDArray[Any], classes: Any) -> NDArray[np.intp]:
    """Return each label's position among the classes."""
    position = {label: number for number, label in enumerate(classes)}
    return np.array([position[label] for label in labels.tolist()], dtype=np.intp)


@cache
def numbers_of(table: str) -> NDArray[np.float64]:
    """Return the table as a matrix: categories by their position in the schema, numbers as they are.

    A missing category has the position after the last, a missing number stays NaN.
    """
    data = loaded(table)
    numbers = Encoder(data.schema).encode(data.X).astype(np.float64)
    for j, attribute in enumerate(data.schema.attributes):
        if isinstance(attribute, Numeric):
            numbers[:, j] = data.X.iloc[:, j]
    return numbers


@cache
def cells_of(table: str) -> NDArray[np.int64]:
    """Return the table as codes: numbers by their public cell, categories by their position, the missing last."""
    data = loaded(table)
    return Encoder(data.schema.with_bins(BINS)).encode(data.X).astype(np.int64)


def cell_counts(schema: Schema) -> list[int]:
    """Return how many codes each column of `cells_of` can have, the missing one included."""
    return [attribute.n_values + 1 for attribute in schema.with_bins(BINS).attributes]


def category_sizes(schema: Schema) -> list[int]:
    """Return how many codes each column of `numbers_of` can have, the missing one included; 0 for numbers."""
    return [a.n_values + 1 if isinstance(a, Categorical) else 0 for a in schema.attributes]


def bounds_of(schema: Schema) -> NDArray[np.float64]:
    """Return the declared range of every column of `numbers_of`, a line a column."""
    ranges = [(a.low, a.high) if isinstance(a, Numeric) else (0, a.n_values) for a in schema.attributes]
    return np.array(ranges, dtype=np.float64)
