"""What the README shows works as it stands."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from privet import Schema

README = Path(__file__).parents[1] / "README.md"


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
    (X, y), (X_new, _), (X_march, y_march) = people(50_000), people(100), people(2_000)
    names = {"X": X, "y": y, "X_new": X_new, "X_march": X_march, "y_march": y_march}
    names |= dict(zip(("X_test", "y_test"), people(200), strict=True))
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
    assert "epsilon = 1," in capsys.readouterr().out
    assert names["model"].score(X, y) > 0.75


def test_the_json_of_the_readme_is_a_schema():
    (block,) = blocks("json")
    assert Schema.from_json(json.loads(block)).names == ("age", "hours", "sex")


def test_every_link_of_the_readme_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert all((README.parent / link).exists() for link in links)
