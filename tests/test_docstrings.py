"""The examples in docstrings run and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import privet

ROOT = Path(privet.__file__).parent
# Not all modules: collecting them would import them.
MODULES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_the_search_finds_examples():
    assert {"privet.central.private_forest", "privet.schema.schema"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_an_example_prints_what_its_docstring_says(name):
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
