"""Rows of a file with known labels, and exact scores of what a model says of them, for their owner.

Scores are of each fold, with means over folds. Classes have some, and a number has others; both are scikit-learn's.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError

if TYPE_CHECKING:
    from privet.schema import Schema


@dataclass(frozen=True)
class LabelledRows:
    """All rows in memory.

    Attributes
    ----------
    schema : Schema
    table : Arrow table
        The schema's columns, and others that were asked for; no label.
    truth : array
        Labels as positions in the schema's classes; or numbers, clipped to their bounds as a fit clips them.
    """

    schema: "Schema"
    table: Any
    truth: NDArray[Any]

    @property
    def features(self) -> Any:
        """The columns that a model is fitted to."""
        return self.table.select(list(self.schema.names))

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as a fit takes them."""
        return self.truth if self.schema.number is not None else np.array(self.schema.classes)[self.truth]


def read_labelled(rows: Path, schema: "Schema", more: Sequence[str] = ()) -> LabelledRows:
    """Return the rows of a file with the columns of a schema and ``more``, or refuse a file without rows."""
    import pyarrow as pa

    from privet.counting.files import read_batches
    from privet.schema.encoding import encoder_of, numbers_of

    others = [name for name in more if name not in schema.names]
    if schema.target in others:
        raise DataError(f"{schema.target!r} is the label itself; name another column")
    batches = list(read_batches(rows, schema, [*schema.names, schema.target, *others]))
    if not batches:
        raise DataError(f"{str(rows)!r} has no rows; pass rows with their labels")
    table = pa.Table.from_batches(batches)
    target, number = table.column(schema.target), schema.number
    truth: NDArray[Any] = encoder_of(schema).encode_labels(target)  # refuses what a fit would
    if number is not None:
        truth = np.clip(numbers_of(target, schema.target), number.low, number.high)
    return LabelledRows(schema, table.drop_columns([schema.target]), truth)


@dataclass(frozen=True)
class Answered:
    """The rows of a fold by their numbers, their labels, and what was said of them.

    Of classes ``labels`` are positions and ``said`` is how likely each class is; of a number both are numbers.
    """

    rows: NDArray[np.int64]
    labels: NDArray[Any]
    said: NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut(ABC):
    """What was said of the rows of each fold; a subclass has the scores of its kind of label."""

    folds: tuple[Answered, ...]
    # The first one says whether a model is better than guessing.
    scores: ClassVar[Mapping[str, Callable[[Answered], float]]]

    def means(self) -> dict[str, tuple[float, float]]:
        """Return the mean of every score over folds and its standard deviation; NaN where no fold has the score."""
        return {name: _mean_and_deviation([score(fold) for fold in self.folds]) for name, score in self.scores.items()}

    def within(self, rows: NDArray[np.bool_]) -> Self | None:
        """Return the same of some rows alone, or None where no fold has one of them."""
        kept = [
            Answered(fold.rows[own], fold.labels[own], fold.said[own])
            for fold in self.folds
            if (own := rows[fold.rows]).any()
        ]
        return type(self)(tuple(kept)) if kept else None

    def mean_scores(self) -> dict[str, float | None]:
        """Return the mean of every score under the name that JSON has for it; None where no fold has the score."""
        return {name.lower().replace(" ", "_"): known(mean) for name, (mean, _) in self.means().items()}

    @abstractmethod
    def to_json(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return the scores as plain values; None for what these rows do not tell."""


def known(value: float) -> float | None:
    """Return a score for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    found = [value for value in values if not math.isnan(value)]
    if not found:
        return math.nan, math.nan
    mean = math.fsum(found) / len(found)
    if len(found) == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in found) / (len(found) - 1))


def _accuracy(fold: Answered) -> float:
    return float((fold.said.argmax(axis=1) == fold.labels).mean())


def _balanced_accuracy(fold: Answered) -> float:
    """Return the mean recall of the classes that occur."""
    from sklearn.metrics import recall_score

    places = sorted(set(fold.labels.tolist()))
    return float(recall_score(fold.labels, fold.said.argmax(axis=1), labels=places, average="macro"))


def _auc(fold: Answered) -> float:
    """Return the mean, over classes that some rows have and others have not, of each against the rest."""
    from sklearn.metrics import roc_auc_score

    places = sorted(set(fold.labels.tolist()))
    if len(places) < 2:
        return math.nan
    return float(np.mean([roc_auc_score(fold.labels == place, fold.said[:, place]) for place in places]))


def _log_loss(fold: Answered) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(fold.labels, fold.said, labels=np.arange(fold.said.shape[1])))


class HeldOutClasses(HeldOut):
    """What was said of rows that have classes."""

    scores: ClassVar = {
        "accuracy": _accuracy,
        "balanced accuracy": _balanced_accuracy,
        "AUC": _auc,
        "log loss": _log_loss,
    }

    def confusion(self) -> NDArray[np.float64]:
        """Return what share of the rows of each class (lines) was taken for each class (columns), over all folds."""
        from sklearn.metrics import confusion_matrix

        labels = np.concatenate([fold.labels for fold in self.folds])
        guessed = np.concatenate([fold.said.argmax(axis=1) for fold in self.folds])
        places = np.arange(self.folds[0].said.shape[1])
        counts = confusion_matrix(labels, guessed, labels=places).astype(np.float64)
        of_class = counts.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = np.divide(counts, of_class, out=np.full_like(counts, np.nan), where=of_class > 0)
        return shares

    def to_json(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return the scores as plain values; None for what these rows do not tell."""
        names = [str(label) for label in classes]
        lines = {
            name: {other: known(share) for other, share in zip(names, line, strict=True)}
            for name, line in zip(names, self.confusion().tolist(), strict=True)
        }
        return {
            **self.mean_scores(),
            "standard_deviation": known(self.means()["accuracy"][1]),
            "recall": {name: lines[name][name] for name in names},
            "confusion": lines,
        }


def _r2(fold: Answered) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(fold.labels, fold.said)) if len(fold.labels) > 1 else math.nan


def _mean_absolute_error(fold: Answered) -> float:
    from sklearn.metrics import mean_absolute_error

    return float(mean_absolute_error(fold.labels, fold.said))


def _root_mean_squared_error(fold: Answered) -> float:
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(fold.labels, fold.said))


class HeldOutNumbers(HeldOut):
    """What was said of rows that have a number."""

    scores: ClassVar = {
        "R2": _r2,
        "mean absolute error": _mean_absolute_error,
        "root mean squared error": _root_mean_squared_error,
    }

    def to_json(self, classes: Sequence[Any] = ()) -> dict[str, Any]:  # noqa: ARG002 - a number has none
        """Return the scores as plain values; None for what these rows do not tell."""
        return {**self.mean_scores(), "r2_deviation": known(self.means()["R2"][1])}


def held_out_of(schema: "Schema") -> type[HeldOut]:
    """Return the scores of the schema's target."""
    return HeldOutClasses if schema.number is None else HeldOutNumbers


def said_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Return what a model says of rows: how likely each class is, or a number."""
    said: NDArray[np.float64] = model.predict_proba(X) if model.schema_.number is None else model.predict(X)
    return said
