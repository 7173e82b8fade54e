"""`privet party sum` and `privet party open`, with three other parties at work."""

import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.conftest import people
from tests.partitioned.waiting import ENOUGH, no_wait_in_the_second_round

from privet import Ledger, load
from privet.errors import PartyError
from privet.partitioned import Party, PrivateKey, Roster, Structure, SumParty, TableRound, Terms
from privet.partitioned.tables import two_sums
from privet.partitioned.transports.directory import Directory
from privet.schema import Schema

NAMES = ("bank", "clinic", "mill")
LINE = "party sum rows.csv --structure s.json --roster r.json --key bank.key --folder shared --jobs 1"


@pytest.fixture
def agreed(folder):
    """A structure, a roster, everybody's key and a folder to share."""
    keys = [PrivateKey.generate(name) for name in NAMES]
    for key in keys:
        key.save(f"{key.name}.key")
    roster = Roster([key.public for key in keys])
    structure = Structure.draw(Schema.load("schema.json"), epsilon=1.0, n_trees=3, height=2, random_state=3)
    structure.save("s.json")
    roster.save("r.json")
    Path("shared").mkdir()
    return Terms(structure, roster)


@pytest.fixture
def others(agreed):
    """Let the other parties run an attempt, each in a thread of its own."""
    threads = []

    def run(attempt=1):
        for name in NAMES[1:]:
            party = SumParty(Party(f"{name}.key", store=f"{name}.store", n_jobs=1), agreed)
            rows = people()
            party.prepare(rows.drop(columns="class"), rows["class"])
            exchange = Directory("shared", agreed, attempt, timeout=ENOUGH)
            threads.append(threading.Thread(target=party.run, args=(attempt, exchange)))
            threads[-1].start()

    yield run
    for thread in threads:
        thread.join()


def test_a_party_takes_part_and_gets_the_model(privet, others, agreed):
    privet("ledger init bank.db --dataset accounts --epsilon 1")
    others()
    done = privet(f"{LINE} --ledger bank.db")
    assert done.exit_code == 0, done.stderr
    assert "at least 2 of the 3 parties followed the protocol and did not collude" in done.stdout
    assert "budget of 'accounts': epsilon=1 of 1 spent per row, 0 left" in done.stdout
    assert "parties: bank, clinic, mill" in done.stdout
    model = load("model.privet")
    assert model.noisy_counts_.shape == agreed.structure.shape
    # Somebody who is no party opens the same sum, and the party itself again without a further cost.
    opened = privet("party open --structure s.json --roster r.json --folder shared -o opened.privet --json")
    assert json.loads(opened.stdout)["honest"] == 2
    assert (load("opened.privet").noisy_counts_ == model.noisy_counts_).all()
    repeated = privet(f"{LINE} --ledger bank.db --force --json")
    assert json.loads(repeated.stdout)["ledger"]["spent"] == 1.0
    assert "drawn for this sum before: nothing more is spent, and the rows are not read" in repeated.stderr
    assert (load("model.privet").noisy_counts_ == model.noisy_counts_).all()


@pytest.mark.parametrize("verb", ["report", "rules", "predict"])
def test_other_verbs_know_the_model(privet, others, verb):
    others()
    assert privet(LINE).exit_code == 0
    line = {"predict": "predict model.privet rows.csv", "rules": "rules model.privet", "report": "report model.privet"}
    done = privet(line[verb])
    assert done.exit_code == 0, done.stderr


def test_a_party_that_is_alone_gives_up_with_the_names_of_the_others(privet, agreed):
    done = privet(f"{LINE} --timeout 0.2")
    assert done.exit_code == 3
    assert done.stderr.splitlines()[0] == "privet: waiting for the key message of clinic, mill"
    assert done.stderr.splitlines()[-1] == (
        "privet: no key message came from 'clinic', 'mill' within 0.2 s; nothing was opened; when all are ready, all "
        "parties run attempt 2 (--attempt 2), with the same noised counts"
    )
    assert not Path("model.privet").exists()


def test_noised_counts_that_were_lost_need_a_new_round_whatever_is_paid(privet, refused, agreed):
    privet("ledger init bank.db --dataset accounts --epsilon 5")
    line = f"{LINE} --timeout 0.2 --ledger bank.db"
    privet(line)
    Path("bank.releases").rename("lost")
    for again in ("", " --again"):
        assert "or let all parties begin a new round, with a new structure" in refused(line + again, 3)
    assert Ledger("bank.db", dataset="accounts").spent == 1.0


