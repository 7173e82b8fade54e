"""Shell completion: the script of every shell, and what it gets when it asks."""

import os
import subprocess
import sys

import pytest

from privet.cli.support.output import EXIT_USAGE


def complete(variables):
    environment = {**os.environ, **variables, "TERM": "dumb"}
    done = subprocess.run([sys.executable, "-m", "privet"], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def bash(line):
    words = line.split(" ")
    return complete(
        {"_PRIVET_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    ).split()


@pytest.mark.parametrize(
    ("shell", "mark"),
    [
        ("bash", "complete -o default -F _privet_completion privet"),
        ("zsh", "compdef _privet_completion privet"),
        ("fish", "complete --command privet"),
    ],
)
def test_every_shell_has_a_script_that_asks_privet(privet, shell, mark):
    result = privet(f"--show-completion {shell}")
    assert result.exit_code == 0
    assert f"_PRIVET_COMPLETE=complete_{shell}" in result.stdout
    assert mark in result.stdout
    assert result.stdout == result.stdout.strip() + "\n"
    assert "_PRIVET_COMPLETE" not in os.environ
    assert privet(f"--show-completion {shell} --debug").stdout == result.stdout


@pytest.mark.parametrize("option", ["--show-completion tcsh", "--install-completion zsh"])
def test_a_shell_that_cannot_be_named_there_is_refused(privet, option):
    result = privet(option)
    assert result.exit_code == EXIT_USAGE
    assert "with --show-completion bash|zsh|fish|powershell|pwsh" in result.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("privet pre", ["predict"]),
        ("privet schema ", ["init", "review", "check"]),
        ("privet predict --ke", ["--keep"]),
        ("privet --debug pre", ["predict"]),
        ("privet rules m.privet --format ", ["table", "csv", "json"]),
        (
            "privet fit rows.csv --method private-",
            ["private-forest", "private-forest-regressor", "private-rdt", "private-id3"],
        ),
    ],
)
def test_bash_completes_verbs_options_and_choices(line, expected):
    assert bash(line) == expected


def test_zsh_and_fish_complete_with_words_of_help():
    asked = {"_TYPER_COMPLETE_ARGS": "privet pre"}
    zsh = complete({"_PRIVET_COMPLETE": "complete_zsh", **asked})
    fish = complete({"_PRIVET_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args", **asked})
    assert '"predict":"Predict the class' in zsh
    assert fish.startswith("predict\tPredict the class")
