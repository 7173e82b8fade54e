"""Scores of classes, by scikit-learn: accuracy, balanced accuracy, AUC, log loss, recall and confusion."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.cli.support.scoring.held_out import Answered, HeldOut, known


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
