"""The recommended forest through its public class."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.central.weights.knots import FINE_HALVINGS, knot_values
from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.trees import CODES_A_BIN
from privet.datasets import agrawal
from privet.errors import ModelFileError, ParameterError
from privet.model_file import write_document
from privet.privacy.accounting import stated_epsilon
from privet.privacy.events import (
    DiscreteLaplace,
    Jointly,
    KNormObjective,
    NormalObjective,
    PermuteAndFlip,
    Sequential,
)
from privet.privacy.guarantee import Guarantee

ATTRIBUTES = [
    Numeric("age", 0, 100),
    Categorical("job", ["nurse", "clerk", "cook"]),
    Numeric("pay", 0, 10, bins=4),
    Numeric("debt", -10, 10, edges=[-1, 0, 1]),
    Categorical("night", [False, True]),
]
SCHEMA = Schema(ATTRIBUTES, classes=["no", "yes"], rows=2000)
SEEDED = {"random_state": 4, "unsafe_seeded_noise": True}


def table(n=2000, seed=2):
    """Return rows of which age tells the class, most of the time; some values are missing or strange."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(["nurse", "clerk", "cook"], n),
            "pay": rng.uniform(0, 10, n),
            "debt": rng.uniform(-10, 10, n),
            "night": rng.choice([False, True], n),
        }
    )
    y = np.where((X["age"] > 40) ^ (rng.random(n) < 0.1), "yes", "no")
    X.loc[::19, "job"] = "judge"
    X.loc[::17, "pay"] = np.nan
    return X, y


def fitted(schema=SCHEMA, rows=None, **options):
    X, y = table() if rows is None else rows
    return PrivateForestClassifier(schema, **options).fit(X, y)


def receipts(model):
    return {receipt.what: receipt for receipt in model.guarantee_.event.parts}


def test_it_beats_the_majority_on_agrawal():
    data, test = agrawal(20_000, function=1, random_state=7), agrawal(5_000, function=1, random_state=8)
    model = PrivateForestClassifier(data.schema, epsilon=1.0).fit(data.X, data.y)
    majority = max((test.y == "A").mean(), (test.y == "B").mean())
    assert model.score(test.X, test.y) > majority + 0.1
    assert model.feature_importances_.argmax() == 2  # age alone decides
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_two_classes_of_any_label_give_the_same_model():
    X, y = table()
    words = fitted(epsilon=1.0, **SEEDED)
    numbers = PrivateForestClassifier(Schema(ATTRIBUTES, classes=[5, 9], rows=2000), epsilon=1.0, **SEEDED)
    numbers.fit(X, np.where(y == "yes", 9, 5))
    assert_array_equal(numbers.released_.weights, words.released_.weights)
    assert_array_equal(numbers.predict(X), np.where(words.predict(X) == "yes", 9, 5))
    assert words.score(X, y) > 0.8


@pytest.mark.parametrize("classes", [[5, 7, 9], ["a", "b", "c", "d", "e"], list(range(30))])
def test_more_classes_are_told_apart(classes):
    X, _ = table()
    labels = np.array(classes)[(X["age"] * len(classes) / 100).astype(int).clip(0, len(classes) - 1)]
    schema = Schema(ATTRIBUTES, classes=classes, rows=2000)
    model = fitted(schema, (X, labels), epsilon=20.0)
    assert model.score(X, labels) > 2 / len(classes)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.released_.weights.shape == (model.trees_.n_leaves, len(classes))


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.5, 50.0, 100.0, 1e4, math.inf])
@pytest.mark.parametrize("classes", [["no", "yes"], ["no", "yes", "perhaps"]])
@pytest.mark.parametrize("rows", [2000, None])
def test_any_epsilon_that_is_accepted_fits(epsilon, classes, rows):
    model = fitted(Schema(ATTRIBUTES, classes=classes, rows=rows), epsilon=epsilon)
    assert model.guarantee_.epsilon <= epsilon
    assert_allclose(model.predict_proba(table()[0]).sum(axis=1), 1)


