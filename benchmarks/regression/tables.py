"""Six public tables of which a numeric column is the target, with the bounds that their schemas declare.

Targets were chosen before anything was fitted. The class of a table is left out. Of larger tables 20,000 rows are used.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.utility.splits import bounds_of, category_sizes, loaded
from privet import Numeric, Schema
from privet.schema.encoding import encoder_of

TARGETS = {
    "abalone": "Shell_weight",
    "compas": "priors_count",
    "magic-telescope": "fLength",
    "electricity": "nswdemand",
    "bank-marketing": "age",
    "adult": "hours-per-week",
}
MOST_ROWS = 20_000


@dataclass(frozen=True)
class Split:
    """A table, cut into four fifths to train on and one to test on; ``repeat`` is scikit-learn's ``random_state``."""

    table: str
    repeat: int

    @cached_property
    def _rows(self) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        X = loaded(self.table).X
        X = X[X[TARGETS[self.table]].notna()]
        X = X.sample(min(len(X), MOST_ROWS), random_state=self.repeat).reset_index(drop=True)
        y = X.pop(TARGETS[self.table])
        return X, y.to_numpy(dtype=np.float64)

    @cached_property
    def _parts(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        train, test = train_test_split(np.arange(len(self._rows[0])), test_size=0.2, random_state=self.repeat)
        return train, test

    @cached_property
    def schema(self) -> Schema:
        """The public domains, and the number of training rows."""
        own, name = loaded(self.table).schema, TARGETS[self.table]
        target = next(a for a in own.attributes if a.name == name)
        assert isinstance(target, Numeric)
        others = [a for a in own.attributes if a.name != name]
        return Schema(others, target=Numeric(name, target.low, target.high), rows=len(self._parts[0]))

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows to train on and to test on, as privet takes them."""
        train, test = self._parts
        return self._rows[0].iloc[train].reset_index(drop=True), self._rows[0].iloc[test].reset_index(drop=True)

    def targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets to train on and to test on."""
        train, test = self._parts
        return self._rows[1][train], self._rows[1][test]

    @cached_property
    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rows as matrices: categories by their position in the schema, numbers as they are."""
        X = encoder_of(self.schema).encode(self._rows[0]).astype(np.float64)
        for j, attribute in enumerate(self.schema.attributes):
            if isinstance(attribute, Numeric):
                X[:, j] = self._rows[0][attribute.name]
        return X[self._parts[0]], X[self._parts[1]]

    def for_peers(self) -> dict[str, NDArray[np.float64]]:
        """Return what the peers' process is told: rows, and what is public about them."""
        (train, test), number = self.numbers, self.schema.number
        assert number is not None
        sizes = np.array(category_sizes(self.schema), dtype=np.float64)
        target_bounds = np.array([number.low, number.high])
        return {
            "train": train, "y": self.targets()[0], "test": test, "sizes": sizes, "bounds": bounds_of(self.schema),
            "target_bounds": target_bounds,
        }  # fmt: skip
