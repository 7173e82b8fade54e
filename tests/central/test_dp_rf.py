"""DP-RF: how many trees, how deep, which nodes speak, and how they vote."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, DPRFClassifier, Numeric, Schema
from privet.central.released_classifier import ROW_COUNT_SHARE
from privet.errors import DataError, ParameterError
from privet.privacy.events import DiscreteLaplace, Parallel
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.random_structure import random_structure
from tests.central.plain import SCHEMA, table


def schema_of(domains, rows=None, classes=("no", "yes")):
    return Schema([Categorical(f"c{i}", range(d)) for i, d in enumerate(domains)], classes=classes, rows=rows)


# theta = C sqrt(2) tau / epsilon, and tau the largest number up to k with theta < n / b^2.
@pytest.mark.parametrize(
    ("domains", "n_rows", "epsilon", "classes", "tau", "theta"),
    [
        ([2] * 8, 1000, 1.0, 2, 8, 16 * math.sqrt(2)),  # n / b^2 = 250: all eight trees
        ([5] * 8, 1000, 1.0, 2, 8, 16 * math.sqrt(2)),  # 40 > 22.6
        ([5] * 8, 500, 1.0, 2, 7, 14 * math.sqrt(2)),  # 20 > 19.8, and 22.6 is too much
        ([5] * 8, 500, 0.1, 2, 1, 20 * math.sqrt(2)),  # 20 < 28.3 already at one tree
        ([5] * 8, 500, 1.0, 4, 3, 12 * math.sqrt(2)),  # four classes: 20 > 17.0
        ([4, 6] * 4, 500, 1.0, 2, 7, 14 * math.sqrt(2)),  # b is the mean
        ([2] * 3, 10**9, math.inf, 2, 3, 1.0),  # without noise theta is one row
    ],
)
def test_tau_and_theta_by_hand(domains, n_rows, epsilon, classes, tau, theta):
    schema = schema_of(domains, classes=range(5, 5 + classes))
    found = DPRFClassifier(schema, epsilon=epsilon)._tau_and_theta(schema, n_rows, epsilon)
    assert found == (tau, pytest.approx(theta))


def test_the_root_of_the_number_of_classes_makes_less_of_the_noise():
    schema = schema_of([5] * 8, classes=range(5, 9))
    paper, root = (DPRFClassifier(schema, noise_factor=name) for name in ("classes", "sqrt_classes"))
    assert paper._tau_and_theta(schema, 500, 1.0) == (3, pytest.approx(3 * 4 * math.sqrt(2)))
    assert root._tau_and_theta(schema, 500, 1.0) == (7, pytest.approx(7 * 2 * math.sqrt(2)))


def test_a_person_with_more_rows_makes_more_noise_so_fewer_trees():
    schema = schema_of([5] * 8)
    model = DPRFClassifier(schema, unit="person", max_rows=3)
    assert model._tau_and_theta(schema, 500, 1.0) == (2, pytest.approx(2 * 2 * math.sqrt(2) * 3))


def test_a_number_of_trees_that_is_asked_for_is_taken_and_theta_follows():
    schema = schema_of([5] * 8)
    assert DPRFClassifier(schema, n_trees=20)._tau_and_theta(schema, 500, 1.0) == (20, pytest.approx(40 * math.sqrt(2)))


def fitted(schema, epsilon=1.0, n=0, **options):
    X = np.zeros((n, len(schema.attributes)))
    labels = [schema.classes[0]] * n
    return DPRFClassifier(schema, epsilon=epsilon, **options).fit(X, labels)


def test_every_tree_has_its_own_root_while_there_are_attributes():
    schema = schema_of([3] * 6, rows=5000)
    assert sorted(fitted(schema).forest_.attribute[:6]) == list(range(6))
    twice = fitted(schema, n_trees=12).forest_.attribute[:12]
    assert sorted(twice[:6]) == list(range(6))
    assert_array_equal(twice[6:], twice[:6])
    orders = {tuple(fitted(schema, random_state=seed).forest_.attribute[:6].tolist()) for seed in range(5)}
    assert len(orders) > 1


def test_nodes_are_split_while_they_can_be_expected_to_hold_theta_rows():
    # tau 4 and theta 11.3 at 360 rows: 360 / 4 and / 4^2 are enough, 360 / 4^3 = 5.6 is not.
    forest = fitted(schema_of([4] * 4, rows=360)).forest_
    assert (forest.n_trees, forest.depth) == (4, 3)
    assert_array_equal(np.unique(forest.depth_of_node[forest.leaves]), [3])
    # At 181 rows 181 / 4^2 = 11.31 is below 8 sqrt(2) = 11.314.
    assert fitted(schema_of([4] * 4, rows=181), n_trees=4).forest_.depth == 2


def test_the_trees_do_not_depend_on_the_rows_where_their_number_is_declared():
    schema = schema_of([3] * 5, rows=700)
    words = [fitted(schema, n=n, random_state=4).forest_.words for n in (0, 1, 900)]
    for other in words[1:]:
        assert_array_equal(words[0], other)


def test_without_noise_a_node_is_split_while_a_row_may_be_left():
    schema = schema_of([4] * 6, rows=100)
    forest = fitted(schema, epsilon=math.inf, n=100).forest_
    # 100 / 4^3 = 1.6 is split and 100 / 4^4 = 0.4 is not.
    assert (forest.n_trees, forest.depth) == (6, 4)


def test_without_declared_rows_a_share_of_epsilon_buys_a_noisy_number():
    schema = Schema(SCHEMA.attributes, classes=SCHEMA.classes)
    rows, leaves = DPRFClassifier(schema, epsilon=2.0).fit(*table()).guarantee_.event.parts
    assert (rows.what, rows.sensitivity, rows.epsilon) == ("number of rows", 1, ROW_COUNT_SHARE * 2.0)
    assert leaves.epsilon == pytest.approx(1.9)


def test_leaf_counts_are_released_once_with_noise_for_all_trees():
    model = DPRFClassifier(SCHEMA, epsilon=0.5).fit(*table())
    receipt = model.guarantee_.event
    assert isinstance(receipt, DiscreteLaplace)
    assert receipt.sensitivity == model.forest_.n_trees
    assert receipt.scale == 2 * model.forest_.n_trees
    persons = table()[0].assign(person=np.arange(900) // 2)
    of_persons = DPRFClassifier(SCHEMA, epsilon=0.5, unit="person", max_rows=2).fit(persons, table()[1])
    assert of_persons.guarantee_.event.sensitivity == 2 * of_persons.forest_.n_trees


def test_without_noise_counts_are_exact_and_inner_nodes_are_sums():
    X, y = table()
    model = DPRFClassifier(SCHEMA, epsilon=math.inf, random_state=2).fit(X, y)
    totals = [(y == "no").sum(), (y == "yes").sum()]
    assert_array_equal(model.nodes_.counts[: model.forest_.n_trees], [totals] * 4)
    assert_array_equal(model.nodes_.n_draws, model.forest_.n_leaves_below)
    assert model.score(X, y) > 0.85


# One tree over a (u, v) and, below u, over b (p): nodes 0 root, 1 a = u, 2 a = v, 3 a missing, 4 b = p, 5 b missing.
SMALL = Schema([Categorical("a", ["u", "v"]), Categorical("b", ["p"])], classes=["no", "yes"], rows=50)
LEAVES = [[1, 7], [9, 3], [20, 2], [3, 0]]  # of nodes 2, 3, 4, 5


def small_vote(leaf_counts, *, epsilon_per_tree, missing_branches="all", **options):
    nodes = np.array([0, 1, LEAF, LEAF, LEAF, LEAF], dtype=np.int32)
    forest = Forest.from_nodes(nodes, np.full_like(nodes, LEAF), 1, SMALL.attributes)
    variance = 0.0 if math.isinf(epsilon_per_tree) else 2 / epsilon_per_tree**2
    counted = CountedForest.of_leaves(forest, np.array(leaf_counts), variance)
    vote = DPRFClassifier(SMALL, missing_branches=missing_branches, **options)._vote_of(counted, SMALL)
    return vote.probabilities(np.array([[0, 0], [0, 1], [1, 0], [2, 0]], dtype=np.uint8))


def test_the_surest_reliable_node_of_a_path_speaks():
    # Noise 2 sqrt(2) / 0.4 = 7.1 in a leaf, 10 in a = u. Below it b = p has 22 rows and is kept, b missing 3 and is
    # not; a = v has 8 of the 7.1 that it needs. Along paths: 23/25 of a = u beats 20/22 below it and 33/45 of the root.
    expected = [[23 / 25, 2 / 25], [23 / 25, 2 / 25], [1 / 8, 7 / 8], [9 / 12, 3 / 12]]
    assert_allclose(small_vote(LEAVES, epsilon_per_tree=0.4, vote="sum"), expected, atol=1e-8)
    # Where the surest tree decides, a class that leads in no tree has nothing.
    one_sided = [[1, 0], [1, 0], [0, 1], [1, 0]]
    assert_allclose(small_vote(LEAVES, epsilon_per_tree=0.4), one_sided, atol=1e-9)


def test_what_is_weaker_than_its_noise_is_not_used_however_sure_it_seems():
    # Without noise b missing, with 3 of 3, is the surest; with noise of 7.1 it is not kept.
    assert_allclose(small_vote(LEAVES, epsilon_per_tree=math.inf, vote="sum")[1], [1, 0], atol=1e-8)
    # With noise of 14 in a leaf nothing but b = p is kept, below a node of 25 rows that needs 20.
    weak = small_vote(LEAVES, epsilon_per_tree=0.2, vote="sum")
    assert_allclose(weak[2], [33 / 45, 12 / 45], atol=1e-8)
    assert_allclose(weak[0], [23 / 25, 2 / 25], atol=1e-8)


def test_by_the_root_of_the_classes_more_nodes_are_reliable():
    # Noise 2 / 0.2 = 10 in a leaf instead of 14: a missing, with 12 rows, now speaks for itself.
    factor = {"epsilon_per_tree": 0.2, "vote": "sum"}
    assert_allclose(small_vote(LEAVES, **factor)[3], [33 / 45, 12 / 45], atol=1e-8)
    assert_allclose(small_vote(LEAVES, noise_factor="sqrt_classes", **factor)[3], [9 / 12, 3 / 12], atol=1e-8)


def test_branches_for_missing_values_that_are_noise_are_left_out_of_the_sums_above_them():
    # Noise of deviation sqrt(2 * 12.5) = 5 in a support, so 15 rows stand out: b missing, with 3, does not, nor does a
    # missing, with 12. So a = u has 20 and 2, the root 21 and 9. A branch that is left out still speaks for itself.
    expected = [[20 / 22, 2 / 22], [20 / 22, 2 / 22], [1 / 8, 7 / 8], [9 / 12, 3 / 12]]
    found = small_vote(LEAVES, epsilon_per_tree=0.4, vote="sum", missing_branches="reliable")
    assert_allclose(found, expected, atol=1e-8)
    # In noise of deviation 0.5 both stand out.
    several = {"epsilon_per_tree": 4.0, "vote": "sum"}
    assert_allclose(small_vote(LEAVES, missing_branches="reliable", **several), small_vote(LEAVES, **several))


def test_fewer_leaves_make_the_sums_above_them_reliable_again():
    # Sixteen leaves, of which nine can hold rows. With noise of deviation 2 in the support of a leaf, the root's has 8
    # with all of them, and 6 with those nine.
    attributes = [Categorical(name, ["u", "v", "w"]) for name in "ab"]
    forest = random_structure(
        Schema(attributes, classes=[5, 9]), n_trees=1, height=2, public_rng=np.random.default_rng(0)
    )
    of_nobody = np.isin(np.arange(16) % 4, 3) | (np.arange(16) >= 12)
    nodes = CountedForest.of_leaves(forest, np.where(of_nobody[:, None], 0, 2) + np.zeros((1, 2), np.int64), 2.0)
    lean = nodes.without_missing(attributes)
    assert nodes.n_draws.tolist()[:5] == [16, 4, 4, 4, 4]
    assert lean.n_draws.tolist()[:5] == [9, 3, 3, 3, 3]
    assert np.sqrt(2 * nodes.variance[0]) == 8
    assert np.sqrt(2 * lean.variance[0]) == 6
    assert lean.counts[0].tolist() == nodes.counts[0].tolist() == [18, 18]


def test_an_attribute_that_is_never_missing_has_no_leaf_for_it():
    complete = Schema([replace(a, never_missing=True) for a in SMALL.attributes], classes=SMALL.classes, rows=50)
    X = pd.DataFrame({"a": ["u", "v"] * 25, "b": ["p"] * 50})
    y = ["no", "yes"] * 25
    model = DPRFClassifier(complete, epsilon=math.inf, n_trees=2, vote="sum", random_state=1).fit(X, y)
    assert not any("missing" in rule for rule in model.rules()["rule"])
    assert set(model.forest_.n_children.tolist()) == {0, 1, 2}
    # Who lacks a is answered by the root, in both trees: 25 against 25.
    assert model.predict_proba(pd.DataFrame({"a": [None], "b": ["p"]})).tolist() == [[0.5, 0.5]]
    with pytest.raises(DataError, match="column 'a' has missing values, .*, but the schema declares it never_missing"):
        model.fit(X.assign(a="x"), y)


def test_where_all_counts_are_below_zero_classes_are_equally_likely():
    for vote in ("sum", "max_confidence"):
        assert_allclose(small_vote([[-1, -1]] * 4, epsilon_per_tree=0.4, vote=vote), [[0.5, 0.5]] * 4)


def test_a_further_batch_is_added_on_the_same_trees_and_noise_weakens_nodes():
    X, y = table()
    model = DPRFClassifier(SCHEMA, epsilon=1.0, random_state=1).fit(X, y)
    words, noise = model.forest_.words.copy(), model.noise_std_
    model.partial_fit(X, y)
    assert_array_equal(model.forest_.words, words)
    assert isinstance(model.guarantee_.event, Parallel)
    assert model.noise_std_ == pytest.approx(math.sqrt(2) * noise)


def test_numbers_without_bins_get_five_cells_and_branch_on_them():
    schema = Schema([Numeric("x", 0, 10), Numeric("z", 0, 1, bins=7)], classes=["no", "yes"], rows=5000)
    model = DPRFClassifier(schema).fit(pd.DataFrame({"x": [1.0, 9.0], "z": [0.1, 0.9]}), ["no", "yes"])
    assert [attribute.n_values for attribute in model.schema_.attributes] == [5, 7]
    assert sorted(model.forest_.n_children[:2]) == [6, 8]


def test_a_plan_tells_tau_and_theta():
    told = DPRFClassifier(schema_of([5] * 8, rows=500)).plan().tuning
    assert told["tau, the number of trees"] == "7"
    assert told["theta, rows worth a split"] == "19.8"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_trees": 0}, "n_trees=0 must be a whole number from 1"),
        ({"noise_factor": "none"}, "noise_factor='none' is not known; choose from classes, sqrt_classes"),
        ({"noise_factor": ["classes"]}, "is not known; choose from classes, sqrt_classes"),
        ({"vote": "median"}, "vote='median' is not known; choose from max_confidence, sum"),
        ({"epsilon": -1}, "epsilon=-1 is out of range"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
        ({"max_rows": 2}, "max_rows=2 bounds the rows of a person; name their column with unit"),
    ],
)
def test_a_parameter_out_of_range_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        DPRFClassifier(SCHEMA, **changes).fit(*table(50))
