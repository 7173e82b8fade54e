"""Groups of attributes that act together, by what the first stage's released weights leave unexplained."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights import interactions
from privet.central.weights.interactions import FirstStage, Unexplained, choose_groups
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.policy import Later
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.trees import Trees, coarse_axes
from privet.privacy.events import NoNoise, PermuteAndFlip
from privet.rng import SystemNoise
from tests.central.weights.problems import soft_cells
from tests.loops import loop_over

PARTS = 2**20
ATTRIBUTES = [
    Numeric("age", 0, 8), Categorical("job", ["nurse", "clerk", "cook"]), Numeric("pay", 0, 8, never_missing=True),
    Categorical("night", [False, True]),
]  # fmt: skip
PAIRS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]


def setting(n_classes=2):
    schema = Schema(ATTRIBUTES, classes=["no", "yes"] if n_classes == 2 else range(n_classes))
    celled, knots, later = soft_cells(schema, 2, n_later=3)
    return celled, later, Trees.of([[0], [2], [1, 3]], celled, knots)


def model_of(n_classes=2, seed=1, size=2.0):
    _, _, trees = setting(n_classes)
    rng = np.random.default_rng(seed)
    weights = size * rng.normal(size=(trees.n_leaves, 1 if n_classes == 2 else n_classes))
    return LeafWeights(trees, rng.normal(size=n_classes), weights, 1.0)


def unexplained(codes, labels, model, weights=None):
    celled, knots, trees = setting(len(model.offsets))
    axes = {a: coarse_axes([a], celled, knots)[0] for a in range(4)}
    rows = LeafRows(trees.cells(np.asarray(codes, np.uint8).reshape(-1, 4)), np.asarray(labels, np.uint8), weights)
    return Unexplained(rows, model, axes)


def residuals_of(own):
    """Return the residuals of all lines."""
    (block,) = own.rows.blocks()
    return FirstStage.of(own.model).residuals(block)


def scores_of(own):
    """Return what the first stage scores all lines."""
    (block,) = own.rows.blocks()
    return FirstStage.of(own.model).scores(block)


def random_rows(n_rows, n_classes, seed):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, a.n_codes, n_rows) for a in setting()[0].attributes], axis=1)
    return codes, rng.integers(0, n_classes, n_rows)


def plain_residuals(model, codes, labels):
    """Return each row's residuals in 60 digits, from the released weights."""
    found = []
    with localcontext() as context:
        context.prec = 60
        for scores, label in zip(model.scores(np.asarray(codes)), labels, strict=True):
            powers = [Decimal(score).exp() for score in scores.tolist()]
            shares = [power / sum(powers) for power in powers]
            bent = [share * (1 - (1 - Decimal(-1).exp()) * share) for share in shares]
            found.append([(c == label) - chance / sum(bent) for c, chance in enumerate(bent)])
    return found


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_residuals_are_one_less_the_chances_in_whole_parts(n_classes):
    model = model_of(n_classes)
    codes, labels = random_rows(60, n_classes, 2)
    found = residuals_of(unexplained(codes, labels, model))
    for own, exact, label in zip(found, plain_residuals(model, codes, labels), labels, strict=True):
        assert own.sum() == 0
        assert 0 <= own[label] <= PARTS
        # Each is rounded down to a part, the own class by as many parts as there are others.
        for c, value in enumerate(exact):
            assert abs(own[c] - float(value) * PARTS) < (n_classes if c == label else 1 + 1e-6)


