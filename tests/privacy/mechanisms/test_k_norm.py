"""Noise that trees share: volumes and weights by hand, errors, sums, and how large it is."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.privacy.mechanisms import k_norm
from privet.privacy.mechanisms.k_norm import MOST_DIMENSIONS, MOST_SHARED_LEAVES, draw_shared, shared_deviation
from privet.privacy.mechanisms.linear_noise import grid_of
from privet.rng import SeededNoise, SystemNoise
from tests.loops import loop_over

SCALE = Fraction(7, 3)
MANY_SIZES = [(2, 2), (3, 3), (2, 3), (1, 1), (1, 4), (2, 5, 9), (8,) * 3, (16,) * 8, (2,) * 128, (32,) * 4]


def n_dimensions_of(sizes):
    return sum(sizes) - len(sizes)


def draw(sizes, n_weights=1, noise=None):
    return draw_shared(SCALE, sizes, n_weights=n_weights, noise=noise or SystemNoise())


def trees_of(values, sizes):
    return np.split(values, np.cumsum(sizes)[:-1])


def terms_of(size):
    """Return what the argument says of a tree's slice: volume, degree of the common sum, number of positive leaves."""
    if size == 1:
        return [(Fraction(1), 0, 1)]
    mixed = [
        (Fraction(math.comb(size, j) * math.comb(j - 1, i), bottom * (size - 1 - i)), i, j)
        for i in range(size - 1)
        for j in range(i + 1, size)
        for bottom in [math.factorial(j - 1) * math.factorial(size - j - 1)]
    ]
    return [*mixed, (Fraction(1, math.factorial(size - 1)), size - 1, size)]


def volume_of(size):
    """Return the same as a polynomial: degree of the common sum to volume."""
    found = dict.fromkeys(range(size), Fraction(0))
    for volume, i, _ in terms_of(size):
        found[i] += volume
    return found


def product(left, right):
    found = {}
    for i, own in left.items():
        for j, other in right.items():
            found[i + j] = found.get(i + j, Fraction(0)) + own * other
    return found


@pytest.mark.parametrize(
    ("size", "volume"),
    [
        (1, (1,)),  # a point
        (2, (2, 1)),  # of x + y = s the part within |x| + |y| <= 2 q + s is as long as 2 q + s
        (3, (6, 6, 1)),  # a hexagon of area 3 q^2 + 3 q s + s^2 / 2: three corners are cut off a triangle of (s + q)^2
        (4, (20, 30, 12, 1)),
    ],
)
def test_the_volume_of_a_trees_slice_by_hand(size, volume):
    assert k_norm._volume(size) == volume


@loop_over("size", [1, 2, 3, 4, 5, 8, 17, MOST_SHARED_LEAVES])
def test_volumes_are_those_of_the_argument_in_whole_numbers(size):
    ours, exact = k_norm._volume(size), volume_of(size)
    assert all(isinstance(own, int) for own in ours)
    assert math.gcd(*ours) == 1
    assert [Fraction(own, ours[-1]) for own in ours] == [exact[i] / exact[size - 1] for i in range(size)]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_slice_has_the_volume_of_the_points_that_fall_into_it(size):
    # Points whose last leaf is what is left of the sum; leaves lie between -q and q + s, and q is 1.
    volume, rng, n = volume_of(size), np.random.default_rng(size), 400_000
    for common in (0.0, 0.7, 3.0):
        free = rng.uniform(-1, 1 + common, size=(n, size - 1))
        norm = np.abs(free).sum(axis=1) + np.abs(common - free.sum(axis=1))
        share, box = (norm <= 2 + common).mean(), (2 + common) ** (size - 1)
        spread = box * math.sqrt(share * (1 - share) / n)
        expected = float(sum(own * Fraction(common) ** i for i, own in volume.items()))
        assert share * box == pytest.approx(expected, abs=6 * spread + 1e-9)
    # Without the part in which all leaves have one sign it would be less, which shows where the sum is large.
    assert share * box - (expected - float(volume[size - 1]) * common ** (size - 1)) > 20 * spread


def test_the_weights_of_two_trees_of_two_leaves_by_hand():
    law = k_norm._Law.of((2, 2))
    # (2 q + s)^2 = 4 q^2 + 4 q s + s^2, times the moments 2 0!, 1! 1! 2 and 2! 4.
    assert (law.n_dimensions, law.products[0], law.weights) == (2, (4, 4, 1), (8, 8, 8))


def test_trees_of_one_leaf_change_nothing_in_the_others():
    alone, together = k_norm._Law.of((3, 5)), k_norm._Law.of((1, 3, 1, 5, 1))
    assert (alone.n_dimensions, alone.weights) == (together.n_dimensions, together.weights)


@loop_over("sizes", [(2, 3), (1, 2, 5), (8, 8, 8), (2, 5, 9), (4,) * 10])
def test_weights_are_products_of_volumes_times_moments(sizes):
    n = n_dimensions_of(sizes)
    exact = reduce(product, map(volume_of, sizes), {0: Fraction(1)})
    moments = [exact[k] * math.factorial(k) * math.factorial(n - k) * 2**k for k in range(n + 1)]
    ours = k_norm._Law.of(sizes).weights
    assert [Fraction(own, sum(ours)) for own in ours] == [own / sum(moments) for own in moments]


