"""The standard deviation of the noise that an event added."""

import math

from privet.errors import ParameterError
from privet.privacy import events

# From here on the discrete Gaussian's standard deviation differs from sigma by less than a float can show.
_LIKE_CONTINUOUS = 4.0


def standard_deviation(event: events.Event) -> float:
    """Return the standard deviation of the noise that one release added to each of its values."""
    match event:
        case events.NoNoise():
            return 0.0
        case events.Seeded() | events.Unproven():
            return standard_deviation(event.part)
        case events.DiscreteLaplace():
            return laplace_deviation(float(event.scale))
        case events.NoiseShares():
            # If all parties follow the protocol, shares are independent, so their variances add up.
            return laplace_deviation(float(event.scale)) * math.sqrt(event.parties / event.honest)
        case events.DiscreteGaussian():
            return gaussian_deviation(float(event.sigma))
    raise ParameterError(
        f"{type(event).__name__} adds no noise to values; pass one of its parts, or a Laplace or Gaussian release"
    )


def laplace_deviation(scale: float) -> float:
    """Return the square root of 2 q / (1 - q)^2, q = exp(-1/scale), without subtracting q from 1."""
    return math.sqrt(2) * math.exp(-1 / (2 * scale)) / -math.expm1(-1 / scale)


def gaussian_deviation(sigma: float) -> float:
    """Return the discrete Gaussian's standard deviation: sigma, or for a small sigma the sum itself."""
    if sigma >= _LIKE_CONTINUOUS:
        return sigma
    weights = [math.exp(-((x / sigma) ** 2) / 2) for x in range(int(40 * sigma) + 2)]
    moment = 2 * sum(x * x * weight for x, weight in enumerate(weights))
    return math.sqrt(moment / (2 * sum(weights) - 1))
