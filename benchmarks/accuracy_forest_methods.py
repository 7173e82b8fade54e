"""The methods that stand beside the recommended forest, by name, and how each is made for a split."""

import math
from collections.abc import Mapping
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import privet
from benchmarks.accuracy_forest_split import Scores, Split, categorical_columns
from benchmarks.naive_bayes import NoisyNaiveBayes

FOREST = "PrivateForest"
NAIVE_BAYES = "naive Bayes"
MAJORITY = "majority"
RANDOM_FOREST, BOOSTING = "random forest", "boosting"
CEILING = (RANDOM_FOREST, BOOSTING)

# Classes by their public names, which are looked up when they are used.
_CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "Private-RDT": ("PrivateRDTClassifier", {"n_trees": 10}),
    "DP-RF": ("DPRFClassifier", {}),
    "DPDF": ("DPDFClassifier", {"n_trees": 1}),
    FOREST: ("PrivateForestClassifier", {}),
}
PRIVATE = (*(name for name in _CLASSES if name != FOREST), NAIVE_BAYES, FOREST)
OTHERS = (MAJORITY, *CEILING)
METHODS = (*OTHERS, *PRIVATE)


def forest_with(parameters: Mapping[str, Any]) -> str:
    """Return the name under which a forest with other parameters stands in the results."""
    return ", ".join([FOREST, *(f"{name}={value}" for name, value in sorted(parameters.items()))])


def scores(method: str, split: Split, epsilon: float, seed: int, parameters: Mapping[str, Any]) -> Scores:
    """Fit a method to a split and score it; ``parameters`` are the forest's."""
    if method in OTHERS:
        return split.scores(_other(method, split, seed), as_numbers=True)
    return split.scores(_private(method, split, epsilon, parameters))


def epsilons_of(method: str, epsilons: tuple[float, ...]) -> tuple[float, ...]:
    """Return at which epsilons a method is measured: one without noise stands at inf."""
    return (math.inf,) if method in OTHERS else epsilons


def _private(method: str, split: Split, epsilon: float, parameters: Mapping[str, Any]) -> Any:
    """Return a model with fresh structure and fresh noise."""
    if method == NAIVE_BAYES:
        return NoisyNaiveBayes(split.schema, epsilon=epsilon)
    name, defaults = _CLASSES[FOREST if method.startswith(FOREST) else method]
    own = parameters if method.startswith(FOREST) else {}
    return getattr(privet, name)(split.schema, epsilon=epsilon, **{**defaults, **own})


def _other(method: str, split: Split, seed: int) -> Any:
    if method == MAJORITY:
        return DummyClassifier(strategy="most_frequent")
    if method == RANDOM_FOREST:
        return RandomForestClassifier(random_state=seed, n_jobs=1)
    return HistGradientBoostingClassifier(
        categorical_features=categorical_columns(split.schema) or None, random_state=seed
    )
