"""Imports on first use: what stands in for a module, and which libraries a verb does without."""

import importlib.util
import subprocess
import sys

import pytest

from privet.datasets import agrawal
from privet.lazy import LaterModule, import_later

HEAVY = ("matplotlib", "numba", "pandas", "pyarrow", "scipy", "scipy.stats", "sklearn")
# Runs the words as `privet` does, and prints the heavy libraries that it imported in earnest.
PROGRAM = f"""
import sys
from privet.cli.app import main
from privet.lazy import LaterModule
sys.argv = ["privet", *sys.argv[1:]]
try:
    main()
finally:
    there = [name for name in {HEAVY!r} if not isinstance(sys.modules.get(name), (type(None), LaterModule))]
    print("imported:", *there, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    data = agrawal(60, function=1, random_state=7)
    data.X.assign(**{data.schema.target: data.y}).to_csv(path / "rows.csv", index=False)
    data.schema.save(path / "schema.json")
    return path


def imported(words, folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words.split()], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].removeprefix("imported:").split())


@pytest.mark.parametrize("words", ["--help", "fit --help", "schema check schema.json"])
def test_help_and_schemas_need_no_heavy_library(folder, words):
    assert imported(words, folder) == set()


def test_a_plan_needs_neither_tables_nor_statistics(folder):
    assert not imported("plan --schema schema.json --rows 1000", folder) & {
        "matplotlib",
        "pandas",
        "pyarrow",
        "scipy.stats",
    }


def test_fit_and_predict_need_neither_statistics_nor_pictures(folder):
    fit = "fit rows.csv --schema schema.json --epsilon 1 -o model.privet"
    for words in (fit, "predict model.privet rows.csv -o out.csv"):
        assert not imported(words, folder) & {"matplotlib", "scipy.stats"}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of a module that can be imported and has not been."""
    (tmp_path / "told_later.py").write_text("ANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "told_later"
    sys.modules.pop("told_later", None)


def test_a_module_is_imported_by_its_first_use(module):
    import_later(module)
    stand_in = importlib.import_module(module)
    assert isinstance(stand_in, LaterModule)
    assert importlib.util.find_spec(module) is not None
    assert isinstance(sys.modules[module], LaterModule)
    assert stand_in.ANSWER == 42
    assert not isinstance(sys.modules[module], LaterModule)
    assert stand_in.ANSWER == sys.modules[module].ANSWER


def test_a_module_that_is_there_stays_there(module):
    there = importlib.import_module(module)
    import_later(module)
    assert sys.modules[module] is there


def test_what_a_module_lacks_is_an_attribute_error(module):
    import_later(module)
    with pytest.raises(AttributeError, match="module 'told_later' has no attribute 'nothing'"):
        sys.modules[module].nothing  # noqa: B018


def test_importing_privet_leaves_other_modules_alone():
    code = (
        "import sys, privet.central; privet.central.PrivateRDTClassifier; print(type(sys.modules['pandas']).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "module"
