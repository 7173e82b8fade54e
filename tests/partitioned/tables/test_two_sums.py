"""Both rounds of a secure sum, by three and by ten parties over a folder, and by parties over Flower."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Ledger, load
from privet.errors import LedgerError, PartyError
from privet.partitioned import NewtonRound, Party, PrivateKey, Roster, SumParty, TableForest, Terms
from privet.partitioned.secure_sum.messages import kinds_of
from privet.partitioned.tables import two_sums
from privet.partitioned.tables.newton_round import OpenedSum
from privet.partitioned.transports.directory import Directory
from privet.partitioned.transports.flower import answer, open_round
from privet.partitioned.transports.flower import terms_of as terms_of_files
from privet.privacy.events import NoiseShares, Sequential
from tests.partitioned.tables.small import NAMES, keys_of, parties, structure, table, tables, terms_of
from tests.partitioned.waiting import ENOUGH, no_wait_in_the_second_round

TEN = tuple(f"clinic{i}" for i in range(10))


def run_all(folder, terms, names, *, holders=None, attempt=1, rows=None, first=lambda _: None):
    """Let every party run both rounds in a thread of its own, and return their models or errors."""
    holders, rows, done = holders or parties(folder, names), rows or tables(names), {}
    (folder / "shared").mkdir(exist_ok=True)

    def run(name):
        def exchange(own):
            return Directory(folder / "shared", own, attempt, timeout=ENOUGH)

        try:
            done[name] = two_sums.run(
                holders[name], terms, *rows[name], exchange=exchange, attempt=attempt, first=first
            )
        except Exception as error:
            done[name] = error

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


@pytest.mark.parametrize("names", [NAMES, TEN], ids=["three", "ten"])
def test_all_parties_open_the_same_model_of_both_rounds(names, tmp_path):
    terms = terms_of(structure(2.0), names)
    models = run_all(tmp_path, terms, names)
    documents = [models[name].to_document() for name in names]
    assert all(document == documents[0] for document in documents)
    model = models[names[0]]
    X, y = table(3_000, seed=91)
    assert model.score(X, y) > 0.7
    assert model.guarantee_.epsilon == 2.0
    tables_, newton = model.guarantee_.event.parts
    assert isinstance(model.guarantee_.event, Sequential)
    assert (tables_.honest, newton.parties) == (len(names) - 1, len(names))
    assert isinstance(newton, NoiseShares)
    assert model.guarantee_.assumptions == (
        "no row is with more than one party",
        f"at least {len(names) - 1} of the {len(names)} parties followed the protocol and did not collude",
    )
    model.save(tmp_path / "m.privet")
    assert_array_equal(load(tmp_path / "m.privet").predict_proba(X), model.predict_proba(X))


def test_without_noise_the_sums_are_those_of_all_rows(tmp_path):
    agreed, rows = structure(), tables()
    models = run_all(tmp_path, terms_of(agreed), NAMES, rows=rows)
    model = models["bank"]
    assert_array_equal(model.tables_.noisy, sum(agreed.exact_counts(*own) for own in rows.values()))
    assert_array_equal(model.newton_.noisy, sum(model.next_round.exact_counts(*own) for own in rows.values()))


def test_noise_of_many_parties_is_about_that_of_one_curator(tmp_path):
    terms = terms_of(structure(1.0), TEN, honest=10)
    model = run_all(tmp_path, terms, TEN)["clinic0"]
    scale = float(terms.structure.receipt.scale)
    exact = sum(terms.structure.exact_counts(*own) for own in tables(TEN).values())
    noise = (model.tables_.noisy - exact).ravel() / scale
    # The mean size of Laplace noise is its scale; ten curators' would be about three times as large.
    assert 0.5 < np.abs(noise).mean() < 1.8


def test_a_ledger_shows_both_rounds(tmp_path):
    ledger = Ledger(tmp_path / "bank.db", dataset="accounts", epsilon=1.0)
    holders = parties(tmp_path)
    holders["bank"].ledger = ledger
    terms = terms_of(structure(1.0))
    run_all(tmp_path, terms, NAMES, holders=holders)
    spendings = ledger.account().spendings
    assert [spending.begun.body["what"] for spending in spendings] == ["secure sum", "secure sum"]
    assert ledger.spent == pytest.approx(1.0)
    # Another attempt opens the same sums and costs nothing.
    again = run_all(tmp_path, terms, NAMES, holders=holders, attempt=2)
    assert isinstance(again["bank"], TableForest)
    assert len(ledger.account().spendings) == 2


def test_a_budget_for_one_round_alone_is_refused_before_the_first(tmp_path):
    ledger = Ledger(tmp_path / "bank.db", dataset="accounts", epsilon=0.9)
    holders = parties(tmp_path)
    holders["bank"].ledger = ledger
    with pytest.raises(LedgerError, match=r"both rounds cost epsilon=1\.0 and 0\.9 is left in the ledger"):
        two_sums.run(holders["bank"], terms_of(structure(1.0)), *table(50), exchange=lambda _: pytest.fail("sent"))
    assert ledger.spent == 0


def test_the_first_model_is_usable_if_the_second_round_fails(tmp_path, monkeypatch):
    terms, kept = terms_of(structure(2.0)), []
    holders, rows = parties(tmp_path), tables()
    (tmp_path / "shared").mkdir()

    def leave(_):
        raise PartyError("the school has left")

    def run(name, first):
        def exchange(own):
            return Directory(tmp_path / "shared", own, 1, timeout=ENOUGH)

        try:
            two_sums.run(holders[name], terms, *rows[name], exchange=exchange, first=first)
        except PartyError as error:
            kept.append(str(error))

    models = []
    threads = [
        threading.Thread(target=run, args=(name, leave if name == "school" else models.append)) for name in NAMES
    ]
    with monkeypatch.context() as patch:
        no_wait_in_the_second_round(patch, *(name for name in NAMES if name != "school"))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert "the school has left" in kept
    assert sum("no key message came from 'school'" in error for error in kept) == 2
    assert [model.newton_ for model in models] == [None, None]
    assert models[0].score(*table(1_000)) > 0.7
    # All run the next attempt: the first round opens the same tables.
    both = run_all(tmp_path, terms, NAMES, holders=holders, attempt=2, rows=rows)
    assert_array_equal(both["school"].tables_.noisy, models[0].tables_.noisy)
    assert both["school"].newton_ is not None


@pytest.fixture
def nodes(tmp_path):
    """The configuration of three SuperNodes."""
    terms = terms_of(structure(2.0))
    terms.structure.save(tmp_path / "structure.json")
    terms.roster.save(tmp_path / "roster.json")
    found = {}
    for name, key in keys_of().items():
        (tmp_path / name).mkdir()
        key.save(tmp_path / name / "private.key")
        X, y = tables()[name]
        X.assign(smokes=y).to_csv(tmp_path / name / "rows.csv", index=False)
        found[name] = {
            "structure": str(tmp_path / "structure.json"), "roster": str(tmp_path / "roster.json"),
            "key": str(tmp_path / name / "private.key"), "rows": str(tmp_path / name / "rows.csv"),
        }  # fmt: skip
    return found


def asked(nodes, change=lambda question: question):
    return lambda question: [answer(change(question), settings) for settings in nodes.values()]


def test_flower_carries_both_rounds(nodes):
    kept = []
    terms = terms_of_files(nodes["bank"])
    model = open_round(asked(nodes), terms, 1, first=kept.append)
    assert kept[0].newton_ is None
    assert model.newton_ is not None
    assert model.guarantee_.epsilon == 2.0
    again = open_round(asked(nodes), terms, 2)
    assert_array_equal(again.newton_.noisy, model.newton_.noisy)


def test_a_server_cannot_make_parties_sum_after_other_tables(nodes, tmp_path, capsys):
    """It shows the parties messages of a first round that they did not send."""
    terms = terms_of_files(nodes["bank"])
    others = {name: SumParty(holder, terms) for name, holder in parties(tmp_path / "others").items()}
    for name, party in others.items():
        party.prepare(*table(30, seed=len(name)))
    keys = {name: party.key_message(1) for name, party in others.items()}

    def change(question):
        if "first kinds" not in question:
            return question
        shown = zip(question["first kinds"], question["first names"], question["first messages"], strict=True)
        return question | {"first messages": [keys[name] if kind == "key" else sent for kind, name, sent in shown]}

    with pytest.raises(PartyError, match="a party could not take part; its own log says why"):
        open_round(asked(nodes, change), terms, 1)
    assert "masked with other keys than these" in capsys.readouterr().err


def test_both_rounds_go_on_when_a_party_vanishes(tmp_path):
    """The school is there for the keys of either round and no more; the model names who is counted, and comes back."""
    holders = parties(tmp_path / "stores", ("bank", "clinic", "mill", "school"))
    terms = Terms(structure(2.0), Roster(holder.public for holder in holders.values()), dropouts=1)
    model = None
    for i in range(2):
        own = two_sums.following_terms(model, terms) if i else terms
        members = {name: SumParty(holder, own) for name, holder in holders.items()}
        seen = {}
        for party in members.values():
            party.prepare(*table(60, seed=3))
        for kind in kinds_of(own):
            speakers = members if kind == "key" else [name for name in members if name != "school"]
            seen[kind] = {name: members[name].message(kind, 1, seen) for name in speakers}
        model = TableForest.open(own, 1, *seen.values())
    assert model.parties == ["bank", "clinic", "mill"]
    assert "3 are counted" in model.guarantee_.sentence
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_


def two_second_rounds(seed=0):
    """Return two rounds that follow from different tables of one first round, as a party that lies can have opened."""
    first = structure(2.0)
    noisy = np.random.default_rng(seed).integers(0, 99, (2, *first.shape))
    return [NewtonRound.after(OpenedSum(first, NAMES[:1], each, first.receipt)) for each in noisy]


@pytest.mark.parametrize("way", ["release", "sum"])
@pytest.mark.parametrize("memory", ["store", "ledger"])
def test_a_party_takes_part_in_one_second_round_whatever_tables_it_is_shown(tmp_path, way, memory):
    """What it has done is in its store, and in its ledger where the store was lost."""
    ledger = Ledger(tmp_path / "bank.db", dataset="bank", epsilon=9.0)
    key, others = PrivateKey.generate("bank"), [PrivateKey.generate(name).public for name in ("clinic", "mill")]

    def take_part(round_, folder):
        own = Party(key, store=tmp_path / folder, ledger=ledger if memory == "ledger" else None)
        if way == "release":
            return own.release(round_, *table(60, seed=3)).bytes
        return SumParty(own, Terms(round_, Roster([key.public, *others]))).prepare(*table(60, seed=3))

    one, other = two_second_rounds()
    take_part(one, "a")
    spent = ledger.spent
    with pytest.raises(PartyError, match="follows from other tables of the same first round"):
        take_part(other, "a" if memory == "store" else "b")
    assert ledger.spent == spent
    take_part(one, "a")
