"""A plan costs nothing and says what a fit would do."""

import math

import numpy as np
import pytest

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.errors import ParameterError
from privet.plan import Plan, Step, epsilon_needed, laplace_step
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.unit import EACH_ROW
from privet.rng import SeededNoise

SCHEMA = Schema(
    [Numeric("age", 0, 100), Numeric("hours", 0, 60), Categorical("sex", ["female", "male"]), Numeric("pay", 0, 9)],
    classes=["no", "yes"],
)


def a_plan(*, noise_std, rows_per_leaf, n_trees=1):
    step = Step("class counts of leaves", 1.0, n_trees, noise_std, 64)
    return Plan("private-rdt", 1.0, EACH_ROW, 1000, n_trees, 3, 1000 / rows_per_leaf, rows_per_leaf, (step,))


def test_the_noise_of_a_step_is_that_of_the_mechanism():
    assert laplace_step("counts", 1.0, sensitivity=10, n_values=1).noise_std == pytest.approx(14.136, abs=1e-3)
    assert laplace_step("counts", math.inf, sensitivity=10, n_values=1).noise_std == 0.0


@pytest.mark.parametrize("rows", ["declared", "bought"])
def test_the_steps_are_the_receipts_of_the_fit(rows):
    schema = Schema(SCHEMA.attributes, classes=SCHEMA.classes, rows=5_000 if rows == "declared" else None)
    rng = np.random.default_rng(3)
    X = [[age, 30.0, "male", 5.0] for age in rng.uniform(0, 100, 400)]
    model = PrivateRDTClassifier(schema, epsilon=0.5, n_trees=3, random_state=4)
    steps = model.plan(5_000).steps
    event = model.fit(X, rng.choice(["no", "yes"], 400)).guarantee_.event
    receipts = [event] if rows == "declared" else list(event.parts)
    assert [(s.what, s.epsilon, s.sensitivity) for s in steps] == [(r.what, r.epsilon, r.sensitivity) for r in receipts]
    assert steps[-1].noise_std == model.noise_std_


def test_a_plan_has_the_trees_of_the_fit():
    schema = Schema(SCHEMA.attributes, classes=SCHEMA.classes, rows=5_000)
    model = PrivateRDTClassifier(schema, random_state=4)
    plan = model.plan()
    forest = model.fit(np.array([[5.0, 5.0, "male", 5.0]], dtype=object), ["no"]).forest_
    assert (plan.height, plan.leaves_per_tree) == (forest.depth, len(forest.leaves) / forest.n_trees)
    assert plan.steps[-1].n_values == model.noisy_counts_.size
    assert plan.rows_per_leaf == 5_000 / plan.leaves_per_tree


def test_reliability_of_one_leaf_is_what_the_mechanism_does():
    plan = a_plan(noise_std=laplace_step("c", 0.1, sensitivity=1, n_values=1).noise_std, rows_per_leaf=60.0)
    noise = SeededNoise(11)
    exact = np.tile([45, 15], (40_000, 1))
    noisy, _ = discrete_laplace(exact, epsilon=0.1, sensitivity=1, what="counts", noise=noise)
    kept = (noisy[:, 0] > noisy[:, 1]).mean() + 0.5 * (noisy[:, 0] == noisy[:, 1]).mean()
    assert kept == pytest.approx(plan.leaf_reliability, abs=0.01)
    assert abs(kept - a_plan(noise_std=2 * plan.noise_std, rows_per_leaf=60.0).leaf_reliability) > 0.05


def test_reliability_of_the_vote_is_what_the_mechanism_does():
    n_trees = 10
    plan = a_plan(noise_std=laplace_step("c", 0.1, sensitivity=1, n_values=1).noise_std, rows_per_leaf=12.0, n_trees=10)
    exact = np.tile([9, 3], (n_trees * 20_000, 1))
    noisy, _ = discrete_laplace(exact, epsilon=0.1, sensitivity=1, what="counts", noise=SeededNoise(12))
    votes = noisy.reshape(20_000, n_trees, 2).sum(axis=1)
    kept = (votes[:, 0] > votes[:, 1]).mean() + 0.5 * (votes[:, 0] == votes[:, 1]).mean()
    assert kept == pytest.approx(plan.reliability, abs=0.015)


def test_without_noise_all_is_reliable_and_with_noise_alone_nothing_is():
    assert a_plan(noise_std=0.0, rows_per_leaf=1.0, n_trees=5).reliability == 1.0
    assert a_plan(noise_std=1e9, rows_per_leaf=1.0, n_trees=5).reliability == pytest.approx(0.5, abs=1e-6)


def test_the_epsilon_that_is_needed_reaches_the_reliability_and_a_little_less_does_not():
    model = PrivateRDTClassifier(SCHEMA, n_trees=5, height=3, random_state=4)
    for n_rows in (200, 20_000):
        needed = model.epsilon_needed(n_rows, 0.9)
        assert model.set_params(epsilon=needed).plan(n_rows).reliability >= 0.9
        assert model.set_params(epsilon=0.98 * needed).plan(n_rows).reliability < 0.9
    assert needed < 0.1


def test_where_no_epsilon_helps_the_answer_is_infinity():
    assert epsilon_needed(lambda epsilon: a_plan(noise_std=1e9, rows_per_leaf=1.0), 0.95) == math.inf


def test_persons_with_many_rows_take_more_noise():
    each = PrivateRDTClassifier(SCHEMA, height=3, unit="person", max_rows=4, random_state=4).plan(1_000)
    rows = PrivateRDTClassifier(SCHEMA, height=3, random_state=4).plan(1_000)
    assert each.noise_std == pytest.approx(4 * rows.noise_std, rel=0.01)
    assert each.to_json()["unit"] == "person"
    assert "per person, planned for 1,000 rows" in str(each)


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(ParameterError, match="roughly how many rows there are; pass n_rows"):
        PrivateRDTClassifier(SCHEMA).plan()
    with pytest.raises(ParameterError, match='schema="infer" gives it nothing to go by'):
        PrivateRDTClassifier("infer").plan(100)
    with pytest.raises(ParameterError, match="n_rows=0 must be a whole number"):
        PrivateRDTClassifier(SCHEMA).plan(0)
    with pytest.raises(ParameterError, match="reliability=0.5 must lie between"):
        PrivateRDTClassifier(SCHEMA).epsilon_needed(100, 0.5)
