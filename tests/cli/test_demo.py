"""privet demo."""

import json
import shlex
from pathlib import Path

import pytest

from privet import load
from privet.cli.support.output import EXIT_USAGE

FILES = ["privet-demo.csv", "privet-demo.html", "privet-demo.json", "privet-demo.privet"]


@pytest.fixture
def shown(privet):
    result = privet("demo --rows 2000")
    assert result.exit_code == 0
    return result


def test_it_tells_the_story_on_stdout_alone(shown):
    assert shown.stderr == ""
    pieces = [
        "Who can repay a loan?",
        "on 2,000 invented people",
        "guessing",
        "with privacy, epsilon = 1",
        "the same without noise",
        "What matters most: ",
        "differential privacy, epsilon = 1",
        "The model is in privet-demo.privet",
        "A report to read and sign is in privet-demo.html",
    ]
    assert [piece for piece in pieces if piece not in shown.stdout] == []


def test_the_commands_it_proposes_work(shown, privet):
    lines = [line.strip() for line in shown.stdout.splitlines() if line.startswith("  privet ")]
    assert [shlex.split(line)[1] for line in lines] == ["predict", "explain", "schema", "evaluate"]
    for line in lines:
        command = line.removeprefix("privet ").removesuffix(" | head").replace("0.01,0.1,1,inf", "1 --folds 2")
        assert privet(command).exit_code == 0


def test_json_holds_the_figures(privet):
    summary = json.loads(privet("demo --rows 2000 --epsilon 2 --json").stdout)
    assert summary["accuracy_of_guessing"] == 0.5
    assert summary["accuracy_without_noise"] > 0.6
    assert summary["guarantee"]["epsilon"] == 2
    assert sorted(summary["files"]) == FILES


def test_its_own_files_are_replaced_and_yours_are_not(shown, privet, refused):
    assert sorted(path.name for path in Path().glob("privet-demo*")) == FILES
    assert privet("demo --rows 2000").exit_code == 0
    Path("mine.csv").write_text("mine")
    assert "'mine.csv' exists" in refused("demo --rows 2000 -o mine.privet", EXIT_USAGE)
    assert Path("mine.csv").read_text() == "mine"
    assert not Path("mine.privet").exists()


def test_the_random_state_fixes_people_and_trees_and_not_the_noise(privet):
    for name, seed in {"a": 4, "b": 4, "c": 5}.items():
        privet(f"demo --rows 2000 --random-state {seed} -o {name}.privet")
    assert Path("a.csv").read_text() == Path("b.csv").read_text() != Path("c.csv").read_text()
    a, b = load("a.privet"), load("b.privet")
    assert a.trees_ == b.trees_
    assert a.trees_.n_trees > 0
    assert a.released_.weights.tolist() != b.released_.weights.tolist()


def test_an_epsilon_out_of_range_exits_with_2(refused):
    assert "epsilon=-1.0 is out of range" in refused("demo --epsilon -1", EXIT_USAGE)
