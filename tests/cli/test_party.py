"""privet party and privet combine."""

import json
import stat
from pathlib import Path

import pandas as pd
import pytest

from privet import ColumnForest, HorizontalForest, Ledger, VerticalForest, load
from privet.cli.support.output import EXIT_BUDGET, EXIT_DATA, EXIT_USAGE

STRUCTURE = "party structure --schema schema.json --method private-rdt --epsilon 0.5 --random-state 3"
BETWEEN = "--structure structure.json --roster roster.json"
SPLIT = {"bank": ["age", "children"], "clinic": ["sex"]}


@pytest.fixture
def agreed(privet):
    """Two parties with halves of the rows, a structure and a roster."""
    rows = pd.read_csv("rows.csv")
    for i, name in enumerate(("bank", "clinic")):
        rows[i::2].to_csv(f"{name}.csv", index=False)
        assert privet(f"party keygen {name}").exit_code == 0
    assert privet("party roster clinic.pub bank.pub").exit_code == 0
    assert privet(STRUCTURE).exit_code == 0


def release(name, options=""):
    return f"party release {name}.csv --structure structure.json --key {name}.key {options}"


@pytest.fixture
def sent(privet, agreed):
    for name in ("bank", "clinic"):
        assert privet(release(name)).exit_code == 0


def test_a_structure_says_what_it_costs_and_how_noisy_it_is(privet):
    told = json.loads(privet(f"{STRUCTURE} --trees 4 --round spring --json").stdout)
    assert told.keys() == {
        "structure", "round", "method", "trees", "height", "counts", "epsilon_of_a_party",
        "noise_in_a_count_of_a_party", "hash",
    }  # fmt: skip
    assert (told["round"], told["trees"], told["epsilon_of_a_party"]) == ("spring", 4, 0.5)
    assert told["noise_in_a_count_of_a_party"] == pytest.approx(2**0.5 * 4 / 0.5, abs=0.1)
    assert privet(f"{STRUCTURE} --trees 4 --round spring --force").stdout.splitlines()[-1] == f"hash: {told['hash']}"


def test_a_private_key_is_the_owners_and_is_never_replaced(privet, refused):
    told = json.loads(privet("party keygen bank --json").stdout)
    assert (told["party"], told["private_key"], told["public_key"]) == ("bank", "bank.key", "bank.pub")
    assert stat.S_IMODE(Path("bank.key").stat().st_mode) == 0o600
    assert json.loads(Path("bank.pub").read_text())["public"] == told["fingerprint"]
    assert "'bank.key' exists, and a key is never replaced" in refused("party keygen bank", EXIT_USAGE)


def test_two_parties_release_and_anyone_combines(privet, sent):
    told = privet(f"combine bank.release.json clinic.release.json {BETWEEN}").stdout
    assert "provided that no row is with more than one party" in told
    assert "parties: bank, clinic" in told
    assert "variances of 2 parties add up" in told
    model = load("model.privet")
    assert isinstance(model, HorizontalForest)
    assert privet("predict model.privet rows.csv").stdout.count("\n") == 301
    assert privet("report model.privet").exit_code == 0
    assert privet("rules model.privet").exit_code == 0


def test_combining_tells_the_same_in_json(privet, sent):
    told = json.loads(privet(f"combine clinic.release.json {BETWEEN} --json").stdout)
    assert (told["method"], told["parties"]) == ("horizontal-forest", ["clinic"])
    assert told["guarantee"]["epsilon"] == 0.5
    assert told["noise_growth"] == [told["noise_standard_deviation"]]


def test_a_release_asked_for_again_is_the_same_file_and_costs_nothing(privet, agreed):
    privet("ledger init bank.db --dataset customers --epsilon 1")
    line = release("bank", "--ledger bank.db")
    first = privet(line)
    assert "budget of 'customers': epsilon=0.5 of 1 spent per row, 0.5 left" in first.stdout
    content = Path("bank.release.json").read_bytes()
    again = privet(f"{line} --json")
    assert Path("bank.release.json").read_bytes() == content
    assert (
        "the same bytes again, and nothing more was spent; the rows were not read, and other rows need" in again.stderr
    )
    told = json.loads(again.stdout)
    assert (told["replayed"], told["ledger"]["spent"]) == (True, 0.5)
    Path("bank.release.json").unlink()
    Path("bank.csv").unlink()  # the rows are no longer needed
    assert privet(f"{line} -o other.json").exit_code == 0
    assert Path("other.json").read_bytes() == content


