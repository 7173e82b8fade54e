"""A clock that goes backwards changes nothing but the times that are shown."""

import json
import os
from datetime import UTC, datetime

from privet import Ledger
from privet.privacy.ledger.account import accounts
from tests.crashes.campaign import fresh_copies
from tests.crashes.commands import FIT, named
from tests.crashes.forked import run


def at(year):
    """Set the clock of a child."""

    def turn_back(_):
        import time

        from privet.privacy.ledger import ledger_file

        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(year, 1, 1, tzinfo=UTC)

        ledger_file.datetime = Clock
        time.time = lambda: datetime(year, 1, 1, tzinfo=UTC).timestamp()

    return turn_back


def test_entries_keep_their_order_and_the_budget_its_sum():
    command = named("fit --ledger")
    with fresh_copies(command) as fresh:
        folder = fresh()
        for i, year in enumerate((2030, 2001, 1971)):
            line = f"{FIT} --epsilon 3 --ledger ledger.db -o {i}.privet"
            outcome = run(folder, line.split(), beforehand=at(year))
            assert (outcome.code, outcome.stderr) == (0, "")
        refused = run(folder, f"{FIT} --epsilon 3 --ledger ledger.db -o 3.privet".split(), beforehand=at(1999))
        assert refused.code == 4
        (account,), entries = accounts(folder / "ledger.db")
        assert account.spent() == 9.0
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        assert [spending.begun.time[:4] for spending in account.spendings] == ["2030", "2001", "1971"]
        shown = json.loads(run(folder, ["ledger", "show", "ledger.db", "--json"], beforehand=at(1970)).stdout)
        assert [release["model"] is not None for release in shown["datasets"][0]["releases"]] == [True] * 3
        head = shown["head"]
        assert run(folder, f"ledger verify ledger.db --head {head}".split(), beforehand=at(1970)).code == 0


def test_a_model_of_a_later_clock_is_updated_and_its_batch_is_known():
    command = named("update --ledger")
    with fresh_copies(command) as fresh:
        folder = fresh()
        os.utime(folder / "model.privet", (2e9, 2e9))
        assert run(folder, command.words, beforehand=at(1999)).code == 0
        again = run(folder, command.words, beforehand=at(1971))
        assert "this batch is in the model already" in again.sentence
        assert Ledger(folder / "ledger.db", dataset="people").spent == 2.0
