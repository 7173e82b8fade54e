"""How predictions are scored."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

# A model that gives the true class no chance at all pays for 34.5 nats, not for infinity.
LEAST_CHANCE = 1e-15


class Predictions(NamedTuple):
    """What a model says about the test rows, classes by their positions in the schema, and how long fitting took."""

    classes: NDArray[np.intp]
    chances: NDArray[np.float64]
    fit_seconds: float


class Scores(NamedTuple):
    """How good predictions are, and the CPU seconds of the fit."""

    accuracy: float
    balanced_accuracy: float
    auc: float
    log_loss: float
    fit_seconds: float


def scores_of(truth: NDArray[np.intp], said: Predictions) -> Scores:
    """Score predictions of rows whose classes are ``truth``."""
    return Scores(
        accuracy=float(np.mean(said.classes == truth)),
        balanced_accuracy=balanced_accuracy(truth, said.classes),
        auc=area_under_curve(truth, said.chances),
        log_loss=log_loss(truth, said.chances),
        fit_seconds=said.fit_seconds,
    )


def balanced_accuracy(truth: NDArray[np.intp], classes: NDArray[np.intp]) -> float:
    """Return the mean recall over the classes that occur."""
    return float(np.mean([np.mean(classes[truth == c] == c) for c in np.unique(truth)]))


def area_under_curve(truth: NDArray[np.intp], chances: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, for several classes its mean over one against the rest.

    scikit-learn refuses where a class does not occur, and Nursery has one of two rows: such a class is left out.
    """
    return float(np.mean([roc_auc_score(truth == c, chances[:, c]) for c in np.unique(truth)]))


def log_loss(truth: NDArray[np.intp], chances: NDArray[np.float64]) -> float:
    """Return the mean of minus the logarithm of the chance that the true class was given."""
    given = chances[np.arange(len(truth)), truth]
    return float(-np.mean(np.log(np.clip(given, LEAST_CHANCE, 1.0))))


def by_schema(chances: NDArray[np.float64], own: Any, classes: Any) -> NDArray[np.float64]:
    """Return chances with a column for each of ``classes``, 0 for one that the model has never met."""
    column = {label: c for c, label in enumerate(own)}
    arranged = np.zeros((len(chances), len(classes)))
    for position, label in enumerate(classes):
        if label in column:
            arranged[:, position] = chances[:, column[label]]
    return arranged
