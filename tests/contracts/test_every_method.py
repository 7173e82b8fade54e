"""What holds for every method: its budget, its plan, its file, its unit, and that rows are where they may be."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.central.weights.trees import checked_trees
from privet.errors import DataError, ModelFileError, ParameterError
from privet.model_file import write_document
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace, NoNoise, PermuteAndFlip, Sequential, releases
from privet.privacy.guarantee import Guarantee
from privet.registry import METHODS
from tests.contracts.tasks import OF_NUMBERS, answers, labels_for, schema_for
from tests.loops import loop_over

ATTRIBUTES = [
    Numeric("age", 0, 100),
    Categorical("job", ["nurse", "clerk", "cook"]),
    Numeric("pay", 0, 10, bins=4),
    Categorical("night", [False, True]),
]
DECLARED = Schema(ATTRIBUTES, classes=["no", "yes"], rows=800)
SCHEMAS = {"declared": DECLARED, "bought": Schema(ATTRIBUTES, classes=["no", "yes"])}
# One case a method, and one for each way of asking more.
CASES = {
    **{name: (name, {}) for name in sorted(METHODS)},
    "dpdf, quantiles": ("dpdf", {"numeric": "quantiles", "n_trees": 3, "height": 2}),
    "dpdf, entropy": ("dpdf", {"criterion": "entropy", "n_trees": 1}),
    "dpdf, max_class": ("dpdf", {"criterion": "max_class", "n_trees": 7, "height": 1}),
    "diffpid3, n_gini": ("diffpid3", {"criterion": "n_gini", "height": 3}),
    "private-id3, lower": ("private-id3", {"height": 2}),
    "private-forest, chosen": ("private-forest", {"n_attributes": 2, "n_bins": 3}),
    "private-forest, fixed": ("private-forest", {"group_size": 2, "prior_variance": 1.0, "balance_share": 0.1}),
    "dp-rf, sum": ("dp-rf", {"vote": "sum", "noise_factor": "sqrt_classes", "n_trees": 5}),
}
# They go on as their released class counts tell.
WEIGHTED = {"private-forest", "private-forest-regressor"}
SEEDED = {"random_state": 4, "unsafe_seeded_noise": True}


@pytest.fixture(params=CASES)
def method(request):
    """Return a function that makes the unfitted model."""
    name, options = CASES[request.param]
    return lambda schema=DECLARED, **more: METHODS[name](schema_for(name, schema), **{**options, **more})


@pytest.fixture
def labels(method):
    """Return a function that makes of classes what the method learns."""
    return lambda y, schema=DECLARED: labels_for(method().method, schema, y)


@pytest.fixture
def table(labels):
    """Return a function that makes rows and what the method learns of them."""

    def made(n=800, seed=2):
        X, y = rows_and_classes(n, seed)
        return X, labels(y)

    return made


@pytest.fixture
def persons(table):
    """Return rows of people, and what the method learns of them."""
    X, y = table(900)
    return X.assign(person=np.random.default_rng(5).permutation(np.arange(900) // 3)), y


def rows_and_classes(n=800, seed=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(["nurse", "clerk", "cook"], n),
            "pay": rng.uniform(0, 10, n),
            "night": rng.choice([False, True], n),
        }
    )
    return X, np.where((X["age"] > 40) ^ (rng.random(n) < 0.1), "yes", "no")


def receipts(model):
    event = model.guarantee_.event
    return event.parts if isinstance(event, Sequential) else (event,)


def released(model):
    """Return all released numbers, whatever they are: counts, or a class balance and weights."""
    if hasattr(model, "noisy_counts_"):
        return model.noisy_counts_.ravel()
    return np.concatenate([model.released_.balance, model.released_.weights.ravel()])


def structure(model):
    """Return the trees as the file has them."""
    return model.to_document()["structure"]


def terms(model):
    """Return what was asked and paid; some of the noise follows from what was released before, and is no part of it."""
    return [repr(_without_what_follows(receipt)) for receipt in receipts(model)]


def _without_what_follows(receipt):
    if isinstance(receipt, PermuteAndFlip):
        return replace(receipt, candidates=1)
    if receipt.what == "leaf weights":  # which trees there are
        return replace(receipt, linear=round(receipt.linear, 6))
    if receipt.what == "last digits of leaf weights":  # how far weights may reach, which the balance tells
        return replace(receipt, sensitivity=1, scale=Fraction(1))
    return receipt


@pytest.mark.parametrize("rows", ["declared", "bought"])
@loop_over("epsilon", [1e-3, 7 / 3, 1e6])
@pytest.mark.parametrize("max_rows", [None, 3])
def test_receipts_add_up_to_epsilon_and_never_to_more(method, table, persons, rows, epsilon, max_rows):
    X, y = table(60)
    persons = {} if max_rows is None else {"unit": "person", "max_rows": max_rows}
    model = method(DECLARED if rows == "declared" else entropy_or(method, SCHEMAS[rows]), epsilon=epsilon, **persons)
    model.fit(X.assign(person=np.arange(60) // 3) if persons else X, y)
    exact = sum(Fraction(pure_epsilon(receipt)) for receipt in receipts(model))
    assert exact <= Fraction(epsilon)
    assert exact > Fraction(epsilon) * (1 - Fraction(1, 10**9))
    assert model.guarantee_.epsilon <= epsilon
    assert model.guarantee_.mode == "sound"


def entropy_or(method, schema):
    """Entropy cannot do without declared rows."""
    return DECLARED if getattr(method(), "criterion", "") == "entropy" else schema


def test_what_is_paid_does_not_depend_on_the_rows(method, table, labels):
    X, y = table()
    # The recommended forest goes on as its released class counts tell: tests/central/weights/test_fitting.py has more.
    last = 1 if method().method in WEIGHTED else None
    paid = [terms(method(epsilon=0.9).fit(X[:n], y[:n]))[:last] for n in (0, 1, 800)]
    one_class = terms(method(epsilon=0.9).fit(X, labels(np.full(800, "no"))))[:last]
    assert paid[0] == paid[1] == paid[2] == one_class


@pytest.mark.parametrize("rows", ["declared", "bought"])
def test_the_steps_of_a_plan_are_the_receipts_of_the_fit(method, table, rows):
    schema = DECLARED if rows == "declared" else entropy_or(method, SCHEMAS[rows])
    model = method(schema, epsilon=0.5, random_state=4)
    steps = model.plan(800).steps
    assert sum(Fraction(step.epsilon) for step in steps) <= Fraction(0.5)
    paid = receipts(model.fit(*table()))
    if model.method in WEIGHTED and (rows == "bought" or model.n_rows_ != 800):
        return  # what it does follows from a noisy number of rows
    assert list(dict.fromkeys(receipt.what for receipt in paid)) == [step.what for step in steps]
    for step in steps:
        own = [receipt for receipt in paid if receipt.what == step.what]
        # The trees of a level share a step; each choice has a receipt of its own.
        assert sum(receipt.epsilon for receipt in own) == pytest.approx(step.epsilon, rel=1e-12)
        if isinstance(own[0], PermuteAndFlip):
            assert {receipt.sensitivity for receipt in own} == {step.sensitivity}
        elif rows == "declared" and step.what not in ("leaf weights", "last digits of leaf weights"):
            assert (len(own), own[0].sensitivity) == (1, step.sensitivity)


def test_the_epsilon_that_is_needed_reaches_what_was_asked_for(method):
    model = method(random_state=4)
    if model.method in OF_NUMBERS:
        with pytest.raises(ParameterError, match="says how good a classifier is"):
            model.epsilon_needed(100_000)
        return
    if isinstance(model, PrivateForestClassifier):  # it plans by its expected loss
        needed = model.epsilon_needed(100_000, loss=0.01)
        assert 0.99 * 0.01 < method(epsilon=needed, random_state=4).plan(100_000).expected_loss.mean <= 0.01
    else:
        needed = model.epsilon_needed(100_000, 0.8)
        assert method(epsilon=needed, random_state=4).plan(100_000).reliability >= 0.8
    assert 0 < needed < math.inf


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
@pytest.mark.parametrize("name", ["m.privet", "m.privet.gz"])
def test_a_model_comes_back_with_the_same_answers_and_the_same_promise(method, table, tmp_path, epsilon, name):
    X, y = table()
    model = method(epsilon=epsilon).fit(X, y)
    model.save(tmp_path / name)
    again = load(tmp_path / name)
    assert type(again) is type(model)
    assert_array_equal(answers(again, X), answers(model, X))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert again.guarantee_ == model.guarantee_
    assert again.schema_ == model.schema_
    assert again.noise_std_ == model.noise_std_
    if hasattr(model, "rules"):
        pd.testing.assert_frame_equal(again.rules(), model.rules())
    for parameter in model.file_parameters:
        assert getattr(again, parameter) == getattr(model, parameter)


def with_receipts(model, changed, path):
    """Write the model's file with other receipts, and all that follows from them."""
    event = changed[0] if len(changed) == 1 else Sequential(tuple(changed))
    own = model.guarantee_
    guarantee = replace(
        Guarantee.from_event(event, public=own.public, leaks=own.leaks, unit=own.protects), versions=own.versions
    )  # fmt: skip
    write_document(path, {**model.to_document(), "guarantee": guarantee.to_json()})
    return path


