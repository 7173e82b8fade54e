"""Whether noise that trees share has the density that its price is about: the mean of f(b + h) / f(b) over draws is 1.

That holds for every h along which noise is possible, and only of the law whose density is f. The same is asked of the
minimisers that the noise leads to, for whole tables in the place of h. Three classes are asked here too: their columns
are looked at before the mean is taken away, of which the density is known, and what a fit draws is made from those.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from privet.central.weights import noise_groups
from privet.central.weights.objective_noise import choose_noise
from privet.privacy.mechanisms import k_norm
from privet.privacy.mechanisms.k_norm import draw_shared
from privet.rng import SeededNoise, SystemNoise
from tests.central.weights.density import GROUPS, MIXED, PAIR, TinyFit, setting_of
from tests.central.weights.noise_law import NoiseLaw
from tests.statistical.test_density_of_fits import deviations_from_one

N_DRAWS = 60_000
SIZES = {"two and two": (2, 2), "three and two": (2, 3), "three trees": (2, 3, 5), "four alike": (3, 3, 3, 3)}
SIZE = 2.0  # of what is added, in scales: it tells the more the larger it is


def law_of(sizes):
    return NoiseLaw.of(sizes, [range(len(sizes))], [1.0], 2)


def draws_of(sizes, n_draws=N_DRAWS):
    """Return draws of one column at scale 1."""
    noise = SystemNoise()
    return np.array([draw_shared(Fraction(1), sizes, n_weights=1, noise=noise).values[:, 0] for _ in range(n_draws)])


@cache
def sound_draws(sizes):
    return draws_of(sizes)


def additions(sizes):
    """Return what rows can do: one in a leaf of each tree or by halves in two, pulling up or down; two that differ."""
    starts = np.cumsum(sizes) - sizes
    first, last = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    first[starts], last[np.cumsum(sizes) - 1] = 1, 1
    return [SIZE * h for h in (first, -first, last, (first + last) / 2, -(first + last) / 2, (first - last) / 2)]


def log_ratios(draws, sizes, *, scale=1.0, over_trees=np.max):
    """Return log f(b + h) / f(b) of draws, for each h; ``scale`` and ``over_trees`` plant a fault."""
    starts = np.cumsum(sizes) - sizes

    def norms(b):
        return over_trees(np.add.reduceat(np.abs(b), starts, axis=1), axis=1)

    return [(norms(draws) - norms(draws + h)) / scale for h in additions(sizes)]


def worst(logs):
    return max(abs(deviations_from_one(own)) for own in logs)


def test_the_norm_of_many_draws_at_once_is_that_of_the_law():
    sizes = (2, 3, 5)
    law, draws = law_of(sizes), draws_of(sizes, 5)
    for h, logs in zip(additions(sizes), log_ratios(draws, sizes), strict=True):
        found = [law.log_density((b + h)[:, None]) - law.log_density(b[:, None]) for b in draws]
        assert logs == pytest.approx(found)
        assert law.outside((draws[0] + h)[:, None]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_mean_ratio_of_noise_that_trees_share_is_one(sizes):
    draws, law = sound_draws(sizes), law_of(sizes)
    # The grid's step is below 2**-36 of the scale.
    assert max(law.outside(b[:, None]) for b in draws) < 2.0**-30
    logs = log_ratios(draws, sizes)
    print(
        f"\nat most {worst(logs):.2f} s.e. from 1; largest log {max(np.abs(own).max() for own in logs):.3f} of {SIZE}"
    )
    assert worst(logs) < 5
    # A row that pulls by so much in every tree moves the density by no more than one in a single tree.
    assert max(np.abs(own).max() for own in logs) <= SIZE * (1 + 1e-9)


def centred(draws, sizes):
    """Plant a fault: no sum that trees have in common."""
    parts = np.split(draws, np.cumsum(sizes)[:-1], axis=1)
    return np.hstack([own - own.mean(axis=1, keepdims=True) for own in parts])


def of_independent_signs(draws, sizes):
    """Plant a fault: each tree's noise has a sign of its own."""
    signs = np.random.default_rng(3).choice([-1.0, 1.0], (len(draws), len(sizes)))
    return draws * np.repeat(signs, sizes, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.9, 1.1])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_mean_ratio_tells_a_scale_off_by_a_tenth(sizes, scale):
    found = worst(log_ratios(sound_draws(sizes), sizes, scale=scale))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5  # so the test above would fail


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_mean_ratio_tells_noise_for_a_row_in_one_tree(sizes):
    found = worst(log_ratios(sound_draws(sizes) / len(sizes), sizes))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_mean_ratio_tells_noise_that_is_shared_from_noise_of_each_tree(sizes):
    found = worst(log_ratios(sound_draws(sizes), sizes, over_trees=np.sum))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_mean_ratio_tells_noise_without_the_sum_that_trees_have_in_common(sizes):
    draws = centred(sound_draws(sizes), sizes)
    assert max(law_of(sizes).outside(b[:, None]) for b in draws[:100]) < 2.0**-30  # possible, but not the law
    found = worst(log_ratios(draws, sizes))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_noise_whose_sums_differ_between_trees_is_seen_to_be_impossible(sizes):
    draws = of_independent_signs(draws_of(sizes, 50), sizes)
    assert max(law_of(sizes).outside(b[:, None]) for b in draws) > 0.1


def one_exponential_less(patched):
    """Plant a fault: the random factor is that of noise in one dimension less."""
    draw = k_norm.draw_exponential
    patched.setattr(k_norm, "draw_exponential", lambda scale, grid, n, noise: draw(scale, grid, n - 1, noise))


def places_alike(patched):
    """Plant a fault: every degree and number of signs is as likely as any other."""
    draw = k_norm._draw_place
    patched.setattr(k_norm, "_draw_place", lambda weights, noise: draw([1] * len(weights), noise))


