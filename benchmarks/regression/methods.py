"""What is compared: the regressor, peers in an environment of their own, and what is possible without privacy."""

import atexit
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_environment import DIFFPRIVLIB, INTERPRET, python_with
from benchmarks.regression import linear
from benchmarks.regression.peer_fit import indicators
from benchmarks.regression.tables import Split
from privet import PrivateForestRegressor

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
DELTA = 1e-6
_SCRIPT = Path(__file__).with_name("peer_fit.py")


class Answer(NamedTuple):
    """What is predicted for the test rows, and the CPU seconds of the fit."""

    predicted: NDArray[np.float64]
    seconds: float


class Method(NamedTuple):
    """One method: how it is called, what it promises, and its fit."""

    setting: str
    promise: str
    fit: Callable[[Split, float | None], Answer]


def _forest(**parameters: Any) -> Callable[[Split, float | None], Answer]:
    def fit(split: Split, epsilon: float | None) -> Answer:
        (train, test), (y, _) = split.frames(), split.targets()
        assert epsilon is not None
        model = PrivateForestRegressor(split.schema, epsilon=epsilon, n_jobs=1, **parameters)
        start = time.process_time()
        model.fit(train, y)
        return Answer(model.predict(test), time.process_time() - start)

    return fit


def _peer(model: str) -> Callable[[Split, float | None], Answer]:
    return lambda split, epsilon: _worker().fit(model, split, epsilon)


def _noisy_sums(split: Split, epsilon: float | None) -> Answer:
    assert epsilon is not None
    given = split.for_peers()
    sizes, bounds, (low, high) = given["sizes"], given["bounds"], given["target_bounds"]
    train, test = (indicators(given[part], sizes, bounds) for part in ("train", "test"))
    y = (np.clip(given["y"], low, high) - low) / (high - low)
    start = time.process_time()
    found = linear.predicted(train, y, test, norm=len(sizes), epsilon=epsilon, delta=DELTA)
    return Answer(low + (high - low) * found, time.process_time() - start)


def _boosting(split: Split, epsilon: float | None) -> Answer:  # noqa: ARG001 - it has no price
    from sklearn.ensemble import HistGradientBoostingRegressor

    (train, test), (y, _) = split.numbers, split.targets()
    is_category = [bool(size) for size in split.for_peers()["sizes"]]
    model = HistGradientBoostingRegressor(categorical_features=is_category, random_state=split.repeat)
    start = time.process_time()
    return Answer(model.fit(train, y).predict(test), time.process_time() - start)


def _mean(split: Split, _: float | None) -> Answer:
    y, truth = split.targets()
    return Answer(np.full(len(truth), y.mean()), 0.0)


class _Worker:
    """A process in the peers' environment that fits one model after the other: importing takes seconds."""

    def __init__(self, python: Path) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [str(python), "-P", str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        atexit.register(self.close)

    def fit(self, model: str, split: Split, epsilon: float | None) -> Answer:
        """Send the rows and read the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        rows, answer = Path(self._folder.name, "rows.npz"), Path(self._folder.name, "answer.npy")
        np.savez(rows, **split.for_peers())  # type: ignore[arg-type]
        question = {"model": model, "epsilon": epsilon, "delta": DELTA, "rows": str(rows), "answer": str(answer)}
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        if "failed" in said:
            raise RuntimeError(said["failed"])
        return Answer(np.load(answer), said["seconds"])

    def close(self) -> None:
        """End the process and take its files away."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


@cache
def _worker() -> _Worker:
    pythons = [python_with("diffprivlib", DIFFPRIVLIB), python_with("interpret.privacy", [INTERPRET])]
    return _Worker(pythons[0])


FOREST, FOREST_DELTA = "private forest", "private forest, delta 1e-6"
PRIVATE = {
    FOREST: Method("PrivateForestRegressor()", "epsilon", _forest()),
    FOREST_DELTA: Method("PrivateForestRegressor(delta=1e-6)", "epsilon, delta 1e-6", _forest(delta=DELTA)),
    "DP-EBM": Method(
        "DPExplainableBoostingRegressor(delta=1e-6, feature_types=..., privacy_bounds=..., privacy_target_min=..., "
        "privacy_target_max=...)", "epsilon, delta 1e-6", _peer("ebm"),
    ),
    "noisy sums, ridge": Method(
        "sums of squares and products with normal noise, then ridge regression, on the same columns as diffprivlib's",
        "epsilon, delta 1e-6", _noisy_sums,
    ),
    "diffprivlib linear": Method(
        "LinearRegression(bounds_X=(0, 1), bounds_y=...) on indicators of categories and numbers scaled to 0..1",
        "epsilon", _peer("linear"),
    ),
}  # fmt: skip
BOUNDS = {
    "boosting, not private": Method("HistGradientBoostingRegressor()", "none", _boosting),
    "mean of the training rows": Method("", "none", _mean),
}
METHODS = PRIVATE | BOUNDS