def test_too_few_rows_for_epsilon_release_the_balance_alone():
    schema = Schema(ATTRIBUTES, classes=["no", "yes"], rows=150)
    X, y = table(150)
    model = fitted(schema, (X, y), epsilon=0.1)
    assert model.trees_.n_trees == 0
    assert len(set(model.predict(X))) == 1
    assert list(receipts(model)) == ["class balance"]
    assert (model.shapes(), model.feature_importances_.sum()) == ([], 0)
    assert model.explain(X).columns.tolist() == ["(start)"]
    assert fitted(schema, (X, y), epsilon=0.11).trees_.n_trees > 0
    # By the public number, whatever the rows are.
    assert fitted(SCHEMA, (X[:1], y[:1]), epsilon=0.1).trees_.n_trees > 0


OVERRIDES = {
    "n_attributes": 2, "n_bins": 3, "group_size": 2, "prior_variance": 0.5, "balance_share": 0.4, "selection_share": 0.3
}  # fmt: skip


def test_overrides_are_honoured_and_the_budget_still_adds_up():
    model = fitted(epsilon=1.0, **OVERRIDES)
    assert sum(map(len, model.trees_.attributes)) == 2
    # Bins that the caller fixed, halved further near the lower bound; there are four cells from one to the next.
    knots = knot_values(SCHEMA.attributes[0], OVERRIDES["n_bins"], FINE_HALVINGS)
    assert len(model.schema_.attributes[0].edges) == CODES_A_BIN * (len(knots) - 1)
    paid = receipts(model)
    assert paid["class balance"].epsilon == pytest.approx(0.4)
    assert sum(r.epsilon for r in model.guarantee_.event.parts if isinstance(r, PermuteAndFlip)) == pytest.approx(0.3)
    exact = sum(Fraction(stated_epsilon(receipt)) for receipt in model.guarantee_.event.parts)
    assert Fraction(1) * (1 - Fraction(1, 10**9)) <= exact <= 1


@pytest.mark.parametrize("name", OVERRIDES)
@pytest.mark.parametrize("epsilon", [0.05, 1 / 3, 4.0])
def test_any_single_override_leaves_the_budget_whole(name, epsilon):
    model = fitted(epsilon=epsilon, **{name: OVERRIDES[name]})
    exact = sum(Fraction(stated_epsilon(receipt)) for receipt in model.guarantee_.event.parts)
    assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= exact <= Fraction(epsilon)


def test_groups_are_as_large_as_they_were_fixed():
    schema = Schema([Categorical(f"c{j}", [1, 2]) for j in range(6)], classes=["no", "yes"], rows=1000)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.integers(1, 3, 1000) for j in range(6)})
    y = np.where(X["c0"] == X["c1"], "yes", "no")
    for size in (1, 2, 3):
        model = fitted(schema, (X, y), epsilon=10.0, group_size=size)
        assert {len(own) for own in model.trees_.first.attributes} == {size}


def wide(n=20_000, n_attributes=60):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{j}": rng.uniform(0, 1, n) for j in range(n_attributes)})
    schema = Schema([Numeric(name, 0, 1) for name in X], classes=["no", "yes"], rows=n)
    return schema, (X, np.where(X["x0"] > 0.5, "yes", "no"))


def test_with_a_delta_many_trees_have_normal_noise_and_the_guarantee_says_so():
    schema, rows = wide()
    model = fitted(schema, rows, epsilon=1.0, delta=1e-6)
    assert isinstance(receipts(model)["leaf weights"], NormalObjective)
    assert isinstance(model.guarantee_.event, Jointly)
    assert (model.guarantee_.epsilon, model.guarantee_.delta, model.guarantee_.mode) == (1.0, 1e-6, "sound")
    assert "delta = " in str(model.guarantee_)
    pure = fitted(schema, rows, epsilon=1.0, n_attributes=len(model.trees_.kept))
    assert type(receipts(pure)["leaf weights"]) is KNormObjective
    assert pure.guarantee_.delta == 0
    assert model.noise_std_ < 0.85 * pure.noise_std_


@pytest.mark.parametrize("classes", [["no", "yes"], ["high", "low", "no", "yes"]])
def test_trees_of_one_leaf_share_noise_like_others(tmp_path, classes):
    attributes = [Categorical(f"c{j}", [1], never_missing=True) for j in range(3)]
    schema = Schema([*attributes, Categorical("job", ["cook", "nurse"])], classes=classes, rows=2000)
    X = pd.DataFrame({f"c{j}": [1] * 2000 for j in range(3)} | {"job": ["cook", "nurse"] * 1000})
    model = fitted(schema, (X, np.where(X["job"] == "cook", "no", "yes")), epsilon=4.0, group_size=1)
    assert sorted(model.trees_.first.sizes) == [1, 1, 1, 3]
    assert len(set(model.tree_noise_std_[:4])) < 4
    assert_array_equal(model.predict(X), np.where(X["job"] == "cook", "no", "yes"))
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_


