"""A small table of people, in every format, and a way to run privet on it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from privet.cli.app import app
from privet.privacy.ledger import heads

N_ROWS = 300
SCHEMA = {
    "target": "class",
    "classes": ["no", "yes"],
    "rows": N_ROWS,
    "attributes": [
        {"name": "age", "type": "continuous", "bounds": [16, 100]},
        {"name": "sex", "type": "categorical", "categories": ["female", "male"]},
        {"name": "children", "type": "continuous", "bounds": [0, 10], "bins": 10},
    ],
}


def people(n_rows: int = N_ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(16, 100, n_rows).astype(float)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["female", "male"], n_rows),
            "children": rng.integers(0, 5, n_rows),
            "class": np.where(age > 50, "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows.csv and schema.json, and privet runs in it."""
    monkeypatch.chdir(tmp_path)
    people().to_csv("rows.csv", index=False)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


@pytest.fixture
def privet(folder: Path) -> Callable[..., Result]:
    """Run a command line, given as one text, as a new process would: it has seen no ledger."""

    def run(line: str) -> Result:
        heads._SEEN.clear()
        return CliRunner().invoke(app, line)

    return run


@pytest.fixture
def model_file(privet: Callable[..., Result]) -> Path:
    """A fitted forest of counts, not private so that tests know what it predicts."""
    line = "fit rows.csv --schema schema.json --method private-rdt --epsilon inf --random-state 3"
    assert privet(line).exit_code == 0
    return Path("model.privet")


@pytest.fixture
def refused(privet: Callable[..., Result]) -> Callable[..., str]:
    """Run a command line that must fail with a code, and return its one sentence, the same in both forms."""

    def run(line: str, code: int) -> str:
        plain, machine = privet(line), privet(f"{line} --json")
        assert (plain.exit_code, machine.exit_code) == (code, code), plain.output
        sentence = plain.stderr.splitlines()[-1].removeprefix("privet: ")
        assert plain.stdout == ""
        assert plain.stderr == f"privet: {sentence}\n"
        assert json.loads(machine.stdout)["error"] == sentence
        assert machine.stdout.count("\n") == 1
        return sentence

    return run
