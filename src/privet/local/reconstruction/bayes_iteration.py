"""The Bayes iteration of Agrawal and Srikant (2000, eq. 3), for many samples that went through one channel.

The better known name of its steps is expectation maximisation: each gives every answer its share of the cells that it
may have come from, by the estimate so far, and takes the sums for the next estimate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_STEPS = 10_000
# Of the chi-square threshold, in which successive estimates may differ (section 3, "Stopping Criterion").
TOLERANCE = 0.01
_CONFIDENCE = 0.95
# What no answer can have come from keeps a share that divides.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the iteration ends with, one line a sample."""

    shares: Floats
    n_steps: NDArray[np.int64]
    converged: NDArray[np.bool_]


def iterate(
    matrix: Floats, counts: Floats, start: Floats, *, max_steps: int = MAX_STEPS, tolerance: float = TOLERANCE
) -> Estimates:
    """Return the estimated shares of the true cells for every sample.

    Parameters
    ----------
    matrix : array of answers x true cells
        The chance of each answer, or a number proportional to it, from each true cell.
    counts : array of samples x answers
        How often each answer was given; at least once in every sample.
    start : array of true cells
        The first estimate.
    max_steps : int
        Stop here at the latest.
    tolerance : float
        Stop when the chi-square distance of successive estimates, as counts, is below this share of the 0.95
        threshold.

    Notes
    -----
    The matrices are small: whoever calls this often keeps BLAS to one thread, which is quicker.
    """
    n_samples, n_cells = len(counts), matrix.shape[1]
    shares, n_steps, converged = _as_started(start, n_samples)
    if n_cells == 1 or not n_samples:
        return Estimates(shares, n_steps, np.ones(n_samples, dtype=bool))
    enough = tolerance * chi_square_threshold(n_cells - 1)
    answered = counts.any(axis=0)
    active, size = np.arange(n_samples), counts.sum(axis=1)
    likely, weight = np.ascontiguousarray(matrix[answered]), counts[:, answered] / size[:, None]
    for _ in range(max_steps):
        before = shares[active]
        after = _step(likely, weight, before)
        near = size[active] * _distance(before, after) < enough
        shares[active] = after
        n_steps[active] += 1
        if near.any():
            converged[active[near]] = True
            active, weight = active[~near], weight[~near]
            if not len(active):
                break
    return Estimates(shares, n_steps, converged)


def chi_square_threshold(degrees: int) -> float:
    """Return what a chi-square variable exceeds one time of twenty."""
    from scipy.special import chdtri

    return float(chdtri(degrees, 1 - _CONFIDENCE))


def posterior(matrix: Floats, shares: Floats) -> Floats:
    """Return the chance of each true cell given each answer; nothing is known of an answer that cannot be."""
    joint = matrix * shares
    total = joint.sum(axis=1, keepdims=True)
    known = total[:, 0] > 0
    chances = np.broadcast_to(shares, joint.shape).copy()
    chances[known] = joint[known] / total[known]
    return chances


def _as_started(start: Floats, n_samples: int) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    shares = np.repeat(start[None, :] / start.sum(), n_samples, axis=0)
    return shares, np.zeros(n_samples, dtype=np.int64), np.zeros(n_samples, dtype=bool)


def _step(likely: Floats, weight: Floats, shares: Floats) -> Floats:
    expected = shares @ likely.T
    np.maximum(expected, _TINY, out=expected)
    after: Floats = shares * ((weight / expected) @ likely)
    total = after.sum(axis=1, keepdims=True)
    # Answers that no cell can have given drop out; where there are no others, nothing is learnt.
    return np.where(total > 0, after / np.where(total > 0, total, 1.0), shares)


def _distance(before: Floats, after: Floats) -> Floats:
    """Return the chi-square distance of shares, per row of the sample."""
    distance: Floats = ((after - before) ** 2 / np.maximum(before, _TINY)).sum(axis=1)
    return distance
