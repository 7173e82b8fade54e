"""The distributions of noise: widths by hand, and densities, cdfs and their integrals against each other."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from privet.errors import ParameterError
from privet.local.channels.distributions import DISTRIBUTIONS, Gaussian, Laplace, Uniform

ALL = [noise(scale) for noise in DISTRIBUTIONS.values() for scale in (0.3, 2.0)]
POINTS = np.array([-7.0, -2.0, -0.31, -0.1, 0.0, 0.05, 0.3, 1.0, 2.5, 9.0])


def name(noise):
    return f"{noise.name} {noise.scale}"


def test_widths_are_those_of_the_paper():
    for confidence, in_alpha, in_sigma in [(0.5, 1.0, 1.34), (0.95, 1.9, 3.92), (0.999, 1.998, 6.8)]:
        assert Uniform(10).width(confidence) == pytest.approx(10 * in_alpha)
        assert Gaussian(10).width(confidence) == pytest.approx(10 * in_sigma, rel=0.04)
    assert Gaussian(1).width(0.95) == pytest.approx(3.919928, abs=1e-6)
    assert Laplace(2).width(0.5) == pytest.approx(4 * math.log(2))


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_a_distribution_of_a_width_has_that_width(noise):
    for confidence in (0.5, 0.95):
        assert type(noise).of_width(12.0, confidence).width(confidence) == pytest.approx(12.0)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_interval_of_a_width_holds_its_share_of_the_noise(noise):
    half = noise.width(0.95) / 2
    assert noise.cdf(np.array([half]))[0] - noise.cdf(np.array([-half]))[0] == pytest.approx(0.95)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_cdf_adds_up_the_density(noise):
    for z in POINTS:
        below = -10 * noise.scale
        kinks = sorted({below, *(k for k in (-noise.scale, 0.0, noise.scale) if k < z), z})
        total = sum(quad(lambda t: noise.density(np.float64(t)), a, b)[0] for a, b in itertools.pairwise(kinks))
        assert noise.cdf(z) == pytest.approx(total, abs=5e-5)  # of Laplace's noise e^-10 / 2 lies below


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_integral_of_the_cdf_is_one(noise):
    for a, b in itertools.pairwise(POINTS):
        kinks = sorted({a, *(k for k in (-noise.scale, 0.0, noise.scale) if a < k < b), b})
        total = sum(quad(noise.cdf, low, high)[0] for low, high in itertools.pairwise(kinks))
        assert noise.cdf_integral(b) - noise.cdf_integral(a) == pytest.approx(total, abs=1e-9)
    assert noise.cdf_integral(np.float64(-60.0)) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_standard_deviation_and_entropy_are_those_of_the_density(noise):
    z, step = np.linspace(-40 * noise.scale, 40 * noise.scale, 800_001, retstep=True)
    density = noise.density(z)
    assert np.sqrt(np.sum(density * z**2) * step) == pytest.approx(noise.std, rel=1e-4)
    held = density > 0
    assert -np.sum(density[held] * np.log2(density[held])) * step == pytest.approx(noise.entropy, abs=1e-4)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_distributions_are_symmetric(noise):
    assert_allclose(noise.density(-POINTS), noise.density(POINTS))
    assert_allclose(noise.cdf(-POINTS), 1 - noise.cdf(POINTS), atol=1e-15)


def test_the_ends_of_the_uniform_distribution_count_half():
    assert Uniform(0.5).density(np.array([-0.5, 0.0, 0.5, 0.51])).tolist() == [0.5, 1.0, 0.5, 0.0]


def test_what_lies_beyond_the_reach_of_a_law():
    assert Uniform(3.0).cdf(Uniform(3.0).reach) == 1.0
    assert Gaussian(3.0).cdf(-Gaussian(3.0).reach) < 2.0**-64
    assert Laplace(3.0).cdf(-Laplace(3.0).reach) == pytest.approx(math.exp(-12) / 2)


@pytest.mark.parametrize("noise", DISTRIBUTIONS.values())
@pytest.mark.parametrize(
    ("scale", "message"),
    [(0.0, "must be above 0 and finite"), (-1.0, "above 0"), (math.inf, "finite"), (math.nan, "above 0"),
     ("3", "must be a number; write it without quotes"), (True, "must be a number"), (None, "must be a number")],
)  # fmt: skip
def test_a_scale_that_is_none_is_refused(noise, scale, message):
    with pytest.raises(ParameterError, match=message):
        noise(scale)
