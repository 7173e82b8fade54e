"""What all tests share: draws that are no luck, the same screen, and the UCI tables where they are."""

import functools
import gc
import os

import hypothesis
import pytest

from privet import entropy
from privet.datasets import Dataset, uci, uci_folder
from privet.errors import DatasetUnavailable
from tests.draws import DRAWS

MISSING = "the UCI tables are not here; set PRIVET_DATA to their folder"

# A screen of the usual size, without colours, whatever the terminal is. Pictures need none.
os.environ |= {"COLUMNS": "80", "LINES": "24", "MPLBACKEND": "Agg"}
for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

hypothesis.settings.register_profile(
    "sure", derandomize=True, database=None, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("sure")

entropy.os = DRAWS


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays until the end: to search it for garbage again and again takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    with DRAWS.of(collector.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope == "function":
        return (yield)
    # Whichever test comes first.
    with DRAWS.of(f"{fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with DRAWS.of(None if item.get_closest_marker("slow") else item.nodeid):
        return (yield)


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


@pytest.fixture(scope="session", autouse=True)
def _own_state_folder(tmp_path_factory):
    """Heads of ledgers are kept in a folder of this session, never in somebody's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


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
