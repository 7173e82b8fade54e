"""Several processes at once: on one ledger, one file, one model, one party's store, one secret."""

from pathlib import Path

import pandas as pd
import pytest

from privet import Ledger, load
from privet.files.file_lock import file_lock
from tests.cli.conftest import people
from tests.crashes.campaign import fresh_copies
from tests.crashes.commands import FIT, named
from tests.crashes.forked import run, together
from tests.crashes.invariants import is_whole


@pytest.fixture
def fresh():
    """Give a folder that is arranged for a command, whose imports are done."""
    opened = []

    def folder_for(name):
        copies = fresh_copies(named(name))
        opened.append(copies)
        return copies.__enter__()()

    yield folder_for
    for copies in opened:
        copies.__exit__(None, None, None)


def ledger_of(folder):
    return Ledger(folder / "ledger.db", dataset="people")


def test_of_eight_fits_at_once_as_many_are_released_as_the_budget_has_room_for(fresh):
    folder = fresh("fit --ledger")
    lines = [f"{FIT} --epsilon 3 --ledger ledger.db -o {i}.privet".split() for i in range(8)]
    outcomes = together(folder, lines)
    assert sorted(outcome.code for outcome in outcomes) == [0] * 3 + [4] * 5, [each.stderr for each in outcomes]
    released = list(folder.glob("*.privet"))
    assert len(released) == 3
    assert all(map(is_whole, released))
    assert ledger_of(folder).spent == 9.0
    assert {spending.state for spending in ledger_of(folder).account().spendings} == {"settled"}
    assert not list(folder.glob(".*"))


def test_of_two_fits_to_one_file_none_takes_the_place_of_the_other(fresh):
    folder = fresh("fit --ledger")
    outcomes = together(folder, [named("fit --ledger").words] * 2)
    assert 0 in [outcome.code for outcome in outcomes]
    models = list(folder.glob("*.privet"))
    # The slower one was refused before it paid, or has put its model beside the other's.
    assert len(models) == len(ledger_of(folder).account().expenses)
    assert all(map(is_whole, models))


def test_a_file_that_appears_during_a_fit_is_left_and_the_paid_model_put_beside_it(fresh):
    def appears(_):
        from privet.central.private_rdt import PrivateRDTClassifier

        really = PrivateRDTClassifier._fit_first_batch

        def fit(self, call):
            Path("model.privet").write_text("another's")
            return really(self, call)

        PrivateRDTClassifier._fit_first_batch = fit

    folder = fresh("fit --ledger")
    outcome = run(folder, named("fit --ledger").words, beforehand=appears)
    assert outcome.code == 2
    assert outcome.sentence.startswith("'model.privet' was made by another process meanwhile; it is left as it is; the")
    assert (folder / "model.privet").read_text() == "another's"
    [beside] = folder.glob("model-*.privet")
    assert f"the model is whole, and was put in '{beside.name}': move it from there" in outcome.sentence
    assert is_whole(beside)


def test_of_two_releases_of_one_party_at_once_one_is_paid_for_and_sent(fresh):
    folder, words = fresh("party release"), named("party release").words
    outcomes = together(folder, [words, words])
    assert 0 in [outcome.code for outcome in outcomes]
    for outcome in outcomes:
        assert outcome.code == 0 or "still running, wait, and run this again" in outcome.sentence, outcome.stderr
    sent = (folder / "bank.json").read_bytes()
    assert run(folder, words).code == 0
    assert (folder / "bank.json").read_bytes() == sent
    assert ledger_of(folder).spent == 1.0


def test_a_release_that_another_process_has_begun_is_not_paid_for_again(fresh):
    """The other one reserves between this one's look at the ledger and its own reservation."""

    def overtaken(_):
        from privet.partitioned import party
        from privet.partitioned.split_structure import load_structure

        really = party.make_store

        def make_store(store, *, what):
            party.make_store = really
            party.Party("bank.key", store="other", ledger=Ledger("ledger.db", dataset="people")).release(
                load_structure("s.json"), "rows.csv"
            )
            really(store, what=what)

        party.make_store = make_store

    folder = fresh("party release")
    outcome = run(folder, named("party release").words, beforehand=overtaken)
    assert "the ledger has a release of this structure that the store 'bank.store' lacks" in outcome.sentence
    assert ledger_of(folder).spent == 1.0


def test_of_two_updates_at_once_none_is_lost_and_none_counts_twice(fresh):
    folder = fresh("update --ledger")
    people(400)[350:].to_csv(folder / "more.csv", index=False)
    lines = {
        name: f"update model.privet {name} --ledger ledger.db --jobs 1".split() for name in ("new.csv", "more.csv")
    }
    outcomes = dict(zip(lines, together(folder, list(lines.values())), strict=True))
    for name, outcome in outcomes.items():
        if outcome.code != 0:
            assert "another update of 'model.privet' is being made" in outcome.sentence or (
                "changed while this update was made" in outcome.sentence
            )
            assert run(folder, lines[name]).code == 0
    assert len(load(folder / "model.privet").noise_growth_) == 3
    assert ledger_of(folder).spent == 3.0


def test_an_update_waits_for_nobody_and_pays_nothing_while_another_is_made(fresh):
    for name, place in (("update --ledger", "model.privet"), ("update of a folder", "models")):
        folder = fresh(name)
        with file_lock(folder / place):
            outcome = run(folder, named(name).words)
        assert (outcome.code, outcome.sentence) == (
            3,
            f"another update of '{place}' is being made, and nothing was spent on this one; run it again when that is "
            "done",
        )
        assert ledger_of(folder).spent == 1.0


def test_two_channels_at_once_do_not_both_answer_with_one_secret(fresh):
    folder = fresh("perturb --secret, a new one")
    line = "perturb rows.csv --schema schema.json --noise gaussian --privacy {0} --secret key.json -o {0}.csv"
    outcomes = together(folder, [line.format(privacy).split() for privacy in (50, 100, 150)])
    codes = sorted(outcome.code for outcome in outcomes)
    assert codes == [0, 3, 3], [outcome.stderr for outcome in outcomes]
    [answers] = folder.glob("*0.csv")
    assert len(pd.read_csv(answers)) == len(pd.read_csv(folder / "rows.csv"))


def test_of_four_that_make_one_ledger_one_makes_it(fresh):
    folder = fresh("ledger init")
    outcomes = together(folder, [named("ledger init").words] * 4)
    assert [outcome.code for outcome in outcomes] == [0] * 4
    assert len(ledger_of(folder).file.entries()) == 2
