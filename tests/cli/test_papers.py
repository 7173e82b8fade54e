"""``privet papers``, with a toy of a paper: two tables, one claim that holds and one that does not."""

import json
from pathlib import Path

import pytest

from papers import catalogue
from papers.claim import Claim
from papers.experiment import Experiment
from papers.paper import Paper
from privet.cli.support.progress import _clock
from privet.cli.verbs import papers as verb
from privet.errors import DataError, DatasetUnavailable


def cells(scale):
    return [(table, run) for run in range({"quick": 1, "full": 2}[scale]) for table in ("ham", "spam")]


def claims(results):
    mean = results["toy"]["accuracy"].mean()
    return [
        Claim("Fig. 1: above 50", "90", f"{mean:.1f}", mean > 50),
        Claim("Fig. 2", "80", "", False, "another table", reason="data set"),
    ]


def draw(results, folder):
    (folder / "figure.png").write_bytes(b"")
    return [folder / "figure.png"]


class Bench:
    """Measures cells, until it meets one that fails."""

    def __init__(self):
        self.measured = []
        self.error = None

    def __call__(self, table, run):
        if table == "spam" and self.error is not None:
            raise self.error
        self.measured.append((table, run))
        return [(len(table) + 60.0,)]


@pytest.fixture
def bench(monkeypatch):
    """Put the toy in the place of all papers."""
    bench = Bench()
    experiment = Experiment("toy", ("table", "run"), ("accuracy",), cells, bench)
    paper = Paper("lee2012-ham", "Ham and spam", (experiment,), claims, draw, tables=("nursery",))
    monkeypatch.setattr(catalogue, "NAMES", ("lee2012-ham",))
    monkeypatch.setattr(catalogue, "paper", {"lee2012-ham": paper}.__getitem__)
    monkeypatch.setattr("papers.paper.uci", lambda name: None)
    return bench


def test_a_run_prints_the_claims_and_says_where_everything_is(privet, bench):
    done = privet("papers run lee2012-ham --quick --jobs 1")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "lee2012-ham: Ham and spam",
        "claim             paper  measured  holds?  reason    why",
        "Fig. 1: above 50  90     63.5      yes",
        "Fig. 2            80               no      data set  another table",
        "Figures, measurements and this table are in papers-quick/lee2012_ham/results",
        "",
    ]
    written = {path.name for path in Path("papers-quick/lee2012_ham/results").iterdir()}
    assert written == {"toy.csv", "claims.csv", "claims.md", "figure.png"}


def test_progress_of_quick_steps_is_their_beginning_and_end(privet, bench):
    told = [line for line in privet("papers run lee2012-ham --quick --jobs 1").stderr.splitlines() if "cells" in line]
    assert [line[:44] for line in told] == [
        "privet: lee2012-ham, toy: 0 of 2 cells",
        "privet: lee2012-ham, toy: 2 of 2 cells, 0:00",
    ]


def test_progress_goes_to_stderr_in_lines(privet, bench, monkeypatch):
    monkeypatch.setattr("privet.cli.support.progress._BETWEEN_STEP_LINES", 0.0)
    told = privet("papers run lee2012-ham --quick --jobs 1").stderr.splitlines()
    assert told[0] == "privet: lee2012-ham, toy: 0 of 2 cells"
    assert told[1].startswith("privet: lee2012-ham, toy: 1 of 2 cells, 0:0")
    assert "left" in told[1]
    assert told[2].startswith("privet: lee2012-ham, toy: 2 of 2 cells, 0:0")
    assert "left" not in told[2]


@pytest.mark.parametrize(("seconds", "told"), [(7.4, "0:07"), (75, "1:15"), (3675, "1:01:15")])
def test_times_as_on_a_clock(seconds, told):
    assert _clock(seconds) == told


def test_claims_as_json(privet, bench):
    done = privet("papers run all --full --jobs 1 --json")
    [paper] = json.loads(done.stdout)["papers"]
    assert (paper["name"], paper["results"]) == ("lee2012-ham", "papers-full/lee2012_ham/results")
    assert paper["claims"][1] == {
        "claim": "Fig. 2", "paper": "80", "ours": False, "measured": "", "holds": False, "reason": "data set",
        "why": "another table",
    }  # fmt: skip
    assert paper["claims"][0]["reason"] is None


def test_a_full_run_goes_on_from_a_quick_one_in_the_same_folder(privet, bench):
    privet("papers run all --quick --jobs 1 -o here")
    privet("papers run all --full --jobs 1 -o here")
    assert bench.measured == [("ham", 0), ("spam", 0), ("ham", 1), ("spam", 1)]