def test_a_long_process_does_not_keep_the_law_of_every_forest():
    for size in range(2, 102):
        k_norm._Law.of((size, 2))
    assert k_norm._Law.of.cache_info().currsize <= 32
    hits = k_norm._Law.of.cache_info().hits
    k_norm._Law.of((101, 2))
    assert k_norm._Law.of.cache_info().hits == hits + 1


@loop_over("sizes", MANY_SIZES)
def test_every_tree_has_the_same_sum(sizes):
    assert n_dimensions_of(sizes) <= MOST_DIMENSIONS
    drawn = draw(sizes)
    assert drawn.values.shape == (sum(sizes), 1)
    sums = [own.sum() for own in trees_of(drawn.values[:, 0], sizes)]
    assert max(sums) - min(sums) <= drawn.error
    assert abs(sums[0]) > 100 * drawn.error


@loop_over("sizes", [(2, 2), (3, 5), (1, 4), (16,) * 8])
@loop_over("n_weights", [3, 5, 27])
def test_weights_of_more_classes_add_up_to_zero(sizes, n_weights):
    drawn = draw(sizes, n_weights)
    assert drawn.values.shape == (sum(sizes), n_weights)
    assert (np.abs(drawn.values.sum(axis=1)) <= drawn.error).all()
    sums = np.array([own.sum(axis=0) for own in trees_of(drawn.values, sizes)])
    assert (np.ptp(sums, axis=0) <= drawn.error).all()
    assert (np.abs(sums[0]) > 100 * drawn.error).any()


def test_more_classes_have_columns_of_twice_the_scale_less_their_mean():
    noise = SeededNoise(3)
    columns = np.column_stack([k_norm._draw_column(2 * SCALE, (2, 5), noise).values for _ in range(4)])
    assert_allclose(draw((2, 5), 4, SeededNoise(3)).values, columns - columns.mean(axis=1, keepdims=True), rtol=1e-12)
    one = k_norm._draw_column(SCALE, (2, 5), SeededNoise(3))
    assert_array_equal(draw((2, 5), 1, SeededNoise(3)).values[:, 0], one.values)
    assert draw((2, 5), 1, SeededNoise(3)).error == one.error


@loop_over("sizes", MANY_SIZES)
@loop_over("n_weights", [1, 3])
@loop_over("scale", [Fraction(1, 1000), SCALE, Fraction(4), Fraction(4) + Fraction(1, 2**30), Fraction(10**5)])
def test_errors_are_half_a_step_for_every_exponential_variate_and_within_the_public_bound(sizes, n_weights, scale):
    n, grid = n_dimensions_of(sizes), float(grid_of(scale))
    error = draw_shared(scale, sizes, n_weights=n_weights, noise=SystemNoise()).error
    times = 1 if n_weights == 1 else 4  # of twice the scale, and the mean is as far off again
    assert times * grid * (n + 2) / 2 < error <= k_norm.shared_error(float(scale), n, n_weights)
    assert k_norm.shared_error(float(scale), n, n_weights) <= 4 * times * grid * (n + 2) / 2


@pytest.mark.parametrize("n_weights", [1, 3])
@pytest.mark.parametrize("end", [-0.5, 0.5, None])
def test_whatever_was_not_drawn_of_a_variate_the_number_is_within_the_error(monkeypatch, end, n_weights):
    rng = np.random.default_rng(5)

    def rest(n, end=end):
        return rng.uniform(-0.5, 0.5, n) if end is None else np.full(n, end)

    exponential, uniform = k_norm.draw_exponential, k_norm._draw_uniform
    worst = 0.0
    for seed, sizes in enumerate([(2, 2), (1, 3), (2, 5, 9), (8, 8, 8), (16,) * 8] * 4):
        drawn = draw(sizes, n_weights, SeededNoise(seed))
        with monkeypatch.context() as patched:
            # An exponential variate is a whole step and a rest below 1, a uniform one has more than 48 bits.
            patched.setattr(k_norm, "draw_exponential", lambda *given: exponential(*given) + rest(given[2]))
            patched.setattr(
                k_norm, "_draw_uniform", lambda n, noise: uniform(n, noise) + (rest(n) + 0.5) * 2.0**-k_norm._BITS
            )
            exact = draw(sizes, n_weights, SeededNoise(seed)).values
        off = np.abs(exact - drawn.values).max()
        assert off <= drawn.error
        worst = max(worst, off / drawn.error)
    assert worst > 0.01  # they do differ


@pytest.mark.parametrize("n_weights", [1, 4])
def test_a_seed_fixes_the_noise_and_nothing_else_does(n_weights):
    sizes = (2, 5, 9)
    assert_array_equal(draw(sizes, n_weights, SeededNoise(7)).values, draw(sizes, n_weights, SeededNoise(7)).values)
    assert (draw(sizes, n_weights, SeededNoise(7)).values != draw(sizes, n_weights, SeededNoise(8)).values).any()
    assert (draw(sizes, n_weights).values != draw(sizes, n_weights).values).any()