def test_noised_counts_that_were_drawn_without_the_ledger_are_not_taken_for_paid(privet, agreed):
    privet("ledger init bank.db --dataset accounts --epsilon 5")
    privet(f"{LINE} --timeout 0.2")
    done = privet(f"{LINE} --timeout 0.2 --ledger bank.db")
    assert "this ledger has no entry of it, so it was made without; record it with `privet ledger add`" in done.stderr


def test_nothing_is_opened_without_messages(refused, agreed):
    sentence = refused("party open --structure s.json --roster r.json --folder shared", 3)
    assert sentence == "no key message has come from 'bank', 'clinic', 'mill'; a sum opens only with all parties"


def test_a_folder_that_is_not_there_costs_nothing(refused, agreed):
    assert "there is no folder 'nowhere'" in refused(LINE.replace("shared", "nowhere"), 2)
    assert not Path("bank.releases").exists()


def test_a_number_of_honest_parties_beyond_the_roster_is_refused(refused, agreed):
    assert refused(f"{LINE} --honest 4", 2) == "honest=4 must be a whole number from 1 to 3, the parties of the roster"


def test_an_agreed_hash_is_compared(refused, agreed):
    assert "does not have the hash that was agreed on" in refused(f"{LINE} --roster-hash {'0' * 64}", 3)


def test_a_split_structure_is_not_summed(privet, refused, agreed):
    Path("split.json").write_text('{"bank": ["age"], "mill": ["sex", "children"]}')
    line = "party structure --schema schema.json --split split.json --method private-rdt --height 1 -o s.json --force"
    assert privet(line).exit_code == 0
    assert "parties with different attributes count different trees, so there is no sum" in refused(LINE, 3)


@pytest.fixture
def four(agreed):
    """Four parties, of whom the others have said all that they say, except the school, which fell silent."""
    keys = [PrivateKey.load(f"{name}.key") for name in NAMES] + [PrivateKey.generate("school")]
    Roster([key.public for key in keys]).save("r.json")
    terms = Terms(agreed.structure, Roster.load("r.json"), dropouts=1)
    rows = people()
    parties = {key.name: SumParty(Party(key, store=f"{key.name}.releases", n_jobs=1), terms) for key in keys}
    for party in parties.values():
        party.prepare(rows.drop(columns="class"), rows["class"])
    exchange = Directory("shared", terms, timeout=0.1)
    seen = {}
    for kind in ("key", "shares", "masked", "survivors"):
        speakers = NAMES if kind != "key" else parties
        seen[kind] = {name: parties[name].message(kind, 1, seen) for name in speakers}
        for name, message in seen[kind].items():
            exchange.send(kind, name, message)
        if kind in ("shares", "masked"):
            exchange.collect(kind, parties, least=3, same=True)
    for name in NAMES[1:]:
        exchange.send("unmask", name, parties[name].message("unmask", 1, seen))


def test_a_sum_opens_without_a_party_that_vanished(privet, four):
    done = privet(f"{LINE} --dropouts 1")
    assert done.exit_code == 0, done.stderr
    assert "parties: bank, clinic, mill\nnot counted: school\n" in done.stdout
    assert "at least 3 of the 4 parties, of which 3 are counted, followed the protocol until they" in done.stdout
    line = "party open --structure s.json --roster r.json --folder shared --dropouts 1 -o opened.privet --json"
    told = json.loads(privet(line).stdout)
    assert (told["parties"], told["not_counted"], told["dropouts"]) == (["bank", "clinic", "mill"], ["school"], 1)
    assert (load("opened.privet").noisy_counts_ == load("model.privet").noisy_counts_).all()


def test_a_second_attempt_after_the_sum_is_open_is_refused(privet, four):
    privet(f"{LINE} --dropouts 1")
    done = privet(f"{LINE} --dropouts 1 --attempt 2 --force")
    assert done.exit_code == 3
    assert "this party has helped to open the sum in attempt 1, and takes part in no other attempt" in done.stderr


def test_too_many_that_may_vanish_are_refused(refused, agreed):
    assert refused(f"{LINE} --dropouts 1", 2).startswith("dropouts=1 is not possible with 3 parties: fewer than half")


