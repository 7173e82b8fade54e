"""Many fits leave nothing behind in the process, and many threads get the answers of one."""

import threading
from copy import copy

import pytest

from benchmarks.load.many_fits import fit_all
from benchmarks.load.many_threads import at_once, models, n_recorded, n_wrong
from privet.privacy.ledger import ledger_file
from privet.registry import METHODS

N_THREADS = 64


@pytest.fixture(scope="module", params=[0, 1], ids=["private-rdt", "private-forest"])
def model(request):
    return models(n_jobs=2)[request.param]


# What a fit may leave at most: remembered scales, of which there are 256, make a few objects. A kept model has dozens.
OBJECTS_A_FIT = 8


def test_many_fits_leave_no_file_no_thread_and_no_object_behind():
    early, late, n_between = fit_all(120)
    assert late.files <= early.files
    assert late.threads <= early.threads
    assert late.objects - early.objects < OBJECTS_A_FIT * n_between


def test_fits_that_leave_their_models_behind_would_be_seen(monkeypatch):
    kept = []

    def keeping(fit):
        return lambda model, *rows: kept.append(copy(fit(model, *rows)))

    for estimator in METHODS.values():
        monkeypatch.setattr(estimator, "fit", keeping(estimator.fit))
    early, late, n_between = fit_all(60)
    assert len(kept) == 60
    assert late.objects - early.objects > OBJECTS_A_FIT * n_between


def test_64_threads_at_one_model_get_the_answers_of_one(model):
    assert n_wrong(model, N_THREADS, n_calls=2, n_rows=200) == 0


class Scratchpad:
    """A planted fault: a model that keeps its rows in itself while it predicts. All threads do so before any reads."""

    def __init__(self, model):
        self._model, self.feature_importances_ = model, model.feature_importances_
        self._all = threading.Barrier(N_THREADS)

    def predict_proba(self, rows):
        self._rows = rows
        if threading.current_thread() is not threading.main_thread():
            self._all.wait()
        return self._model.predict_proba(self._rows)

    def predict(self, rows):
        self._rows = rows
        chances = self._model.predict_proba(rows)
        return chances if self._rows is rows else self._model.predict_proba(self._rows)

    predict_log_proba = predict


def test_a_model_that_threads_share_more_than_they_should_would_be_seen():
    assert n_wrong(Scratchpad(models()[0]), N_THREADS, n_calls=3, n_rows=200) >= 3 * (N_THREADS - 1)


def test_64_threads_that_pay_from_one_ledger_are_all_on_record(monkeypatch):
    monkeypatch.setattr(ledger_file, "_WAIT_SECONDS", 600.0)  # a busy machine may keep some of so many waiting
    recorded, spent = n_recorded(N_THREADS)
    assert (recorded, spent) == (N_THREADS, pytest.approx(6.4))


def test_all_threads_begin_together():
    assert at_once(8, lambda i: i * i) == [i * i for i in range(8)]
