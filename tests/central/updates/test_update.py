"""A batch of files that is added to a model: what it counts, what it refuses, and when."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from privet import (
    Categorical,
    DPDFClassifier,
    DPRFClassifier,
    Ledger,
    Numeric,
    PrivateRDTClassifier,
    Schema,
    load,
)
from privet.central.updates.batches import BatchHistory
from privet.central.updates.update import Update, fit_files
from privet.counting.sources import Files
from privet.errors import DataError, ParameterError, notes_of

SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("sex", ["f", "m"]), Categorical("city", list("abcdefgh"))],
    classes=[5, 9],
    target="label",
    rows=200,
)
BOTH = pytest.mark.parametrize("kind", [PrivateRDTClassifier, DPRFClassifier])


def rows(seed, n_rows=100):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.uniform(0, 100, n_rows), "sex": rng.choice(["f", "m"], n_rows)}
    columns |= {"city": rng.choice(list("abcdefgh"), n_rows), "label": rng.choice([5, 9], n_rows)}
    return pd.DataFrame(columns)


@pytest.fixture
def files(tmp_path):
    """Three batches of a hundred rows, and the second in another order and format."""
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for seed, path in enumerate(paths):
        rows(seed).to_csv(path, index=False)
    shuffled = tmp_path / "shuffled.parquet"
    pd.read_csv(paths[1]).sample(frac=1, random_state=7).to_parquet(shuffled)
    return [*paths, shuffled]


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="people", epsilon=5.0)


def fitted(path, kind=PrivateRDTClassifier, **parameters):
    return kind(SCHEMA, **{"epsilon": 1.0, "random_state": 7, **parameters}).fit(path)


@BOTH
def test_batches_without_noise_are_one_fit_on_all_rows(files, kind):
    model = fitted(files[0], kind, epsilon=np.inf)
    Update(model).add(Files(files[1]))
    Update(model).add(Files(files[2]))
    whole = fitted(files[:3], kind, epsilon=np.inf)
    assert_array_equal(model.noisy_counts_, whole.noisy_counts_)
    assert model.noise_growth_.tolist() == [0.0, 0.0, 0.0]


def test_several_files_can_be_one_batch(files):
    model = fitted(files[0], epsilon=np.inf)
    Update(model).add(Files(files[1], files[2]))
    assert_array_equal(model.noisy_counts_, fitted(files[:3], epsilon=np.inf).noisy_counts_)
    assert len(model.noise_growth_) == 2


def test_the_noise_after_a_batch_is_as_stated_and_not_that_of_one_fit(files):
    seeded = {"height": 3, "n_trees": 60, "unsafe_seeded_noise": True}
    model, exact = fitted(files[0], **seeded), fitted(files[:2], height=3, n_trees=60, epsilon=np.inf)
    Update(model).add(Files(files[1]))
    noise = model.noisy_counts_ - exact.noisy_counts_
    assert noise.size > 2_000
    assert noise.std() == pytest.approx(model.noise_growth_[1], rel=0.1)
    assert noise.std() > 1.2 * model.noise_growth_[0]


@BOTH
def test_a_batch_is_added_once_whatever_its_order_and_format(files, ledger, kind):
    model = fitted(files[0], kind, ledger=ledger)
    Update(model).add(Files(files[1]))
    before, spent = model.noisy_counts_.copy(), ledger.spent
    for again in (files[1], files[3]):
        with pytest.raises(DataError, match="this batch is in the model already: its rows would count twice"):
            Update(model).add(Files(again))
    assert_array_equal(model.noisy_counts_, before)
    assert ledger.spent == spent == 2.0
    Update(model).add(Files(files[2]))
    assert ledger.spent == 3.0


def test_an_earlier_batch_is_known_after_saving_and_loading(files, ledger, tmp_path):
    model = fitted(files[0], ledger=ledger)
    for path in files[1:3]:
        Update(model).add(Files(path))
        model.save(tmp_path / "model.privet")
        model = load(tmp_path / "model.privet").set_params(ledger=ledger)
    assert Update(model).known_batches == 2
    with pytest.raises(DataError, match="in the model already"):
        Update(model).add(Files(files[1]))


def test_what_went_into_a_model_that_was_lost_can_be_added_again_at_its_price(files, ledger, tmp_path):
    model = fitted(files[0], ledger=ledger)
    model.save(tmp_path / "model.privet")
    Update(model).add(Files(files[1]))
    older = load(tmp_path / "model.privet").set_params(ledger=ledger)
    Update(older).add(Files(files[1]))
    assert ledger.spent == 3.0


def test_after_an_update_without_the_ledger_batches_are_still_compared(files, ledger):
    model = fitted(files[0], ledger=ledger)
    Update(model).add(Files(files[1]))
    Update(model.set_params(ledger=None)).add(Files(files[2]))
    update = Update(model.set_params(ledger=ledger))
    assert (update.known_batches, update.unknown_batches) == (0, 3)
    with pytest.raises(DataError, match="in the model already"):
        update.add(Files(files[1]))


def test_the_same_rows_are_not_spent_side_by_side_as_two_parts(files, ledger):
    # Of parts the dearest counts: under two names, rows that were released twice would look as if released once.
    model = fitted(files[0], ledger=ledger.for_part("october"))
    branch = deepcopy(model)
    Update(model.set_params(ledger=ledger.for_part("march"))).add(Files(files[1]))
    sentence = "the ledger has this batch in the part 'march', and no row is in two parts; name that part, or, if these"
    with pytest.raises(DataError, match=sentence):
        Update(branch.set_params(ledger=ledger.for_part("spring"))).add(Files(files[3]))
    with pytest.raises(DataError, match=sentence):
        fit_files(PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("spring")), Files(files[1]))
    assert ledger.for_part("spring").spent == 0.0
    Update(branch.set_params(ledger=ledger.for_part("march"))).add(Files(files[3]))
    assert ledger.for_part("march").spent == 2.0


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something happen once, between the look at the ledger and the noise."""

    def happens(what):
        check = BatchHistory.check_part

        def checked(history, fingerprint):
            check(history, fingerprint)
            monkeypatch.setattr(BatchHistory, "check_part", check)
            what()

        monkeypatch.setattr(BatchHistory, "check_part", checked)

    return happens