def test_residuals_by_hand():
    # Weights of nothing and even offsets: the margin changes nothing, and the residual is a half.
    model = replace(model_of(), weights=np.zeros_like(model_of().weights), offsets=np.zeros(2))
    both = unexplained([[0, 0, 0, 0]] * 2, [0, 1], model)
    assert residuals_of(both).tolist() == [[PARTS // 2, -PARTS // 2], [-PARTS // 2, PARTS // 2]]
    # In one cell they cancel; apart, each leaves a half in either class, and a score is half the sum.
    assert both.exact_scores([(0, 1)]) == [0]
    apart = unexplained([[0, 0, 0, 0], [0, 1, 0, 0]], [0, 1], model)
    assert apart.exact_scores([(0, 1), (0, 2)]) == [SENSITIVITY, 0]


@pytest.mark.parametrize("size", [0.0, 2.0, 500.0, 4000.0])
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_no_residual_is_larger_than_one_however_far_scores_are_apart(n_classes, size):
    codes, labels = random_rows(200, n_classes, 3)
    found = residuals_of(unexplained(codes, labels, model_of(n_classes, size=size)))
    assert (np.abs(found).sum(axis=1) <= 2 * PARTS).all()
    assert_array_equal(found.sum(axis=1), 0)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_row_has_its_residual_and_its_score_wherever_it_stands(n_classes, monkeypatch):
    model = model_of(n_classes)
    codes, labels = random_rows(300, n_classes, 4)
    whole = unexplained(codes, labels, model)
    residuals, scores = residuals_of(whole), scores_of(whole)
    order = np.random.default_rng(5).permutation(300)
    shuffled = unexplained(codes[order], labels[order], model)
    assert_array_equal(residuals_of(shuffled), residuals[order])
    for i in (0, 1, 17, 299):
        alone = unexplained(codes[i : i + 1], labels[i : i + 1], model)
        assert_array_equal(residuals_of(alone)[0], residuals[i])
        assert_array_equal(scores_of(alone)[0], scores[i])
    celled, knots, _ = setting(n_classes)
    later = Trees.later([[0, 2], [1, 2]], celled, knots)
    rows, exact = whole.rows_of(later), whole.exact_scores(PAIRS)
    monkeypatch.setattr(interactions, "_STRETCH", 7)
    monkeypatch.setattr("privet.central.weights.leaf_rows.BLOCK_LINES", 50)
    whole = unexplained(codes, labels, model)  # without the residuals that are kept
    in_parts = whole.rows_of(later)
    assert_array_equal(in_parts.scores, rows.scores)
    assert_array_equal(in_parts.cells, rows.cells)
    assert whole.exact_scores(PAIRS) == exact


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("groups", [PAIRS, [(2, 0, 1), (2, 0, 3)], [(3, 1, 2, 0)], []])
def test_scores_are_the_same_as_part_of_a_larger_group(groups, n_classes, monkeypatch):
    codes, labels = random_rows(500, n_classes, 8)
    whole = unexplained(codes, labels, model_of(n_classes))
    together = whole.exact_scores(groups)
    assert len(set(whole._covering(groups))) <= 1  # all four have few leaves
    monkeypatch.setattr(interactions, "_MOST_LEAVES", 0)
    assert whole._covering(groups) == [tuple(sorted(group)) for group in groups]
    assert whole.exact_scores(groups) == together


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_the_second_stage_have_their_own_cells_and_what_the_first_one_scores(n_classes):
    model = model_of(n_classes)
    codes, labels = random_rows(100, n_classes, 6)
    celled, knots, _ = setting(n_classes)
    later = Trees.later([[0, 2], [1, 3, 0]], celled, knots)
    rows = unexplained(codes, labels, model).rows_of(later)
    assert_array_equal(rows.cells, later.cells(codes))
    assert_array_equal(rows.labels, labels)
    scores = model.scores(codes)
    assert rows.scores.dtype == np.float32
    assert_array_equal(rows.scores, (scores if n_classes > 2 else scores[:, 1:] - scores[:, :1]).astype(np.float32))


def test_merged_rows_score_as_single_ones_do():
    model, (codes, labels) = model_of(3), random_rows(40, 3, 7)
    times = np.random.default_rng(8).integers(1, 5, 40)
    merged = unexplained(codes, labels, model, times)
    single = unexplained(np.repeat(codes, times, axis=0), np.repeat(labels, times), model)
    assert merged.exact_scores(PAIRS) == single.exact_scores(PAIRS)


@loop_over("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_added_row_moves_the_score_of_a_group_farther_than_the_sensitivity(seed, n_classes):
    model = model_of(n_classes, seed=seed, size=(0.5, 3.0, 30.0)[seed % 3])
    codes, labels = random_rows(12, n_classes, seed)
    groups = [*PAIRS, (0, 1, 2), (0, 1, 2, 3)]
    before = np.array(unexplained(codes, labels, model).exact_scores(groups))
    # Every corner, every missing value, and any row; in every class.
    age, pay = (setting()[0].attributes[a].n_values for a in (0, 2))
    rows = [[0, 0, 0, 0], [age // 2, 1, pay // 2, 1], [age - 1, 2, pay - 1, 1], [age, 3, pay // 4, 2]]
    rows += [*codes[:4].tolist(), *random_rows(12, n_classes, seed + 100)[0].tolist()]
    moved = [
        np.abs(np.array(unexplained([*codes, row], [*labels, c], model).exact_scores(groups)) - before).max()
        for row in rows
        for c in range(n_classes)
    ]
    assert max(moved) <= SENSITIVITY
    assert max(moved) > SENSITIVITY / 4


def test_a_row_that_is_predicted_wrong_moves_a_score_by_all_that_is_allowed():
    model = replace(model_of(), weights=np.zeros_like(model_of().weights), offsets=np.array([30.0, -30.0]))
    assert unexplained([[0, 0, 0, 0]], [1], model).exact_scores([(0, 1)]) == [SENSITIVITY]
    # A row that is predicted right leaves less than a part.
    assert unexplained([[0, 0, 0, 0]], [0], model).exact_scores([(0, 1)]) == [0]


LATER = Later(2, 1.0, 0.6, 0.01, 0.3, 60.0, 0.0)


def chosen(own, later=LATER, epsilon=math.inf, pairs=PAIRS, rows=1):
    return choose_groups(own, pairs, later, epsilon=epsilon, rows=rows, what="groups", noise=SystemNoise())


def together(n_rows=400):
    """Return rows whose class is told by job and night together, and by neither alone; the model knows nothing."""
    codes, _ = random_rows(n_rows, 2, 9)
    model = replace(model_of(), weights=np.zeros_like(model_of().weights), offsets=np.zeros(2))
    return unexplained(codes, (codes[:, 1] + codes[:, 3]) % 2, model)


def test_without_noise_the_attributes_that_act_together_are_chosen_first():
    groups, receipts = chosen(together())
    assert set(groups[0][:2]) == {1, 3}
    assert set(receipts) == {NoNoise("groups")}
    assert len(groups) == 2
    # A pair of a chosen group is out for the next.
    assert not set(groups[1][:2]) <= set(groups[0])


def test_what_chance_alone_would_score_is_taken_off():
    # A pair of 3 x 3 leaves against one of 4 x 3: with so much taken off, the smaller one is best.
    groups, _ = chosen(together(), replace(LATER, n_trees=1, most_cells=13.0, chance=1e6), pairs=[(1, 3), (0, 3)])
    assert groups == [(0, 3)]


def test_groups_grow_as_far_as_their_leaves_have_room():
    own = together()
    assert own.n_leaves((1, 3)) == 12
    for most, size in ((13.0, 2), (40.0, 3), (200.0, 4)):
        groups, receipts = chosen(own, replace(LATER, n_trees=1, most_cells=most), pairs=[(1, 3)])
        assert (len(groups[0]), len(receipts)) == (size, size - 1)
        assert own.n_leaves(groups[0]) <= most


@pytest.mark.parametrize("rows", [1, 4])
def test_each_choice_has_an_equal_share_whether_or_not_all_are_needed(rows):
    _, receipts = chosen(together(), epsilon=0.6, rows=rows)
    assert all(isinstance(each, PermuteAndFlip) and not each.monotone for each in receipts)
    assert {each.sensitivity for each in receipts} == {rows * SENSITIVITY}
    assert all(6 * each.epsilon <= 0.6 and each.epsilon == pytest.approx(0.1) for each in receipts)
    assert len(receipts) <= 6