def test_a_release_that_was_made_without_the_ledger_is_not_taken_for_paid(privet, agreed):
    privet("ledger init bank.db --dataset customers --epsilon 1")
    privet(release("bank", ""))
    again = privet(release("bank", "--ledger bank.db"))
    assert "this ledger has no entry of it, so it was made without; record it with `privet ledger add`" in again.stderr
    assert Ledger("bank.db", dataset="customers").spent == 0.0


def test_rows_may_be_in_several_files_and_none_of_them_is_written_over(privet, refused, agreed):
    rows = pd.read_csv("bank.csv")
    for i, half in enumerate((rows[:100], rows[100:])):
        half.to_parquet(f"half-{i}.parquet")
    line = "party release half-0.parquet half-1.parquet --structure structure.json --key bank.key --jobs 1"
    sentence = refused("party release half-*.parquet --structure structure.json --key bank.key -o half-0.parquet", 2)
    assert sentence == "'half-0.parquet' is read by this command; choose another output with -o"
    assert privet(line).exit_code == 0
    assert privet(f"party verify bank.release.json {BETWEEN}").exit_code == 0


def test_a_lost_store_is_not_spent_twice_unasked(privet, refused, agreed):
    privet("ledger init bank.db --dataset customers --epsilon 1")
    line = release("bank", "--ledger bank.db --force")
    privet(line)
    next(Path("bank.releases").iterdir()).unlink()
    assert "a release of this structure that the store 'bank.releases' lacks: name the" in refused(line, EXIT_DATA)
    assert privet(f"{line} --again").exit_code == 0
    assert Ledger("bank.db", dataset="customers").spent == 1.0


def test_a_budget_that_is_used_up_refuses_before_rows_are_read(privet, refused, agreed):
    privet("ledger init bank.db --dataset customers --epsilon 0.4")
    Path("bank.csv").unlink()
    assert "costs epsilon=0.5, but 0.4 is left" in refused(release("bank", "--ledger bank.db"), EXIT_BUDGET)


def test_a_price_above_what_one_pays_is_refused(refused, agreed):
    assert "costs epsilon=0.5, more than this party spends" in refused(release("bank", "--epsilon 0.4"), EXIT_DATA)


def test_exact_counts_never_leave_unasked(privet, refused, agreed):
    assert privet(f"{STRUCTURE} --epsilon inf --force").exit_code == 0
    assert "costs epsilon=inf, more than this party spends" in refused(release("bank"), EXIT_DATA)


def test_a_release_is_not_written_over_another_file(refused, agreed):
    Path("bank.release.json").write_text("mine")
    assert "'bank.release.json' exists" in refused(release("bank"), EXIT_USAGE)
    assert "'bank.csv' is read by this command" in refused(release("bank", "--force -o bank.csv"), EXIT_USAGE)
    assert not Path("bank.releases").exists()


def test_verify_says_who_is_intact_and_who_is_not_heard_of(privet, sent):
    told = json.loads(privet(f"party verify bank.release.json {BETWEEN} --json").stdout)
    assert (told["intact"], told["not_heard_of"]) == (["bank"], ["clinic"])
    assert "not heard of: none" in privet(f"party verify bank.release.json clinic.release.json {BETWEEN}").stdout


@pytest.mark.parametrize("verb", ["combine", "party verify"])
def test_what_is_forged_doubled_or_replayed_is_refused(privet, refused, sent, verb):
    content = json.loads(Path("bank.release.json").read_text())
    content["counts"][0] += 1
    Path("forged.json").write_text(json.dumps(content))
    assert "it was changed, or somebody else made it" in refused(f"{verb} forged.json {BETWEEN}", EXIT_DATA)
    twice = f"{verb} bank.release.json bank.release.json {BETWEEN}"
    assert "there are two releases of 'bank'" in refused(twice, EXIT_DATA)
    privet(f"{STRUCTURE} -o later.json")
    later = f"{verb} bank.release.json --structure later.json --roster roster.json"
    assert "the release of 'bank' is from another round" in refused(later, EXIT_DATA)
    privet("party roster clinic.pub -o few.json")
    few = f"{verb} bank.release.json --structure structure.json --roster few.json"
    assert "the party 'bank' is not in the roster" in refused(few, EXIT_DATA)
    assert not Path("model.privet").exists()


@pytest.mark.parametrize("option", ["--structure-hash", "--roster-hash"])
def test_only_what_was_agreed_on_is_opened(refused, sent, option):
    line = f"combine bank.release.json {BETWEEN} {option} {'0' * 64}"
    assert "does not have the hash that was agreed on" in refused(line, EXIT_DATA)