OVERTAKEN = "the ledger has this batch in the part 'march', and no row is in two parts"


def test_of_two_first_fits_of_the_same_rows_in_two_parts_one_is_withheld(files, ledger, meanwhile):
    meanwhile(lambda: fit_files(PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("march")), Files(files[1])))
    model, saved = PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("spring")), []
    with pytest.raises(DataError, match=OVERTAKEN) as refusal:
        fit_files(model, Files(files[3]), save=saved.append)
    withheld, spent = notes_of(refusal.value)
    assert withheld == "the model is withheld"
    assert "epsilon=1 counts as spent" in spent
    assert not saved
    with pytest.raises(NotFittedError):
        model.predict(rows(1))
    assert (ledger.for_part("march").spent, ledger.for_part("spring").spent) == (1.0, 1.0)


def test_of_two_updates_with_the_same_rows_in_two_parts_one_is_withheld(files, ledger, meanwhile):
    model = fitted(files[0], ledger=ledger.for_part("october"))
    other, before = deepcopy(model).set_params(ledger=ledger.for_part("march")), model.noisy_counts_.copy()
    meanwhile(lambda: Update(other).add(Files(files[1])))
    with pytest.raises(DataError, match=OVERTAKEN):
        Update(model.set_params(ledger=ledger.for_part("spring"))).add(Files(files[1]))
    assert_array_equal(model.noisy_counts_, before)
    assert (len(model.noise_growth_), len(other.noise_growth_)) == (1, 2)
    assert ledger.for_part("spring").spent == 1.0


def test_what_all_parts_have_paid_for_may_be_in_any_of_them(files, ledger):
    fit_files(PrivateRDTClassifier(SCHEMA, ledger=ledger), Files(files[1]))
    fit_files(PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("march")), Files(files[1]))
    fit_files(PrivateRDTClassifier(SCHEMA, ledger=ledger), Files(files[1]))
    assert ledger.for_part("march").spent == 3.0


def test_one_row_more_is_another_batch(files, ledger, tmp_path):
    model = fitted(files[0], ledger=ledger)
    Update(model).add(Files(files[1]))
    pd.concat([rows(1), rows(2, n_rows=1)]).to_csv(tmp_path / "one_more.csv", index=False)
    Update(model).add(Files(tmp_path / "one_more.csv"))
    assert len(model.noise_growth_) == 3


