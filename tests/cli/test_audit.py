"""privet audit: what it prints, draws and refuses."""

import json
import math
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import people

from privet.cli.support.output import EXIT_USAGE
from privet.model_file import read_document

SMALL = "audit --method private-rdt --trees 1 --height 1 --runs 20 --jobs 1"


def test_each_case_is_a_line_and_a_sentence_sums_up(privet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = privet(SMALL)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split("  ")[0] == "case"
    assert lines[0].endswith("fits, both tables")
    assert lines[1].startswith("a row, or an empty table")
    assert lines[-1].startswith(
        "An attacker who knows every row but one and sees all that is released got at least epsilon"
    )


def test_json_has_the_same_and_a_picture_is_drawn(privet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = json.loads(privet(f"{SMALL} --json --picture audit.png").stdout)
    assert shown["claimed"] == {"epsilon": 1.0, "delta": 0.0}
    assert [case["releases"] for case in shown["cases"]] == [40] * 5
    assert Path("audit.png").read_bytes().startswith(b"\x89PNG")
    refused = privet(f"{SMALL} --picture audit.png")
    assert refused.exit_code == EXIT_USAGE
    assert "exists; choose another output with --picture" in refused.stderr


def test_a_picture_that_cannot_be_drawn_is_refused_before_any_fit(refused):
    assert "a picture is written as .png, .svg, .pdf" in refused(f"{SMALL} --picture audit.bmp", EXIT_USAGE)


def test_without_matplotlib_a_picture_is_refused_before_any_fit(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert refused(f"{SMALL} --picture audit.png", EXIT_USAGE) == (
        "a picture needs the package matplotlib, which is not installed; install it with `pip install 'privet[plot]'`"
    )


def test_what_is_of_many_fits_is_refused_for_one_run(refused):
    for option in ("--picture audit.png", "--runs 50"):
        sentence = refused(f"audit --method private-rdt --trees 1 --one-run 500 {option}", EXIT_USAGE)
        assert f"{option.split()[0]} needs many fits" in sentence


def test_a_method_that_is_not_known_is_refused_with_those_that_are(refused):
    sentence = refused("audit --method nosuch", EXIT_USAGE)
    assert "is not known; choose from diffpid3, dp-rf" in sentence


def test_one_run_tells_how_many_guesses_were_right(privet):
    result = privet("audit --method private-rdt --trees 1 --one-run 500 --json")
    shown = json.loads(result.stdout)
    assert shown["guesses"] == 500
    assert 250 < shown["right"] <= 500


def test_one_run_of_a_variant_of_which_nothing_is_proven_says_so(privet):
    result = privet("audit --method dpdf --variant paper --height 1 --one-run 500 --json")
    assert "nothing is proven about this variant" in result.stderr
    shown = json.loads(result.stdout)
    assert not shown["proven"]
    assert shown["contradicts"] or "which is not proven" in shown["sentence"]
    assert shown["could_show_at_most"] > 5


def test_the_papers_variant_of_private_id3_is_proven_and_audited_as_such(privet):
    result = privet("audit --method private-id3 --variant paper --height 1 --one-run 500 --json")
    assert "nothing is proven" not in result.stderr
    assert json.loads(result.stdout)["proven"]


def test_methods_of_disturbed_answers_and_claims_of_nothing_are_refused(privet, refused):
    sentence = refused("audit --method reconstruction-tree", EXIT_USAGE)
    assert "states its own local epsilon" in sentence
    assert "epsilon=inf claims nothing" in refused("audit --epsilon inf", EXIT_USAGE)


def test_a_control_without_noise_is_caught_and_the_exit_code_stays_0(privet):
    result = privet("audit --method private-rdt --trees 1 --height 1 --runs 60 --jobs 1 --without-noise --json")
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert shown["contradicts"]
    assert shown["claimed"]["epsilon"] == 1.0
    one = json.loads(privet("audit --method private-rdt --trees 1 --one-run 100 --without-noise --json").stdout)
    assert one["right"] == 100


def test_what_is_no_number_of_processes_is_refused(refused):
    for jobs in (-5, 0):
        sentence = refused(f"audit --method private-rdt --jobs {jobs}", EXIT_USAGE)
        assert sentence == f"--jobs {jobs} is no number of processes; pass 1 or more, or -1 for all cores"


FIT = "fit rows.csv --schema schema.json --method private-rdt --trees 2 --height 2 --epsilon 2 --force"


def test_the_method_of_a_model_is_audited_as_it_was_fitted(privet):
    assert privet(FIT).exit_code == 0
    shown = json.loads(privet("audit --model model.privet --runs 20 --jobs 1 --json").stdout)
    assert shown["model"] == read_document("model.privet")["checksum"]
    assert shown["claimed"] == {"epsilon": 2.0, "delta": 0.0}
    assert shown["subject"] == "private-rdt"


def test_a_membership_attack_is_on_the_model_itself(privet):
    assert privet(FIT).exit_code == 0
    people(200).to_csv("others.csv", index=False)
    result = privet("audit --model model.privet --members rows.csv --others others.csv --json")
    assert "unless the rows are public, do not publish what it found" in result.stderr
    shown = json.loads(result.stdout)
    assert shown["model"] == read_document("model.privet")["checksum"]
    assert shown["most"] == pytest.approx(math.tanh(1.0))
    assert shown["contradicts"] is False
    assert shown["interval"][0] <= shown["advantage"] <= shown["interval"][1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("audit --model model.privet --epsilon 1", "--epsilon is taken from the model; leave out one of the two"),
        ("audit --model model.privet --without-noise", "--without-noise is taken from the model"),
        ("audit --model model.privet --members rows.csv", "a membership attack takes --model, --members and --others"),
        ("audit --members rows.csv --others rows.csv", "a membership attack takes --model, --members and --others"),
    ],
)
def test_what_a_model_says_already_is_refused(privet, refused, line, sentence):
    privet(FIT)
    assert sentence in refused(line, EXIT_USAGE)


def test_a_model_without_a_promise_claims_nothing_to_audit(refused, model_file):
    assert "epsilon=inf claims nothing" in refused("audit --model model.privet --runs 20 --jobs 1", EXIT_USAGE)
