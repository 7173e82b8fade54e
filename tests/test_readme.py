"""What the README shows works as it stands."""

import math
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from privet import Schema
from privet.cli.app import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def people(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(n)
    X = pd.DataFrame(
        {"age": rng.uniform(16, 100, n), "hours": rng.uniform(0, 100, n), "sex": rng.choice(["female", "male"], n)}
    )
    return X, np.where(X["age"] + X["hours"] > 100, "yes", "no")


def test_the_python_of_the_readme_runs_and_learns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (X, y), (X_new, _) = people(50_000), people(100)
    names = {"X": X, "y": y, "X_new": X_new}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
    assert "epsilon = 1," in capsys.readouterr().out
    assert names["model"].score(X, y) > 0.75
    assert names["ledger"].left == 2.0
    assert Path("python.privet").exists()


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n in {"rows": 5_000, "new": 100}.items():
        X, y = people(n)
        X.assign(smoker=y).to_csv(f"{name}.csv", index=False)
    (block,) = blocks("sh")
    for line in block.splitlines():
        result = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
        assert result.exit_code == 0, f"{line}\n{result.output}"
    assert "<h1" in Path("smokers.html").read_text(encoding="utf-8")
    assert len(pd.read_csv("predictions.csv")) == 100


ANSWERS = "0 to 100\ncategories month, year, two years\naccept\n0 to 500\n2010-01-01 to 2026-12-31\naccept\n"


@pytest.mark.parametrize("written", [{}, {"sep": ";", "decimal": ","}])
def test_a_csv_becomes_a_signed_report_in_eight_commands_and_no_file_is_edited(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    customers(2_000).to_csv("rows.csv", index=False, **written)
    start_here = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    block = next(block for block in re.findall(r"```sh\n(.*?)```", start_here, re.DOTALL) if "--state" in block)
    lines = block.replace("\\\n", " ").splitlines()
    assert len(lines) == 8
    for line in lines:
        options = [f"--{name}={mark}" for name, mark in written.items() if "rows.csv" in line]
        words = [*shlex.split(line, comments=True)[1:], *options]
        result = CliRunner().invoke(app, words, input=ANSWERS if "review" in words else None)
        assert result.exit_code == 0, f"{line}\n{result.output}"
    assert Schema.load("schema.json").leaks == ()
    page = Path("churn.html").read_text(encoding="utf-8")
    assert "<strong><bdi>bank</bdi></strong> signed it" in page
    assert "Example Bank" in page
    verified = CliRunner().invoke(app, ["verify", "churn.privet", "--keys", "bank.pub"])
    assert verified.stdout.startswith("churn.privet is a model of bank, signed on ")


def customers(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    tenure, charges = rng.integers(0, 73, n), rng.uniform(18, 119, n).round(2)
    return pd.DataFrame(
        {
            "tenure": tenure,
            "contract": rng.choice(["month", "year", "two years", None], n),
            "senior": rng.integers(0, 2, n),
            "monthly_charges": np.where(rng.random(n) < 0.03, np.nan, charges),
            "signed_up": (np.datetime64("2020-01-01") + rng.integers(0, 2_000, n)).astype(str),
            "churn": np.where(charges > tenure + 40, "yes", "no"),
        }
    )


@pytest.mark.parametrize("page", ["README.md", "docs/epsilon.md"])
def test_an_attacker_guesses_no_better_than_the_table_of_epsilons_says(page):
    lines = re.findall(r"^\| ([\d.]+) \| (.*) \|$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    table = {float(epsilon): int(cells.split(" | ")[-2].removesuffix(" of 100")) for epsilon, cells in lines}
    assert {0.1, 1, 4} <= set(table)
    for epsilon, guesses in table.items():
        assert guesses == math.ceil(100 / (1 + math.exp(-epsilon)))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_every_link_of_a_page_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8"))
    assert all((ROOT / link).exists() for link in links), links
