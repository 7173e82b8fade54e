"""Every example that draws runs, in a small form, and leaves its picture."""

import inspect
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))
SMALL = {"n_rows": 1_000, "n_fits": 1, "parties": (2, 3)}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_leaves_its_picture(script, tmp_path):
    main = runpy.run_path(str(script))["main"]
    asked = inspect.signature(main).parameters
    main(tmp_path / "picture.png", **{name: value for name, value in SMALL.items() if name in asked})
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
