"""What a classifier says of rows that it was not fitted to, scored by scikit-learn: exact numbers about those rows.

A regressor's targets want a class of its own, with the same `means`, `within` and `to_json`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Labels = NDArray[np.int64]
    Chances = NDArray[np.float64]


@dataclass(frozen=True)
class Answered:
    """The rows of a fold by their numbers, their labels, and how likely each class was said to be."""

    rows: "Labels"
    labels: "Labels"
    chances: "Chances"


@dataclass(frozen=True)
class HeldOutClasses:
    """What was said of the rows of each fold."""

    folds: tuple[Answered, ...]

    def means(self) -> dict[str, tuple[float, float]]:
        """Return the mean of every score over folds and its standard deviation; NaN where no fold has the score."""
        return {name: _mean_and_deviation([score(fold) for fold in self.folds]) for name, score in SCORES.items()}

    def confusion(self) -> "Chances":
        """Return what share of the rows of each class (lines) was taken for each class (columns), over all folds."""
        import numpy as np
        from sklearn.metrics import confusion_matrix

        labels = np.concatenate([fold.labels for fold in self.folds])
        guessed = np.concatenate([fold.chances.argmax(axis=1) for fold in self.folds])
        places = np.arange(self.folds[0].chances.shape[1])
        counts = confusion_matrix(labels, guessed, labels=places).astype(np.float64)
        of_class = counts.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = np.divide(counts, of_class, out=np.full_like(counts, np.nan), where=of_class > 0)
        return shares

    def within(self, rows: "NDArray[np.bool_]") -> "HeldOutClasses | None":
        """Return the same of some rows alone, or None where no fold has one of them."""
        kept = [
            Answered(fold.rows[own], fold.labels[own], fold.chances[own])
            for fold in self.folds
            if (own := rows[fold.rows]).any()
        ]
        return HeldOutClasses(tuple(kept)) if kept else None

    def to_json(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return the scores as plain values; None for what these rows do not tell."""
        means, shares = self.means(), self.confusion()
        deviation = {"standard_deviation": _known(means["accuracy"][1])}
        names = [str(label) for label in classes]
        lines = {
            name: {other: _known(share) for other, share in zip(names, line, strict=True)}
            for name, line in zip(names, shares.tolist(), strict=True)
        }
        return {
            **{name.lower().replace(" ", "_"): _known(mean) for name, (mean, _) in means.items()},
            **deviation,
            "recall": {name: lines[name][name] for name in names},
            "confusion": lines,
        }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    mean = math.fsum(known) / len(known)
    if len(known) == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1))


def _accuracy(fold: Answered) -> float:
    return float((fold.chances.argmax(axis=1) == fold.labels).mean())


def _balanced_accuracy(fold: Answered) -> float:
    """Return the mean recall of the classes that occur."""
    from sklearn.metrics import recall_score

    places = sorted(set(fold.labels.tolist()))
    return float(recall_score(fold.labels, fold.chances.argmax(axis=1), labels=places, average="macro"))


def _auc(fold: Answered) -> float:
    """Return the mean, over classes that some rows have and others have not, of each against the rest."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    places = sorted(set(fold.labels.tolist()))
    if len(places) < 2:
        return math.nan
    return float(np.mean([roc_auc_score(fold.labels == place, fold.chances[:, place]) for place in places]))


def _log_loss(fold: Answered) -> float:
    import numpy as np
    from sklearn.metrics import log_loss

    return float(log_loss(fold.labels, fold.chances, labels=np.arange(fold.chances.shape[1])))


SCORES: dict[str, Callable[[Answered], float]] = {
    "accuracy": _accuracy,
    "balanced accuracy": _balanced_accuracy,
    "AUC": _auc,
    "log loss": _log_loss,
}
