"""One attack: many releases of two neighbouring tables, a test learnt on half of them, a bound from the rest."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.attack.bound import epsilon_shown

# A table in, numbers out: a release, and what the attacker reads in it.
Observe: TypeAlias = Callable[[Any], NDArray[np.float64]]
# Told how many of how many releases there are.
Watch: TypeAlias = Callable[[int, int], None]
# Releases a task of a worker, so that progress moves and little is sent.
_CHUNK = 50
_THRESHOLDS = 200
_LIKELIER_THAN_NOT = 0.5


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attack found.

    Attributes
    ----------
    epsilon_shown : float
        With the stated confidence, the release's true epsilon is no smaller.
    scores_without, scores_with : array
        What the attacker's test gave to the releases that it was not learnt on: the larger, the more for the row.
    threshold : float
        He says "the row is there" above it.
    runs : int
        Releases of both tables, those that the test was learnt on included.
    most : float
        What an attacker who is always right would have shown in as many runs.
    """

    epsilon_shown: float
    scores_without: NDArray[np.float64]
    scores_with: NDArray[np.float64]
    threshold: float
    runs: int
    most: float

    @property
    def rates(self) -> tuple[float, float]:
        """How often he says so without the row, and with it."""
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
    """Tell releases of the second table from those of the first, ``runs`` of each."""
    seen = [observations(observe, table, runs, n_jobs, part, watch) for part, table in enumerate(tables)]
    half = runs // 2
    score = _learnt(seen[0][:half], seen[1][:half])
    threshold = _best_threshold(score(seen[0][:half]), score(seen[1][:half]), delta, confidence)
    without, with_row = score(seen[0][half:]), score(seen[1][half:])
    hits = int((with_row > threshold).sum()), int((without > threshold).sum())
    shown = epsilon_shown(hits[0], hits[1], runs - half, delta=delta, confidence=confidence)
    most = epsilon_shown(runs - half, 0, runs - half, delta=delta, confidence=confidence)
    return Attack(shown, without, with_row, threshold, 2 * runs, most)


def observations(
    observe: Observe, table: Any, runs: int, n_jobs: int, part: int = 0, watch: Watch | None = None
) -> NDArray[np.float64]:
    """Return what was seen in ``runs`` releases of one table, a line each."""
    sizes = [min(_CHUNK, runs - start) for start in range(0, runs, _CHUNK)]
    lines, done = [], part * runs
    for chunk in _chunks(observe, table, sizes, n_jobs):
        lines.append(chunk)
        done += len(chunk)
        if watch is not None:
            watch(done, 2 * runs)
    return np.concatenate(lines)


def _chunks(observe: Observe, table: Any, sizes: list[int], n_jobs: int) -> Iterator[NDArray[np.float64]]:
    if n_jobs == 1:
        yield from (_observed(observe, table, size) for size in sizes)
        return
    with ProcessPoolExecutor(n_jobs) as pool:
        yield from pool.map(_observed, [observe] * len(sizes), [table] * len(sizes), sizes)


def _observed(observe: Observe, table: Any, runs: int) -> NDArray[np.float64]:
    return np.array([np.ravel(observe(table)) for _ in range(runs)], dtype=np.float64)


def _learnt(without: NDArray[np.float64], with_row: NDArray[np.float64]) -> Callable[[Any], NDArray[np.float64]]:
    """Return the test: one number as it is, turned so that it grows with the row; several weighed together."""
    if without.shape[1] == 1:
        sign = 1.0 if with_row.mean() >= without.mean() else -1.0
        return lambda seen: sign * seen[:, 0]
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    worlds = np.repeat([False, True], [len(without), len(with_row)])
    test = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    test.fit(np.concatenate([without, with_row]), worlds)
    return lambda seen: np.asarray(test.decision_function(seen), dtype=np.float64)


def _best_threshold(
    without: NDArray[np.float64], with_row: NDArray[np.float64], delta: float, confidence: float
) -> float:
    """Return the border at which the runs that the test was learnt on show most."""
    borders = np.unique(np.quantile(np.concatenate([without, with_row]), np.linspace(0, 1, _THRESHOLDS)))
    hits = [(int((with_row > border).sum()), int((without > border).sum())) for border in borders]
    # With hardly a doubt: else the best of many borders is one in a tail that a few lucky runs have made. Where nothing
    # is shown so surely, what is likelier than not is the best guess.
    for certain in (1.0 - (1.0 - confidence) / _THRESHOLDS**2, confidence, _LIKELIER_THAN_NOT):
        shown = [epsilon_shown(*each, len(without), delta=delta, confidence=certain) for each in hits]
        if max(shown) > 0:
            break
    return float(borders[int(np.argmax(shown))])
