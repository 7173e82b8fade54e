"""What an analyst gets who asks as the interface says."""

import json

import pandas as pd
import pytest

from privet import load
from privet.service.gateway.analyst_requests import OFFERED
from tests.service.gateway.conftest import N_ROWS, people, schema

ROWS = [{"age": 70, "sex": "male"}, {"age": None, "sex": "female"}, {"age": 20.5, "sex": "unheard of"}]


def test_the_schema_is_told_with_whom_it_protects_and_what_may_be_chosen(ana):
    told = ana.get("/v1/schema").json()
    assert told["schema"] == schema().to_json()
    assert (told["unit"], told["max_rows"]) == ("row", 1)
    assert told["methods"]["private-rdt"]["n_trees"] == "must be a whole number from 1 to 10,000"
    assert "variant" not in told["methods"]["dpdf"]


def test_a_plan_costs_nothing(gateway, ana):
    told = ana.post("/v1/plan", {"epsilon": 1, "method": "private-forest"})
    assert told.status_code == 200, told.text
    assert told.json()["n_rows"] == N_ROWS
    assert gateway.releases() == []


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("method", OFFERED)
def test_every_method_is_planned_for_any_epsilon_that_can_be_paid(ana, method, epsilon):
    for n_rows in (1, 10**12):
        told = ana.post("/v1/plan", {"epsilon": epsilon, "method": method, "rows": n_rows})
        assert told.status_code == 200, told.text
        assert told.json()["epsilon"] == epsilon


@pytest.mark.parametrize("method", OFFERED)
def test_a_fit_of_every_method_is_paid_for_and_its_model_fetched(gateway, ana, method):
    told = ana.made(method=method, epsilon=1.0)
    assert told["state"] == "done"
    assert told["receipt"]["state"] == "settled"
    assert gateway.releases() == ["settled"]
    answer = ana.get(f"/v1/fits/{told['fit']}/model")
    path = gateway.folder.path / "fetched.privet"
    path.write_bytes(answer.content)
    model = load(path)
    assert model.guarantee_.epsilon <= 1.0
    assert json.loads(answer.content)["checksum"] == told["receipt"]["model"]


@pytest.mark.parametrize("method", OFFERED)
def test_what_is_not_refused_does_not_fail(make_gateway, method):
    ana = make_gateway(epsilon=2e6).analyst(epsilon=1e6)
    assert [ana.made(method=method, epsilon=epsilon)["state"] for epsilon in (1e-4, 9e5)] == ["done"] * 2


def test_the_receipt_is_the_entry_of_the_ledger(gateway, ana):
    told = ana.made(epsilon=0.5)
    entry = gateway.ledger.account().spendings[0].begun
    assert told["receipt"]["hash"] == entry.hash
    assert (entry.body["analyst"], entry.body["fit"]) == ("ana", told["fit"])


def test_no_header_of_a_model_tells_when_its_fit_ended(ana):
    answer = ana.get(f"/v1/fits/{ana.made(epsilon=0.5)['fit']}/model")
    assert {"last-modified", "etag", "date"}.isdisjoint(answer.headers)
    assert answer.headers["content-disposition"].endswith('.privet"')


def test_predictions_are_those_of_the_model_and_free(gateway, ana):
    fit = ana.made(epsilon=1.0)["fit"]
    told = ana.post(f"/v1/fits/{fit}/predict", {"rows": ROWS})
    assert told.status_code == 200, told.text
    assert told.json()["classes"] == ["no", "yes"]
    model = load(gateway.folder.model_file(fit))
    assert told.json()["predictions"] == model.predict(pd.DataFrame(ROWS)).tolist()
    assert gateway.ledger.spent == 1.0


def test_the_report_is_a_page_to_save(ana):
    fit = ana.made(epsilon=1.0)["fit"]
    answer = ana.get(f"/v1/fits/{fit}/report")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{fit}.html"'
    assert "Privacy report" in answer.text


def test_a_lost_answer_is_fetched_again_and_paid_for_once(gateway, ana):
    first, second = ana.ask(key="my fit"), ana.ask(key="my fit")
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["fit"] == second.json()["fit"]
    ana.ended(first.json()["fit"])
    assert ana.ask(key="my fit").json()["state"] == "done"
    assert gateway.releases() == ["settled"]


def test_the_same_key_with_another_fit_is_refused(gateway, ana):
    ana.ask(key="my fit", epsilon=0.5)
    answer = ana.ask(key="my fit", epsilon=0.25)
    assert (answer.status_code, answer.json()["error"]) == (409, "key_used")
    assert len(gateway.releases()) == 1


def test_the_same_key_of_another_analyst_is_another_fit(gateway, ana):
    other = gateway.analyst("ben")
    assert ana.ask(key="k").json()["fit"] != other.ask(key="k").json()["fit"]


def test_the_budgets_of_analyst_and_data_set_both_bound(gateway, ana):
    ben = gateway.analyst("ben", epsilon=2.0)
    assert ana.made(epsilon=1.5)["state"] == "done"
    own = ana.ask(epsilon=1.0)
    assert (own.status_code, own.json()["error"]) == (402, "own_budget")
    assert "ask for epsilon<=0.5" in own.json()["message"]
    assert ben.made(epsilon=1.25)["state"] == "done"
    whole = ben.ask(epsilon=0.5)
    assert (whole.status_code, whole.json()["error"]) == (402, "budget")
    told = ben.get("/v1/budget").json()
    assert (told["spent"], told["left"], told["dataset"]["left"]) == (1.25, 0.75, 0.25)


def test_a_budget_with_delta_pays_for_fits_with_delta(make_gateway):
    ana = make_gateway().analyst(delta=1e-6)
    answer = ana.ask(epsilon=0.5, delta=1e-7, method="private-forest")
    assert (answer.status_code, answer.json()["error"]) == (402, "budget")  # the data set's has none


def test_an_analyst_sees_their_own_fits_alone(gateway, ana):
    own, ben = ana.made()["fit"], gateway.analyst("ben")
    assert [each["fit"] for each in ana.get("/v1/fits").json()["fits"]] == [own]
    assert ben.get("/v1/fits").json() == {"fits": []}
    others, none = ben.get(f"/v1/fits/{own}"), ben.get(f"/v1/fits/{'0' * 32}")
    assert (others.status_code, others.content) == (none.status_code, none.content)
    assert others.status_code == 404


def test_a_revoked_token_opens_nothing_and_what_was_spent_stays_spent(gateway, ana):
    ana.made(epsilon=1.5)
    gateway.folder.analysts.revoke("ana")
    assert ana.get("/v1/budget").status_code == 401
    again = gateway.analyst("ana", epsilon=2.0)
    assert again.get("/v1/budget").json()["left"] == 0.5


def test_people_with_several_rows_are_protected_as_the_owner_has_fixed(make_gateway):
    table = people().assign(person=[f"p{i // 2}" for i in range(N_ROWS)])
    gateway = make_gateway(table=table, unit="person", max_rows=2)
    ana = gateway.analyst()
    fit = ana.made(epsilon=1.0)["fit"]
    guarantee = load(gateway.folder.model_file(fit)).guarantee_
    assert (guarantee.unit, guarantee.max_rows) == ("person", 2)
