"""Tests on real data: they run where the UCI tables are, and say so where they are not."""

import functools
import os

import pytest

from privet.datasets import Dataset, uci, uci_folder
from privet.errors import DatasetUnavailable

MISSING = "the UCI tables are not here; set PRIVET_DATA to their folder"


def pytest_collection_modifyitems(items):
    for item in items:
        if "uci_table" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.real_data)


# First of all: a fixture that reads a table must not be set up without the tables.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("real_data") and not table_names():
        refuse(MISSING)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"UCI tables: {availability(terminalreporter.stats)}")


@pytest.fixture(scope="session")
def uci_table():
    """Load a UCI table by name, once a session; the table is shared, so tests leave it as it is."""

    @functools.cache
    def load(name: str) -> Dataset:
        if name not in table_names():
            refuse(f"{name}.csv.gz is not among the UCI tables; {MISSING.split('; ')[1]}")
        return uci(name)

    return load


def refuse(reason):
    """Skip on a laptop; fail in CI, where a test that silently stopped running would go unnoticed."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def table_names():
    try:
        folder = uci_folder()
    except DatasetUnavailable:
        return []
    return [path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")] if folder else []


def availability(stats):
    names = table_names()
    if names:
        # Named, not resolved: a log must not show where somebody's home is.
        place = "PRIVET_DATA" if os.environ.get("PRIVET_DATA") else "../shared/datasets"
        return f"found at {place} ({len(names)} tables)"
    reports = [report for outcome in ("skipped", "error") for report in stats.get(outcome, [])]
    n_missed = sum("real_data" in getattr(report, "keywords", ()) for report in reports)
    return f"not found: {n_missed} tests on real data did not run"
