"""privet schema review."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet import Schema
from privet.cli.app import app
from privet.cli.support.output import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE

REVIEW = ["schema", "review", "draft.json", "--by", "Ann"]


@pytest.fixture
def draft(privet):
    """Draft a schema: age, sex, children, class."""
    assert privet("schema init rows.csv -o draft.json").exit_code == 0


def answered(text, *more):
    return CliRunner().invoke(app, [*REVIEW, *more], input=text)


def left():
    return Schema.load("draft.json").leaks


def test_each_entry_is_shown_and_becomes_what_was_answered(draft):
    before = date.today()
    result = answered("0 to 120\naccept\ncategories 0, 1, 2, 3, 4, 5\nclasses no, yes\n", "rows.csv")
    days = {day.isoformat() for day in (before, date.today())}
    assert result.exit_code == EXIT_OK, result.output
    lines = result.stdout.splitlines()
    assert "1 of 4  'age', read from the rows: whole numbers from 16 to 99 in 84 cells" in lines
    assert "  1: whole numbers from 0 to 100 in 101 cells" in lines
    assert "  replaced: 0 to 120 in 255 equal cells" in lines
    assert "  accepted: 2 categories: female, male" in lines
    # The classes that were typed are those of the rows.
    assert lines[-2:] == ["2 replaced, 2 accepted, 0 dropped, 0 left", "schema: draft.json"]
    schema = Schema.load("draft.json")
    assert schema.leaks == ()
    assert schema.classes_accepted.by == "Ann"
    assert schema.classes_accepted.on in days
    assert "every model's guarantee will hold provided that categories of 'sex', classes of 'class'" in result.stderr
    assert "columns with values beyond their bounds, which are clipped: none" in result.stderr


def test_the_bounds_of_a_label_that_is_a_number_are_asked_for(privet):
    assert privet("schema init rows.csv --target age --number -o draft.json").exit_code == 0
    result = answered("accept\naccept\naccept\n0 to 120\n")
    assert "4 of 4  'age', label, read from the rows: 16 to 99" in result.stdout.splitlines()
    assert "  replaced: 0 to 120" in result.stdout.splitlines()
    assert left() == ()


def test_it_can_be_stopped_and_continued_without_loss(draft):
    assert answered("0 to 120\n").exit_code == EXIT_OK
    assert left() == ("categories of 'sex'", "categories of 'children'", "classes of 'class'")
    assert answered("skip\ndrop\nquit\n").exit_code == EXIT_OK
    assert left() == ("categories of 'sex'", "classes of 'class'")
    assert Schema.load("draft.json").names == ("age", "sex")
    assert "0 replaced, 2 accepted, 0 dropped, 0 left" in answered("accept\naccept\n").stdout
    nothing = answered("")
    assert nothing.exit_code == EXIT_OK
    assert nothing.stdout == "0 replaced, 0 accepted, 0 dropped, 0 left\nschema: draft.json\n"


def test_nothing_is_accepted_by_silence(draft):
    before = Path("draft.json").read_bytes()
    assert "0 replaced, 0 accepted, 0 dropped, 4 left" in answered("\n\n\n\n").stdout
    assert Path("draft.json").read_bytes() == before


def test_accept_records_that_nothing_was_looked_at(draft):
    result = answered("", "--accept")
    assert result.exit_code == EXIT_OK
    assert left() == ()
    (assumption,) = Schema.load("draft.json").assumptions
    assert assumption.startswith("the table's ranges, categories and classes, all read from its rows, were public")


def test_a_wrong_answer_from_a_pipe_is_an_error_and_what_came_before_is_kept(draft):
    result = answered("0 to 120\nwhatever\naccept\n")
    assert result.exit_code == EXIT_USAGE
    assert result.stderr == (
        "privet: 'sex': the answer is not understood; write accept, skip, two bounds such as 0 to 120, or categories "
        "A, B, C (? lists all); what was answered before is kept\n"
    )
    assert left() == ("categories of 'sex'", "categories of 'children'", "classes of 'class'")


def test_whoever_answers_must_be_named(draft, refused):
    said = refused("schema review draft.json", EXIT_USAGE)
    assert said == "say who answers with --by: a name or a role, which every model will show"


def test_json_says_what_became_of_each_entry(draft):
    result = answered("0 to 120\naccept\nskip\n", "--json")
    data = json.loads(result.stdout)
    assert (data["replaced"], data["accepted"], data["dropped"]) == (["age"], ["sex"], [])
    assert data["left"] == ["categories of 'children'", "classes of 'class'"]
    assert data["assumes"][0].startswith("categories of 'sex', read from the rows, were public before, as Ann declared")


def test_what_describes_a_table_stays_in_its_file(draft):
    document = json.loads(Path("draft.json").read_text())
    Path("draft.json").write_text(json.dumps({"title": "People", **document}))
    answered("accept\n")
    assert json.loads(Path("draft.json").read_text())["title"] == "People"


def test_a_question_mark_lists_the_answers(draft):
    assert "bounds that are publicly known" in answered("?\nquit\n").stdout


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self):
        self.said = ""
        self.end, other = pty.openpty()
        command = [sys.executable, "-c", "from privet.cli.app import main; main()", *REVIEW]
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, start_new_session=True)
        os.close(other)

    def until(self, words):
        """Return what is said up to these words; the rest is for the next call."""
        while words not in self.said:
            ready, _, _ = select.select([self.end], [], [], 60)
            assert ready, f"{words!r} was not said: {self.said}"
            self.said += os.read(self.end, 4096).decode()
        before, _, self.said = self.said.partition(words)
        return before + words

    def type(self, text):
        os.write(self.end, f"{text}\n".encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.end)


@pytest.fixture
def terminal(draft):
    opened = Terminal()
    yield opened
    opened.close()


def test_in_a_terminal_a_wrong_answer_is_asked_for_again_and_ctrl_c_loses_nothing(terminal):
    assert "1 of 4  'age'" in terminal.until("> ")
    terminal.type("whatever")
    assert "the answer is not understood" in terminal.until("> ")
    terminal.type("0 to 120")
    assert "2 of 4  'sex'" in terminal.until("> ")
    terminal.process.send_signal(signal.SIGINT)
    terminal.until("interrupted")
    assert terminal.process.wait(timeout=30) == EXIT_INTERRUPTED
    assert left() == ("categories of 'sex'", "categories of 'children'", "classes of 'class'")
