"""What a terminal shows, and what a pipe gets."""

import math
import sys

import pytest

from privet.checks import pluralize
from privet.cli.support import output
from privet.cli.support.progress import Progress

ROWS = [("[bold]age[/x]", "1.0 %"), ("sex\x1b[2J", "99.0 %")]


@pytest.fixture
def pretend(monkeypatch):
    """Make both streams say whether they are a terminal; called in the test, where capsys has put them in place."""
    monkeypatch.setenv("TERM", "xterm")

    def set_terminal(*, terminal):
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: terminal)

    return set_terminal


def test_a_pipe_gets_aligned_columns_without_trailing_blanks(capsys):
    output.print_table(["attribute", "share"], ROWS, right=[1])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["attribute       share", "[bold]age[/x]   1.0 %", "sex\\x1b[2J     99.0 %"]


def test_a_terminal_shows_names_as_they_are_and_obeys_none(pretend, capsys):
    pretend(terminal=True)
    output.print_table(["attribute", "share"], ROWS, right=[1])
    output.print_text("[red]a sentence", style="bold")
    shown = capsys.readouterr().out
    assert "[bold]age[/x]" in shown
    assert "sex\\x1b[2J" in shown
    assert "\x1b[2J" not in shown
    assert "[red]a sentence" in shown


def test_bars_are_for_terminals(pretend, capsys):
    pretend(terminal=True)
    assert output.bar(0.5, 10) == "█████"
    pretend(terminal=False)
    assert output.bar(0.5, 10) == ""


def test_progress_is_shown_on_stderr_and_in_a_terminal_only(pretend, capsys):
    pretend(terminal=True)
    show_progress()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "reading ..." in shown.err
    assert "2 of 2 folds" in shown.err
    pretend(terminal=False)
    show_progress()
    assert capsys.readouterr() == ("", "")


def show_progress():
    with output.working("reading"):
        pass
    with Progress("cross-validation", steps="folds") as progress:
        progress.step("epsilon = 1", 0, 2)
        progress.step("epsilon = 1", 2, 2)


def test_json_spells_infinity_and_escapes_what_is_not_ascii(capsys):
    output.print_json({"epsilon": float("inf"), "names": ("Größe",)})
    assert capsys.readouterr().out == '{"epsilon": "inf", "names": ["Gr\\u00f6\\u00dfe"]}\n'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"), (0.9999999999999999, "1"), (0.30000000000000004, "0.300000000001"), (0.3, "0.3"), (1e-15, "1e-15"),
        (0.0, "0"), (math.inf, "inf"), (1 / 3, "0.333333333334"), (123456.5, "123456.5"),
    ],
)  # fmt: skip
def test_an_amount_is_shown_to_twelve_digits_and_never_less(value, shown):
    assert output.amount(value) == shown
    assert float(shown) >= value


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.2e-16, "0"), (0.1, "0.1"), (0.7000000000000001, "0.7"), (2.0, "2"), (20, "20")],
)
def test_what_shares_have_left_over_is_nothing(value, shown):
    assert output.left_over(value) == shown


def test_one_is_not_many():
    assert pluralize(1, "release") == "1 release"
    assert pluralize(0, "release") == "0 releases"
    assert pluralize(2000, "entry", "entries") == "2,000 entries"
