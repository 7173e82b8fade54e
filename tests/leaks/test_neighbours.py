"""Nothing that a model, its file, its report, its ledger or its messages hold tells two neighbouring tables apart."""

import contextlib
import io
import json

import pytest
from typer.testing import CliRunner

from privet import HorizontalForest, Ledger, Party, Schema
from privet.cli.app import app
from privet.partitioned import PrivateKey, Roster, Structure
from privet.privacy.ledger.ledger_file import LedgerFile
from privet.registry import METHODS
from privet.report import write_report
from tests.contracts.tasks import labels_for, schema_for
from tests.leaks.neighbours import SCHEMA, facts_of, lines_of, people, told_apart
from tests.leaks.planted import ForgetsNoise, KeepsHash, KeepsRows, WritesRowCount

SMALL = {"private-rdt": {"n_trees": 2, "height": 2}, "dp-rf": {"n_trees": 2}, "dpdf": {"n_trees": 1, "height": 1}}
# One row at a price, and thirty at a thirtieth of it.
CASES = [pytest.param(1, 0.3, id="one row"), pytest.param(30, 0.01, id="thirty rows", marks=pytest.mark.slow)]
# Counts of leaves, and weights; `make slow` has the others.
QUICK = ("private-rdt", "private-forest")
ALL = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in METHODS if name not in QUICK)]


def model_of(method, epsilon, schema=SCHEMA, **options):
    own = schema_for(method, schema)
    return METHODS[method](own, epsilon=epsilon, random_state=5, n_jobs=1, **SMALL.get(method, {}), **options)


def fitted(method, X, y, epsilon, schema=SCHEMA, **options):
    return model_of(method, epsilon, schema, **options).fit(X, labels_for(method, SCHEMA, y))


@pytest.mark.parametrize(("n_more", "epsilon"), CASES)
@pytest.mark.parametrize("method", ALL)
def test_no_field_of_a_model_is_exact(method, n_more, epsilon):
    def facts(X, y):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            model = fitted(method, X, y, epsilon, verbose=2)
        yield from facts_of(vars(model), "attributes")
        yield from facts_of(model.to_document(), "document")
        yield from lines_of(said.getvalue())

    assert told_apart(facts, n_more) == set()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_field_is_exact_where_the_number_of_rows_is_bought(method):
    undeclared = Schema(SCHEMA.attributes, classes=SCHEMA.classes, target=SCHEMA.target)
    assert told_apart(lambda X, y: facts_of(vars(fitted(method, X, y, 0.3, undeclared)), "attributes")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_line_of_a_report_is_exact(method, tmp_path):
    def facts(X, y):
        model = fitted(method, X, y, 0.3)
        write_report(model, tmp_path / "report.html")
        yield from lines_of((tmp_path / "report.html").read_text())

    assert told_apart(facts) == set()


@pytest.mark.parametrize("method", ["private-rdt", pytest.param("private-forest", marks=pytest.mark.slow)])
def test_no_entry_of_a_ledger_is_exact(method, tmp_path):
    ledgers = iter(range(1_000))

    def facts(X, y):
        path = tmp_path / f"{next(ledgers)}.db"
        ledger = Ledger(path, dataset="survey", epsilon=1.0)
        model_of(method, 0.3, ledger=ledger).fit(X, y)
        for entry in LedgerFile(path).entries():
            yield from facts_of({"kind": entry.kind, "body": entry.body}, "entry")
        yield "size", f"{path.stat().st_size}"

    assert told_apart(facts) == set()


@pytest.mark.slow
def test_no_word_of_the_command_line_is_exact(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SCHEMA.save("schema.json")

    def facts(X, y):
        X.assign(**{"class": y}).to_csv("rows.csv", index=False)
        line = "fit rows.csv --schema schema.json --epsilon 0.3 --random-state 5 --jobs 1 --progress --force"
        result = CliRunner().invoke(app, f"{line} --json")
        assert result.exit_code == 0
        yield from facts_of(json.loads(result.stdout), "stdout")
        yield from lines_of(result.stderr)

    assert told_apart(facts) == set()


def test_no_field_of_a_release_is_exact(tmp_path):
    agreed = Structure.draw(SCHEMA, epsilon=0.3, n_trees=2, height=2, random_state=5)
    stores, key = iter(range(1_000)), PrivateKey.generate("bank")

    def facts(X, y):
        holder = Party(key, store=tmp_path / f"{next(stores)}", n_jobs=1)
        release = holder.release(agreed, X, y)
        yield from facts_of(release.document, "release")
        yield from facts_of(vars(HorizontalForest.combine(agreed, Roster([holder.public]), [release])), "model")

    assert told_apart(facts) == set()


LEAKS = {
    WritesRowCount: "attributes._fitted_with.n_rows",
    KeepsRows: "attributes.X_",
    KeepsHash: "attributes.digest_",
    ForgetsNoise: "attributes.noisy_counts_[0][0]",
}


@pytest.mark.parametrize("leaky", LEAKS)
def test_a_planted_leak_is_found_and_named(leaky):
    def facts(X, y):
        model = leaky(SCHEMA, epsilon=0.3, n_trees=2, height=2, random_state=5, n_jobs=1).fit(X, y)
        yield from facts_of(vars(model), "attributes")

    found = told_apart(facts)
    assert found
    assert all(path.startswith(LEAKS[leaky]) for path, _ in found)


def test_tables_differ_by_the_rows_they_should():
    (X, y), (X_more, y_more) = people(), people(30)
    assert (len(X), len(X_more), len(y_more)) == (300, 330, 330)
    assert (y == y_more[:300]).all()
