"""Every mechanism and estimator has its argument beside it, and the argument speaks of code that is there."""

import ast
import re
from pathlib import Path

import pytest

import privet

SOURCE = Path(privet.__file__).parent
MECHANISMS = SOURCE / "privacy" / "mechanisms"
NEED_AN_ARGUMENT = [
    MECHANISMS / "discrete_laplace.py",
    MECHANISMS / "discrete_gaussian.py",
    MECHANISMS / "permute_and_flip.py",
    SOURCE / "central" / "private_rdt.py",
]


def names_in_the_code() -> set[str]:
    """Return the name of every module, function, method and class."""
    names = {path.stem for path in SOURCE.rglob("*.py")}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
    return names


def covered(argument: Path) -> list[str]:
    """Return the names in the argument's last paragraph, which says what it covers."""
    last = re.split(r"\n\s*\n", argument.read_text().strip())[-1]
    assert last.startswith("Covers "), f"{argument.name} must end with what it covers"
    return re.findall(r"`([A-Za-z_]+)`", last)


@pytest.mark.parametrize("code", NEED_AN_ARGUMENT, ids=lambda path: path.stem)
def test_there_is_an_argument_beside_the_code_with_its_parts(code):
    text = code.with_suffix(".md").read_text()
    for part in ("Claim", "Neighbours", "Public"):
        assert f"**{part}.**" in text, part
    assert "## Assumed" in text


@pytest.mark.parametrize("argument", sorted(SOURCE.rglob("*.md")), ids=lambda path: path.stem)
def test_everything_that_an_argument_covers_is_in_the_code(argument):
    names = covered(argument)
    assert argument.stem in names or len(names) > 2
    assert set(names) <= names_in_the_code()
