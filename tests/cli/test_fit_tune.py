"""``privet fit --tune``: a choice among methods that is paid for once."""

import json
from pathlib import Path

import pytest

from privet import load
from privet.central.receipts import trial_of
from privet.cli.support.output import EXIT_BUDGET, EXIT_DATA, EXIT_USAGE

FIT = "fit rows.csv --schema schema.json --epsilon 2 --tune private-forest,private-rdt"


def test_the_chosen_model_is_saved_and_its_whole_cost_is_settled_once(privet):
    privet("ledger init ledger.db --dataset people --epsilon 2")
    done = privet(f"{FIT} --ledger ledger.db --json")
    assert done.exit_code == 0
    told, model = json.loads(done.stdout), load("model.privet")
    assert told["method"] == model.method
    assert f"the trial chose {model.method}" in done.stderr
    assert told["guarantee"] == model.guarantee_.to_json()
    assert len(trial_of(model.guarantee_.event).parts) == 3
    (spending,) = json.loads(privet("ledger show ledger.db --json").stdout)["datasets"][0]["releases"]
    assert (spending["epsilon"], spending["state"], spending["method"]) == (2.0, "settled", "private-search")


def test_a_search_that_the_budget_does_not_allow_reads_no_row(privet):
    privet("ledger init ledger.db --dataset people --epsilon 1")
    done = privet(f"{FIT.replace('rows.csv', 'missing.csv')} --ledger ledger.db")
    assert done.exit_code == EXIT_BUDGET
    assert not Path("model.privet").exists()


def test_rows_that_do_not_fit_cost_nothing(privet, refused):
    privet("ledger init ledger.db --dataset people --epsilon 2")
    Path("rows.csv").write_text("age,sex,children,class\n50,male,1,maybe\n")
    assert "labels that are not in the schema" in refused(f"{FIT} --ledger ledger.db", EXIT_DATA)
    assert "spent 0, left 2" in privet("ledger show ledger.db").stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--tune private-forest", "--tune 'private-forest' leaves nothing to choose; name two methods"),
        ("--tune private-forest,private-forest", "leaves nothing to choose"),
        ("--tune private-forest,magic", "--method 'magic' is not known"),
        ("--tune private-forest,dpdf --method dpdf", "--method does not go with --tune"),
        ("--tune private-forest,dpdf --trees 3", "--trees does not go with --tune"),
        ("--tune private-forest,dpdf --delta 1e-6", "--delta does not go with --tune"),
        ("--tune private-forest,sampled-forest", "sampled-forest"),
    ],
)
def test_what_does_not_go_with_a_search_is_refused(refused, options, sentence):
    assert sentence in refused(f"fit rows.csv --schema schema.json {options}", EXIT_USAGE)


def test_answers_through_a_channel_are_not_searched(privet, refused):
    privet("perturb rows.csv --schema schema.json --noise uniform --privacy 25 --keep 0.9 --secret key.json")
    said = refused("fit rows.disturbed.csv --channel rows.channel.json --tune private-forest,dpdf", EXIT_USAGE)
    assert "--tune does not apply to reconstruction-tree" in said
