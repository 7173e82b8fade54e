"""The second round: a row's part by hand and by a plain twin, and that no row moves the sums by more than is stated."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights.policy import MARGIN
from privet.central.weights.trees import GRID
from privet.errors import PartyError
from privet.partitioned import NewtonRound
from privet.partitioned.split_structure import load_structure
from privet.partitioned.tables import newton_kernel
from privet.partitioned.tables.attribute_weights import AttributeWeights, NewtonStep, offset_range
from privet.partitioned.tables.newton_kernel import MOST_RANGE, OFFSET_RANGE, ONE, STEPS, UNITS, add_newton_sums
from privet.partitioned.tables.newton_round import OpenedSum
from privet.privacy.unit import Unit
from tests.partitioned.tables.small import structure, table

NO_MARGIN, START = 0.0, 0.5


def sums_of_row(scores, label, *, n_classes, start=START, margin=MARGIN, most_range=MOST_RANGE, offset=None):
    """Return the sums of one row whose attributes add ``scores``, attributes x classes."""
    scores = np.array(scores, dtype=np.int64).reshape(-1, n_classes)
    n = len(scores) + n_classes - 1
    out = np.zeros(n + n * (n + 1) // 2, dtype=np.int64)
    offset = offset_range(n_classes) if offset is None else offset
    add_newton_sums(
        np.zeros(len(scores), dtype=np.uint8), np.arange(len(scores)), np.array([label], dtype=np.uint16), scores,
        np.zeros(n_classes), start, margin, most_range, offset, out,
    )  # fmt: skip
    return out


def test_the_part_of_a_row_by_hand():
    # Two classes, one attribute that says nothing before the step: both chances are 1/2.
    found = sums_of_row([[0, 128]], 1, n_classes=2, start=0.0, margin=NO_MARGIN)
    total = MOST_RANGE + OFFSET_RANGE
    gradient = [128 / 2, OFFSET_RANGE / 2]
    # Covariances of (0, 128) and (0, 64) under two equal chances; the one off the diagonal stands for two.
    hessian = [128 * 128 / 4, 2 * 128 * 64 / 4, 64 * 64 / 4]
    assert found[:2].tolist() == [math.floor(g * STEPS / total) for g in gradient]
    assert found[2:].tolist() == [math.floor(h * 4 * STEPS / total**2) for h in hessian]


def test_a_row_of_the_other_class_pulls_the_other_way():
    one, other = (sums_of_row([[0, 128]], label, n_classes=2, start=0.0, margin=NO_MARGIN) for label in (1, 0))
    assert_array_equal(one[:2], -other[:2])
    assert_array_equal(one[2:], other[2:])


def plain_sums(scores, label, *, n_classes, start, margin):
    """The same in floats, by another way: the loss's derivatives from its chances."""
    x = np.array(scores, dtype=float)
    s = start * x.sum(axis=0) / UNITS
    s[label] -= margin
    q = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
    x *= min(1.0, MOST_RANGE / max(1.0, x.max(axis=1).sum()))
    offset = offset_range(n_classes)
    x = np.vstack([x, offset * np.eye(n_classes)[1:]])
    total = MOST_RANGE + (n_classes - 1) * offset
    gradient = x[:, label] - x @ q
    hessian = (x * q) @ x.T - np.outer(x @ q, x @ q)
    hessian = hessian * 2 - np.diag(np.diag(hessian))
    entries = hessian[np.triu_indices(len(x))]
    return np.concatenate([gradient * STEPS / total, entries * 4 * STEPS / total**2])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_sums_agree_with_a_plain_twin(n_classes, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 300, (6, n_classes))
    scores -= scores.min(axis=1, keepdims=True)
    label = int(rng.integers(n_classes))
    found = sums_of_row(scores, label, n_classes=n_classes)
    expected = plain_sums(scores, label, n_classes=n_classes, start=START, margin=MARGIN)
    # Chances are rounded to parts of ONE, scores that are narrowed to units, and all sums towards zero.
    assert_allclose(found, expected, atol=STEPS * (n_classes / ONE + 8 / MOST_RANGE))


def moved(scores, label, n_classes):
    return int(np.abs(sums_of_row(scores, label, n_classes=n_classes)).sum())


