"""What the pages of the documentation show works as it stands."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from privet import Schema
from privet.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES_WITH_PYTHON = [
    "schema", "epsilon", "methods", "people", "report", "updates", "search", "local", "parties", "export",
]  # fmt: skip


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)


def people(n):
    rng = np.random.default_rng(n)
    X = pd.DataFrame(
        {"age": rng.uniform(16, 100, n), "hours": rng.uniform(0, 100, n), "sex": rng.choice(["female", "male"], n)}
    )
    return X, np.where(X["age"] + X["hours"] > 100, "yes", "no")


def schema():
    return Schema.from_json(json.loads(blocks("schema", "json")[0]))


def commands(page):
    """Return the commands of a page's first shell block, without comments, each on one line."""
    lines = blocks(page, "sh")[0].replace("\\\n", " ").splitlines()
    return [line for line in lines if not line.startswith("#")]


def names():
    (X, y), (X_test, y_test), (X_march, y_march) = people(5_000), people(500), people(700)
    visits = pd.concat([X, X], ignore_index=True).assign(person_id=[*range(len(X)), *range(len(X))])
    return {
        "schema": schema(), "X": X, "y": y, "X_new": X_test, "X_test": X_test, "y_test": y_test, "X_march": X_march,
        "y_march": y_march, "people": X.assign(smoker=y, id=range(len(X))), "visits": visits,
        "y_visits": np.concatenate([y, y]),
    }  # fmt: skip


@pytest.fixture(autouse=True)
def pictures_are_closed():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("page", PAGES_WITH_PYTHON)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = names()
    assert blocks(page, "python")
    for block in blocks(page, "python"):
        exec(compile(block, f"{page}.md", "exec"), given)  # noqa: S102 - our own page


def test_the_pipeline_of_the_export_page_answers_as_in_python(tmp_path, monkeypatch):
    import onnxruntime

    monkeypatch.chdir(tmp_path)
    given = {}
    exec(compile(blocks("export", "python")[0], "export.md", "exec"), given)  # noqa: S102
    labels, chances = onnxruntime.InferenceSession("ill.onnx").run(None, {"X": given["rows"]})
    assert labels.tolist() == given["pipeline"].predict(given["rows"]).tolist()
    np.testing.assert_allclose(chances, given["pipeline"].predict_proba(given["rows"]), rtol=1e-12)
    assert (labels == given["labels"]).mean() > 0.8


def test_the_numbers_that_pages_promise_come_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = names()
    for block in blocks("budget", "python"):
        exec(compile(block, "budget.md", "exec"), given)  # noqa: S102
    printed = capsys.readouterr().out
    assert printed.startswith("0.5\n")
    assert "0.5 is left of the budget of 'survey 2026'" in printed
    assert "\n2.5\n" in printed
    assert "\n0.0 1.0\n" in printed


def test_the_first_model_is_as_good_as_the_first_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks("index", "python")[0], "index.md", "exec"), {})  # noqa: S102
    sentence, score = capsys.readouterr().out.strip().split("\n")
    quoted = " ".join(re.findall(r"^> (.*)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert sentence == quoted
    assert 0.94 < float(score) < 0.99


def run(line):
    result = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"


def test_the_commands_of_the_first_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in commands("index"):
        run(line)
    assert {"repay.privet", "repay.html", "chances.csv"} <= {path.name for path in tmp_path.iterdir()}


def test_the_commands_for_parties_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema().save("schema.json")
    for name, n in {"bank": 3_000, "clinic": 2_000}.items():
        X, y = people(n)
        X.assign(smoker=y).to_csv(f"{name}.csv", index=False)
    for line in commands("parties"):
        run(line)
    assert Path("smokers.privet").exists()


def test_the_round_trip_of_the_local_page_needs_no_clear_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema().save("schema.json")
    (X, y), (X_test, y_test) = people(50_000), people(500)
    secret = {"format": "privet-secret", "version": 1, "key": "07" * 32, "answered": {}, "people": None}
    Path("my.key").write_text(json.dumps(secret))  # the same answers in every run
    X.assign(smoker=y, id=range(len(X))).to_csv("clear.csv", index=False)
    X_test.assign(smoker=y_test).to_csv("test.csv", index=False)
    for line in commands("local"):
        if line.startswith("rm "):
            Path("clear.csv").unlink()
        else:
            run(line)
    assert "id" not in pd.read_csv("answers.csv")
    assert (pd.read_csv("predictions.csv")["prediction"] == y_test).mean() > 0.75


def test_the_same_secret_gives_the_same_answers_as_the_local_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema().save("schema.json")
    X, y = people(300)
    table = X.assign(smoker=y, id=range(len(X)))
    answers = []
    for order in (table, table[::-1]):  # another file, in which the same people stand elsewhere
        order.to_csv("clear.csv", index=False)
        run(f"{commands('local')[0]} --force")
        answers.append(pd.read_csv("answers.csv"))
    pd.testing.assert_frame_equal(answers[0], answers[1][::-1].reset_index(drop=True))


def test_the_json_of_the_page_on_schemas_is_its_python_with_cuts():
    given = {}
    exec(compile(blocks("schema", "python")[0].partition("schema.save")[0], "schema.md", "exec"), given)  # noqa: S102
    assert schema().names == given["schema"].names == ("age", "hours", "sex")


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md")))
def test_every_command_that_a_page_names_is_one(page):
    from typer.main import get_command

    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    verbs = get_command(app).commands
    shown = "\n".join([*blocks(page, "sh"), *re.findall(r"^ {4}(privet .*)$", text, re.MULTILINE)])
    named = re.findall(r"^privet ([a-z]+)(?: ([a-z]+))?", shown, re.MULTILINE)
    for verb, word in [*named, *re.findall(r"`privet ([a-z]+)(?: ([a-z]+))?[` ]", text)]:
        assert verb in verbs, f"privet {verb}"
        if hasattr(verbs[verb], "commands") and word:
            assert word in verbs[verb].commands, f"privet {verb} {word}"


def test_the_map_of_rooms_names_every_folder_and_no_other():
    map_of_rooms = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1]
    source = DOCS.parent / "src" / "privet"
    folders = {f"{path.parent.relative_to(source).as_posix()}/" for path in source.rglob("*/__init__.py")}
    assert set(re.findall(r"^\| `(.*?)` \|", map_of_rooms, re.MULTILINE)) == folders


def test_every_target_that_pages_name_is_one():
    targets = set(re.findall(r"^([a-z-]+):", (DOCS.parent / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in [*DOCS.glob("*.md"), *DOCS.parent.glob("*.md")]:
        named = set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8")))
        assert named <= targets, page.name
