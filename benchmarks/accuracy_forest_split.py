"""A UCI table cut into four fifths to train on and one fifth to test on, and how its predictions are scored.

The cut is scikit-learn's ``train_test_split``, stratified, with the seed as its ``random_state``. It depends on how the
classes are numbered: as the file beside the table lists them, which is not always the order of the alphabet. The number
of rows that the schema declares is that of the training part.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.accuracy_methods import loaded
from privet import Numeric, Schema
from privet.datasets import uci_folder
from privet.schema.encoding import Encoder


class Scores(NamedTuple):
    """How good predictions are; the AUC is the mean of one class against the rest, and may be read for two classes."""

    accuracy: float
    balanced: float
    auc: float


@dataclass(frozen=True)
class Split:
    """One table, cut once."""

    table: str
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    @classmethod
    def of(cls, table: str, seed: int) -> "Split":
        """Return the cut that ``seed`` stands for."""
        numbers = class_numbers(table)
        train, test = train_test_split(np.arange(len(numbers)), test_size=0.2, stratify=numbers, random_state=seed)
        return cls(table, train, test)

    @property
    def schema(self) -> Schema:
        """The table's public domains, with the number of training rows declared."""
        return replace(loaded(self.table).schema, rows=len(self.train))

    def scores(self, model: Any, *, as_numbers: bool = False) -> Scores:
        """Fit ``model`` to the training part and score it on the other; ``as_numbers`` is for scikit-learn's models."""
        data = loaded(self.table)
        X = numbers_of(self.table) if as_numbers else data.X
        model.fit(_rows(X, self.train), data.y[self.train])
        tested, truth = _rows(X, self.test), data.y[self.test]
        predicted = model.predict(tested)
        return Scores(
            accuracy=float(np.mean(predicted == truth)),
            balanced=_balanced(truth, predicted),
            auc=area_under_curve(truth, model.predict_proba(tested), model.classes_),
        )


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def _balanced(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the mean recall over the classes that occur; scikit-learn warns of predicted ones that do not."""
    recalls = [np.mean(predicted[truth == label] == label) for label in np.unique(truth)]
    return float(np.mean(recalls))


def area_under_curve(truth: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Return the mean AUC of one class against the rest over the classes that occur in ``truth``.

    scikit-learn refuses where a class does not occur, and Nursery has one of two rows. A class that a model without a
    schema has never met has probability 0 throughout, and AUC 1/2.
    """
    columns = {label: probabilities[:, c] for c, label in enumerate(classes)}
    nothing = np.zeros(len(truth))
    areas = [roc_auc_score(truth == label, columns.get(label, nothing)) for label in np.unique(truth)]
    return float(np.mean(areas))


@cache
def class_numbers(table: str) -> NDArray[np.intp]:
    """Return each row's class as its position in the file beside the table."""
    data, folder = loaded(table), uci_folder()
    description = None if folder is None else folder / f"{table}.json"
    if description is None or not description.exists():  # the table came from OpenML
        listed = list(data.schema.classes)
    else:
        listed = json.loads(description.read_text(encoding="utf-8"))["classes"]
    position = {label: number for number, label in enumerate(listed)}
    return np.array([position[label] for label in data.y], dtype=np.intp)


@cache
def numbers_of(table: str) -> NDArray[np.float64]:
    """Return the table as scikit-learn takes it: categories by their position in the schema, numbers as they are.

    A missing category has the position after the last, a missing number stays NaN.
    """
    data = loaded(table)
    numbers = Encoder(data.schema).encode(data.X).astype(np.float64)
    for j, attribute in enumerate(data.schema.attributes):
        if isinstance(attribute, Numeric):
            numbers[:, j] = data.X.iloc[:, j]
    return numbers


def categorical_columns(schema: Schema) -> list[int]:
    """Return which columns of `numbers_of` are categories."""
    return [j for j, attribute in enumerate(schema.attributes) if not isinstance(attribute, Numeric)]