def every_row(n_classes):
    """Rows of two or three attributes with scores from none to far beyond what is kept, of every class."""
    values = [0, 1, 130, MOST_RANGE // 2 + 1, MOST_RANGE, 5 * MOST_RANGE + 3]
    lines = [np.array(own) for own in itertools.product(values, repeat=n_classes - 1)]
    lines = [np.roll(np.append(0, own), turn) for own in lines for turn in range(n_classes)]
    for pair in itertools.product(lines, repeat=2):
        for label in range(n_classes):
            yield np.array(pair), label


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_row_of_a_small_schema_moves_the_sums_by_more_than_is_stated(n_classes):
    most = max(moved(scores, label, n_classes) for scores, label in every_row(n_classes))
    assert most <= 2 * STEPS
    # The bound is not far from what a row can do.
    assert most > 1.2 * STEPS


@pytest.mark.parametrize("seed", range(200))
def test_no_random_row_moves_gradient_or_hessian_by_more_than_its_part(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_trees = int(rng.integers(2, 7)), int(rng.integers(1, 30))
    scores = rng.integers(0, int(rng.integers(2, 4_000)), (n_trees, n_classes))
    scores -= scores.min(axis=1, keepdims=True)
    for label in range(n_classes):
        found = np.abs(sums_of_row(scores, label, n_classes=n_classes, start=float(rng.uniform(0, 1))))
        n = n_trees + n_classes - 1
        assert found[:n].sum() <= STEPS
        assert found[n:].sum() <= STEPS


def test_the_search_finds_a_row_that_is_not_narrowed():
    """The same search with the clip left out: sums exceed what is stated, so the search can tell."""
    total = MOST_RANGE + OFFSET_RANGE
    scores, label = next(
        (s, y) for s, y in every_row(2) if s.max(axis=1).sum() > 3 * MOST_RANGE and y == 0 and s[:, 1].min() > 0
    )
    planted = sums_of_row(scores, label, n_classes=2, most_range=10**6)
    # In the units of the sums as they are stated.
    gradient = np.abs(planted[:2]).sum() * (10**6 + OFFSET_RANGE) / total
    assert gradient > STEPS
    assert moved(scores, label, 2) <= 2 * STEPS


def test_the_bound_of_the_hessian_is_reached_by_a_row_between_two_classes():
    hessian = sums_of_row([[0, MOST_RANGE]], 0, n_classes=2, start=0.0, margin=NO_MARGIN, offset=0)[2:]
    assert STEPS - 2 <= np.abs(hessian).sum() <= STEPS


def test_chances_are_whole_parts_that_add_up_whatever_scores_are():
    powers, chances = np.empty(4), np.empty(4, dtype=np.int64)
    for scores in ([0, 0, 0, 0], [1e-9, 0, 0, 0], [700, -700, 0, 0], [1e300, 0, 0, 0], [-1, 3.3, 3.3, 2]):
        powers[:] = scores
        newton_kernel._set_chances(powers, chances)
        assert chances.sum() == ONE
        assert chances.min() >= 0


def opened(agreed, rows):
    X, y = rows
    return OpenedSum(agreed, ("bank",), agreed.exact_counts(X, y), agreed.receipt)


def test_the_part_of_a_row_depends_on_no_other_row():
    agreed = NewtonRound.after(opened(structure(), table(600)))
    X, y = table(40, seed=5)
    alone = [agreed.exact_counts(X[i : i + 1].reset_index(drop=True), y[i : i + 1]) for i in range(40)]
    assert_array_equal(agreed.exact_counts(X, y), np.sum(alone, axis=0))
    for own in alone:
        assert np.abs(own).sum() <= agreed.sensitivity


def test_a_person_moves_the_sums_by_all_rows_that_count():
    agreed = NewtonRound.after(opened(structure(unit=Unit("person", 3)), _with_persons(table(60))))
    X, y = table(8)
    exact = agreed.exact_counts(X.assign(person="anna"), y)
    assert agreed.sensitivity == 3 * 2 * STEPS
    assert np.abs(exact).sum() <= agreed.sensitivity


def _with_persons(rows):
    X, y = rows
    return X.assign(person=np.arange(len(X))), y


def test_exact_sums_lead_to_about_the_minimum_of_the_loss():
    agreed = opened(structure(), table(2_000))
    newton, (X, y) = NewtonRound.after(agreed), table(2_000)
    step = NewtonStep.of(newton.weights, newton.exact_counts(X, y).ravel(), 0.0)
    # Job and night share a tree.
    age, work = step.counts_for
    assert age > 0.3
    assert work > 0.3
    assert ((step.counts_for >= 0) & (step.counts_for <= 1)).all()


def test_sums_that_are_noise_alone_leave_attributes_as_they_were():
    agreed = opened(structure(), table(300))
    weights = NewtonRound.after(agreed).weights
    n = weights.trees.n_trees + 1
    step = NewtonStep.of(weights, np.zeros(n + n * (n + 1) // 2, dtype=np.int64), 1e12)
    assert_allclose(step.counts_for, 0.6, atol=1e-3)


def test_a_round_survives_its_file_and_commits_to_the_tables(tmp_path):
    agreed = structure(1.0)
    first = OpenedSum(agreed, ("bank",), agreed.exact_counts(*table(300)), agreed.receipt)
    newton = NewtonRound.after(first)
    newton.save(tmp_path / "n.json")
    read = load_structure(tmp_path / "n.json", pin=newton.hash)
    assert isinstance(read, NewtonRound)
    assert read.epsilon == agreed.newton_epsilon
    other = OpenedSum(agreed, ("bank",), first.noisy + 1, agreed.receipt)
    assert NewtonRound.after(other).hash != newton.hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": "1/1000"}, "it does not follow from its tables"),
        ({"round": "autumn"}, "it does not follow from its tables"),
        ({"party": "bank"}, "it does not follow from its tables"),
        ({"tables": {}}, "it does not say which tables it follows from"),
    ],
)
def test_a_round_that_does_not_follow_is_refused(change, message):
    agreed = structure(1.0)
    newton = NewtonRound.after(OpenedSum(agreed, ("bank",), agreed.exact_counts(*table(300)), agreed.receipt))
    with pytest.raises(PartyError, match=message):
        NewtonRound.from_json({**newton.to_json(), **change})


def test_tables_with_another_receipt_are_refused():
    agreed = structure(1.0)
    forged = OpenedSum(agreed, ("bank",), agreed.exact_counts(*table(300)), structure(math.inf).receipt)
    with pytest.raises(PartyError, match="the receipt of an opened sum is not that of its structure"):
        NewtonRound.from_json(NewtonRound.after(forged).to_json())


def test_an_attribute_that_is_noise_is_not_trusted():
    agreed = structure(0.05, n_rows=1_000)  # so few that job and night have trees of their own
    rng, exact = np.random.default_rng(3), agreed.exact_counts(*table(3_000))
    scale = float(agreed.receipt.scale)
    noisy = exact + np.rint(rng.laplace(0, scale, exact.shape)).astype(np.int64)
    trust = AttributeWeights(agreed.trees, noisy, math.sqrt(2) * scale).trust
    exactly = AttributeWeights(agreed.trees, exact, 0.0)
    assert trust[2] < trust[1]
    assert_allclose(
        exactly.class_shares, pd.Series(table(3_000)[1]).value_counts(normalize=True).sort_index(), atol=1e-3
    )


def test_rows_of_an_attribute_that_shares_a_tree_are_the_sums_of_its_table():
    agreed, (X, y) = structure(), table(600)
    X.loc[:30, "job"] = None
    weights = AttributeWeights(agreed.trees, agreed.exact_counts(X, y), 0.0)
    jobs, nights = weights.rows_of_cells[-7:-3], weights.rows_of_cells[-3:]
    assert jobs.tolist() == [int((X["job"] == job).sum()) for job in ("nurse", "clerk", "cook")] + [31]
    assert nights.tolist() == [int((~X["night"]).sum()), int(X["night"].sum()), 0]


def test_the_noise_in_an_attributes_rows_is_no_more_than_is_stated():
    agreed, rng = structure(), np.random.default_rng(5)
    exact, scale = agreed.exact_counts(*table(600)), 10 * GRID
    drawn = []
    for _ in range(2_000):
        noisy = exact + np.rint(rng.laplace(0, scale, exact.shape)).astype(np.int64)
        drawn.append(AttributeWeights(agreed.trees, noisy, math.sqrt(2) * scale).rows_of_cells)
    stds = np.std(drawn, axis=0)
    stated = math.sqrt(2) * AttributeWeights(agreed.trees, exact, math.sqrt(2) * scale).cell_scale
    # Each night has the four leaves of a job; each job has the three of a night.
    assert_allclose(stds[-3:], stated, rtol=0.1)
    assert_allclose(stds[-7:-3], stated * math.sqrt(3 / 4), rtol=0.1)
    assert stds.max() <= stated * 1.1
