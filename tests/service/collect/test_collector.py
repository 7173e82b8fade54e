"""The collector: login, state, training, publishing."""

import pytest

from tests.service.collect.conftest import BATCH


def test_nothing_is_told_without_a_login(collection):
    for path in ("state.json", "answers.csv"):
        assert collection.client.get(f"/collector/{path}").status_code == 401
    for what in ("train", "publish", "release", "close", "open", "logout"):
        assert collection.act(what).status_code == 401


def test_a_wrong_password_is_refused_and_trying_is_limited(collection):
    codes = [collection.client.post("/collector/login", json={"password": "x"}).status_code for _ in range(11)]
    assert codes == [403] * 10 + [429]


def test_the_session_is_a_strict_cookie_and_ends_with_the_logout(collection):
    cookie = collection.log_in().headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert collection.client.get("/collector/state.json").status_code == 200
    collection.act("logout")
    assert collection.client.get("/collector/state.json").status_code == 401


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Content-Type": "text/plain"}])
def test_another_site_cannot_act_for_the_collector(collection, headers):
    collection.log_in()
    told = {"Content-Type": "application/json", **headers}
    answer = collection.client.post("/collector/close", content="{}", headers=told)
    assert answer.status_code in (403, 415)
    assert collection.folder.settings.open


def test_the_state_counts_whole_batches_and_has_distributions_with_intervals(collection):
    collection.log_in()
    assert collection.client.get("/collector/state.json").json()["distributions"] == []
    collection.send_many(5 * BATCH + 1)
    state = collection.client.get("/collector/state.json").json()
    assert (state["answers"], state["batches"], state["epsilon"]) == (4 * BATCH, 4, 6.0)
    assert [own["field"] for own in state["distributions"]] == ["age", "sex", "smoker"]
    for own in state["distributions"]:
        assert sum(value["share"] for value in own["values"]) == pytest.approx(1)
        assert all(value["low_share"] <= value["high_share"] for value in own["values"])


def test_a_model_is_trained_at_the_minimum_and_published_for_everybody(collection):
    collection.log_in()
    assert collection.act("publish").json()["error"] == "no_model"
    collection.send_many(19)
    assert collection.act("train").json()["error"] == "too_few"
    collection.send_many(41)
    collection.train()
    state = collection.client.get("/collector/state.json").json()
    assert (state["training"], state["why"]) == ("idle", None)
    assert state["model"]["published"] is False
    assert collection.act("publish").status_code == 200
    script = collection.client.get("/model.js")
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert "Guarantee" in script.text
    assert collection.client.get("/study.json").json()["model"] is True


def test_a_closed_collection_takes_nothing(collection):
    collection.log_in()
    collection.act("close")
    assert collection.send(collection.token(), collection.reports[0]).json()["error"] == "closed"
    collection.act("open")
    assert collection.send(collection.token(), collection.reports[0]).status_code == 201


def test_the_exported_answers_are_those_that_were_released(collection):
    collection.log_in()
    collection.send_many(2 * BATCH + 2)
    lines = collection.client.get("/collector/answers.csv").text.splitlines()
    assert lines[0] == "age,sex,smoker"
    assert len(lines) == 1 + BATCH


def test_a_channel_that_no_method_fits_is_refused_before_the_training_begins(collection, monkeypatch):
    collection.log_in()
    collection.send_many(20 + BATCH)
    monkeypatch.setattr("privet.local.channels.channel.Channel.fitted_by", [])
    assert collection.act("train").json()["error"] == "no_method"
    assert collection.client.get("/collector/state.json").json()["training"] == "idle"
