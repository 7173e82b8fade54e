"""What the time of a draw tells of the noise drawn: the child of `run`, prints one line of JSON.

``python -m benchmarks.load.draw_time N_DRAWS``. Samplers reject and begin anew, so they use more random words for some
draws than for others. Words are counted by handing them over one at a time; time is the processor's, of batches of a
thousand draws, as somebody with a stopwatch sees it at best.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.rng import SystemNoise

Draw = Callable[[NDArray[np.int64], Any], NDArray[np.int64]]

_SCALE = 30
_BATCH = 1_000
# Batches that take longer than most were interrupted, and tell of other programs.
_USUAL = 0.9
DRAWS: dict[str, Draw] = {
    "Laplace, scale 30": lambda zeros, noise: discrete_laplace(zeros, epsilon=1.0, sensitivity=_SCALE, noise=noise)[0],
    "Gaussian, sigma 30": lambda zeros, noise: discrete_gaussian(
        zeros, rho=0.5 / _SCALE**2, sensitivity_squared=1, noise=noise
    )[0],
    "one of 5 shares, scale 30": lambda zeros, noise: noise_share(
        zeros, epsilon=1.0, sensitivity=_SCALE, honest=5, parties=5, noise=noise
    )[0],
}


class OneAtATime:
    """Hands over one word at a time and counts them."""

    secure = True

    def __init__(self) -> None:
        self.n_words, self._noise = 0, SystemNoise()

    def words(self, n: int) -> NDArray[np.uint32]:
        """Return the next word, however many are asked for."""
        self.n_words += 1
        return self._noise.words(min(n, 1))


def words_of(release: Callable[[Any], Any]) -> tuple[int, Any]:
    """Return how many words a release uses, and the release."""
    noise = OneAtATime()
    released = release(noise)
    return noise.n_words, released


def words_by_size(draw: Draw, n_draws: int) -> dict[str, float]:
    """Return how many words single draws take: of small noise, of large noise, and how the two go together."""
    zero = np.zeros(1, dtype=np.int64)
    found = [words_of(lambda noise: draw(zero, noise)) for _ in range(n_draws)]
    words, sizes = np.array([w for w, _ in found], dtype=float), np.array([abs(int(x[0])) for _, x in found])
    return {
        "words": float(words.mean()),
        "words_below_scale": float(words[sizes < _SCALE].mean()),
        "words_above_three_scales": float(words[sizes > 3 * _SCALE].mean()) if (sizes > 3 * _SCALE).any() else np.nan,
        "correlation": float(np.corrcoef(words, sizes)[0, 1]),
    }


def n_timed(n_draws: int) -> int:
    """Return how many batches the correlation with time is of."""
    return round(_USUAL * _n_batches(n_draws))


def _n_batches(n_draws: int) -> int:
    return n_draws // 5


def time_by_size(draw: Draw, n_batches: int) -> float:
    """Return the correlation of a batch's time with the mean size of its noise."""
    zeros, system = np.zeros(_BATCH, dtype=np.int64), SystemNoise()
    taken, sizes = np.empty(n_batches), np.empty(n_batches)
    for i in range(n_batches):
        start = time.process_time_ns()
        noise = draw(zeros, system)
        taken[i], sizes[i] = time.process_time_ns() - start, np.abs(noise).mean()
    usual = taken <= np.quantile(taken, _USUAL)
    return float(np.corrcoef(taken[usual], sizes[usual])[0, 1])


def words_by_scores(n_draws: int) -> dict[str, float]:
    """Return how many words a choice among ten takes, by how far the best is ahead of all others."""
    found = {}
    for lead in (0, 10, 1_000):
        scores = np.array([lead, *([0] * 9)])
        found[str(lead)] = float(np.mean([_words_of_choice(scores) for _ in range(n_draws)]))
    return found


def _words_of_choice(scores: NDArray[np.int64]) -> int:
    return words_of(lambda noise: permute_and_flip(scores, epsilon=0.2, sensitivity=1, noise=noise))[0]


def main(n_draws: int) -> None:
    laws = {
        name: {**words_by_size(draw, n_draws), "time_correlation": time_by_size(draw, _n_batches(n_draws))}
        for name, draw in DRAWS.items()
    }
    print(json.dumps({"draws": n_draws, "laws": laws, "choice": words_by_scores(n_draws // 5)}))


if __name__ == "__main__":
    main(int(float(sys.argv[1])))
