"""The methods, by name: privet's own, what is possible without privacy, and the peers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import privet
from benchmarks.utility import local, peers
from benchmarks.utility.fitting import predictions
from benchmarks.utility.naive_bayes import NoisyNaiveBayes
from benchmarks.utility.scores import Predictions
from benchmarks.utility.splits import Split, category_sizes

Kind: TypeAlias = Literal["own", "variant", "baseline", "peer", "clear", "local"]
EPSILONS = (0.1, 0.5, 1.0, 2.0)
LOCAL_EPSILONS = (1.0, 2.0, 4.0, 8.0)
PURE, LOCALLY, NOTHING = "epsilon", "a local epsilon", "nothing"
NOT_PROVEN = "not proven"


@dataclass(frozen=True)
class Method:
    """One line of the tables.

    Parameters
    ----------
    name
        As it stands in the results.
    kind
        "own" for the main form of a method of privet's, "variant" for its other forms, "baseline", "peer", "clear" for
        what has no privacy, "local" for what trusts nobody.
    promise
        What its models promise.
    setting
        How it is called, for the page.
    fit
        Fits to a split at an epsilon and says what it predicts.
    binary_only
        Whether it knows two classes only.
    apart
        Whether it is left out of means over tables, since not every table can be measured.
    """

    name: str
    kind: Kind
    promise: str
    setting: str
    fit: Callable[[Split, float | None], Predictions]
    binary_only: bool = False
    apart: bool = False

    @property
    def epsilons(self) -> tuple[float | None, ...]:
        """At which epsilons it is measured."""
        if self.kind == "clear":
            return (None,)
        return LOCAL_EPSILONS if self.kind == "local" else EPSILONS


def of_privet(split: Split, epsilon: float | None, *, name: str, parameters: Mapping[str, Any]) -> Predictions:
    """Fit a class of privet's with fresh structure and fresh noise, on one thread."""
    model = getattr(privet, name)(split.schema, epsilon=epsilon, n_jobs=1, **parameters)
    train, test = split.frames()
    return predictions(model, split, train, split.labels, test)


def naive_bayes(split: Split, epsilon: float | None) -> Predictions:
    """Fit naive Bayes to noisy counts."""
    assert epsilon is not None
    train, test = split.frames()
    return predictions(NoisyNaiveBayes(split.schema, epsilon=epsilon), split, train, split.labels, test)


def without_privacy(split: Split, _epsilon: float | None, *, make: Callable[[Split], Any]) -> Predictions:
    """Fit a model of scikit-learn's to numbers."""
    train, test = split.numbers()
    return predictions(make(split), split, train, split.labels, test)


def _boosting(split: Split) -> Any:
    categories = [j for j, size in enumerate(category_sizes(split.schema)) if size]
    return HistGradientBoostingClassifier(categorical_features=categories or None, random_state=split.repeat)


def _own(label: str, name: str, kind: Kind = "own", promise: str = PURE, **parameters: Any) -> Method:
    words = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return Method(label, kind, promise, f"{name}({words})", partial(of_privet, name=name, parameters=parameters))


def _clear(label: str, setting: str, make: Callable[[Split], Any]) -> Method:
    return Method(label, "clear", NOTHING, setting, partial(without_privacy, make=make))


def _peer(peer: peers.Peer) -> Method:
    promise = "epsilon, delta 1e-5" if peer.needs_delta else PURE
    fit = partial(peers.fit, peer)
    return Method(peer.name, "peer", promise, peer.setting, fit, peer.binary_only, peer.apart)


FOREST, FOREST_DELTA = "private forest", "private forest, delta 1e-6"
NAIVE_BAYES = "naive Bayes, noisy counts"
MAJORITY, RANDOM_FOREST, BOOSTING = "majority class", "random forest", "gradient boosting"
CEILING = (RANDOM_FOREST, BOOSTING)

_ALL = (
    _clear(MAJORITY, "DummyClassifier(strategy='prior')", lambda _: DummyClassifier(strategy="prior")),
    _clear(RANDOM_FOREST, "RandomForestClassifier()", lambda split: RandomForestClassifier(random_state=split.repeat)),
    _clear(BOOSTING, "HistGradientBoostingClassifier()", _boosting),
    _own(FOREST, "PrivateForestClassifier"),
    _own(FOREST_DELTA, "PrivateForestClassifier", promise="epsilon, delta 1e-6", delta=1e-6),
    _own("Private-RDT", "PrivateRDTClassifier"),
    _own("DP-RF", "DPRFClassifier"),
    _own("DP-RF, sum", "DPRFClassifier", "variant", vote="sum", noise_factor="sqrt_classes"),
    _own("DPDF, 1 tree", "DPDFClassifier", n_trees=1),
    _own("DPDF, 1 tree, max_class", "DPDFClassifier", "variant", n_trees=1, criterion="max_class"),
    _own("DPDF, 1 tree, entropy", "DPDFClassifier", "variant", n_trees=1, criterion="entropy"),
    _own("DPDF, 1 tree, quantiles", "DPDFClassifier", "variant", n_trees=1, numeric="quantiles"),
    _own("DPDF, 1 tree, paper", "DPDFClassifier", "variant", NOT_PROVEN, n_trees=1, variant="paper"),
    _own("DPDF, 4 trees", "DPDFClassifier", "variant", n_trees=4),
    _own("DPDF, 4 trees, paper", "DPDFClassifier", "variant", NOT_PROVEN, n_trees=4, variant="paper"),
    _own("DiffPID3, n_gini", "DiffPID3Classifier", criterion="n_gini"),
    _own("DiffPID3, gini", "DiffPID3Classifier", "variant", criterion="gini"),
    _own("private ID3", "PrivateID3Classifier"),
    _own("private ID3, height 2", "PrivateID3Classifier", "variant", height=2),
    Method(NAIVE_BAYES, "baseline", PURE, "benchmarks/utility/naive_bayes.py", naive_bayes),
    *map(_peer, peers.PEERS),
    *(Method(name, "local", LOCALLY, setting, fit) for name, setting, fit in local.METHODS),
)
METHODS = {method.name: method for method in _ALL}


def forest_with(parameters: Mapping[str, Any], constants: Mapping[str, Any] | None = None) -> str:
    """Add a recommended forest with other parameters to the methods, and return its name; it also names constants."""
    changes = {**parameters, **(constants or {})}
    name = ", ".join([FOREST, *(f"{key}={value}" for key, value in sorted(changes.items()))])
    METHODS[name] = _own(name, "PrivateForestClassifier", "variant", **parameters)
    return name
