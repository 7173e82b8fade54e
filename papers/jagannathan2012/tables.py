"""The paper's tables, prepared as it has them: Nursery, Mushroom, Congressional Voting.

Nursery has three classes (recommend and very_recom are merged into priority), Mushroom does without stalk-root, which
has missing values, and a missing vote is replaced by the bill's majority. Table 1 is partly about other tables: without
privacy Nursery has all five classes there, of which the most frequent has 33 per cent, and the 253 questions on
Mushroom are those of all 22 attributes. Each schema declares the table's number of rows, and what no row lacks.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.cross_validation import never_missing
from privet import Schema
from privet.datasets import uci

NURSERY, MUSHROOM, VOTES = "nursery", "mushroom", "congressional-voting"
WHOLE_NURSERY, WHOLE_MUSHROOM = "nursery with five classes", "mushroom with stalk-root"
TITLES = {NURSERY: "Nursery", MUSHROOM: "Mushroom", VOTES: "Congressional Voting"}
SHORT = {NURSERY: "Nursery", MUSHROOM: "Mushroom", VOTES: "Votes"}
SHORT |= {WHOLE_NURSERY: "Nursery", WHOLE_MUSHROOM: "Mushroom"}
# As in the paper, fewer for the small table.
TREES = {NURSERY: 10, MUSHROOM: 10, VOTES: 5}


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
    data = uci({WHOLE_NURSERY: NURSERY, WHOLE_MUSHROOM: MUSHROOM}.get(name, name))
    X, y = data.X, data.y
    attributes, classes = list(data.schema.attributes), list(data.schema.classes)
    if name == NURSERY:
        y = np.where(np.isin(y, ["recommend", "very_recom"]), "priority", y)
        classes = [c for c in classes if c not in {"recommend", "very_recom"}]
    if name == MUSHROOM:
        X, attributes = X.drop(columns="stalk-root"), [a for a in attributes if a.name != "stalk-root"]
    if name == VOTES:
        X = X.fillna(X.mode().iloc[0])
    schema = never_missing(Schema(attributes, classes=classes, rows=len(X)), X)
    # Categories are coded faster, fold by fold.
    return Table(X.astype("category"), y, schema)
