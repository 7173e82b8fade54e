"""Batches of new rows for the recommended forest: what they release, cost, refuse, and leave as it was."""

import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, DPDFClassifier, Ledger, Numeric, PrivateForestClassifier, Schema, load
from privet.central.receipts import ROW_COUNT, in_sequence
from privet.central.updates.update import Update, fit_files, refit_advice
from privet.counting.sources import Files
from privet.errors import DataError, ModelFileError, ParameterError
from privet.model_file import write_document
from privet.privacy.events import Jointly, Parallel, Seeded, releases
from privet.privacy.guarantee import Guarantee
from privet.report import export_text
from tests.draws import cached

N_ROWS = 600
SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("sex", ["f", "m"]), Categorical("city", list("abcdefgh"))],
    classes=[5, 9],
    target="label",
    rows=N_ROWS,
)
UNCOUNTED = Schema(SCHEMA.attributes, classes=[5, 9], target="label")
SEEDED = {"random_state": 4, "unsafe_seeded_noise": True}
OTHER = "the guarantee is not that of this schema and these trees"


def rows(seed, n_rows=N_ROWS):
    """Return rows of which age tells the label, most of the time."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "city": rng.choice(list("abcdefgh"), n_rows),
        }
    )
    return X, np.where((X["age"] > 40) ^ (rng.random(n_rows) < 0.1), 9, 5)


def batched(*seeds, schema=SCHEMA, epsilon=4.0, n_rows=N_ROWS, **options):
    model = PrivateForestClassifier(schema, epsilon=epsilon, **options)
    for seed in seeds:
        model.partial_fit(*rows(seed, n_rows))
    return model


@cached
def three():
    """Return a model of three batches, with noise."""
    return batched(0, 1, 2)


# What is released.


def test_halves_without_noise_are_close_to_one_fit_on_all_rows():
    X, y = rows(0, 8000)
    exact = {"epsilon": math.inf, "random_state": 1}
    whole = PrivateForestClassifier(replace(SCHEMA, rows=8000), **exact).fit(X, y)
    halves = PrivateForestClassifier(replace(SCHEMA, rows=4000), **exact)
    for half in (slice(0, 4000), slice(4000, None)):
        halves.partial_fit(X[half], y[half])
    test, truth = rows(1, 4000)
    assert np.abs(halves.predict_proba(test) - whole.predict_proba(test)).mean() < 0.03
    assert abs(halves.score(test, truth) - whole.score(test, truth)) < 0.01
    first = PrivateForestClassifier(replace(SCHEMA, rows=500), **exact).fit(X[:500], y[:500])
    assert np.abs(first.predict_proba(test) - whole.predict_proba(test)).mean() > 0.03  # fewer rows show
    assert halves.noise_growth_.tolist() == [0.0, 0.0]


def test_a_batch_is_a_whole_fit_beside_those_that_were():
    one = batched(0, **SEEDED)
    two = deepcopy(one).partial_fit(*rows(1))
    assert len(two.releases_) == 2
    assert_array_equal(two.releases_[0].weights, one.released_.weights)
    assert two.released_.n_rows == sum(own.n_rows for own in two.releases_)
    assert two.schema_ == one.schema_
    assert two.n_rows_ == pytest.approx(2 * N_ROWS, rel=0.1)


def test_the_rows_of_a_batch_move_their_own_release_and_no_other():
    same, other = batched(0, 1, 2, **SEEDED), batched(0, 7, 2, **SEEDED)
    moved = [not np.array_equal(a.weights, b.weights) for a, b in zip(same.releases_, other.releases_, strict=True)]
    assert moved == [False, True, False]
    assert not np.array_equal(same.released_.weights, other.released_.weights)


def test_seeded_batches_have_noise_of_their_own():
    twice, again = batched(0, 0, schema=UNCOUNTED, **SEEDED), batched(0, 0, schema=UNCOUNTED, **SEEDED)
    first, second = twice.releases_
    assert not np.array_equal(first.balance, second.balance)
    for one, other in zip(twice.releases_, again.releases_, strict=True):
        assert_array_equal(one.weights, other.weights)
    assert any(isinstance(event, Seeded) for event in releases(twice.guarantee_.event.parts[1]))


def test_batches_bring_the_accuracy_of_more_rows():
    X, y = rows(9, 4000)
    few = {"n_rows": 200, "epsilon": 1.0, "schema": UNCOUNTED, "unsafe_seeded_noise": True}
    alone = np.mean([batched(i, random_state=i, **few).score(X, y) for i in range(8)])
    together = np.mean([batched(*range(i, i + 6), random_state=i, **few).score(X, y) for i in range(8)])
    assert together > alone


def test_a_batch_of_hardly_any_rows_changes_nearly_nothing():
    X, _ = rows(9, 2000)
    large = batched(0, n_rows=5000, schema=replace(SCHEMA, rows=5000), epsilon=2.0, **SEEDED)
    before = large.predict_proba(X)
    large.partial_fit(*rows(1, 6))
    assert np.abs(large.predict_proba(X) - before).mean() < 0.02
    assert large.noise_growth_[1] == pytest.approx(large.noise_growth_[0], rel=0.05)
    large.partial_fit(*rows(1, 0))
    assert len(large.noise_growth_) == 3


# What it costs.


def test_the_dearest_batch_is_what_the_model_costs():
    model = batched(0, epsilon=0.5)
    model.set_params(epsilon=2.0).partial_fit(*rows(1))
    model.set_params(epsilon=1.0).partial_fit(*rows(2))
    assert 1.99 < model.guarantee_.epsilon <= 2.0
    assert model.guarantee_.delta == 0.0
    assert model.guarantee_.assumptions == ("no row is in more than one batch",)
    assert model.guarantee_.event.because == "no row is in more than one batch"


def test_only_the_first_batch_has_the_declared_number_of_rows():
    first, *later = [[release.what for release in in_sequence(part)] for part in three().guarantee_.event.parts]
    assert ROW_COUNT not in first
    assert [found[0] for found in later] == [ROW_COUNT] * 2
    assert three().releases_[0].n_rows == N_ROWS


def test_with_delta_each_batch_is_joint_and_the_largest_of_each_counts():
    attributes = [Categorical(f"a{i}", ["x", "y"]) for i in range(16)]
    X = pd.DataFrame({a.name: np.random.default_rng(i).choice(["x", "y"], 3000) for i, a in enumerate(attributes)})
    y = np.where(X["a0"] == "x", "yes", "no")
    schema = Schema(attributes, classes=["no", "yes"], rows=3000)
    model = (
        PrivateForestClassifier(schema, epsilon=1.0, delta=1e-6, group_size=1).fit(X, y).partial_fit(X[::-1], y[::-1])
    )
    event = model.guarantee_.event
    assert isinstance(event, Parallel)
    assert all(any(isinstance(each, Jointly) for each in releases(part)) for part in event.parts)
    assert model.guarantee_.epsilon <= 1.0
    assert 0 < model.guarantee_.delta <= 1e-6


def test_a_ledger_is_charged_for_the_newest_batch(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=5.0)
    model = batched(0, epsilon=1.0, ledger=ledger)
    model.set_params(epsilon=0.5).partial_fit(*rows(1))
    assert ledger.spent == pytest.approx(1.5)
    parted = ledger.for_part("march")
    model.set_params(ledger=parted).partial_fit(*rows(2))
    assert parted.spent == pytest.approx(2.0)


# What is refused.


def test_what_decides_how_numbers_are_read_may_not_change():
    model = batched(0)
    for name, value in {"n_bins": 7, "delta": 1e-6, "prior_variance": 1.0}.items():
        before = getattr(model, name)
        with pytest.raises(ParameterError, match=f"{name} changed since the first batch; set it back, or fit again"):
            model.set_params(**{name: value}).partial_fit(*rows(1))
        model.set_params(**{name: before})
    with pytest.raises(ParameterError, match="unit or max_rows changed since the first batch"):
        model.set_params(unit="sex").partial_fit(*rows(1))
    assert len(model.releases_) == 1


@pytest.mark.parametrize("n_before", [0, 1])
def test_other_classes_are_refused(n_before):
    model = batched(*range(n_before))
    with pytest.raises(ParameterError, match="classes differ from the schema's; leave classes out"):
        model.partial_fit(*rows(1), classes=[5, 6])
    model.partial_fit(*rows(1), classes=[9, 5])
    assert len(model.releases_) == n_before + 1


def test_a_model_has_only_so_many_batches(monkeypatch):
    monkeypatch.setattr(PrivateForestClassifier, "max_batches", 2)
    model = batched(0, 1)
    with pytest.raises(ParameterError, match="a model takes at most 2 batches; fit again, with far less noise"):
        model.partial_fit(*rows(2))


# Files and ledgers.


@pytest.fixture
def files(tmp_path):
    """Three batches, and the second in another order and format."""
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for seed, path in enumerate(paths):
        X, y = rows(seed)
        X.assign(label=y).to_csv(path, index=False)
    shuffled = tmp_path / "shuffled.parquet"
    pd.read_csv(paths[1]).sample(frac=1, random_state=7).to_parquet(shuffled)
    return [*paths, shuffled]


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="people", epsilon=9.0)


def through_a_file(model, folder, ledger):
    model.save(folder / "model.privet")
    return load(folder / "model.privet").set_params(ledger=ledger)


@pytest.mark.parametrize("n_bins", [None, 9])
@pytest.mark.parametrize("schema", [SCHEMA, UNCOUNTED], ids=["rows declared", "rows bought"])
def test_a_batch_is_added_once_also_after_saving_and_loading(files, ledger, tmp_path, schema, n_bins):
    model = PrivateForestClassifier(schema, epsilon=1.0, n_bins=n_bins, ledger=ledger)
    fit_files(model, Files(files[0]))
    Update(model).add(Files(files[1]))
    model = through_a_file(model, tmp_path, ledger)
    assert (Update(model).known_batches, Update(model).unknown_batches) == (2, 0)
    for again in (files[0], files[1], files[3]):
        with pytest.raises(DataError, match="this batch is in the model already: its rows would count twice"):
            Update(model).add(Files(again))
    assert ledger.spent == pytest.approx(2.0)
    Update(model).add(Files(files[2]))
    assert len(model.releases_) == 3


def test_after_an_update_without_the_ledger_batches_are_still_compared(files, ledger, tmp_path):
    model = PrivateForestClassifier(SCHEMA, epsilon=1.0, ledger=ledger)
    fit_files(model, Files(files[0]))
    Update(model).add(Files(files[1]))
    Update(model.set_params(ledger=None)).add(Files(files[2]))
    model = through_a_file(model, tmp_path, ledger)
    assert Update(model).unknown_batches == 3
    for again in files[:2]:
        with pytest.raises(DataError, match="in the model already"):
            Update(model).add(Files(again))


def test_the_rows_of_a_loaded_model_are_known_again_in_parts_and_by_other_methods(files, ledger, tmp_path):
    model = PrivateForestClassifier(SCHEMA, epsilon=1.0, ledger=ledger.for_part("january"))
    fit_files(model, Files(files[0]))
    model = through_a_file(model, tmp_path, ledger.for_part("march"))
    with pytest.raises(DataError, match="the ledger has this batch in the part 'january'"):
        Update(model).add(Files(files[0]))
    Update(model).add(Files(files[1]))
    with pytest.raises(DataError, match="the ledger has this batch in the part 'march'"):
        DPDFClassifier(SCHEMA, ledger=ledger.for_part("april")).fit(files[3])


def test_an_open_number_is_fitted_alike_in_every_batch_of_a_loaded_model(tmp_path):
    model = batched(0, 1, **SEEDED)
    loaded = through_a_file(batched(0, **SEEDED), tmp_path, None).set_params(random_state=4, epsilon=4.0)
    loaded.partial_fit(*rows(1))
    assert_array_equal(loaded.releases_[1].weights, model.releases_[1].weights)
    assert any(axis.knots for own in loaded.releases_[1].trees.axes for axis in own)
    assert loaded.schema_ == model.schema_


def test_a_file_of_batches_comes_back_as_it_was(tmp_path):
    model, (X, _) = three(), rows(5)
    loaded = through_a_file(model, tmp_path, None)
    assert model.to_document()["version"] == 6
    assert loaded.to_document() == model.to_document()
    assert loaded.guarantee_ == model.guarantee_
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.noise_growth_, model.noise_growth_)
    assert len(loaded.partial_fit(*rows(3)).releases_) == 4


@pytest.mark.parametrize("name", ["difference_declared.json", "difference_bought.json"])
def test_a_file_of_an_earlier_privet_takes_batches(tmp_path, name):
    model = load(Path(__file__).parents[1] / name)
    rng, ages = np.random.default_rng(1), model.schema_.attributes[0]
    X = pd.DataFrame(
        {"age": rng.uniform(ages.low, ages.high, 300), "job": rng.choice(model.schema_.attributes[1].categories, 300)}
    )
    model.partial_fit(X, rng.choice(["no", "yes"], 300))
    assert [own.has_counts for own in model.releases_] == [False, True]
    loaded = through_a_file(model, tmp_path, None)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.guarantee_ == model.guarantee_


def forged(folder, change, *, event=None):
    """Write the file of a model with another document, and the guarantee of another event, and open it."""
    model = three()
    document = deepcopy(model.to_document())
    if event is not None:
        promise = model.guarantee_
        lists = {"public": promise.public, "assumptions": promise.assumptions}
        document["guarantee"] = replace(Guarantee.from_event(event, **lists), versions=promise.versions).to_json()
    change(document)
    write_document(folder / "forged.privet", document)
    return load(folder / "forged.privet")


def drop_fit(document, place=-1):
    for part in ("structure", "released"):
        del document[part]["fits"][place]


def turn_fits(document):
    for part in ("structure", "released"):
        document[part]["fits"].reverse()


def keep_one(document):
    for part in ("structure", "released"):
        del document[part]["fits"][1:]


def more_numbers(document):
    document["released"]["fits"].append(document["released"]["fits"][0])


def same(document):
    """Change nothing."""


def test_the_forger_writes_what_is_read(tmp_path):
    assert len(forged(tmp_path, same, event=three().guarantee_.event).releases_) == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (drop_fit, OTHER),
        (turn_fits, OTHER),
        (keep_one, "the model does not hold several fits, as its version says; the file is damaged"),
        (more_numbers, "the fits of the model do not fit together; the file is damaged"),
        (
            lambda document: document["structure"]["fits"][1].update(version=6),
            "has a version that this privet does not",
        ),
        (lambda document: document["released"]["fits"][0].update(rows=N_ROWS + 1), OTHER),
    ],
    ids=["fewer fits", "other order", "one fit", "numbers of another fit", "fits in fits", "other rows than declared"],
)
def test_fits_that_are_not_those_of_the_receipts_are_refused(tmp_path, change, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        forged(tmp_path, change)


FORGED = {
    "receipts fewer than fits": lambda event, a, b, c: replace(event, parts=(a, b)),
    "another order": lambda event, a, b, c: replace(event, parts=(b, a, c)),
    "a declared number in a later batch": lambda event, a, b, c: replace(event, parts=(a, b, a)),
    "a bought number in the first batch": lambda event, a, b, c: replace(event, parts=(b, b, c)),
    "batches in batches": lambda event, a, b, c: replace(event, parts=(a, b, Parallel((c,), event.because))),
    "another reason": lambda event, a, b, c: replace(event, because="rows look different"),
    "not parallel": lambda event, a, b, c: a,
}


@pytest.mark.parametrize("name", FORGED)
def test_receipts_that_are_not_those_of_the_fits_are_refused(tmp_path, name):
    event = three().guarantee_.event
    with pytest.raises(ModelFileError, match=OTHER):
        forged(tmp_path, same, event=FORGED[name](event, *event.parts))


def test_one_fit_has_no_parallel_receipt(tmp_path):
    model = batched(0)
    document = deepcopy(model.to_document())
    event = Parallel((model.guarantee_.event,), "no row is in more than one batch")
    lists = {"public": model.guarantee_.public, "assumptions": ["no row is in more than one batch"]}
    document["guarantee"] = Guarantee.from_event(event, **lists).to_json()
    write_document(tmp_path / "forged.privet", document)
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "forged.privet")


# What is told.


def test_effects_and_explanations_are_those_of_all_batches():
    model, (X, _) = batched(0, 1, 2, epsilon=20.0), rows(5, 50)
    explained = model.explain(X)
    chances = 1 / (1 + np.exp(-explained.sum(axis=1)))
    assert_array_equal(chances > 0.5, model.predict(X) == 9)
    assert model.feature_importances_.argmax() == 0
    assert model.told_apart_[0]
    assert {shape.attributes for shape in model.shapes()} >= {(0,)}
    assert_allclose(model.feature_importances_.sum(), 1.0)
    assert "age" in export_text(model)


def test_a_refit_is_advised_by_what_it_is_expected_to_gain():
    advice = refit_advice(three())
    assert advice.rows[0] == N_ROWS
    assert_allclose(advice.ratios[0], 1.0)
    assert 1 < advice.ratios[1] < advice.ratios[2] < 2
    assert advice.losses[0] == pytest.approx(advice.losses_of_one_fit[0])
    assert advice.losses[2] - advice.losses_of_one_fit[2] == pytest.approx(advice.gain)
    assert advice.gain > 0
    exact = refit_advice(batched(0, 1, epsilon=math.inf))
    assert (exact.losses, exact.advised, exact.batches_until) == ([0.0, 0.0], False, None)
