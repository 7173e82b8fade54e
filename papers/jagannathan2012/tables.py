"""The paper's tables, prepared as it has them: Nursery, Mushroom, Congressional Voting.

Nursery has three classes (recommend and very_recom are merged into priority), Mushroom does without stalk-root, which
has missing values, and a missing vote is replaced by the bill's majority. Each schema declares the table's number of
rows.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import Schema
from privet.datasets import uci

# As in the paper, fewer for the small table.
TREES = {"nursery": 10, "mushroom": 10, "congressional-voting": 5}


@dataclass(frozen=True)
class Table:
    """A table prepared as in the paper."""

    X: Any
    y: NDArray[np.str_]
    schema: Schema

    @property
    def majority(self) -> float:
        """The share of the most frequent class, in per cent."""
        return float(100 * np.unique(self.y, return_counts=True)[1].max() / len(self.y))


@cache
def prepared(name: str) -> Table:
    """Return the table called ``name`` as the paper has it."""
    data = uci(name)
    X, y = data.X, data.y
    attributes, classes = list(data.schema.attributes), list(data.schema.classes)
    if name == "nursery":
        y = np.where(np.isin(y, ["recommend", "very_recom"]), "priority", y)
        classes = [c for c in classes if c not in {"recommend", "very_recom"}]
    if name == "mushroom":
        X, attributes = X.drop(columns="stalk-root"), [a for a in attributes if a.name != "stalk-root"]
    if name == "congressional-voting":
        X = X.fillna(X.mode().iloc[0])
    return Table(X, y, Schema(attributes, classes=classes, rows=len(X)))
