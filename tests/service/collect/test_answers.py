"""Reports: taken once, checked against the channel, and never beside their token."""

import pytest

from privet.local import FieldSampling
from privet.service.collect.tokens import new_token
from tests.service.collect.conftest import schema


def said(answer):
    return answer.status_code, answer.json().get("error")


def test_the_receipt_tells_nothing_of_the_answers(collection):
    token, answers = collection.token(), collection.reports[0]
    told = collection.send(token, answers).json()
    other = {**answers, "smoker": "no" if answers["smoker"] == "yes" else "yes"}
    assert collection.send(token, other).json() == told  # the same number is the same report


def test_a_forged_token_is_refused_before_its_answers_are_looked_at(collection):
    assert said(collection.send(new_token(), {"nothing": "of this channel"})) == (403, "token_unknown")


@pytest.mark.parametrize("token", ["", "x", None, 5, "a" * 23, "é" * 22, ["a"]])
def test_what_is_no_token_is_malformed(collection, token):
    assert said(collection.send(token, collection.reports[0])) == (400, "malformed")


@pytest.mark.parametrize(
    "change",
    [{"age": 11.5}, {"age": "old"}, {"age": True}, {"sex": "f"}, {"smoker": None}, {"smoker": 1}, {"more": 1},
     {"age": [10.0]}, {"age": {"a": 1}}, {"sex": "x" * 20_000}, {"age": 10**400}],
)  # fmt: skip
def test_what_the_channel_cannot_have_answered_is_refused_and_the_link_stays_good(collection, change):
    token = collection.token()
    refused = collection.send(token, {**collection.reports[0], **change})
    assert said(refused) == (422, "refused")
    assert "channel" in refused.json()["message"]
    assert collection.send(token, collection.reports[0]).status_code == 201


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b'{"token": 1}', 400), (b"[" * 60_000, 400), (b"\xff", 400), (b" " * 70_000, 413)],
)
def test_bodies_that_are_no_report_are_refused(collection, body, status):
    answer = collection.client.post("/answers", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status


def test_a_form_of_another_site_cannot_send_a_report(collection):
    assert said(collection.client.post("/answers", data={"token": "x"})) == (415, "malformed")


def test_nan_is_no_answer(collection):
    answers = '{"age": NaN, "sex": "male", "smoker": "no"}'
    body = f'{{"token": "{collection.token()}", "report_id": "{"0" * 32}", "answers": {answers}}}'
    answer = collection.client.post("/answers", content=body, headers={"Content-Type": "application/json"})
    assert said(answer) == (422, "refused")


def test_answers_of_a_sampled_question_are_checked_too(make_collection):
    collection = make_collection(FieldSampling(schema(), epsilon=2.0).channel)
    good = collection.reports[0]
    assert set(good) == {"question_1", "answer_1"}
    for change in ({"question_1": 7}, {"answer_1": "99"}, {"answer_1": "1 x"}, {"answer_1": ""}, {"question_1": None}):
        assert said(collection.send(collection.token(), {**good, **change})) == (422, "refused"), change
    assert collection.send(collection.token(), good).status_code == 201


def test_too_many_reports_are_refused_for_a_while(make_collection):
    collection = make_collection(address_per_minute=3)
    codes = [collection.send(new_token(), {}).status_code for _ in range(4)]
    assert codes == [403, 403, 403, 429]
    assert int(collection.send(new_token(), {}).headers["Retry-After"]) > 0
