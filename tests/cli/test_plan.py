"""privet plan."""

import json
from pathlib import Path

from privet import PrivateRDTClassifier
from privet.cli.support.output import EXIT_USAGE

PLAN = "plan --schema schema.json --random-state 3"


def test_it_shows_the_split_the_noise_and_the_epsilon_that_is_needed(privet):
    lines = privet(f"{PLAN} --method private-rdt --epsilon 2 --trees 4 --height 2").stdout.splitlines()
    assert lines[0] == "private-rdt at epsilon=2 per row, planned for 300 rows"
    release, epsilon, sensitivity, _, numbers, noise = lines[3].rsplit(maxsplit=5)
    assert numbers == "numbers"
    assert (release, epsilon, sensitivity, noise) == ("class counts of leaves", "2", "4", "2.8")
    assert lines[-1].startswith("epsilon for 95.0 % reliable votes at 300 rows: ")


def test_json_is_the_estimators_own_plan(privet):
    data = json.loads(privet(f"{PLAN} --method private-rdt --rows 50000 --json").stdout)
    model = PrivateRDTClassifier("schema.json", random_state=3)
    plan = model.plan(50_000)
    assert data["epsilon_needed"] == model.epsilon_needed(50_000, 0.95)
    assert {key: data[key] for key in plan.to_json()} == json.loads(json.dumps(plan.to_json()))


def test_it_reads_no_row_and_changes_no_ledger(privet):
    privet("ledger init ledger.db --dataset patients --epsilon 1")
    Path("rows.csv").unlink()
    before = Path("ledger.db").read_bytes()
    result = privet(f"{PLAN} --ledger ledger.db")
    assert result.stdout.splitlines()[-1] == "budget of 'patients': epsilon=0 of 1 spent per row, 1 left"
    assert Path("ledger.db").read_bytes() == before


def test_where_noise_would_decide_it_says_what_helps(privet):
    assert "noise decides many votes" in privet(f"{PLAN} --method private-rdt --epsilon 0.001").stderr
    assert "noise outweighs the rows of many leaves" in privet(f"{PLAN} --method dp-rf --epsilon 0.001").stderr
    assert privet(f"{PLAN} --method private-rdt --epsilon 100").stderr == ""


def test_mistakes_are_told_in_one_line(refused):
    schema = json.loads(Path("schema.json").read_text())
    del schema["rows"]
    Path("bare.json").write_text(json.dumps(schema))
    assert "roughly how many rows there are" in refused("plan --schema bare.json", EXIT_USAGE)
    assert "reliability=1.5 must lie between" in refused(f"{PLAN} --method dpdf --reliability 1.5", EXIT_USAGE)
    assert "reliability=0.9 says nothing of how good this forest is; pass loss=0.02 (--loss 0.02)" in refused(
        f"{PLAN} --reliability 0.9", EXIT_USAGE
    )
    assert "--loss is for private-forest" in refused(f"{PLAN} --method dpdf --loss 0.1", EXIT_USAGE)
    assert "loss=2.0 must be a share between 0 and 1" in refused(f"{PLAN} --loss 2", EXIT_USAGE)
    assert "pass its file with --ledger" in refused(f"{PLAN} --dataset patients", EXIT_USAGE)
    assert "draft one with `privet schema init" in refused("plan", EXIT_USAGE)
