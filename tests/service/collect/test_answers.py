"""Reports: taken once, checked against the channel, and never beside their token."""

import json
import sqlite3

import pytest

from privet.local import FieldSampling
from privet.service.collect.tokens import new_token, token_hash
from tests.service.collect.conftest import BATCH, schema


def said(answer):
    return answer.status_code, answer.json().get("error")


def test_a_report_gets_a_receipt_and_the_same_one_when_it_is_repeated(collection):
    token, answers = collection.token(), collection.reports[0]
    first, again = collection.send(token, answers), collection.send(token, answers)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert len(first.json()["receipt"]) == 64
    collection.send_many(2 * BATCH - 1)
    assert collection.store.n_released() == BATCH


def test_a_used_link_takes_no_second_report(collection):
    token = collection.token()
    collection.send(token, collection.reports[0])
    assert said(collection.send(token, collection.reports[1], "1" * 32)) == (409, "token_used")


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


def test_nobody_reads_an_answer_before_another_batch_waits_behind_it(collection):
    collection.send_many(2 * BATCH - 1)
    assert list(collection.store.released()) == []
    collection.send_many(1)
    assert len(list(collection.store.released())) == BATCH


def test_an_export_begins_with_all_of_an_earlier_one(collection):
    collection.send_many(3 * BATCH)
    before = list(collection.store.released())
    collection.send_many(BATCH)
    assert list(collection.store.released())[: 2 * BATCH] == before


def test_answers_lie_in_another_order_than_they_came(collection):
    collection.send_many(60)
    collection.folder.close(collection.store)
    came = [list(report.values()) for report in collection.reports]
    lie = [json.loads(text) for text in collection.store.released()]
    assert sorted(map(str, lie)) == sorted(map(str, came))
    assert lie != came  # equal by chance less than once in (5!)^12


def test_the_file_holds_no_token_no_number_of_a_report_no_address_and_no_time(collection):
    token = collection.token()
    collection.send(token, collection.reports[0], "ab" * 16)
    path = collection.folder.path / "answers.db"
    content = path.read_bytes()
    for hidden in (token.encode(), b"ab" * 16, bytes.fromhex("ab" * 16), b"testclient"):
        assert hidden not in content
    assert token_hash(token) in content
    with sqlite3.connect(path) as database:
        columns = {
            (table, column[1])
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for column in database.execute(f"PRAGMA table_info({table})")
        }
    database.close()
    assert columns == {("token", "hash"), ("token", "mark"), ("waiting", "id"), ("waiting", "answer"),
                       ("released", "batch"), ("released", "id"), ("released", "answer")}  # fmt: skip


def test_a_full_disk_stores_nothing_and_the_server_goes_on_when_there_is_room(collection):
    tokens = [collection.token() for _ in range(300)]
    database = collection.store._database
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    answers, taken, refused = collection.reports[0], [], []
    for token in tokens:
        (taken if (answer := collection.send(token, answers)).status_code == 201 else refused).append(token)
        if answer.status_code != 201:
            assert said(answer) == (503, "unavailable")
            break
    assert refused, "the disk never was full"
    database.execute("PRAGMA max_page_count = 100000")
    assert collection.send(refused[0], answers).status_code == 201  # the link is good still
    for token in taken:
        assert collection.send(token, answers).status_code in (200, 429)
    (waiting,) = database.execute("SELECT count(*) FROM waiting").fetchone()
    assert waiting + collection.store.n_released() == len(taken) + 1