def test_a_receipt_of_another_sensitivity_left_out_or_too_many_is_refused(method, table, tmp_path):
    model = method(epsilon=1.0).fit(*table())
    paid, path = list(receipts(model)), tmp_path / "forged.privet"
    assert load(with_receipts(model, paid, path)).guarantee_ == model.guarantee_
    forged = [[*paid, paid[-1]]]
    for i, receipt in enumerate(paid):
        if receipt.what == "last digits of leaf weights":  # how much noise they have follows from constants of its time
            continue
        changed = "sensitivity" if hasattr(receipt, "sensitivity") else "classes"
        other = replace(receipt, **{changed: getattr(receipt, changed) + 1})
        # The first receipt of quantiles may be for any number of attributes.
        if not receipt.what.startswith("histograms of numeric"):
            forged.append([*paid[:i], other, *paid[i + 1 :]])
        if len(paid) > 1 and receipt.what not in {"histograms of numeric attributes", "number of rows"}:
            forged.append([*paid[:i], *paid[i + 1 :]])
    for receipts_of_a_stranger in forged:
        with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
            load(with_receipts(model, receipts_of_a_stranger, path))


def one_tree_more(document):
    """Return other parts of a document: one tree more, or one less where no attribute is left for one."""
    own, numbers = document["structure"], document["released"]
    if "trees" in own:
        trees = checked_trees(own, Schema.from_json(document["schema"]), most_leaves=2**16)
        fewer = {**own, **{name: own[name][:-1] for name in ("trees", "variances", "noise_std")}}
        asked = {a for attributes in fewer["trees"] for a in attributes}
        if "knots" in own:
            fewer["later"] = max(0, own["later"] - 1)
            knots = own["knots"] if own["later"] else [k if a in asked else [] for a, k in enumerate(own["knots"])]
            in_later = {a for attributes in fewer["trees"][len(fewer["trees"]) - fewer["later"] :] for a in attributes}
            fewer["knots"] = knots
            fewer["later_knots"] = [k if a in in_later else [] for a, k in enumerate(own["later_knots"])]
        lost = {"weights": int(trees.sizes[-1])}
        if "cells" in numbers and not trees.n_later:
            lost["cells"] = sum(axis.n_bins for axis in trees.axes[-1])
        return {"structure": fewer, "released": {**numbers, **{name: numbers[name][:-n] for name, n in lost.items()}}}
    # A root alone: it is the first node, and the first that is counted.
    more = {"n_trees": own["n_trees"] + 1, **{key: [-1, *own[key]] for key in ("attribute", "cut")}}
    return {"structure": more, "released": {"counts": [0, 0, *numbers["counts"]]}}


