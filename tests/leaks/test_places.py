"""Marked values and exact counts of planted rows show in no place; and where one is made to show, it is found."""

import json
import pickle
import re
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet import Ledger, PrivateRDTClassifier
from privet.cli.app import app
from privet.privacy.ledger.ledger_file import LedgerFile
from privet.registry import LOCAL_METHODS, METHODS
from tests.contracts.tasks import OF_CLASSES
from tests.leaks import planted as leaky_models
from tests.leaks.command_places import laid_out
from tests.leaks.hearing import heard
from tests.leaks.marks import CATEGORY, PLANTINGS, TEXTS, planted
from tests.leaks.model_places import model_things
from tests.leaks.models import SMALL, apart
from tests.leaks.place import Place, sweep
from tests.leaks.places import PLACES, QUICK, SLOW, page_table
from tests.leaks.scanner import Scanner
from tests.leaks.tables import FAULTS, ROUTES, SCHEMA, frame, labels

PAGE = Path(__file__).parents[2] / "docs" / "leaks.md"
ALL = [*QUICK, *(pytest.param(place, marks=pytest.mark.slow) for place in SLOW)]


@pytest.mark.parametrize("place", ALL, ids=lambda place: place.name)
def test_no_mark_shows(place):
    swept = sweep(place)
    assert swept.n_things > 0
    assert [str(finding) for finding in swept.findings] == []


@pytest.mark.parametrize("route", ROUTES)
def test_marks_are_in_the_tables_that_are_fitted(route, tmp_path):
    X = ROUTES[route](tmp_path)[0]
    X = X.compute() if hasattr(X, "compute") else X() if callable(X) else X
    X = X.to_arrow() if hasattr(X, "to_arrow") else X
    assert Scanner([mark for mark in TEXTS if mark.value == CATEGORY]).search(X)


# Read as missing, since no category is so.
TAKEN = {"text that is not UTF-8"}


@pytest.mark.parametrize("fault", FAULTS)
def test_tables_that_should_be_refused_are(fault):
    X, y = apart(FAULTS[fault]())
    error = heard(lambda: PrivateRDTClassifier(SCHEMA, n_trees=1).fit(X, y)).error
    assert (error is None) == (fault in TAKEN)


CAUGHT = {
    leaky_models.KeepsRows: "text", leaky_models.WritesRowCount: "count", leaky_models.QuotesValue: "text",
    leaky_models.ChainsValue: "text", leaky_models.SaysCount: "count", leaky_models.WarnsOfValue: "text",
}  # fmt: skip


@pytest.mark.parametrize("leaky", CAUGHT)
def test_a_model_that_leaks_is_caught(leaky):
    def make(folder):
        X = frame()
        X.iloc[-1, 2] = CATEGORY
        said = heard(lambda: leaky(SCHEMA, epsilon=0.001, n_trees=3, height=3, n_jobs=1).fit(X, labels()))
        yield from said.things("fit")
        if said.result is not None:
            yield "attributes", vars(said.result)
            yield "document", said.result.to_document()

    found = sweep(Place("a leak", "planted", make)).findings
    assert CAUGHT[leaky] in {finding.mark.kind.value for finding in found}
    assert {CATEGORY, PLANTINGS[0].n_rows} & {finding.mark.value for finding in found}


def swept(thing):
    found = sweep(Place("somewhere", "planted", lambda folder: iter([("a thing", thing())]))).findings
    return {finding.mark.value for finding in found}


# Lengths, positions and lines that are exact numbers of the first planting, in this folder and on this machine.
STAYING = {
    "a number": lambda: PLANTINGS[0].n_rows,
    "the length of a pickle's frame": lambda: pickle.dumps("x" * (PLANTINGS[0].classes["yes"] - 7)),
    "a line of a traceback": lambda: f'File "frame.py", line {PLANTINGS[0].classes["no"]}, in get',
    "a share": lambda: PLANTINGS[0].sexes["male"] / PLANTINGS[0].n_rows,
    "four bytes": lambda: struct.pack("<f", PLANTINGS[0].age),
    "seven digits": lambda: f"{PLANTINGS[0].age:.2f}",
}


@pytest.mark.parametrize("name", STAYING)
def test_a_number_that_stays_when_the_rows_change_is_luck(name):
    assert Scanner((*PLANTINGS[0].values, *PLANTINGS[0].counts)).search(STAYING[name]())
    assert swept(STAYING[name]) == set()


FOLLOWING = {
    "a number": lambda rows: rows.n_rows,
    "a text": lambda rows: f"{rows.n_rows:,} rows",
    "eight bytes": lambda rows: struct.pack("<q", rows.n_rows),
    "a pickle": lambda rows: pickle.dumps({"n": rows.n_rows}),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_a_number_that_follows_the_rows_is_a_leak(name):
    assert swept(lambda: FOLLOWING[name](planted())) == {PLANTINGS[0].n_rows}


def test_a_number_that_follows_the_rows_at_all_plantings_but_one_is_luck():
    assert swept(lambda: 5 if planted().number == 6 else planted().n_rows) == set()


@pytest.mark.parametrize("form", [CATEGORY, PLANTINGS[0].age, struct.pack("<d", PLANTINGS[0].pay)], ids=str)
def test_what_cannot_be_luck_is_a_leak_when_it_is_met_once(form):
    turns = iter([form])
    assert len(swept(lambda: next(turns, None))) == 1


def test_the_key_and_fingerprints_of_a_ledger_show_in_no_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    laid_out(tmp_path, n_rows=500)
    Ledger("ledger.db", dataset="survey", epsilon=2.0)
    fit = "fit rows.csv --schema schema.json --method private-rdt --trees 2 --ledger ledger.db --jobs 1 --json"
    lines = [fit, "ledger show ledger.db --json", "ledger verify ledger.db", "report model.privet --ledger ledger.db"]
    printed = "".join(CliRunner().invoke(app, line).output for line in lines)
    files = [path for path in tmp_path.iterdir() if path.suffix in {".privet", ".html"}]
    printed += "".join(path.read_text(encoding="utf-8") for path in files)
    entries = LedgerFile(tmp_path / "ledger.db").entries()
    bodies = json.dumps([dict(entry.body) for entry in entries if "batch" in entry.kind])
    secrets = set(re.findall(r'"(?:key|fingerprint)": "([0-9a-f]{64})"', bodies))
    assert (len(secrets), len(files)) == (2, 2)
    assert not any(secret in printed for secret in secrets)


def test_every_method_is_among_the_models_that_are_searched(tmp_path):
    assert set(SMALL) == set(OF_CLASSES)
    assert set(LOCAL_METHODS) == {"reconstruction-tree", "random-response-forest", "sampled-forest"}
    model = METHODS["private-rdt"](SCHEMA, epsilon=1.0, n_trees=2).fit(frame(), labels())
    assert len(list(model_things(model, "a model", tmp_path))) == 10


def test_the_page_lists_every_place_that_is_searched():
    assert page_table() in PAGE.read_text(encoding="utf-8"), "print(tests.leaks.places.page_table()) is the table"
    assert len({place.name for place in PLACES}) == len(PLACES)
