"""However a model is fitted, its cost lands in the one ledger, and what exceeds the budget reads no row."""

import math
import subprocess
import sys
from collections import Counter

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from privet import Ledger, PrivateRDTClassifier, load
from privet.datasets import agrawal
from privet.errors import BudgetExceeded, DataError, LedgerError, ParameterError
from privet.model_file import checksum_of
from privet.privacy.ledger.account import accounts
from privet.registry import METHODS
from tests.contracts.tasks import data_for

DATA = agrawal(300, random_state=5)
WAYS = [("threading", 1), ("threading", 2), ("loky", 2)]
EPSILON = 0.1


class Unreadable:
    """A table that nobody may look at."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was read although the budget is spent")

    __array__ = __iter__ = __len__ = None


@pytest.fixture(params=sorted(METHODS))
def unfitted(request):
    return METHODS[request.param](data_for(request.param, DATA).schema, epsilon=EPSILON)


@pytest.fixture
def data(unfitted):
    return data_for(unfitted.method, DATA)


def for_fits(tmp_path, n_fits):
    return Ledger(tmp_path / "ledger.db", dataset="people", epsilon=round(n_fits * EPSILON, 10))


def assert_spent_by(ledger, n_fits, model, *released):
    """Every fit is on record, each with its model, and a further one is refused before anything is read."""
    account = ledger.account()
    assert [spending.state for spending in account.spendings] == ["settled"] * n_fits
    # Counted, for a tree without numbers in it may well come out twice.
    on_record = Counter(spending.ended.body["model"] for spending in account.spendings)
    assert Counter(checksum_of(each.to_document()) for each in released) <= on_record
    assert ledger.left == 0.0
    with pytest.raises(BudgetExceeded, match="0.0 is left of the budget of 'people'") as caught:
        clone(model).fit(Unreadable(), Unreadable())
    assert (caught.value.asked, caught.value.left) == (EPSILON, 0.0)
    with pytest.raises(BudgetExceeded):
        clone(model).fit("there is no such file.parquet")
    assert len(ledger.account().spendings) == n_fits


@pytest.mark.parametrize(("backend", "n_jobs"), WAYS)
def test_cross_validation_spends_once_a_fold(unfitted, data, tmp_path, backend, n_jobs):
    ledger = for_fits(tmp_path, 5)
    model = unfitted.set_params(ledger=ledger)
    with joblib.parallel_config(backend=backend):
        folds = cross_validate(model, data.X, data.y, cv=5, n_jobs=n_jobs, return_estimator=True)
    assert np.isfinite(folds["test_score"]).all()
    assert_spent_by(ledger, 5, model, *folds["estimator"])


@pytest.mark.parametrize(("backend", "n_jobs"), WAYS)
def test_a_grid_search_spends_once_a_fit(unfitted, data, tmp_path, backend, n_jobs):
    ledger = for_fits(tmp_path, 13)
    model = unfitted.set_params(ledger=ledger)
    search = GridSearchCV(model, {"random_state": [2, 3, 5, 8]}, cv=3, n_jobs=n_jobs)  # 12 fits, and one on all rows
    with joblib.parallel_config(backend=backend):
        search.fit(data.X, data.y)
    assert search.best_estimator_.ledger.path == ledger.path
    assert_spent_by(ledger, 13, model, search.best_estimator_)


def test_a_search_over_the_budget_fails_fold_by_fold_and_spends_no_more(unfitted, data, tmp_path):
    ledger = for_fits(tmp_path, 3)
    with pytest.warns(FitFailedWarning, match="2 fits failed"):
        scores = cross_val_score(unfitted.set_params(ledger=ledger), data.X, data.y, cv=5)
    assert np.isfinite(scores).sum() == 3
    assert ledger.left == 0.0


def test_fits_on_a_dask_cluster_land_in_the_same_file(tmp_path):
    # In a process of its own: a cluster starts threads and sockets that outlive it a little.
    script = tmp_path / "on_dask.py"
    script.write_text(
        "import joblib, sys\n"
        "from distributed import Client, LocalCluster\n"
        "from sklearn.model_selection import cross_val_score\n"
        "from privet import Ledger\n"
        "from privet.datasets import agrawal\n"
        "from privet import PrivateRDTClassifier\n"
        "if __name__ == '__main__':\n"
        "    data = agrawal(300, random_state=5)\n"
        "    ledger = Ledger(sys.argv[1], dataset='people')\n"
        "    model = PrivateRDTClassifier(data.schema, epsilon=0.1, ledger=ledger)\n"
        "    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        "    with cluster, Client(cluster):\n"
        "        with joblib.parallel_config(backend='dask'):\n"
        "            print(len(cross_val_score(model, data.X, data.y, cv=5)))\n"
    )
    ledger = for_fits(tmp_path, 5)
    command = [sys.executable, str(script), str(ledger.path)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "5\n"
    assert_spent_by(ledger, 5, PrivateRDTClassifier(DATA.schema, epsilon=EPSILON, ledger=ledger))


def test_the_ledger_names_the_model_by_the_checksum_in_its_file(unfitted, data, tmp_path):
    ledger = for_fits(tmp_path, 1)
    model = unfitted.set_params(ledger=ledger).fit(data.X, data.y)
    model.save(tmp_path / "model.privet")
    (spending,) = ledger.account().spendings
    assert f'"checksum": "{spending.ended.body["model"]}"' in (tmp_path / "model.privet").read_text()
    assert spending.begun.body["method"] == unfitted.method
    assert load(tmp_path / "model.privet").ledger is None


@pytest.mark.parametrize("method", [name for name in sorted(METHODS) if hasattr(METHODS[name], "partial_fit")])
def test_batches_of_one_model_add_up_unless_they_are_named_as_parts(method, tmp_path):
    ledger = for_fits(tmp_path, 2)
    data = data_for(method, DATA)
    model = METHODS[method](data.schema, epsilon=EPSILON, ledger=ledger.for_part("january"))
    model.fit(data.X[::2], data.y[::2])
    model.set_params(ledger=ledger.for_part("march")).partial_fit(data.X[1::2], data.y[1::2])
    assert ledger.spent == EPSILON
    model.set_params(ledger=ledger).partial_fit(data.X, data.y)
    assert ledger.spent == 2 * EPSILON
    promise = model.guarantee_
    with pytest.raises(BudgetExceeded):
        model.partial_fit(Unreadable(), Unreadable())
    assert model.guarantee_ is promise
    assert [spending.begun.body["what"] for spending in ledger.account().spendings] == ["fit", "update", "update"]


@pytest.mark.parametrize("options", [{"epsilon": math.inf}, {"unsafe_seeded_noise": True, "random_state": 3}])
def test_what_promises_nothing_never_fits_a_budget(unfitted, tmp_path, options):
    ledger = for_fits(tmp_path, 1000)
    with pytest.raises(BudgetExceeded, match="costs epsilon=inf"):
        unfitted.set_params(ledger=ledger, **options).fit(Unreadable(), Unreadable())


def test_a_table_that_is_refused_costs_nothing(unfitted, data, tmp_path):
    ledger = for_fits(tmp_path, 1)
    model = unfitted.set_params(ledger=ledger)
    with pytest.raises(DataError, match="labels that are not in the schema's classes|holds text, but"):
        model.fit(data.X, np.where(np.arange(300) > 5, "C", "A"))
    with pytest.raises(DataError, match="cannot read"):
        model.fit(tmp_path / "none.csv")
    assert (ledger.spent, [s.state for s in ledger.account().spendings]) == (0.0, ["withdrawn"] * 2)


def test_a_failure_between_noise_and_release_is_spent_and_leaves_the_model_as_it_was(
    unfitted, data, tmp_path, monkeypatch
):
    ledger = for_fits(tmp_path, 2)
    model = unfitted.set_params(ledger=ledger).fit(data.X, data.y)
    guarantee = model.guarantee_
    monkeypatch.setattr(type(model), "_ledger_note", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(data.X, data.y)
    assert model.guarantee_ is guarantee
    assert ledger.left == 0.0


def test_parameters_out_of_range_are_refused_before_anything_is_reserved(unfitted, data, tmp_path):
    ledger = for_fits(tmp_path, 1)
    with pytest.raises(ParameterError, match="epsilon=0 is out of range"):
        clone(unfitted).set_params(ledger=ledger, epsilon=0).fit(data.X, data.y)
    with pytest.raises(ParameterError, match="n_jobs=0 must be"):
        clone(unfitted).set_params(ledger=ledger, n_jobs=0).fit(data.X, data.y)
    with pytest.raises(ParameterError, match="ledger must be a Ledger; make one with Ledger"):
        clone(unfitted).set_params(ledger="ledger.db").fit(data.X, data.y)
    with pytest.raises(LedgerError, match="protects each row, this release each person"):
        clone(unfitted).set_params(ledger=ledger, unit="person").fit(data.X, data.y)
    assert ledger.account().spendings == ()


def test_the_file_holds_no_value_and_no_exact_count_of_the_rows(unfitted, data, tmp_path):
    X = pd.DataFrame(data.X).assign(salary=123_456.75)
    ledger = for_fits(tmp_path, 1)
    unfitted.set_params(ledger=ledger).fit(X, data.y)
    _, entries = accounts(ledger.path)
    text = " ".join(str(entry) for entry in entries)
    assert "123456.75" not in text
    assert "salary" not in text
    assert " 300" not in text
    assert b"123456.75" not in ledger.path.read_bytes()