@pytest.mark.parametrize("n_attributes", [1, 5])
def test_with_a_delta_few_trees_have_k_norm_noise_and_the_promise_that_was_planned(n_attributes):
    few = fitted(epsilon=1.0, delta=1e-6, n_attributes=n_attributes)
    assert type(receipts(few)["leaf weights"]) is KNormObjective
    assert (few.guarantee_.epsilon, few.guarantee_.delta) == (1.0, 1e-6)


def test_with_a_delta_people_of_several_rows_have_normal_noise_for_all_of_them():
    schema, (X, y) = wide()
    X = X.assign(person=np.arange(len(X)) // 2)
    person = fitted(schema, (X, y), epsilon=1.0, delta=1e-6, unit="person", max_rows=2)
    assert receipts(person)["leaf weights"].rows == 2
    assert isinstance(receipts(person)["leaf weights"], NormalObjective)
    assert (person.guarantee_.epsilon, person.guarantee_.delta, person.guarantee_.max_rows) == (1.0, 1e-6, 2)


def test_an_explanation_adds_up_to_the_score():
    X, _ = table(50)
    model = fitted(epsilon=2.0)
    scores = model.leaf_weights_.scores(model._encoder.encode(X))
    explained = model.explain(X)
    assert_allclose(explained.sum(axis=1), scores[:, 1] - scores[:, 0])
    assert_allclose(model.explain(X, "no").sum(axis=1), scores[:, 0] - scores[:, 1])
    assert explained.columns.tolist() == ["(start)", *(shape.title for shape in model.shapes())]
    assert_array_equal(explained.sum(axis=1) > 0, model.predict(X) == "yes")
    assert explained.index.equals(X.index)


def test_an_explanation_of_more_classes_is_that_of_the_predicted_one():
    X, y = table()
    labels = np.where(y == "yes", 9, np.where(X["night"], 5, 7))
    model = fitted(Schema(ATTRIBUTES, classes=[5, 7, 9], rows=2000), (X, labels), epsilon=5.0)
    scores = model.leaf_weights_.scores(model._encoder.encode(X))
    assert_allclose(model.explain(X).sum(axis=1), scores.max(axis=1))
    assert_allclose(model.explain(X, 7).sum(axis=1), scores[:, 1])


def test_a_class_that_is_none_cannot_be_explained():
    with pytest.raises(ParameterError, match=r"class_='maybe' is none of the classes; choose from \['no', 'yes'\]"):
        fitted(epsilon=2.0).explain(table(5)[0], "maybe")


def test_shapes_show_what_age_does():
    model = fitted(epsilon=math.inf)
    shapes = {shape.title: shape for shape in model.shapes()}
    (at,), age = shapes["age"].values, shapes["age"].weights[:-1, 1]
    assert age[(at > 1) & (at < 35)].max() < 0 < age[at > 45].min()
    assert all((shape.noise_std == 0).all() for shape in shapes.values())
    noisy = fitted(epsilon=1.0)
    assert all((shape.noise_std > 0).all() for shape in noisy.shapes())


def test_missing_and_unseen_values_have_a_weight_of_their_own():
    rng = np.random.default_rng(1)
    job = rng.choice(["nurse", "clerk", None, "judge"], 4000)
    X, y = pd.DataFrame({"job": job}), np.where(pd.isna(job) | (job == "judge"), "yes", "no")
    schema = Schema([Categorical("job", ["nurse", "clerk", "cook"])], classes=["no", "yes"], rows=4000)
    model = fitted(schema, (X, y), epsilon=5.0)
    strange = pd.DataFrame({"job": ["nurse", None, "judge", "astronaut", "cook"]})
    assert model.predict(strange)[:4].tolist() == ["no", "yes", "yes", "yes"]


def test_declared_bins_and_edges_are_the_cells():
    model = fitted(epsilon=5.0)
    assert model.schema_.attributes[1:] == SCHEMA.attributes[1:]
    assert model.schema_.attributes[0].edges is not None
    cells = {shape.title: shape.cells for shape in model.shapes()}
    assert cells["debt"] == (("below -1", "-1 to 0", "0 to 1", "1 or more", "missing"),)
    assert cells["pay"] == (("below 2.5", "2.5 to 5", "5 to 7.5", "7.5 or more", "missing"),)


def test_a_list_of_a_thousand_categories_shares_cells():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"zip": rng.integers(0, 1000, 20_000)})
    y = np.where(X["zip"] < 500, "yes", "no")
    schema = Schema([Categorical("zip", range(1000))], classes=["no", "yes"], rows=20_000)
    model = fitted(schema, (X, y), epsilon=10.0)
    assert model.trees_.n_leaves == 256
    assert model.score(X, y) > 0.95
    assert len(model.shapes()[0].cells[0]) == 256