def test_a_file_with_more_trees_than_its_receipts_paid_for_is_refused(method, table, tmp_path):
    # A number has several trees from a larger epsilon on.
    document = method(epsilon=8.0 if method().method in OF_NUMBERS else 1.0).fit(*table()).to_document()
    write_document(tmp_path / "m.privet", {**document, **one_tree_more(document)})
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "m.privet")


def test_only_the_first_rows_of_each_person_count(method, persons, tmp_path):
    X, y = persons
    first = (X.groupby("person").cumcount() < 2).to_numpy()
    options = {"epsilon": math.inf, **SEEDED}
    whole = method(unit="person", max_rows=2, **options).fit(X, y)
    rows = method(**options).fit(X[first].drop(columns="person"), y[first])
    X.assign(**{"class": y}).to_csv(tmp_path / "rows.csv", index=False)
    file = method(unit="person", max_rows=2, **options).fit(tmp_path / "rows.csv")
    for model in (whole, file):
        assert structure(model) == structure(rows)
        assert_array_equal(released(model), released(rows))
    assert "'person' more or less, of which the first 2 are used" in whole.guarantee_.neighbours
    assert whole.guarantee_.max_rows == 2


def test_noise_is_for_all_rows_of_a_person(method, persons):
    X, y = persons
    options = {"epsilon": 1.0, "random_state": 4}
    one, three = (method(unit="person", max_rows=n, **options).fit(X, y) for n in (1, 3))

    def by_name(model):
        return {receipt.what: receipt for receipt in receipts(model)}

    for what, receipt in by_name(one).items():
        if what in ("leaf weights", "last digits of leaf weights"):
            assert what == "last digits of leaf weights" or (receipt.rows, by_name(three)[what].rows) == (1, 3)
            continue
        # DP-RF has fewer trees where there is more noise.
        trees = one.forest_.n_trees / three.forest_.n_trees if what == "class counts of leaves" else 1
        assert by_name(three)[what].sensitivity * trees == 3 * receipt.sensitivity


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.csv.gz"])
def test_a_file_gives_the_model_of_the_table(method, table, tmp_path, monkeypatch, name):
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 150)
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 4_000)
    X, y = table()
    X.loc[::17, ["age", "job"]] = None
    frame = X.assign(**{"class": y})
    _ = frame.to_parquet(tmp_path / name) if name.endswith("parquet") else frame.to_csv(tmp_path / name, index=False)
    options = {"epsilon": math.inf, **SEEDED}
    memory, file = method(**options).fit(X, y), method(**options).fit(tmp_path / name)
    assert structure(file) == structure(memory)
    assert_array_equal(released(file), released(memory))
    assert file.schema_ == memory.schema_


