"""One attack: many releases of two neighbouring tables, a test learnt on half of them, a bound from the other half."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.attack.claim import epsilon_shown
from privet.errors import ExecutorError, ParameterError

# Numbers are clipped to it, so that their squares stay finite.
_LARGEST = 1e100
_THRESHOLDS = 200
_LIKELIER_THAN_NOT = 0.5
# Makes a release of a table and returns what the attacker reads in it.
Observe: TypeAlias = Callable[[Any], NDArray[np.float64]]
# Called with the number of releases made and the number of all releases.
Watch: TypeAlias = Callable[[int, int], None]
# Releases per task of a worker: few enough to show progress, many enough to send little.
_CHUNK = 50


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attack found.

    Attributes
    ----------
    epsilon_shown : float
        With the stated confidence, the true epsilon of the release is at least this large.
    scores_without, scores_with : array
        The scores of the releases that the test was not learnt on. A larger one is stronger evidence for the row.
    threshold : float
        Above it the attacker says "the row is there".
    runs : int
        Releases of both tables, including those that the test was learnt on.
    most : float
        The bound that an attacker who is always right would have shown in as many runs.
    """

    epsilon_shown: float
    scores_without: NDArray[np.float64]
    scores_with: NDArray[np.float64]
    threshold: float
    runs: int
    most: float

    @property
    def rates(self) -> tuple[float, float]:
        """How often the attacker says so without the row, and with it."""
        return float(np.mean(self.scores_without > self.threshold)), float(np.mean(self.scores_with > self.threshold))


def distinguish(
    observe: Observe,
    tables: tuple[Any, Any],
    *,
    runs: int,
    delta: float = 0.0,
    confidence: float = 0.95,
    n_jobs: int = 1,
    watch: Watch | None = None,
) -> Attack:
    """Learn to tell releases of the second table from those of the first, and return what the attack shows."""
    seen = [_outcomes(lines) for lines in observations(observe, tables, runs=runs, n_jobs=n_jobs, watch=watch)]
    half = runs // 2
    score = _learn_test(seen[0][:half], seen[1][:half])
    threshold = _best_threshold(score(seen[0][:half]), score(seen[1][:half]), delta, confidence)
    without, with_row = score(seen[0][half:]), score(seen[1][half:])
    hits = int((with_row > threshold).sum()), int((without > threshold).sum())
    shown = epsilon_shown(hits[0], hits[1], runs - half, delta=delta, confidence=confidence)
    most = epsilon_shown(runs - half, 0, runs - half, delta=delta, confidence=confidence)
    return Attack(shown, without, with_row, threshold, 2 * runs, most)


def _outcomes(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return finite numbers. NaN and the infinities become 0, with a 1 in a column of their own."""
    odd = np.isnan(seen), np.isposinf(seen), np.isneginf(seen)
    return np.hstack([np.where(np.isfinite(seen), np.clip(seen, -_LARGEST, _LARGEST), 0.0), *odd])


def _learn_test(without: NDArray[np.float64], with_row: NDArray[np.float64]) -> Callable[[Any], NDArray[np.float64]]:
    """Return the test: a single number, signed so that it grows with the row; several by logistic regression."""
    both = np.concatenate([without, with_row])
    varied = np.flatnonzero(np.ptp(both, axis=0))
    if len(varied) == 0:
        return lambda seen: np.zeros(len(seen))
    if len(varied) == 1:
        sign = 1.0 if with_row[:, varied].mean() >= without[:, varied].mean() else -1.0
        return lambda seen: sign * seen[:, varied[0]]
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    worlds = np.repeat([False, True], [len(without), len(with_row)])
    test = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(both[:, varied], worlds)
    return lambda seen: np.asarray(test.decision_function(seen[:, varied]), dtype=np.float64)


def _best_threshold(
    without: NDArray[np.float64], with_row: NDArray[np.float64], delta: float, confidence: float
) -> float:
    """Return the threshold at which the training runs show the largest epsilon."""
    both = np.concatenate([without, with_row])
    thresholds = np.unique(np.quantile(both, np.linspace(0, 1, _THRESHOLDS)))
    hits = [(int((with_row > threshold).sum()), int((without > threshold).sum())) for threshold in thresholds]
    # First at very high confidence: otherwise the best of many thresholds lies in a tail that a few lucky runs made.
    # Where nothing shows at high confidence, a lower one gives the best guess.
    for certain in (1.0 - (1.0 - confidence) / _THRESHOLDS**2, confidence, _LIKELIER_THAN_NOT):
        shown = [epsilon_shown(*each, len(without), delta=delta, confidence=certain) for each in hits]
        if max(shown) > 0:
            break
    best = float(thresholds[int(np.argmax(shown))])
    beyond = both[both > best]
    return (best + float(beyond.min())) / 2 if len(beyond) else best


def numbers_in(released: Any) -> NDArray[np.float64]:
    """Return what was released as a vector of numbers, which may be infinite or NaN."""
    try:
        plain = np.ravel(released)
        if plain.dtype.kind in "biufO":
            return plain.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(
        "what was released is text, a record or a list of uneven parts, and the attacker needs numbers; pass read=, a "
        "function that turns it into numbers"
    )


def observations(
    observe: Observe, tables: tuple[Any, Any], *, runs: int, n_jobs: int = 1, watch: Watch | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the attacker reads in ``runs`` releases of each of two tables, one line per release."""
    lines: list[NDArray[np.float64]] = []
    for table in tables:
        for chunk in _chunks(observe, table, runs, n_jobs):
            lines += chunk
            if any(len(line) != len(lines[0]) for line in chunk):
                raise ParameterError(
                    "releases differ in how many numbers they hold, and the attacker compares them one by one; pass "
                    "read=, a function that returns equally many for each, the original number among them"
                )
            if watch is not None:
                watch(len(lines), 2 * runs)
    return np.array(lines[:runs]), np.array(lines[runs:])


def _chunks(observe: Observe, table: Any, runs: int, n_jobs: int) -> Iterator[list[NDArray[np.float64]]]:
    sizes = [min(_CHUNK, runs - start) for start in range(0, runs, _CHUNK)]
    if n_jobs == 1:
        yield from (_observe_runs(observe, table, size) for size in sizes)
        return
    _check_picklable(observe, table)
    try:
        with ProcessPoolExecutor(n_jobs) as pool:
            yield from pool.map(_observe_runs, [observe] * len(sizes), [table] * len(sizes), sizes)
    except BrokenProcessPool:
        raise ExecutorError("a process ended during a release; pass n_jobs=1 to see where") from None


def _check_picklable(*sent: Any) -> None:
    try:
        ForkingPickler.dumps(sent)
    except Exception:  # a class of the caller may raise anything when it is pickled
        raise ParameterError(
            "the function or its tables cannot be sent to other processes; pass n_jobs=1, or a function from the top "
            "of a module instead of a lambda or an inner one"
        ) from None


def _observe_runs(observe: Observe, table: Any, runs: int) -> list[NDArray[np.float64]]:
    return [observe(table) for _ in range(runs)]