def test_a_parquet_file_gives_the_released_numbers_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 300)
    X, y = table()
    X.assign(**{"class": y}).to_parquet(tmp_path / "rows.parquet")
    for options in ({}, {"n_attributes": 2}):
        memory = fitted(epsilon=1.0, **options, **SEEDED)
        file = PrivateForestClassifier(SCHEMA, epsilon=1.0, **options, **SEEDED).fit(tmp_path / "rows.parquet")
        assert file.trees_ == memory.trees_
        assert_array_equal(file.released_.weights, memory.released_.weights)
        assert_array_equal(file.released_.balance, memory.released_.balance)


def test_merged_rows_give_the_model_of_single_ones(monkeypatch):
    schema = Schema([Categorical("a", [1, 2]), Categorical("b", [1, 2, 3])], classes=["no", "yes"], rows=3000)
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.integers(1, 3, 3000), "b": rng.integers(1, 4, 3000)})
    y = rng.choice(["no", "yes"], 3000)
    merged = fitted(schema, (X, y), epsilon=1.0, **SEEDED)
    monkeypatch.setattr("privet.central.weights.coded_rows._MOST_MERGED", 0)
    single = fitted(schema, (X, y), epsilon=1.0, **SEEDED)
    assert_allclose(merged.leaf_weights_.weights, single.leaf_weights_.weights, atol=1e-7)


def test_threads_do_not_change_a_digit():
    one, two = (fitted(epsilon=1.0, n_jobs=n, **SEEDED) for n in (1, 2))
    assert_array_equal(one.released_.weights, two.released_.weights)


