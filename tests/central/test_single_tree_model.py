"""A model of a single tree, which few rows times epsilon have: what it answers, promises and leaves in its file."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.central.receipts import ROW_COUNT, in_sequence
from privet.central.weights.released_weights import BALANCE, CHOICES, COUNTS
from privet.central.weights.single_tree import pull_deviation
from privet.central.weights.trees import Trees
from privet.errors import ModelFileError
from privet.export import export_model, portable_document
from privet.export.predictor import Predictor
from privet.model_file import write_document
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import NoNoise
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.report import export_text, write_report
from tests.central.test_weight_file import OTHER, changed, each, exchanged, twice, with_receipts, without
from tests.draws import cached

ATTRIBUTES = [
    Numeric("age", 0, 90), Categorical("job", ["nurse", "clerk", "cook"]), Numeric("pay", 0, 10, never_missing=True),
]  # fmt: skip
SCHEMA = Schema(ATTRIBUTES, classes=["no", "yes"], rows=50)
BOUGHT = Schema(ATTRIBUTES, classes=["no", "yes"])
THREE = Schema(ATTRIBUTES, classes=[5, 7, 9], rows=50)
# Enough rows for a fit, if they were not nearly all of one class.
LOPSIDED = Schema(ATTRIBUTES, classes=["no", "yes"], rows=1500)


def table(n=50, classes=("no", "yes")):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"age": rng.uniform(0, 90, n), "job": rng.choice(["nurse", "clerk", "cook"], n), "pay": rng.uniform(0, 10, n)}
    )
    frame.loc[::7, "age"] = np.nan
    told = np.clip((frame["age"].fillna(40) / 90 * len(classes)).astype(int), 0, len(classes) - 1)
    return frame, np.array(classes)[told]


@cached
def fitted(schema, max_rows=1):
    frame, y = table(schema.rows or 50, schema.classes)
    if schema is LOPSIDED:
        y = np.where(frame["age"] > 82, "yes", "no")
    unit = {}
    if max_rows > 1:
        unit, frame = {"unit": "person", "max_rows": max_rows}, frame.assign(person=np.arange(len(frame)) // max_rows)
    return PrivateForestClassifier(schema, epsilon=float(max_rows), **unit).fit(frame, y)


MODELS = [(SCHEMA, 1), (BOUGHT, 1), (THREE, 1), (SCHEMA, 3), (LOPSIDED, 1), (LOPSIDED, 2)]


@pytest.fixture(params=MODELS, ids=["two", "bought", "three", "people", "lopsided", "lopsided people"])
def model(request):
    return fitted(*request.param)


def names(model):
    return [each.what for each in in_sequence(model.guarantee_.event)]


def test_the_receipts_are_a_choice_and_counts_after_a_bought_number_of_rows_or_a_balance(model):
    before = [ROW_COUNT] if model.schema_.rows is None else [BALANCE] if model.schema_.rows == LOPSIDED.rows else []
    assert names(model) == [*before, CHOICES, COUNTS]
    paid = sum(Fraction(pure_epsilon(each)) for each in in_sequence(model.guarantee_.event))
    assert Fraction(model.epsilon) * (1 - Fraction(1, 10**9)) <= paid <= Fraction(model.epsilon)
    assert (model.guarantee_.mode, model.guarantee_.delta) == ("sound", 0)
    assert model.guarantee_.epsilon <= model.epsilon


def test_a_tree_of_far_fewer_rows_than_declared_can_be_read_again(tmp_path):
    # The balance shows how many there are, and that few are outside the largest class.
    declared = replace(LOPSIDED, rows=1_000_000)
    frame, _ = table(1500)
    model = PrivateForestClassifier(declared, epsilon=1.0).fit(frame, np.where(frame["age"] > 82, "yes", "no"))
    assert names(model) == [BALANCE, CHOICES, COUNTS]
    model.save(tmp_path / "tree.privet")
    again = load(tmp_path / "tree.privet")
    assert again.released_.n_rows == 1_000_000
    assert again.n_rows_ == model.n_rows_ < 2000
    assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_everything_that_a_forest_answers_is_answered(model, tmp_path):
    frame, _ = table()
    shares = model.predict_proba(frame)
    assert shares.shape == (50, len(model.classes_))
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(model.predict(frame), model.classes_[shares.argmax(axis=1)])
    (shape,) = model.shapes()
    assert len(shape.attributes) == 1
    assert model.explain(frame[:4]).shape == (4, 2)
    assert model.feature_importances_.shape == (3,)
    assert np.flatnonzero(model.feature_importances_).tolist() in ([], list(model.trees_.kept))
    (tree,) = model.tree_noise_std_
    counts = in_sequence(model.guarantee_.event)[-1]
    assert tree == model.noise_std_ == pull_deviation(laplace_deviation(float(counts.scale)))
    assert model.cell_shares_ is None
    assert "(start)" in model.explain(frame[:1]).columns
    assert export_text(model)
    for name in ("report.html", "report.md"):
        write_report(model, tmp_path / name)
        assert COUNTS in (tmp_path / name).read_text()


def test_a_row_is_told_the_shares_of_its_leaf(model):
    # A row's chances depend on its cell of one attribute alone; a leaf without rows says what the balance says.
    frame, _ = table()
    (attribute,) = model.trees_.kept
    other = frame.copy()
    for a, name in enumerate(["age", "job", "pay"]):
        if a != attribute:
            other[name] = other[name].iloc[0]
    assert_array_equal(model.predict_proba(frame), model.predict_proba(other))


def test_the_deviation_of_a_class_is_that_of_the_sum_over_all_leaves(model):
    counts = in_sequence(model.guarantee_.event)[-1]
    one = laplace_deviation(float(counts.scale))
    # That of discrete noise with a scale as much larger is a little less than the exact one.
    assert model.class_count_std_ == pytest.approx(one * np.sqrt(model.trees_.n_leaves), rel=0.05)
    assert model.released_.balance.shape == (len(model.classes_),)


def test_a_model_comes_back_from_its_file_bit_for_bit(model, tmp_path):
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert again.guarantee_ == model.guarantee_
    assert again.trees_ == model.trees_
    assert_array_equal(again.released_.weights, model.released_.weights)
    assert_array_equal(again.released_.balance, model.released_.balance)
    frame, _ = table()
    assert again.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    assert again.explain(frame).equals(model.explain(frame))
    assert again.class_count_std_ == model.class_count_std_
    again.save(tmp_path / "again.privet")
    assert (tmp_path / "again.privet").read_bytes() == (tmp_path / "m.privet").read_bytes()


def test_exports_answer_as_the_model_does(model, tmp_path):
    frame, _ = table(20)
    predictor = Predictor(portable_document(model))
    found = [predictor.predict_proba(row) for row in frame.astype(object).where(frame.notna(), None).to_dict("records")]
    assert_allclose(found, model.predict_proba(frame), rtol=1e-15)
    for kind, name in (("json", "m.json"), ("js", "m.js"), ("onnx", "m.onnx"), ("python", "m.py")):
        export_model(model, tmp_path / name, format=kind)
        assert (tmp_path / name).stat().st_size > 0


def test_a_plan_tells_below_which_balance_there_is_a_tree():
    model = fitted(LOPSIDED)
    text = str(model.plan())
    assert "a lopsided balance: one tree of one attribute, if 4 to 20 % of rows are outside the largest class" in text
    # What the caller fixes is for a fit, whatever the balance is.
    frame, _ = table(1500)
    y = np.where(frame["age"] > 82, "yes", "no")
    fixed = PrivateForestClassifier(LOPSIDED, n_attributes=2).fit(frame, y)
    assert "largest class" not in str(fixed.plan())
    assert COUNTS not in names(fixed)


@pytest.mark.parametrize("buys", [False, True])
def test_a_tree_after_the_balance_states_a_delta_that_was_planned(tmp_path, buys):
    frame, _ = table(1500)
    y = np.where(frame["age"] > 82, "yes", "no")
    schema = replace(LOPSIDED, rows=None) if buys else LOPSIDED
    model = PrivateForestClassifier(schema, delta=1e-6).fit(frame, y)
    bought = [ROW_COUNT] if buys else []
    assert names(model) == [*bought, BALANCE, CHOICES, COUNTS]
    assert model.guarantee_.epsilon <= model.epsilon
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_


def test_the_plan_tells_both_steps_and_that_rows_are_few(model):
    text = str(model.plan(50))
    assert f"{CHOICES}: " in text
    assert f"{COUNTS}: " in text
    assert BALANCE not in text
    assert "one tree of one attribute" in text


# Forged files.


@pytest.mark.parametrize(
    "forge",
    [
        each(CHOICES, monotone=False), each(CHOICES, sensitivity=2), each(CHOICES, sensitivity=4096),
        each(COUNTS, sensitivity=2), each(COUNTS, scale=Fraction(3)), without(CHOICES), twice(CHOICES), twice(COUNTS),
        each(COUNTS, what=BALANCE), lambda parts: parts[::-1], exchanged(CHOICES, COUNTS),
        lambda parts: [NoNoise(CHOICES), *parts[1:]],
    ],
    ids=[
        "not monotone", "sensitivity of the choice", "sensitivity of a forest's choice", "sensitivity of the counts",
        "scale of the counts", "no choice", "two choices", "two counts", "name of the counts", "order", "exchanged",
        "a choice without noise",
    ],
)  # fmt: skip
def test_other_receipts_are_refused(tmp_path, forge):
    own = fitted(SCHEMA)
    write_document(tmp_path / "m.privet", with_receipts(own, lambda parts: parts))
    assert load(tmp_path / "m.privet").guarantee_ == own.guarantee_
    write_document(tmp_path / "m.privet", with_receipts(own, forge))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize(
    "forge", [twice(BALANCE), exchanged(BALANCE, CHOICES), each(BALANCE, sensitivity=2), without(COUNTS)]
)
def test_other_receipts_after_a_balance_are_refused(tmp_path, forge):
    own = fitted(LOPSIDED)
    write_document(tmp_path / "m.privet", with_receipts(own, lambda parts: parts))
    assert load(tmp_path / "m.privet").guarantee_ == own.guarantee_
    write_document(tmp_path / "m.privet", with_receipts(own, forge))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


def test_the_receipts_of_people_are_for_all_their_rows(tmp_path):
    own = fitted(SCHEMA, 3)
    choice, counts = in_sequence(own.guarantee_.event)
    assert (choice.sensitivity, counts.sensitivity) == (3, 3)
    for name in (CHOICES, COUNTS):
        write_document(tmp_path / "m.privet", with_receipts(own, each(name, sensitivity=1)))
        with pytest.raises(ModelFileError, match=OTHER):
            load(tmp_path / "m.privet")


def test_a_bought_number_of_rows_has_its_receipt(tmp_path):
    own = fitted(BOUGHT)
    write_document(tmp_path / "m.privet", with_receipts(own, without(ROW_COUNT)))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize("factor", [0.5, 1 + 1e-9])
def test_noise_that_does_not_fit_the_counts_is_refused(tmp_path, factor):
    document = fitted(SCHEMA).to_document()
    (std,) = document["structure"]["noise_std"]
    write_document(tmp_path / "m.privet", changed(document, "structure", noise_std=[std * factor]))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


def refused_with(released, tmp_path):
    own = fitted(SCHEMA)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(own, "releases_", (released,), raising=False)
        write_document(tmp_path / "m.privet", own.to_document())
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


def test_two_trees_or_counts_of_cells_are_refused(tmp_path):
    own, released = fitted(SCHEMA), fitted(SCHEMA).released_
    kinds = {"trees": Trees.of([[1]], own.schema_)}
    hard = replace(released, weights=np.zeros((4, 1), dtype=np.int64), **kinds)
    write_document(tmp_path / "m.privet", own.to_document())
    load(tmp_path / "m.privet")
    refused_with(replace(hard, cells=np.zeros(4, dtype=np.int64)), tmp_path)
    two = Trees.of([[1], [2]], own.schema_)
    zeros = np.zeros((two.n_leaves, 1), dtype=np.int64)
    many = {"variances": np.repeat(released.variances, 2), "noise_std": np.repeat(released.noise_std, 2)}
    refused_with(replace(released, trees=two, weights=zeros, **many), tmp_path)
    pair = Trees.of([[1, 2]], own.schema_)
    refused_with(replace(released, trees=pair, weights=np.zeros((pair.n_leaves, 1), dtype=np.int64)), tmp_path)