@pytest.fixture
def agreed_tables(privet, agreed):
    """The same parties, with class tables instead of random trees."""
    done = privet("party structure --method table-forest --schema schema.json --epsilon 2 --rows 900 -o t.json --json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["epsilon_of_both_rounds"] == 2.0
    assert facts["epsilon_of_the_tables"] + facts["epsilon_of_the_Newton_step"] == pytest.approx(2.0)
    return Terms(TableRound.load("t.json", pin=facts["hash"]), agreed.roster)


@pytest.fixture
def others_of_tables(agreed_tables):
    """Let the other parties run both rounds of an attempt, or stop after the first."""
    threads = []

    def run(attempt=1, *, stops=()):
        def leave(_):
            raise PartyError("left")

        def run_one(name):
            rows = people()
            with suppress(PartyError):
                two_sums.run(
                    Party(f"{name}.key", store=f"{name}.store", n_jobs=1), agreed_tables, rows.drop(columns="class"),
                    rows["class"], exchange=lambda own: Directory("shared", own, attempt, timeout=ENOUGH),
                    attempt=attempt, first=leave if name in stops else lambda _: None,
                )  # fmt: skip

        for name in NAMES[1:]:
            threads.append(threading.Thread(target=run_one, args=(name,)))
            threads[-1].start()

    yield run
    for thread in threads:
        thread.join()


def test_one_command_runs_both_rounds_of_class_tables(privet, others_of_tables):
    privet("ledger init bank.db --dataset accounts --epsilon 2")
    others_of_tables()
    line = LINE.replace("s.json", "t.json")
    done = privet(f"{line} --ledger bank.db")
    assert done.exit_code == 0, done.stderr
    assert "budget of 'accounts': epsilon=2 of 2 spent per row, 0 left" in done.stdout
    assert "parties: bank, clinic, mill" in done.stdout
    model = load("model.privet")
    assert model.newton_ is not None
    # Somebody who is no party opens both, and the party itself again without a further cost.
    opened = privet("party open --structure t.json --roster r.json --folder shared -o opened.privet --json")
    assert json.loads(opened.stdout)["method"] == "table-forest"
    assert Path("opened.privet").read_bytes() == Path("model.privet").read_bytes()
    repeated = privet(f"{line} --ledger bank.db --force --json")
    assert json.loads(repeated.stdout)["ledger"]["spent"] == 2.0
    for verb in ("report model.privet", "predict model.privet rows.csv", "explain model.privet rows.csv"):
        assert privet(verb).exit_code == 0, verb


def test_the_first_round_is_saved_if_the_second_fails(privet, others_of_tables, monkeypatch):
    no_wait_in_the_second_round(monkeypatch, "bank", "clinic")
    others_of_tables(stops=("mill",))
    failed = privet(LINE.replace("s.json", "t.json"))
    assert failed.exit_code == 3
    assert "'model.privet' is its model, which is valid by itself; attempt 2 runs the second round" in failed.stderr
    assert "no key message came from 'mill'" in failed.stderr
    assert load("model.privet").newton_ is None
    opened = privet("party open --structure t.json --roster r.json --folder shared -o opened.privet")
    assert "the second round is not complete: this is the model of the first" in opened.stderr


def test_options_of_random_trees_do_not_go_with_class_tables(privet, folder):
    done = privet("party structure --method table-forest --schema schema.json --rows 9 --height 2")
    assert "--height is for random trees; leave it out, or pass --method private-rdt" in done.stderr
    unknown = privet("party structure --method oak --schema schema.json --rows 9")
    assert "--method oak is not one of parties; choose from private-forest, table-forest, private-rdt" in unknown.stderr


def test_class_tables_of_release_files_are_combined_round_by_round(privet, agreed_tables):
    for name in NAMES[1:]:
        assert privet(f"party release rows.csv --structure t.json --key {name}.key -o {name}.1.json").exit_code == 0
    common = "--roster r.json --force"
    done = privet(f"combine clinic.1.json mill.1.json --structure t.json -o first.privet --next n.json {common}")
    assert "structure of the second round: n.json, hash" in done.stdout
    for name in NAMES[1:]:
        assert privet(f"party release rows.csv --structure n.json --key {name}.key -o {name}.2.json").exit_code == 0
    assert privet("party verify clinic.2.json --structure n.json --roster r.json").exit_code == 0
    both = privet(f"combine clinic.2.json mill.2.json --structure n.json -o both.privet {common} --json")
    assert json.loads(both.stdout)["guarantee"]["epsilon"] == 2.0
    assert load("both.privet").newton_ is not None
    refused = privet(f"combine clinic.2.json mill.2.json --structure n.json -o x.privet --next m.json {common}")
    assert "no round follows from these releases; leave --next out" in refused.stderr
