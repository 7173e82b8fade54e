"""Trees on mirror images, by hand and by twin."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from privet.local.response_forest import bit_kernels, inverse_kernels
from privet.local.response_forest.mirror_counts import packed, weights_of
from tests.local.response_forest import bit_reference
from tests.loops import loop_over


def mirror_case(seed, *, n_rows=60, n_bits=7, n_classes=2, keep=0.85, flips_label=False):
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n_rows, n_bits), dtype=np.uint8)
    labels = (bits[:, 0] + bits[:, 1] * rng.integers(2, size=n_rows)) % n_classes
    flipped = rng.random(n_rows) > keep
    bits[flipped] ^= 1
    mirrored = 1 - labels if flips_label else labels
    words = packed(np.concatenate([bits, 1 - bits]))
    key = np.concatenate([labels, mirrored + n_classes]).astype(np.uint32)
    times = np.tile(rng.integers(1, 4, size=n_rows), 2).astype(np.uint32)
    return words, key, times, n_bits


def grown(module, case, *, n_classes=2, keep=0.85, n_tried=2, min_rows=8.0, min_leaf=1.0, max_depth=20, draw=77):
    words, key, times, n_bits = (part.copy() if isinstance(part, np.ndarray) else part for part in case)
    room = 2 * int(times.sum()) + 1
    bit, left = np.full(room, -9, dtype=np.int32), np.zeros(room, dtype=np.int64)
    counts = np.zeros((room, 2 * n_classes), dtype=np.int64)
    plus, minus = weights_of(keep)
    n_nodes = module.grow_on_mirrors(
        words,
        key,
        times,
        n_bits,
        n_tried,
        plus,
        minus,
        min_rows,
        min_leaf,
        max_depth,
        np.uint64(draw),
        bit,
        left,
        counts,
    )
    inner = bit[:n_nodes] >= 0
    return bit[:n_nodes], left[:n_nodes][inner], counts[:n_nodes]


@loop_over("seed", range(12))
def test_kernel_agrees_with_its_twin_on_mirror_images(seed):
    options = [
        {"keep": 0.85, "n_tried": 2},
        {"keep": 0.75, "n_tried": 7, "min_rows": 2.0},
        {"keep": 1.0, "n_tried": 1, "min_leaf": 3.0},
        {"keep": 0.95, "n_tried": 3, "n_classes": 3, "max_depth": 3},
    ][seed % 4]
    of_case = {name: value for name, value in options.items() if name in ("keep", "n_classes")}
    case = mirror_case(seed, flips_label=seed % 2 == 1 and "n_classes" not in options, **of_case)
    ours, plain = (grown(module, case, draw=seed + 2**63, **options) for module in (bit_kernels, bit_reference))
    for found, expected in zip(ours, plain, strict=True):
        assert_array_equal(found, expected)
    assert len(ours[0]) > 1


def test_more_than_one_word_a_record():
    case = mirror_case(3, n_bits=133, n_rows=40)
    ours, plain = (grown(module, case, n_tried=50, min_rows=4.0) for module in (bit_kernels, bit_reference))
    assert_array_equal(ours[0], plain[0])
    assert ours[0].max() >= 64


def test_a_tree_by_hand():
    # Of 10 rows, bit 0 is 1 in four, all of class 1; the rest are of class 0. Nothing is flipped.
    bits = np.array([[1, 0]] * 4 + [[0, 1]] * 3 + [[0, 0]] * 3, dtype=np.uint8)
    key = np.array([1] * 4 + [0] * 6, dtype=np.uint32)
    case = (packed(bits), key, np.ones(10, dtype=np.uint32), 2)
    bit, left, counts = grown(bit_kernels, case, keep=1.0, n_tried=2, min_rows=2.0)
    assert_array_equal(bit, [0, -1, -1])
    assert_array_equal(left, [1])
    assert_array_equal(counts, [[6, 4, 0, 0], [6, 0, 0, 0], [0, 4, 0, 0]])


def test_a_node_that_may_be_empty_is_not_split_off():
    # At theta .6 a row stands for 3 and a mirror image for -2 true ones: 30 of 1 and 20 mirrored are 50 rows,
    # with a standard deviation of sqrt(6 * 50) = 17.3; 26 and 30 mirrored are 18 rows, within two deviations of none.
    def with_ones(kept, mirrored):
        bits = np.zeros((400, 1), dtype=np.uint8)
        bits[:kept] = 1
        bits[200 : 200 + mirrored] = 1
        key = np.repeat([0, 1, 2, 3], 100).astype(np.uint32)
        key[:kept] = np.arange(kept) % 2
        return packed(bits), key, np.ones(400, dtype=np.uint32), 1

    assert len(grown(bit_kernels, with_ones(30, 20), keep=0.6)[0]) == 3
    assert len(grown(bit_kernels, with_ones(26, 30), keep=0.6)[0]) == 1


def test_every_bit_is_drawn_once_and_equally_often_first():
    firsts = np.zeros(5, dtype=int)
    for word in range(4_000):
        drawn = [j for tried, _ in bit_reference.drawn_bits(5, 2, word) for j in tried]
        assert sorted(drawn) == list(range(5))
        firsts[drawn[0]] += 1
    assert firsts.min() > 800 - 6 * np.sqrt(800 * 0.8)


def answers_case(seed, *, n_rows=80, n_classes=2, keep=(0.8, 1.0, 0.7), label=(0.9, 0.1)):
    rng = np.random.default_rng(seed)
    n_values = np.array([3, 2, 5])
    # The last code of every attribute is a missing value, which only the second and third answer openly.
    start = np.cumsum([0, 4, 3, 6])
    patterns = np.array([0, 3, 1, 2, 0, 1, 0, 0, 7, 1, 6, 2, 0])
    n_answers = np.array([4, 0, 5])
    codes = np.column_stack([rng.integers(k + 1, size=n_rows) for k in n_values]).astype(np.uint8)
    labels = (codes[:, 0] // 2 + rng.integers(2, size=n_rows) * (codes[:, 2] > 2)) % n_classes
    kept = np.array(keep)
    other = np.where(n_answers > 0, (1 - kept) / np.maximum(n_answers - 1, 1), 0.0)
    bits = (np.array([0, 0, 1, 2, 2, 2]), np.array([2, 1, 1, 4, 2, 1]))
    times = rng.integers(1, 3, size=n_rows)
    right, wrong = (1 - label[1]) / (label[0] - label[1]), -label[1] / (label[0] - label[1])
    return codes, labels, times, start, patterns, n_answers, kept, other, *bits, right, wrong


def grown_on_answers(
    module, case, *, thin=0.0, n_classes=2, n_tried=2, min_rows=5.0, min_leaf=1.0, max_depth=6, draw=5
):
    room = 2 * int(case[2].sum()) + 1
    bit, left = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    sums, squares = np.zeros((room, n_classes)), np.zeros((room, n_classes))
    n_nodes = module.grow_on_answers(
        *case, thin, n_tried, min_rows, min_leaf, max_depth, np.uint64(draw), bit, left, sums, squares
    )
    inner = bit[:n_nodes] >= 0
    return bit[:n_nodes], left[:n_nodes][inner], sums[:n_nodes], squares[:n_nodes]


@loop_over("seed", range(12))
def test_kernel_agrees_with_its_twin_on_answers(seed):
    n_classes = 2 + seed % 2
    label = [(1.0, 0.0), (0.9, 0.05), (0.95, 0.05)][seed % 3]
    case = answers_case(seed, n_rows=200, n_classes=n_classes, keep=(0.9, 1.0, 0.85), label=label)
    options = {"n_classes": n_classes, "n_tried": 1 + seed % 4, "draw": seed + 2**62, "thin": [0.0, 0.3][seed // 6]}
    ours = grown_on_answers(inverse_kernels, case, **options)
    plain = grown_on_answers(bit_reference, case, **options)
    for found, expected in zip(ours[:2], plain[:2], strict=True):
        assert_array_equal(found, expected)
    assert_allclose(ours[2], plain[2], atol=1e-9)
    assert_allclose(ours[3], plain[3], atol=1e-9)
    assert len(ours[0]) > 1


def test_sums_of_children_add_up_to_their_parents():
    bit, left, sums, _ = grown_on_answers(
        inverse_kernels, answers_case(1, n_rows=300, keep=(0.95, 1.0, 0.9)), n_tried=6
    )
    assert_allclose(sums[left] + sums[left + 1], sums[bit >= 0], atol=1e-9)
    assert len(left) > 2


def test_thinning_keeps_the_mean_and_its_cost_is_in_the_squares():
    # One attribute of two values, kept with chance 3/4, and one clear bit above it: of 4,000 rows that answer 1, each
    # counts (0 - 1/4) / (1/2) = -1/2 in the node of 0. Thinned below 1 half of them stay and count -1.
    codes = np.tile(np.array([[0, 0], [1, 1]], dtype=np.uint8), (4_000, 1))
    case = (
        codes, np.tile([0, 1], 4_000), np.ones(8_000, dtype=np.int64), np.array([0, 3, 6]), np.array([0, 1, 0, 0, 1,
        0]), np.array([2, 0]), np.array([0.75, 1.0]), np.array([0.25, 0.0]), np.array([0]), np.array([1]), 1.0, 0.0,
    )  # fmt: skip
    exact, thin = (grown_on_answers(inverse_kernels, case, thin=t, n_tried=1, max_depth=1)[2:] for t in (0.0, 1.0))
    assert_allclose(exact[0][1], [6_000, -2_000])
    assert_allclose(exact[1][1], [9_000, 1_000])
    assert thin[0][1, 0] == 6_000
    assert abs(thin[0][1, 1] + 2_000) < 6 * np.sqrt(4_000 / 4)
    assert thin[1][1, 1] == -thin[0][1, 1]
    assert thin[0][1, 1] != -2_000