def test_labels_of_any_type_give_the_same_model(method, table):
    X, y = table()
    schema = Schema(ATTRIBUTES, classes=[5, 9], rows=800)
    plain = method(epsilon=3.0, **SEEDED).fit(X, y)
    if plain.method in OF_NUMBERS:  # which has no labels
        floats = method(epsilon=3.0, **SEEDED).fit(X, pd.Series(y.astype(int)))
        assert_array_equal(floats.predict(X), plain.predict(X))
        return
    other = method(schema, epsilon=3.0, **SEEDED).fit(X, np.where(y == "yes", 9, 5))
    assert_array_equal(answers(other, X), answers(plain, X))
    assert_array_equal(other.predict(X), np.where(plain.predict(X) == "yes", 9, 5))
    assert other.score(X, np.where(y == "yes", 9, 5)) == plain.score(X, y)


def test_seeded_noise_repeats_and_promises_nothing_and_fresh_noise_differs(method, table):
    X, y = table()
    one, two = (method(epsilon=0.5, **SEEDED).fit(X, y) for _ in range(2))
    assert_array_equal(released(one), released(two))
    assert one.guarantee_.mode == "not private"
    fresh = [released(method(epsilon=0.5, random_state=4).fit(X, y))[:2].tolist() for _ in range(4)]
    assert len({tuple(numbers) for numbers in fresh}) > 1


