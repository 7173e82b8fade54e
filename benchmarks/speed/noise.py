"""Noise: a million exact discrete Laplace noises, privet against OpenDP.

Both add noise of the same scale to a NumPy vector of a million int64 zeros and return integers, drawn exactly by the
algorithms of Canonne, Kamath and Steinke (2020) or kin, from the system's secure randomness. OpenDP's ``make_laplace``
on int64 is the discrete Laplace. Its time includes handing the vector over and back, about a hundredth
of it (timed at scale 0). The second scale is not a whole number; the Gaussian has no bar.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.speed import harness
from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace

_ZEROS = np.zeros(1_000_000, dtype=np.int64)


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return [_laplace(1.0, 30, 40, repeats=3), _laplace(0.7, 10, None, repeats=1), _gaussian(0.005)]


def _laplace(epsilon: float, sensitivity: int, target: float | None, *, repeats: int) -> harness.Bar:
    import opendp.prelude as dp

    scale = sensitivity / epsilon
    theirs = dp.m.make_laplace(_integers(), dp.l1_distance(T="i64"), scale=scale)
    return _compare(
        f"1e6 discrete Laplace noises of scale {scale:.3g}, OpenDP",
        lambda x: discrete_laplace(x, epsilon=epsilon, sensitivity=sensitivity),
        theirs,
        target,
        repeats=repeats,
    )


def _gaussian(rho: float) -> harness.Bar:
    import opendp.prelude as dp

    sigma = (1 / (2 * rho)) ** 0.5
    theirs = dp.m.make_gaussian(_integers(), dp.l2_distance(T="i64"), scale=sigma)
    return _compare(
        f"1e6 discrete Gaussian noises of sigma {sigma:.3g}, OpenDP",
        lambda x: discrete_gaussian(x, rho=rho, sensitivity_squared=1),
        theirs,
        None,
        repeats=1,
    )


def _integers() -> Any:
    import opendp.prelude as dp

    return dp.vector_domain(dp.atom_domain(T="i64"))


def _compare(
    name: str, mine: Callable[[Any], object], theirs: Callable[[Any], object], target: float | None, *, repeats: int
) -> harness.Bar:
    for mechanism in (mine, theirs):
        mechanism(_ZEROS[:1_000])
    times = harness.side_by_side(lambda: mine(_ZEROS), lambda: theirs(_ZEROS), repeats=repeats)
    return harness.faster(name, times, target)


if __name__ == "__main__":
    harness.main(measure, __doc__)
