"""The recommended forest with numbers and ordered categories that may move a chance one way only."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Ledger, Numeric, PrivateForestClassifier, Schema, load
from privet.errors import ModelFileError, ParameterError
from tests.loops import loop_over

SCHEMA = Schema(
    [Numeric("age", 0, 100), Numeric("debt", 0, 1000), Categorical("job", ["cook", "nurse"])], classes=[5, 9], rows=3000
)
UP_AND_DOWN = {"age": 1, "debt": -1}
GRADES = ["low", "middle", "good", "high"]
# Categories share trees, an ordered one too.
GRADED = SCHEMA.with_attributes([*SCHEMA.attributes, Categorical("grade", GRADES, ordered=True)])


def people(seed, n_rows=3000):
    """Return rows of whom the old, and those without debts, are of class 9 more often."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": 100 * rng.random(n_rows),
            "debt": np.where(rng.random(n_rows) < 0.6, 0.0, 1000 * rng.random(n_rows) ** 3),
            "job": rng.choice(["cook", "nurse"], n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    pull = X["age"].fillna(50) / 25 - X["debt"] / 250 * np.where(X["job"] == "cook", 1.5, 0.2) - 1.5
    return X, np.where(rng.random(n_rows) < 1 / (1 + np.exp(-pull)), 9, 5)


def graded(seed, n_rows=3000):
    """Return rows with a grade, of whom those of higher grades are of class 9 more often, cooks hardly so."""
    X, y = people(seed, n_rows)
    rng = np.random.default_rng(seed + 1000)
    grade = rng.integers(0, 4, n_rows)
    changes = rng.random(n_rows) < np.where(X["job"] == "cook", 0.02, 0.25) * grade
    X["grade"] = np.array(GRADES, dtype=object)[grade]
    X.loc[rng.random(n_rows) < 0.05, "grade"] = None
    return X, np.where(changes, 9, y)


def fitted(seed=0, *, epsilon=1.0, schema=SCHEMA, n_rows=3000, **options):
    X, y = people(seed, n_rows)
    options = {"monotonic_cst": UP_AND_DOWN, "random_state": seed, "unsafe_seeded_noise": True, **options}
    return PrivateForestClassifier(schema, epsilon=epsilon, **options).fit(X, y)


def steepest(model, name, direction):
    """Return how far chances go against a direction, at most, over a table of people and all values."""
    X, _ = graded(99, 60)
    attribute = GRADED.attributes[GRADED.names.index(name)]
    is_number = isinstance(attribute, Numeric)
    values = np.linspace(attribute.low, attribute.high, 150) if is_number else attribute.categories
    chances = np.array([model.predict_proba(X.assign(**{name: value}))[:, 1] for value in values])
    return float((-direction * np.diff(chances, axis=0)).max())


@loop_over("seed", range(3))
@loop_over("epsilon", [0.005, 0.1, 1.0, 20.0])
def test_no_chance_goes_against_a_direction_at_any_budget(seed, epsilon):
    model = fitted(seed, epsilon=epsilon)
    assert max(steepest(model, name, direction) for name, direction in UP_AND_DOWN.items()) <= 0


def fitted_to_grades(seed, *, schema=GRADED, **options):
    options = {"epsilon": 0.3, "random_state": seed, "unsafe_seeded_noise": True, **options}
    return PrivateForestClassifier(schema, **options).fit(*graded(seed))


@loop_over("seed", range(2))
@loop_over("epsilon", [0.005, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("direction", [1, -1])
def test_no_chance_goes_against_a_direction_of_ordered_categories(seed, epsilon, direction):
    ways = {"grade": direction, "age": 1}
    model = fitted_to_grades(seed, epsilon=epsilon, monotonic_cst=ways)
    assert max(steepest(model, name, way) for name, way in ways.items()) <= 0


def test_ordered_categories_share_trees_in_both_stages_and_still_keep_to_a_direction():
    free, kept = (fitted_to_grades(1, epsilon=20.0, monotonic_cst=cst) for cst in (None, {"grade": -1}))
    trees = kept.trees_
    assert (2, 3) in trees.first.attributes
    assert any(3 in own for own in trees.attributes[-trees.n_later :])
    assert steepest(free, "grade", -1) > 0.01 > 0 >= steepest(kept, "grade", -1)
    # Categories alone have trees of their own.
    alone = fitted_to_grades(1, epsilon=20.0, group_size=1, monotonic_cst={"grade": -1})
    assert (3,) in alone.trees_.first.attributes
    assert steepest(alone, "grade", -1) <= 0


def test_batches_and_files_keep_the_direction_of_ordered_categories(tmp_path):
    model = fitted_to_grades(2, monotonic_cst={"grade": 1})
    model.partial_fit(*graded(3))
    model.save(tmp_path / "graded.privet")
    again = load(tmp_path / "graded.privet")
    assert again.schema_.attributes[3].ordered
    assert steepest(again, "grade", 1) <= 0
    assert {shape.title: shape.direction for shape in again.shapes()}["grade"] == 1


def test_without_directions_noise_would_go_against_them_and_with_them_it_costs_the_same():
    free, kept = fitted(1, epsilon=0.3, monotonic_cst=None), fitted(1, epsilon=0.3)
    assert max(steepest(free, name, direction) for name, direction in UP_AND_DOWN.items()) > 0.01
    # The promise, its receipts and what was public are the same, word for word.
    assert kept.guarantee_ == free.guarantee_


def test_a_second_stage_keeps_to_directions_too():
    model = fitted(2, epsilon=20.0)
    assert model.trees_.n_later > 0
    assert any(set(own) & {0, 1} for own in model.trees_.attributes[-model.trees_.n_later :])
    assert max(steepest(model, name, direction) for name, direction in UP_AND_DOWN.items()) <= 0


def test_directions_help_where_there_is_much_noise_and_they_are_true():
    X, y = people(50, 8000)
    pairs = [(fitted(seed, epsilon=0.15, monotonic_cst=cst) for cst in (UP_AND_DOWN, None)) for seed in range(12)]
    gains = np.array([kept.score(X, y) - free.score(X, y) for kept, free in pairs])
    assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))
    # Turned round they are false, and harm.
    wrong = fitted(0, epsilon=1.0, monotonic_cst={"age": -1, "debt": 1})
    assert wrong.score(X, y) < fitted(0, epsilon=1.0).score(X, y) - 0.05


def test_shapes_say_which_way_was_asked_for_and_go_that_way():
    shapes = {shape.title: shape for shape in fitted(3).shapes()}
    assert {title: shapes[title].direction for title in ("age", "debt")} == UP_AND_DOWN
    for title, direction in UP_AND_DOWN.items():
        known = shapes[title].weights[: len(shapes[title].values[0]), 1]
        assert (direction * np.diff(known) >= -1e-12).all()


def test_a_file_keeps_directions_and_releases_and_predicts_the_same(tmp_path):
    model = fitted(4)
    model.save(tmp_path / "kept.privet")
    again = load(tmp_path / "kept.privet")
    X, _ = people(7, 200)
    assert again.monotonic_cst == UP_AND_DOWN
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    # What was released stays as it was; the weights in use are those in order.
    np.testing.assert_array_equal(again.releases_[0].weights, model.releases_[0].weights)
    assert (model.releases_[0].weights != model.released_.weights).any()


def test_a_file_without_directions_does_not_speak_of_them():
    assert "monotonic_cst" not in fitted(5, monotonic_cst=None).to_document()["parameters"]


def test_a_file_whose_direction_is_of_no_number_is_refused():
    model = fitted(6)
    document = model.to_document()
    document["parameters"]["monotonic_cst"] = {"job": 1}
    with pytest.raises(ModelFileError, match="a parameter does not go with the schema; the file was changed"):
        PrivateForestClassifier.from_document(document, model.schema_)


def test_batches_are_brought_into_order_together():
    model = fitted(8)
    X, y = people(9)
    model.partial_fit(X, y)
    assert len(model.releases_) == 2
    assert max(steepest(model, name, direction) for name, direction in UP_AND_DOWN.items()) <= 0


@pytest.mark.parametrize("wrong", [[1, -1], {"age": 2}, {"age": True}, {0: 1}, "age"])
def test_what_is_no_direction_is_refused_before_rows_are_read(wrong):
    with pytest.raises(ParameterError, match="must be a dict from names of attributes to 1 .may only rise. or -1"):
        PrivateForestClassifier(SCHEMA, monotonic_cst=wrong).fit(object(), object())


def test_a_number_that_is_not_there_is_refused_before_rows_are_read():
    with pytest.raises(ParameterError, match=r"\(--increasing, --decreasing\) names 'pay', which is no attribute"):
        PrivateForestClassifier(SCHEMA, monotonic_cst={"pay": 1}).plan()


def test_a_direction_of_no_attribute_is_refused_before_a_number_of_rows_is_bought(tmp_path):
    ledger = Ledger(tmp_path / "ledger", dataset="people", epsilon=5.0)
    with pytest.raises(ParameterError, match="names 'pay', which is no attribute of the schema"):
        fitted(schema=replace(SCHEMA, rows=None), monotonic_cst={"pay": 1}, unsafe_seeded_noise=False, ledger=ledger)
    assert ledger.spent == 0
