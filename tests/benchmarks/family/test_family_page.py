import math

import pandas as pd
import pytest

from benchmarks.family.audits import AUDITS
from benchmarks.family.members import DPDF, DPDF_PAPER, EPSILONS, FLIPPED, FOREST, MEMBERS, NO_EPSILON
from benchmarks.family.page import learnt, local_verdict, main_table, page, without_epsilon_table
from benchmarks.family.run import RESULTS, ROOT
from benchmarks.family.summary import Family
from benchmarks.utility.methods import MAJORITY

TIC, CAR = "tic-tac-toe", "car-evaluation"


def accuracy_of(method, table, run):
    """60 and 70 for guessing; what is private is 5 points better on both, the paper's form 4 in the second split."""
    base = {TIC: 60.0, CAR: 70.0}[table]
    if method == MAJORITY:
        return base
    return base + 5 + (2 * run if method != DPDF_PAPER else 1 * run)


@pytest.fixture
def family():
    """Two tables, two splits; an attack on the paper's DPDF shows twice the epsilon, all others half of it."""
    lines = [
        (table, name, epsilon, run, accuracy_of(name, table, run))
        for name, own in MEMBERS.items()
        if not own.needs_numbers
        for table in (TIC, CAR)
        for epsilon in own.epsilons
        for run in range(2)
    ]
    audits = [
        (attack, epsilon, 100, _shown(name, epsilon), 9.0, 200)
        for name, attacks in AUDITS.items()
        for attack in attacks
        for epsilon in MEMBERS[name].epsilons
    ]
    recovered = [(TIC, FLIPPED, "records found", 0.01, 0.8, 0.995), (CAR, FLIPPED, "records found", 0.01, 0.8, 0.94)]
    return Family(
        pd.DataFrame(lines, columns=["table", "method", "epsilon", "run", "accuracy"]),
        pd.DataFrame(audits, columns=["attack", "epsilon", "runs", "shown", "most", "releases"]),
        pd.DataFrame(recovered, columns=["table", "method", "measure", "without", "answer", "attack"]),
        (TIC, CAR),
    )


def _shown(name, epsilon):
    if math.isinf(epsilon):
        return 8.0
    return 2 * epsilon if name == DPDF_PAPER else epsilon / 2


def test_a_mean_is_over_tables_and_its_error_over_splits(family):
    # On each table 65 and 67: a mean of 66 with an error of 1; the mean of two such means errs by 1 / sqrt(2).
    mean, error = family.mean(FOREST, 1.0)
    assert mean == pytest.approx((66 + 76) / 2)
    assert error == pytest.approx(1 / math.sqrt(2))
    assert family.mean(MAJORITY, NO_EPSILON) == (65.0, 0.0)
    assert family.cell(FOREST, TIC, 0.5) == "66.0 ± 1.0"
    assert family.cell(FOREST, TIC, NO_EPSILON) == ""


def test_a_lead_is_over_the_splits_that_both_have(family):
    # 0 in the first split and 1 in the second.
    leads = family.leads(DPDF, DPDF_PAPER)
    assert len(leads) == 2 * len(EPSILONS)
    assert leads["ahead"].tolist() == [0.5] * 8
    assert leads["error"].tolist() == pytest.approx([0.5] * 8)


def test_a_lead_over_what_has_no_epsilon_is_at_every_epsilon(family):
    leads = family.leads(FOREST, MAJORITY)
    assert leads["ahead"].tolist() == [6.0] * 8
    assert "clearly better than guessing the most frequent class in 16 of 16 cells" in local_verdict(family)


def test_more_than_is_stated_stands_out(family):
    assert family.contradicted(DPDF_PAPER) == list(EPSILONS)
    assert family.contradicted(DPDF) == []
    lines = main_table(family).splitlines()
    assert "| DPDF, the paper's form | none proven | 70.5 ± 0.4 | 70.5 ± 0.4 |" in lines[7]
    assert lines[7].endswith("| **0.20** | **1.00** | **2.00** | **8.00** |")
    assert lines[6].endswith("| 0.05 | 0.25 | 0.50 | 2.00 |")


def test_the_first_sentences_say_who_was_contradicted_and_what_was_found(family):
    text = learnt(family)
    assert (
        'Attacks show more than is stated of "DPDF, the paper\'s form" at epsilon 0.1, 0.5, 1, 4, and of nothing else.'
        in text
    )
    assert (
        "a forest that is right about 71.0 %, but an attacker with rows of other people finds the true record of"
        in text
    )
    assert "of 94.0 to 99.5 % of them, table by table." in text
    sound = family.audits.assign(shown=0.0)
    assert "more than is stated of nothing." in learnt(Family(family.lines, sound, family.recovered, family.tables))


def test_answers_without_an_epsilon_have_what_an_attacker_finds(family):
    assert (
        "| flipped records | tic-tac-toe | 66.0 ± 1.0 | 60.0 ± 0.0 | records found | 1.0 % | 80.0 % | 99.5 % |"
        in without_epsilon_table(family)
    )


def test_a_page_of_a_run_that_is_not_at_its_end_says_so(family):
    assert "**The run is not at its end**: 7 measurements are missing." in page(family, 7).replace("\n", " ")
    text = page(family, 0)
    assert "privet's form is +0.5 points ahead of the paper's on average." in text.replace("\n", " ")
    assert max(len(line) for line in text.splitlines() if line[:1] not in "|-!#") <= 140


def test_the_committed_page_is_made_of_the_committed_results():
    committed = page(Family.read(RESULTS, "full"), 0)
    assert (ROOT / "docs" / "family.md").read_text(encoding="utf-8") == committed