def test_without_a_ledger_nothing_is_noticed(files):
    model = fitted(files[0])
    Update(model).add(Files(files[1]))
    Update(model).add(Files(files[1]))
    assert len(model.noise_growth_) == 3


def test_the_rows_of_all_people_are_compared_whatever_the_bound(ledger, tmp_path):
    people = rows(1).assign(person=np.arange(100) // 4)
    people.to_csv(tmp_path / "batch.csv", index=False)
    people[::-1].to_csv(tmp_path / "reversed.csv", index=False)
    rows(0).assign(person=np.arange(100) + 500).to_csv(tmp_path / "first.csv", index=False)
    own = Ledger(tmp_path / "ledger.db", dataset="by person", epsilon=5.0, unit="person")
    model = fitted(tmp_path / "first.csv", unit="person", max_rows=2, ledger=own)
    Update(model).add(Files(tmp_path / "batch.csv"))
    with pytest.raises(DataError, match="in the model already"):
        Update(model).add(Files(tmp_path / "reversed.csv"))


def test_neither_key_nor_fingerprint_is_in_the_model(files, ledger, tmp_path):
    model = fitted(files[0], ledger=ledger)
    Update(model).add(Files(files[1]))
    model.save(tmp_path / "model.privet")
    written = (tmp_path / "model.privet").read_text()
    history = BatchHistory(ledger)
    [batch] = history.batches()
    assert batch.fingerprint.encode() in ledger.path.read_bytes()
    assert batch.fingerprint not in written
    assert history.key().hex() not in written


def test_what_is_raised_before_noise_costs_nothing_and_changes_nothing(files, ledger):
    def too_late():
        raise ParameterError("somebody was quicker")

    model = fitted(files[0], ledger=ledger)
    before = model.noisy_counts_.copy()
    with pytest.raises(ParameterError, match="somebody was quicker"):
        Update(model, before_noise=too_late).add(Files(files[1]))
    assert_array_equal(model.noisy_counts_, before)
    assert (ledger.spent, Update(model).known_batches) == (1.0, 0)


def test_a_model_that_takes_no_further_rows_is_refused(files):
    with pytest.raises(ParameterError, match="a model of the method 'dpdf' takes no further rows.*fit again"):
        Update(DPDFClassifier(SCHEMA).fit(files[0]))


@BOTH
def test_a_first_fit_of_files_is_remembered(files, ledger, kind):
    model = kind(SCHEMA, epsilon=1.0, ledger=ledger)
    fit_files(model, Files(files[1]))
    assert Update(model).unknown_batches == 0
    with pytest.raises(DataError, match="this batch is in the model already"):
        Update(model).add(Files(files[3]))
    Update(model).add(Files(files[2]))
    assert ledger.spent == 2.0


def test_a_first_fit_by_workers_is_not_remembered(files, ledger):
    model = PrivateRDTClassifier(SCHEMA, epsilon=1.0, ledger=ledger)
    with ThreadPoolExecutor(2) as pool:
        fit_files(model, Files(files[0]), executor=pool)
    assert Update(model).unknown_batches == 1
    assert ledger.spent == 1.0


@BOTH
def test_a_model_that_was_weighed_otherwise_remembers_its_batches(kind, tmp_path):
    rows(1).to_csv(tmp_path / "first.csv", index=False)
    rows(2).to_csv(tmp_path / "second.csv", index=False)
    ledger = Ledger(tmp_path / "ledger.db", dataset="patients", epsilon=4.0)
    model = kind(SCHEMA, epsilon=1.0, ledger=ledger)
    fit_files(model, Files(tmp_path / "first.csv"))
    model.with_class_weight({9: 3}).save(tmp_path / "weighed.privet")
    weighed = load(tmp_path / "weighed.privet").set_params(ledger=ledger)
    with pytest.raises(DataError, match="this batch is in the model already"):
        Update(weighed).add(Files(tmp_path / "first.csv"))
    Update(weighed).add(Files(tmp_path / "second.csv"))
    with pytest.raises(DataError, match="this batch is in the model already"):
        Update(weighed.with_class_weight("balanced")).add(Files(tmp_path / "second.csv"))