def any_uniform(patched):
    """Plant a fault: what cancels follows from one uniform number, and not from the largest of several."""
    draw = k_norm._draw_largest
    patched.setattr(k_norm, "_draw_largest", lambda n, noise: draw(min(1, n), noise))


@pytest.mark.slow
@pytest.mark.parametrize("plant", [one_exponential_less, places_alike, any_uniform])
def test_the_mean_ratio_tells_a_sampler_of_another_law(plant, monkeypatch):
    sizes = SIZES["four alike"]
    plant(monkeypatch)
    found = worst(log_ratios(draws_of(sizes), sizes))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5


# Minimisers, with the product's own scales.


def unprojected(scale, sizes, *, n_weights, noise):
    """Stand in for `draw_shared`: the columns before their mean is taken away."""
    wide = scale if n_weights == 1 else 2 * scale
    drawn = [draw_shared(wide, sizes, n_weights=1, noise=noise) for _ in range(n_weights)]
    return replace(drawn[0], values=np.hstack([own.values for own in drawn]))


@pytest.mark.parametrize("n_weights", [1, 3])
def test_what_is_drawn_are_such_columns_less_their_mean(n_weights):
    drawn, plain = (
        draw(Fraction(3, 7), (3, 2, 4), n_weights=n_weights, noise=SeededNoise(5)).values
        for draw in (draw_shared, unprojected)
    )
    assert drawn == pytest.approx(plain - plain.mean(axis=1, keepdims=True) * (n_weights > 1), abs=1e-12)
    assert np.ptp(plain[:, 0]) > 0.1


def minimiser(fit, rows, tilt):
    """Return where the gradient is the opposite of the noise, by Newton's steps."""
    weights = np.zeros_like(tilt)
    for _ in range(60):
        gradient = fit.precision @ weights + tilt
        hessian = np.kron(fit.precision, np.eye(tilt.shape[1]))
        for cells, label in rows:
            reached = fit.reached(cells)
            pull, bend = fit.pull_and_curvature(weights, reached, label)
            gradient = gradient + np.outer(reached, pull)
            hessian = hessian + np.kron(np.outer(reached, reached), bend)
        if np.abs(gradient).max() < 1e-10:
            return weights
        step = np.linalg.solve(hessian, gradient.ravel()).reshape(tilt.shape)
        weights = weights - step * min(1.0, 3 / np.abs(step).max())
    raise AssertionError("Newton's steps do not end")


# Classes, trees, epsilon, and how many draws; the trees of a pair share their noise as well.
FITS = {
    "two trees": (2, GROUPS[2], 3.0, 4_000),
    "three trees": (2, GROUPS[3], 3.0, 4_000),
    "a pair": (2, PAIR, 2.0, 4_000),
    "some alone": (2, MIXED, 3.0, 2_000),
    "three classes": (3, GROUPS[2], 2.0, 4_000),
    "three classes, some alone": (3, MIXED, 2.0, 1_000),
}


def minimisers(name, *, halved=None):
    """Return the fit, its table and other ones, and minimisers for the first; a group's noise may be ``halved``."""
    n_classes, groups, epsilon, n_draws = FITS[name]
    policy, trees = setting_of(n_classes, epsilon, groups)
    fit = TinyFit.of(n_classes, epsilon, groups=groups, lead=-2.0)
    law = choose_noise(policy, trees, policy.shares.fit)
    if halved is not None:
        law = replace(law, scales=tuple(s / (2 if g == halved else 1) for g, s in enumerate(law.scales)))
    first, last = trees.cell_starts, trees.cell_starts + trees.cell_sizes - 1
    rows, row = [(first, 0), (last, n_classes - 1)], (first, n_classes - 1)
    noise = SystemNoise()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(noise_groups, "draw_shared", unprojected)
        drawn = [minimiser(fit, rows, law.draw(noise).values) for _ in range(n_draws)]
    return fit, rows, [[*rows, row], [*rows, (last, 0)], rows[1:], []], drawn


def ratios_of(fit, own, others, drawn):
    here = np.array([fit.log_density(weights, own) for weights in drawn])
    return [np.array([fit.log_density(weights, rows) for weights in drawn]) - here for rows in others]


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_the_mean_ratio_of_minimisers_with_shared_noise_is_one(name):
    fit, rows, others, drawn = minimisers(name)
    logs = ratios_of(fit, rows, others, drawn)
    for own, other in zip(logs, others, strict=True):
        changed = abs(len(other) - len(rows))
        assert np.abs(own).max() <= changed * fit.price
    print(f"\nat most {worst(logs):.2f} s.e. from 1; largest log {np.abs(logs[0]).max() / fit.price:.3f} of the price")
    assert worst(logs) < 5
    # The same search tells a determinant that is forgotten.
    bare = [own - log_determinants(fit, rows, other, drawn) for own, other in zip(logs, others, strict=True)]
    print(f"without the determinant {worst(bare):.1f} s.e.")
    assert worst(bare) > 5


def log_determinants(fit, own, other, drawn):
    flat = replace(fit, law=replace(fit.law, scales=tuple(np.inf for _ in fit.law.scales)))
    return np.array([flat.log_density(weights, other) - flat.log_density(weights, own) for weights in drawn])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "group"), [("two trees", 0), ("some alone", 0), ("some alone", 1), ("three classes", 0)]
)
def test_the_mean_ratio_tells_half_the_noise_in_one_group(name, group):
    fit, rows, others, drawn = minimisers(name, halved=group)
    found = worst(ratios_of(fit, rows, others, drawn))
    print(f"\n{found:.1f} s.e. from 1")
    assert found > 5