def test_again_measures_everything_anew(privet, bench):
    privet("papers run all --quick --jobs 1")
    privet("papers run all --quick --jobs 1 --again")
    assert bench.measured == [("ham", 0), ("spam", 0)] * 2


def test_an_interrupted_run_says_how_to_go_on_and_goes_on(privet, bench):
    bench.error = KeyboardInterrupt()
    stopped = privet("papers run lee2012-ham --quick --jobs 1")
    assert stopped.exit_code == 130
    assert stopped.stdout == ""
    kept = "what has been measured is kept in 'papers-quick/lee2012_ham/results'; run the same command to go on"
    assert stopped.stderr.splitlines()[-2:] == [f"privet: {kept}", "privet: interrupted"]
    assert "to go on, without --again\n" in privet("papers run lee2012-ham --quick --jobs 1 --again").stderr
    bench.error = None
    assert privet("papers run lee2012-ham --quick --jobs 1").exit_code == 0
    assert bench.measured == [("ham", 0), ("ham", 0), ("spam", 0)]


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DataError("the table is damaged; replace it"), 3, "the table is damaged; replace it"),
        (ZeroDivisionError(), 1, "an unexpected ZeroDivisionError stopped the command"),
    ],
)
def test_a_failing_cell_is_named(privet, bench, error, code, sentence):
    bench.error = error
    failed = privet("papers run lee2012-ham --quick --jobs 1")
    assert failed.exit_code == code
    named, why = failed.stderr.splitlines()[-2:]
    assert named.startswith(
        "privet: lee2012-ham, toy: nothing came of table=spam, run=0; what has been measured is kept"
    )
    assert why.startswith(f"privet: {sentence}")


def test_a_missing_table_is_told_before_anything_is_measured(refused, bench, monkeypatch):
    def missing(name):
        raise DatasetUnavailable(f"the table {name!r} is not here; set PRIVET_DATA")

    monkeypatch.setattr("papers.paper.uci", missing)
    assert refused("papers run all --quick", 3) == "the table 'nursery' is not here; set PRIVET_DATA"
    assert bench.measured == []
    assert not Path("papers-quick").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("lee2012-ham --quick --full", "say --quick, for minutes, or --full, for hours with the papers' own repeats"),
        ("lee2012-ham", "say --quick, for minutes, or --full, for hours with the papers' own repeats"),
        ("lee2013 --quick", "there is no paper 'lee2013'; choose from lee2012-ham, or all"),
        ("all --quick --jobs 0", "--jobs 0 is no number of processes; give 1 or more, or -1 for all cores"),
        (
            "all --quick -o rows.csv",
            "cannot write to the folder 'rows.csv/lee2012_ham/results'; choose another with --output",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(refused, bench, line, sentence):
    assert refused(f"papers run {line}", 2) == sentence


@pytest.mark.parametrize("line", ["papers list", "papers run all --quick"])
def test_without_a_checkout_there_are_no_papers(refused, monkeypatch, folder, line):
    monkeypatch.setattr(verb, "__file__", str(folder / "lib" / "privet" / "cli" / "verbs" / "papers.py"))
    assert refused(line, 3) == (
        "the experiments of the papers are not in the installed package; clone privet's repository and run this "
        "command in its folder"
    )


def test_papers_are_also_found_in_the_current_folder(monkeypatch, folder):
    monkeypatch.setattr(verb, "__file__", str(folder / "lib" / "privet" / "cli" / "verbs" / "papers.py"))
    (folder / "papers").mkdir()
    for file in ("pyproject.toml", "papers/catalogue.py"):
        (folder / file).touch()
    assert verb._checkout() == folder


@pytest.fixture
def checkout(monkeypatch, folder):
    """A checkout without results."""
    monkeypatch.setattr(verb, "_checkout", lambda: folder)
    return folder


def test_the_list_says_what_was_never_run(privet, bench, checkout):
    assert privet("papers list").stdout.splitlines() == [
        "name         title         claims, as committed",
        "lee2012-ham  Ham and spam  not run yet",
    ]


def test_the_list_counts_claims_that_held(privet, bench, checkout):
    privet("papers run all --full --jobs 1 -o papers")
    assert privet("papers list").stdout.splitlines()[1] == "lee2012-ham  Ham and spam  1 of 2 hold"
    [listed] = json.loads(privet("papers list --json").stdout)["papers"]
    assert listed == {"name": "lee2012-ham", "title": "Ham and spam", "claims": 2, "hold": 1}
