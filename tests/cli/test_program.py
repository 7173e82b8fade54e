"""What the command line does whatever the verb: help, exit codes, errors, pipes."""

import errno
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import privet as library
from privet import errors
from privet.cli.support import output
from privet.cli.support.program import _sentence_and_code

VERBS = [
    "demo", "schema init", "schema review", "schema check", "plan", "fit", "predict", "evaluate", "rules",
    "report", "export", "ledger init", "ledger show", "ledger verify", "ledger add",
]  # fmt: skip


def test_version_is_printed(privet):
    result = privet("--version")
    assert (result.exit_code, result.stdout) == (0, f"privet {library.__version__}\n")


@pytest.mark.parametrize("line", ["", "--help"])
def test_help_names_every_verb(privet, line):
    result = privet(line)
    assert result.exit_code == 0
    assert all(verb.split()[0] in result.stdout for verb in VERBS)


def test_a_file_that_may_not_be_read_is_a_matter_of_permissions(refused, monkeypatch):
    # Whoever is root may read all files, whatever their bits say.
    monkeypatch.setattr(os, "access", lambda path, mode, **options: mode != os.R_OK)
    said = refused("plan --schema schema.json --epsilon 1", output.EXIT_USAGE)
    assert said.endswith("'schema.json' is not readable; check its permissions")


def test_schema_alone_prints_its_help(privet):
    result = privet("schema")
    assert result.exit_code == 0
    assert "init" in result.stdout
    assert "check" in result.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_and_takes_json(privet, verb):
    result = privet(f"{verb} --help")
    assert result.exit_code == 0
    assert f"Example:  privet {verb}" in result.stdout
    assert "--json" in result.stdout


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("fitt rows.csv", "no such command 'fitt'"),
        ("fit --colour red", "no such option: --colour"),
        ("predict", "missing argument 'MODEL'"),
        ("demo --rows many", "invalid value for '--rows'"),
        ("fit rows.csv --trees 0", "invalid value for '--trees'"),
        ("evaluate rows.csv --folds 1", "invalid value for '--folds'"),
    ],
)
def test_usage_errors_exit_with_2_and_point_to_the_help(refused, line, sentence):
    said = refused(line, output.EXIT_USAGE)
    assert sentence in said
    assert said.endswith("--help`")


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.ParameterError, 2),
        (errors.SchemaError, 3),
        (errors.DataError, 3),
        (errors.ModelFileError, 3),
        (errors.StructureTooLarge, 3),
        (errors.DatasetUnavailable, 3),
    ],
)
def test_every_kind_of_error_has_its_exit_code(kind, code):
    assert _sentence_and_code(kind("what is wrong;\n  the way out")) == ("what is wrong; the way out", code)


def test_the_exit_codes_are_those_of_the_manual():
    codes = (output.EXIT_OK, output.EXIT_USAGE, output.EXIT_DATA, output.EXIT_BUDGET)
    assert codes == (0, 2, 3, 4)


@pytest.fixture
def breaks(monkeypatch):
    """Make `privet predict` raise an exception of choice."""

    def break_with(error):
        def load(path):
            raise error

        monkeypatch.setattr("privet.registry.load", load)

    return break_with


def test_an_unexpected_error_is_one_line_that_quotes_nothing(breaks, refused):
    breaks(ValueError("could not convert 'Ann Smith'"))
    sentence = refused("predict model.privet rows.csv", output.EXIT_BUG)
    assert sentence.startswith("an unexpected ValueError stopped the command; run it again with --debug")
    assert "Smith" not in sentence


SPENT = "noise was drawn by then, so epsilon=1 counts as spent"


@pytest.mark.parametrize(
    ("error", "code", "beginning"),
    [
        (MemoryError("of 'Ann Smith'"), output.EXIT_BUG, "an unexpected MemoryError stopped the command"),
        (OSError(errno.ENOSPC, "for 'Ann Smith'"), output.EXIT_USAGE, "cannot write the output: No space left"),
        (errors.DataError("what is wrong; the way out"), output.EXIT_DATA, "what is wrong; the way out"),
    ],
)
def test_what_privet_noted_is_told_with_any_error_and_what_others_noted_is_not(error, code, beginning):
    error.add_note("while converting 'Ann Smith'")
    error.add_note(errors.Note(SPENT))
    sentence, found = _sentence_and_code(error)
    assert found == code
    assert sentence.startswith(beginning)
    assert sentence.endswith(f"; {SPENT}")
    assert "Smith" not in sentence


def test_a_note_is_known_as_privets_own_when_it_comes_from_another_process():
    error = MemoryError()
    error.add_note(errors.Note(SPENT))
    assert errors.notes_of(pickle.loads(pickle.dumps(error))) == [SPENT]


@pytest.mark.parametrize("line", ["--debug predict missing.privet rows.csv", "predict missing.privet rows.csv --debug"])
def test_debug_shows_the_traceback_wherever_it_stands(privet, line):
    result = privet(line)
    assert result.exit_code == output.EXIT_DATA
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("privet: cannot read the model 'missing.privet'")


def test_without_debug_there_is_no_traceback(refused):
    sentence = refused("predict missing.privet rows.csv", output.EXIT_DATA)
    assert sentence == "cannot read the model 'missing.privet': No such file or directory; check the path"


def test_an_interrupt_exits_with_130_and_one_line(breaks, privet):
    breaks(KeyboardInterrupt())
    result = privet("predict model.privet rows.csv")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "privet: interrupted\n")


def test_what_was_spent_is_told_with_an_interrupt_and_not_with_the_next(breaks, privet):
    interrupt = KeyboardInterrupt()
    interrupt.add_note(errors.Note(SPENT))
    breaks(interrupt)
    assert privet("predict model.privet rows.csv").stderr == f"privet: interrupted; {SPENT}\n"
    breaks(KeyboardInterrupt())
    assert privet("predict model.privet rows.csv").stderr == "privet: interrupted\n"


def test_a_closed_pipe_says_nothing(breaks, privet):
    breaks(BrokenPipeError(32, "Broken pipe"))
    result = privet("predict model.privet rows.csv")
    assert (result.exit_code, result.output) == (output.EXIT_PIPE, "")


def test_a_column_name_cannot_drive_the_terminal():
    assert output.printable("age\x1b[2J\n") == "age\\x1b[2J\\n"
    assert output.printable("Größe [bold]") == "Größe [bold]"


def test_the_command_line_starts_without_the_heavy_libraries():
    heavy = ("numpy", "numba", "sklearn", "pandas", "pyarrow")
    code = f"import sys, privet.cli.app; print([name for name in {heavy} if name in sys.modules])"
    assert run([sys.executable, "-c", code]).stdout == "[]\n"


def test_the_installed_command_answers(folder):
    command = Path(sys.executable).with_name("privet")
    arguments = [command] if command.exists() else [sys.executable, "-m", "privet"]
    done = run([*arguments, "fit", "rows.csv", "--json"])
    assert done.returncode == output.EXIT_USAGE
    assert json.loads(done.stdout)["kind"] == "ParameterError"
    assert done.stderr == ""


def test_piping_to_head_ends_quietly(model_file):
    header, *lines = Path("rows.csv").read_text().splitlines()
    Path("many.csv").write_text("\n".join([header, *(lines * 300)]))
    arguments = [sys.executable, "-m", "privet", "predict", str(model_file), "many.csv"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"prediction" + os.linesep.encode()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == output.EXIT_PIPE


def run(arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)
