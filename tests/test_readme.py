"""What the README shows works as it stands."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from privet import Schema
from privet.cli.app import app

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
    names["people"] = X.assign(smoker=y, id=range(len(X)))
    names |= dict(zip(("X_test", "y_test"), people(200), strict=True))
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
    assert "epsilon = 1," in capsys.readouterr().out
    assert names["model"].score(X, y) > 0.75


def test_the_round_trip_of_the_readme_needs_no_clear_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (X, y), (X_test, y_test) = people(50_000), people(500)
    secret = {"format": "privet-secret", "version": 1, "key": "07" * 32, "answered": {}, "people": None}
    Path("my.key").write_text(json.dumps(secret))  # the same answers in every run
    X.assign(smoker=y, id=range(len(X))).to_csv("clear.csv", index=False)
    X_test.assign(smoker=y_test).to_csv("test.csv", index=False)
    Path("schema.json").write_text(blocks("json")[0])
    (block,) = blocks("sh")
    for line in block.splitlines():
        verb, *words = shlex.split(line, comments=True)
        if verb == "rm":
            Path(words[0]).unlink()
        else:
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{line}\n{result.output}"
    assert not Path("clear.csv").exists()
    assert "id" not in pd.read_csv("answers.csv")
    assert (pd.read_csv("predictions.csv")["prediction"] == y_test).mean() > 0.75


def test_the_same_secret_gives_the_same_answers_as_the_readme_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = people(300)
    table = X.assign(smoker=y, id=range(len(X)))
    Path("schema.json").write_text(blocks("json")[0])
    words = shlex.split(blocks("sh")[0].splitlines()[0])[1:]
    answers = []
    for order in (table, table[::-1]):  # another file, in which the same people stand elsewhere
        order.to_csv("clear.csv", index=False)
        assert CliRunner().invoke(app, [*words, "--force"]).exit_code == 0
        answers.append(pd.read_csv("answers.csv"))
    pd.testing.assert_frame_equal(answers[0], answers[1][::-1].reset_index(drop=True))


def test_the_json_of_the_readme_is_a_schema():
    (block,) = blocks("json")
    assert Schema.from_json(json.loads(block)).names == ("age", "hours", "sex")


def test_every_link_of_the_readme_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert all((README.parent / link).exists() for link in links)
