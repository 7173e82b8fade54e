"""A respondent's own backup, restored: what was spent since it was made is not forgotten."""

import json

import pytest

from privet.service.collect.assets import script_of
from tests.export.node import run_node

RESTORED = """
const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const own = ({ secret, pins, ...rest }) => ({ secret: secret && bytes(secret), pins: new Map(pins), ...rest });
const found = ledger_js.restored(own(BEFORE), own(BACKUP));
console.log(JSON.stringify({ ...found, secret: found.secret[0], pins: [...found.pins] }));
"""
MINE, OTHER = "01" * 32, "02" * 32
FIRST, SECOND = ({"day": f"2026-11-{n}", "study": "Smoking", "channel": "ab", "epsilon": 1} for n in (18, 19))
NOTHING = {"secret": None, "pins": [], "ledger": [], "pending": None}
EARLY = {"secret": MINE, "pins": [["age", "one"]], "ledger": [FIRST], "pending": None}
LATE = {
    "secret": MINE,
    "pins": [["age", "two"], ["sex", "three"]],
    "ledger": [FIRST, SECOND],
    "pending": {"token": "t"},
}


@pytest.fixture
def restored(tmp_path):
    def restored(before, backup):
        told = f"const BEFORE = {json.dumps(before)}, BACKUP = {json.dumps(backup)};"
        return run_node(f"{script_of('ledger')}\n{told}\n{RESTORED}", tmp_path)

    return restored


def test_where_nothing_was_kept_all_is_as_in_the_backup(restored):
    assert restored(NOTHING, EARLY) == {**EARLY, "secret": 1}


def test_an_older_backup_takes_nothing_back(restored):
    assert restored(LATE, EARLY) == {**LATE, "secret": 1}
    assert restored(EARLY, {**LATE, "pending": None})["ledger"] == [FIRST, SECOND]


def test_two_ledgers_are_put_together_and_what_is_in_both_counts_once(restored):
    twice = {**EARLY, "ledger": [FIRST, FIRST]}
    assert restored(twice, EARLY)["ledger"] == [FIRST, FIRST]
    assert restored(EARLY, twice)["ledger"] == [FIRST, FIRST]
    assert restored({**EARLY, "ledger": [SECOND]}, EARLY)["ledger"] == [FIRST, SECOND]


def test_another_secret_answers_from_then_on_by_its_own_pins_and_the_costs_of_both_stay(restored):
    found = restored(LATE, {**EARLY, "secret": OTHER})
    assert found["secret"] == 2
    assert dict(found["pins"]) == {"age": "one", "sex": "three"}
    assert found["ledger"] == [FIRST, SECOND]
    assert found["pending"] == LATE["pending"]
