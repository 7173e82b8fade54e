"""Every verb's help: examples, words for every option, panels in the order in which one needs them."""

import re
import shlex

import pytest
import typer
from typer.testing import CliRunner

from privet.cli.app import PANELS, app
from privet.cli.support.program import OPTION_PANELS, make_program


def commands(command, path=()):
    """Return every verb that does something, with the words that call it."""
    below = getattr(command, "commands", {})
    if not below:
        return [(" ".join(path), command)]
    return [found for name, sub in below.items() for found in commands(sub, (*path, name))]


PROGRAM = typer.main.get_command(app)
ALL = commands(PROGRAM)


def examples(command):
    return [line.removeprefix("Example:  ") for line in (command.epilog or "").split("\n\n")]


def test_the_walk_finds_the_verbs():
    assert {"demo", "schema init", "fit", "predict", "rules", "ledger init"} <= {name for name, _ in ALL}


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_verb_ends_its_help_with_examples_one_a_line(privet, name, command):
    assert command.epilog.startswith("Example:  ")
    shown = privet(f"{name} --help").stdout
    closing = shown[shown.rindex("╯") :]
    for example in examples(command):
        assert example.startswith(f"privet {name}")
        assert example in " ".join(closing.split())
    assert closing.count("Example:") == len(examples(command))


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_example_is_a_line_that_the_verb_would_take(name, command):
    for example in examples(command):
        words = shlex.split(example.removeprefix(f"privet {name}"))
        command.make_context(name, words)  # refuses unknown options, missing arguments and values out of range


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_argument_and_option_says_what_it_is(name, command):
    for parameter in command.params:
        assert len(parameter.help or "") > 5, f"{name} {parameter.name}"
        assert parameter.help.endswith("."), f"{name} {parameter.name}"
    assert re.match(r"[A-Z].*\.", command.help), name


def test_verbs_stand_in_panels_in_the_order_in_which_one_needs_them(privet):
    shown = privet("--help").stdout
    listed = {
        panel: [name for name, verb in PROGRAM.commands.items() if verb.rich_help_panel == panel] for panel in PANELS
    }
    assert [len(names) for names in listed.values()] == [len(panel) for panel in PANELS.values()]
    assert listed["Begin"][:2] == ["demo", "schema"]
    assert listed["Train"][:4] == ["rehearse", "plan", "ledger", "fit"]
    wanted = [word for panel, names in listed.items() for word in (f"╭─ {panel} ", *(f"│ {name} " for name in names))]
    places = [shown.index(word) for word in wanted]
    assert places == sorted(places)
    assert "╭─ Commands" not in shown


def say_hello_(name: str = "you") -> None:
    """Greet somebody.

    Nothing is spent.

    Example:  privet say-hello --name Ann

    Example:  privet say-hello
    """
    typer.echo(f"hello, {name}")


def test_a_function_is_a_verb_and_its_docstring_the_help():
    program = make_program({"New": [say_hello_]})
    [(name, verb)] = typer.main.get_command(program).commands.items()
    assert (name, verb.rich_help_panel, verb.help) == ("say-hello", "New", "Greet somebody.\n\nNothing is spent.")
    assert examples(verb) == ["privet say-hello --name Ann", "privet say-hello"]
    assert CliRunner().invoke(program, ["say-hello", "--name", "Ann"]).stdout == "hello, Ann\n"


def test_many_options_are_grouped_and_few_are_not(privet):
    fit, check = privet("fit --help").stdout, privet("schema check --help").stdout
    assert all(f"╭─ {panel}" in fit for panel in OPTION_PANELS)
    assert not any(f"╭─ {panel}" in check for panel in OPTION_PANELS)
