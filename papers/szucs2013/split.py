"""UCI's own split of a table, training rows first, and its rows in bits."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from privet import Coding
from privet.datasets import uci
from privet.schema.encoding import Encoder

TRAINING_ROWS = {"adult": 32_561, "census-income-kdd": 199_523}
TITLES = {"adult": "Adult", "census-income-kdd": "Census-Income"}


class Split(NamedTuple):
    """Training and test rows, and the coding that the frequencies and quartiles of the training rows give.

    The paper makes its codes from the clear rows; the coding carries that leak.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    train_y: NDArray[Any]
    test_y: NDArray[Any]
    coding: Coding
    target: str

    @property
    def positive(self) -> Any:
        """The class whose probability is scored: the rarer one."""
        labels, counts = np.unique(self.train_y, return_counts=True)
        return labels[counts.argmin()]

    def bits(self, rows: pd.DataFrame) -> NDArray[np.uint8]:
        """Return rows in bits."""
        coded: NDArray[np.uint8] = self.coding.bits(Encoder(self.coding.schema).encode(rows))
        return coded

    def auc(self, model: Any, test: Any) -> float:
        """Return the area under the ROC curve of a fitted model; ``test`` is the test rows as it wants them."""
        scores = model.predict_proba(test)[:, list(model.classes_).index(self.positive)]
        return round(float(roc_auc_score(self.test_y == self.positive, scores)), 4)


@cache
def split(table: str) -> Split:
    """Return a table's split, with text as categories: they are coded faster."""
    data, n = uci(table).with_categories(), TRAINING_ROWS[table]
    X = data.X
    coding = Coding.from_rows(X[:n], data.schema)
    return Split(X[:n], X[n:], data.y[:n], data.y[n:], coding, data.schema.target)