def test_one_key_under_two_names_makes_no_roster(privet, refused, agreed):
    twin = {**json.loads(Path("bank.pub").read_text()), "name": "twin"}
    Path("twin.pub").write_text(json.dumps(twin))
    assert "'bank' and 'twin' have the same key" in refused("party roster bank.pub twin.pub --force", EXIT_DATA)


def test_parties_with_other_columns_of_the_same_rows(privet, refused, agreed):
    Path("split.json").write_text(json.dumps(SPLIT))
    told = json.loads(privet(f"{STRUCTURE} --split split.json --force --json").stdout)
    assert (told["epsilon_of_a_party"], told["epsilon_together"], told["split"]) == (0.25, 0.5, SPLIT)
    rows = pd.read_csv("rows.csv")
    for name, columns in SPLIT.items():
        rows[[*columns, "class"]].to_csv(f"{name}.csv", index=False)
        assert privet(release(name)).exit_code == 0
    assert privet(f"combine bank.release.json clinic.release.json {BETWEEN}").exit_code == 0
    model = load("model.privet")
    assert isinstance(model, VerticalForest)
    assert model.guarantee_.epsilon == 0.5
    rows[SPLIT["bank"]].to_csv("new.csv", index=False)
    assert privet("predict model.privet new.csv --proba").stdout.count("\n") == 301
    rows[["age"]].to_csv("some.csv", index=False)
    assert "the table lacks the column 'children'" in refused("predict model.privet some.csv", EXIT_DATA)


def test_parties_with_other_columns_fit_the_recommended_forest(privet, refused, agreed):
    Path("split.json").write_text(json.dumps(SPLIT))
    line = "party structure --schema schema.json --split split.json --epsilon 8 --delta 1e-6 --force"
    told = json.loads(privet(f"{line} --json").stdout)
    assert (told["method"], told["epsilon_of_a_party"], told["epsilon_together"]) == ("private-forest", 4.0, 8.0)
    assert (told["delta_of_a_party"], told["delta_together"]) == (5e-7, 1e-6)
    rows = pd.read_csv("rows.csv")
    for name, columns in SPLIT.items():
        rows[[*columns, "class"]].to_csv(f"{name}.csv", index=False)
        checked = privet(f"party check {name}.csv --structure structure.json --party {name}")
        assert checked.exit_code == 0, checked.output
        privet(f"ledger init {name}.db --dataset people --epsilon 5 --delta 1e-5")
        assert privet(release(name, f"--ledger {name}.db")).exit_code == 0
        assert Ledger(f"{name}.db", dataset="people").spent == pytest.approx(4.0, rel=1e-6)
    assert privet(f"party verify bank.release.json clinic.release.json {BETWEEN}").exit_code == 0
    told = privet(f"combine bank.release.json clinic.release.json {BETWEEN}").stdout
    assert "parties: bank, clinic" in told
    model = load("model.privet")
    assert isinstance(model, ColumnForest)
    assert model.guarantee_.epsilon == pytest.approx(8.0, rel=1e-6)
    rows[SPLIT["bank"]].to_csv("new.csv", index=False)
    for verb in (
        "predict model.privet new.csv --proba",
        "explain model.privet new.csv",
        "explain model.privet rows.csv",
    ):
        assert privet(verb).stdout.count("\n") == 301
    assert privet("report model.privet").exit_code == 0
    rows[["age"]].to_csv("some.csv", index=False)
    assert "the table lacks the column 'children'" in refused("predict model.privet some.csv", EXIT_DATA)


def test_options_of_random_trees_need_them_with_a_split_too(refused):
    Path("split.json").write_text(json.dumps(SPLIT))
    line = "party structure --schema schema.json --split split.json"
    for option in ("--trees 4", "--height 2"):
        assert f"{option.split()[0]} is for random trees" in refused(f"{line} {option}", EXIT_USAGE)
    assert "--rows is not needed: each party may say" in refused(f"{line} --rows 300", EXIT_USAGE)


@pytest.mark.parametrize("content", ['{"bank": "age"}', "[]", '{"bank": [1]}', "{"])
def test_a_split_that_is_none_is_refused(refused, content):
    Path("split.json").write_text(content)
    assert "split" in refused(f"{STRUCTURE} --split split.json", EXIT_DATA)


def test_the_papers_prices_need_a_split(refused):
    words = "--variant says how the epsilons of the parties add up, and needs --split"
    assert words in refused(f"{STRUCTURE} --variant paper", EXIT_USAGE)
