"""Every mechanism and estimator has its argument beside it, and the argument speaks of code that is there."""

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

import privet
from privet.registry import LOCAL_METHODS, METHODS, PARTY_METHODS

SOURCE = Path(privet.__file__).parent
MECHANISMS = SOURCE / "privacy" / "mechanisms"
# A mechanism hands out a receipt; an estimator is in the registry.
NEED_AN_ARGUMENT = [
    *(path for path in MECHANISMS.glob("*.py") if "events.drawn_from(" in path.read_text()),
    *(Path(inspect.getfile(estimator)) for estimator in {**METHODS, **LOCAL_METHODS, **PARTY_METHODS}.values()),
]


@functools.cache
def names_in_the_code() -> frozenset[str]:
    """Return the name of every module, function, method and class."""
    names = {path.stem for path in SOURCE.rglob("*.py")}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
    return frozenset(names)


def covered(argument: Path) -> list[str]:
    """Return the names in the argument's last paragraph, which says what it covers."""
    last = re.split(r"\n\s*\n", argument.read_text().strip())[-1]
    assert last.startswith("Covers "), f"{argument.name} must end with what it covers"
    return re.findall(r"`([A-Za-z_]+)`", last)


def test_all_mechanisms_and_estimators_are_found():
    assert {path.stem for path in NEED_AN_ARGUMENT} >= {
        "discrete_laplace",
        "discrete_gaussian",
        "permute_and_flip",
        "private_rdt",
    }


@pytest.mark.parametrize("code", NEED_AN_ARGUMENT, ids=lambda path: path.stem)
def test_there_is_an_argument_beside_the_code_with_its_parts(code):
    text = code.with_suffix(".md").read_text()
    for part in ("Claim", "Neighbours", "Public"):
        assert f"**{part}.**" in text, part
    assert "## Assumed" in text


@pytest.mark.parametrize("argument", sorted(SOURCE.rglob("*.md")), ids=lambda path: path.stem)
def test_everything_that_an_argument_covers_is_in_the_code(argument):
    names = covered(argument)
    assert names
    assert set(names) <= names_in_the_code()