def test_noise_grows_with_its_scale_and_nothing_else_changes():
    small, large = (draw_shared(scale, (2, 5), n_weights=1, noise=SeededNoise(2)) for scale in (SCALE, 1024 * SCALE))
    assert_array_equal(large.values, 1024 * small.values)
    assert large.error == 1024 * small.error


class Words:
    """Given words, one after the other."""

    secure = False

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        taken, self.left = self.left[:n], self.left[n:]
        return np.array(taken, dtype=np.uint32)


def test_a_place_is_drawn_again_where_the_number_is_beyond_all_weights():
    # Weights 1, 2 and 3 take the numbers 0, 1 to 2 and 3 to 5 of eight; higher bits do not count.
    for word, place in [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (8, 0), (2**32 - 8 + 4, 2)]:
        assert k_norm._draw_place([1, 2, 3], Words(word)) == place
    noise = Words(6, 7, 4, 9)
    assert k_norm._draw_place([1, 2, 3], noise) == 2
    assert noise.left == [9]
    # Of more than 32 bits the first word is the lowest.
    assert k_norm._draw_place([2**32, 2**32], Words(0, 1)) == 1
    assert k_norm._draw_place([2**32 + 1, 2**32], Words(0, 1)) == 0


def test_an_order_is_drawn_again_where_two_keys_are_equal():
    noise = Words(5, 5, 1, 1, 5, 5, 9, 0, 3, 0, 7, 0)
    assert_array_equal(k_norm._draw_order(3, noise), [1, 2, 0])
    assert noise.left == []


def test_gaps_are_those_between_sorted_points():
    keys = [0, 3 << 30, 0, 1 << 30]  # three quarters and one quarter of 2**64, lower words first
    assert_array_equal(k_norm._draw_gaps(3, Words(*keys)), [0.25, 0.5, 0.25])
    assert_array_equal(k_norm._draw_gaps(1, Words()), [1.0])
    assert_array_equal(k_norm._draw_gaps(0, Words()), [])


def test_deviations_by_hand():
    # The difference z of two leaves is uniform within R, a gamma variate of shape 4: E z^2 / 2 = 20 / 3 / 2.
    assert shared_deviation(2, 2, 2) == pytest.approx(math.sqrt(10 / 3))
    # A tree that is alone has Laplace noise.
    for size in (2, 3, 8, 32):
        assert shared_deviation(size, size - 1, 2) == pytest.approx(math.sqrt(2))
    # Of three classes each has twice the scale, less the mean: sqrt(2 / 3) of it.
    assert shared_deviation(2, 2, 3) == pytest.approx(2 * math.sqrt(10 / 3) * math.sqrt(2 / 3))


def exact_deviation(sizes, tree):
    """Return the deviation of a leaf from the others of its tree: half the variance of a difference of two leaves."""
    n, size = n_dimensions_of(sizes), sizes[tree]
    volumes = [np.array(list(map(float, volume_of(own).values()))) for t, own in enumerate(sizes) if t != tree]
    others = reduce(np.convolve, volumes, np.ones(1))
    weights = squares = 0.0
    for volume, i, j in terms_of(size):
        n_uniform = size - 1 - i
        for k, other in enumerate(others, start=i):
            weight = float(volume) * other * math.factorial(k) * math.factorial(n - k) * 2.0**k
            common, common2 = k + 1, (k + 1) * (k + 2)
            most, most2 = (n - k + 1) / 2, (n - k + 1) * (n - k + 2) / 4
            extra2 = most2 * n_uniform / (n_uniform + 2)
            positive2 = common2 + 2 * common * most * n_uniform / (n_uniform + 1) + extra2
            # Gaps have squares that add up to 2 / (gaps + 1).
            leaves2 = positive2 * 2 / (j + 1) + (extra2 * 2 / (size - j + 1) if j < size else 0.0)
            weights += weight
            squares += weight * (leaves2 - common2 / size) / (size - 1)
    return math.sqrt(squares / weights)


@loop_over(
    "sizes",
    [
        *((size, size) for size in range(2, 33, 3)), (2, 3), (2, 32), (2, 5, 9), (1, 3, 5), (20, 20, 12, 5, 3),
        (8,) * 3, (16,) * 8, (2,) * 40, (32,) * 4, (2,) * 10 + (32,), (4,) * 20 + (32,), (2, 32, 32, 32, 32),
        (32, 3, 4, 32, 12, 8, 20),
    ],
)  # fmt: skip
def test_deviations_are_off_by_a_fortieth_at_most(sizes):
    n = n_dimensions_of(sizes)
    for size in set(sizes) - {1}:
        assert shared_deviation(size, n, 2) == pytest.approx(exact_deviation(sizes, sizes.index(size)), rel=1 / 40)
    for size in range(2, 33, 5):
        assert exact_deviation((size,), 0) == pytest.approx(math.sqrt(2))