def test_without_noise_exact_numbers_are_released_and_it_says_so(method, table, labels):
    X, y = table()
    model = method(epsilon=math.inf).fit(X, y)
    assert model.guarantee_.mode == "not private"
    assert {type(event) for event in releases(model.guarantee_.event)} <= {NoNoise, Sequential}
    assert model.noise_std_ == 0
    first, second = labels(np.array(["no", "yes"]))
    totals = [(y == first).sum(), (y == second).sum()]
    if model.method in WEIGHTED:
        assert released(model)[:2].tolist() == totals
        return
    assert_array_equal(model.nodes_.counts[: model.forest_.n_trees], [totals] * model.forest_.n_trees)


def test_an_empty_table_fits_and_predicts(method, table, tmp_path):
    X, y = table()
    for epsilon in (1.0, math.inf):
        model = method(epsilon=epsilon).fit(X[:0], y[:0])
        assert np.isfinite(answers(model, X)).all()
        if hasattr(model, "rules"):
            model.rules()
        model.save(tmp_path / "m.privet")
        assert_array_equal(load(tmp_path / "m.privet").predict(X), model.predict(X))


def test_values_that_no_training_row_had_are_predicted(method, table):
    X, y = table(30)
    model = method(epsilon=math.inf).fit(X, y)
    strange = pd.DataFrame(
        {"age": [None, 1e9, -5], "job": [None, "judge", "cook"], "pay": [np.nan, 3, 3], "night": [None, True, False]}
    )
    assert np.isfinite(answers(model, strange)).all()


def test_threads_do_not_change_the_model(method, table):
    X, y = table()
    one, two = (method(n_jobs=n, **SEEDED).fit(X, y) for n in (1, 2))
    assert_array_equal(released(one), released(two))
    assert_array_equal(answers(one, X), answers(two, X))


def test_a_failed_refit_leaves_the_model_as_it_was(method, table, labels):
    X, y = table()
    model = method().fit(X, y)
    before, promise = answers(model, X), model.guarantee_
    with pytest.raises(DataError, match="labels that are not in the schema's classes|missing or infinite numbers"):
        model.fit(X, labels(np.full(800, "maybe")))
    with pytest.raises(ParameterError, match="epsilon=0 is out of range"):
        model.set_params(epsilon=0).fit(X, y)
    assert_array_equal(answers(model, X), before)
    assert model.guarantee_ is promise


def test_progress_says_nothing_about_the_rows(method, table, labels, capsys):
    X, y = table(787)
    method(verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "released, with noise of standard deviation" in said
    for exact in (787, (y == labels(["yes"])[0]).sum(), (y == labels(["no"])[0]).sum()):
        assert str(exact) not in said


def test_methods_with_a_public_structure_take_batches_and_greedy_ones_do_not():
    batched = {name for name, estimator in METHODS.items() if hasattr(estimator, "partial_fit")}
    assert batched == {"private-forest", "private-forest-regressor", "private-rdt", "dp-rf"}
    X, y = rows_and_classes()
    for name in sorted(batched):
        own = labels_for(name, DECLARED, y)
        noisy = METHODS[name](schema_for(name, DECLARED), epsilon=0.5).partial_fit(X, own).partial_fit(X, own)
        assert noisy.guarantee_.epsilon <= 0.5
        assert len(noisy.noise_growth_) == len(noisy.guarantee_.event.parts) == 2


@pytest.mark.parametrize("name", ["private-rdt", "dp-rf"])
def test_batches_of_counts_without_noise_are_one_fit(name):
    X, y = rows_and_classes()
    exact = {"epsilon": math.inf, "random_state": 1}
    whole, parts = METHODS[name](DECLARED, **exact).fit(X, y), METHODS[name](DECLARED, **exact)
    for start in range(0, 800, 200):
        parts.partial_fit(X[start : start + 200], y[start : start + 200])
    assert_array_equal(parts.noisy_counts_, whole.noisy_counts_)
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    noisy = METHODS[name](DECLARED, epsilon=0.5).partial_fit(X, y).partial_fit(X, y)
    assert isinstance(noisy.guarantee_.event.parts[0], DiscreteLaplace)