def test_the_rows_of_a_person_are_hidden_together(tmp_path):
    X, y = table()
    X = X.assign(person=np.random.default_rng(5).permutation(np.arange(2000) // 4))
    first = (X.groupby("person").cumcount() < 2).to_numpy()
    whole = fitted(SCHEMA, (X, y), epsilon=math.inf, unit="person", max_rows=2, **SEEDED)
    rows = fitted(SCHEMA, (X[first].drop(columns="person"), y[first]), epsilon=math.inf, **SEEDED)
    assert_array_equal(whole.released_.weights, rows.released_.weights)
    model = fitted(SCHEMA, (X, y), epsilon=3.0, unit="person", max_rows=2)
    assert receipts(model)["class balance"].sensitivity == 2
    assert receipts(model)["leaf weights"].rows == 2
    assert model.guarantee_.max_rows == 2
    assert 3 * (1 - 1e-9) <= model.guarantee_.epsilon <= 3
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_


def test_without_declared_rows_a_noisy_number_is_bought_first():
    model = fitted(Schema(ATTRIBUTES, classes=["no", "yes"]), epsilon=1.0)
    first = model.guarantee_.event.parts[0]
    assert isinstance(first, DiscreteLaplace)
    assert (first.what, first.epsilon) == ("number of rows", 0.05)
    assert model.guarantee_.epsilon <= 1


@pytest.mark.parametrize("options", [{"n_attributes": 120}, {"n_bins": 64}, {"n_attributes": 120, "n_bins": 64}])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_forest_of_as_many_leaves_as_there_is_room_for_comes_back_from_its_file(tmp_path, options, n_classes):
    schema, (X, _) = wide(300, 120)
    schema = Schema(schema.attributes, classes=range(n_classes), rows=10**6)
    labels = np.random.default_rng(0).integers(0, n_classes, 300)
    model = fitted(schema, (X, labels), epsilon=1.0, **options)
    model.save(tmp_path / "m.privet")
    assert_array_equal(load(tmp_path / "m.privet").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("renamed", ["class balance", "leaf weights", "last digits of leaf weights"])
def test_a_receipt_of_another_name_is_refused(tmp_path, renamed):
    model = fitted(epsilon=1.0)
    own = model.guarantee_
    parts = [replace(part, what="counts") if part.what == renamed else part for part in own.event.parts]
    forged = replace(Guarantee.from_event(Sequential(tuple(parts)), public=own.public), versions=own.versions)
    write_document(tmp_path / "m.privet", {**model.to_document(), "guarantee": forged.to_json()})
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_attributes": 0}, "n_attributes=0 "),
        ({"n_bins": 65}, "n_bins=65 "),
        ({"group_size": 4}, "group_size=4 "),
        ({"group_size": True}, "group_size=True "),
        ({"prior_variance": 0}, "prior_variance=0 must be a number from 0.01 to 100, or None"),
        ({"prior_variance": "1"}, "prior_variance='1' must be a number from 0.01"),
        ({"prior_variance": True}, "prior_variance=True must be a number from 0.01"),
        ({"balance_share": 0.51}, "balance_share=0.51 must be a number from 0.01 to 0.5, or None"),
        ({"selection_share": math.nan}, "selection_share=nan must be a number from 0.01"),
        ({"delta": 1.0}, "delta=1.0 "),
        ({"delta": -1e-9}, "delta=-1e-09 "),
        ({"epsilon": 0}, "epsilon=0 is out of range"),
    ],
)
def test_parameters_out_of_range_are_refused_before_any_row_is_read(options, message):
    with pytest.raises(ParameterError, match=message):
        PrivateForestClassifier(SCHEMA, **options).fit(None, None)


def test_a_plan_says_what_a_fit_does():
    # How many leaves there will be is known of categories and of numbers with bins.
    schema = Schema([Numeric("age", 0, 100, bins=4), *ATTRIBUTES[1:]], classes=["no", "yes"], rows=2000)
    model = PrivateForestClassifier(schema, epsilon=1.0, random_state=4)
    plan = model.plan()
    fit = model.fit(*table())
    assert [step.what for step in plan.steps] == list(receipts(fit))
    assert plan.n_trees == fit.trees_.n_trees
    assert plan.noise_std == pytest.approx(fit.noise_std_, rel=1e-5)


def test_a_plan_says_what_a_fit_does_if_numbers_have_as_many_leaves_as_they_may():
    model = PrivateForestClassifier(SCHEMA, epsilon=1.0, random_state=4)
    plan = model.plan()
    fit = model.fit(*table())
    assert [step.what for step in plan.steps] == list(receipts(fit))
    assert plan.n_trees == fit.trees_.n_trees
    # Of age a histogram chose fewer leaves, so its tree shares noise with others.
    planned = np.array(
        [25 if own == (0,) else size for own, size in zip(fit.trees_.attributes, fit.trees_.sizes, strict=True)]
    )
    assert (planned.sum(), fit.trees_.sizes.sum()) == (47, 31)
    linear = receipts(fit)["leaf weights"].linear
    for sizes, noise_std in [(planned, plan.noise_std), (fit.trees_.sizes, fit.noise_std_)]:
        assert noise_std == pytest.approx(NoiseGroups.of(sizes, 2).deviations(linear).mean(), rel=1e-5)


def test_a_plan_for_too_few_rows_releases_the_class_balance_alone():
    model = PrivateForestClassifier(SCHEMA, epsilon=1.0, random_state=4)
    assert "only the class balance is released" in str(model.set_params(epsilon=1e-3).plan())


def test_a_file_that_states_next_to_no_noise_is_refused_without_a_warning(tmp_path):
    # One over such a deviation is beyond any float.
    data = agrawal(200, random_state=5)
    document = PrivateForestClassifier(data.schema).fit(data.X, data.y).to_document()
    stated = [5e-324 for _ in document["structure"]["noise_std"]]
    structure = {**document["structure"], "noise_std": stated}
    write_document(tmp_path / "model.privet", {**document, "structure": structure})
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "model.privet")
