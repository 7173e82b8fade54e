"""The program made of its verbs: help in panels, and an error as one sentence and an exit code, never a traceback."""

import errno
import inspect
import io
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from types import ModuleType
from typing import Annotated, Any, NoReturn, TypeAlias

import typer
from typer.core import TyperGroup

from privet import __version__
from privet.cli.support import output
from privet.errors import BudgetExceeded, ParameterError, PrivetError, notes_of

# The verbs and groups below each heading of `privet --help`.
Panels: TypeAlias = Mapping[str, Sequence[Callable[..., None] | typer.Typer]]

_BUG = (
    "an unexpected {} stopped the command; run it again with --debug to see where "
    "(the traceback may quote values of rows)"
)
# What a full, failing or read-only disk answers when stdout goes to a file on it.
_NOT_WRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


# How `--help` groups the options of a verb that has many.
OPTION_PANELS = {
    "What it costs, and whom it protects": (
        "--epsilon", "--unit", "--max-rows", "--ledger", "--dataset", "--part",
        "--no-person-in-two-parts", "--delta",
    ),
    "The forest": ("--method", "--channel", "--strategy", "--trees", "--height", "--variant", "--random-state"),
    "How CSV files are written": ("--sep", "--decimal", "--encoding"),
    "Output": ("--output", "--format", "--force", "--json", "--progress"),
}  # fmt: skip
_MANY_OPTIONS = 8


def make_program(panels: Panels) -> typer.Typer:
    """Return the program with the given verbs and groups, as `--help` shows them: by panel, and in this order.

    A verb is a function. Its parameters are the options, its docstring is the help. Paragraphs of the docstring that
    begin with "Example:" come after the options.
    """
    names: list[str] = []

    class Ordered(Program):
        order = names

    program = typer.Typer(cls=Ordered, pretty_exceptions_enable=False, rich_markup_mode="rich")
    program.callback(invoke_without_command=True, epilog="Start with:  privet demo")(_privet)
    for panel, verbs in panels.items():
        for verb in verbs:
            if isinstance(verb, typer.Typer):
                program.add_typer(verb, rich_help_panel=panel)
                names.append(str(verb.info.name))
            else:
                names.append(_add_verb(program, verb, panel))
    return program


def group(module: ModuleType, *verbs: Callable[..., None]) -> typer.Typer:
    """Return verbs under one word, which is the name of ``module``; its docstring is the help."""
    about, examples = _help_and_examples(module.__doc__)
    grouped = typer.Typer(name=module.__name__.rpartition(".")[2], rich_markup_mode="rich")
    grouped.callback(invoke_without_command=True, help=about, epilog=examples)(_show_help)
    for verb in verbs:
        _add_verb(grouped, verb)
    return grouped


def _add_verb(program: typer.Typer, verb: Callable[..., None], panel: str | None = None) -> str:
    name = verb.__name__.strip("_").replace("_", "-")
    about, examples = _help_and_examples(verb.__doc__)
    program.command(name, help=about, epilog=examples, rich_help_panel=panel)(verb)
    return name


def _help_and_examples(docstring: str | None) -> tuple[str, str]:
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    examples = [text for text in paragraphs if text.startswith("Example:")]
    return "\n\n".join(text for text in paragraphs if text not in examples), "\n\n".join(examples)


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _privet(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    # Read off the command line by Program, which must know it even where parsing fails.
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; it may quote values of rows.")
    ] = False,
) -> None:
    """Train decision trees on tables about people without giving the people away."""
    if version:
        typer.echo(f"privet {__version__}")
    else:
        _show_help(context)


class Program(TyperGroup):
    """The command line as a whole."""

    order: Sequence[str] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._notes: list[str] = []
        # Typer puts groups before verbs.
        self.commands = {name: self.commands[name] for name in self.order}
        _set_option_panels(self)

    # Typer's other parameters pass through by name.
    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]
        """Run ``args``, or the words of the command line, and exit."""
        words = list(sys.argv[1:] if args is None else args)
        # Allowed anywhere on the line: one adds it at the end of a command that has just failed.
        debug = "--debug" in words
        words = [word for word in words if word != "--debug"]
        options |= {"prog_name": "privet", "standalone_mode": False}
        try:
            shell = _shell_asked_for(words)
            if shell:
                code = self._show_completion(shell)
            else:
                code = super().main(args=["--debug", *words] if debug else words, **options)
        except Exception as error:
            if debug:
                traceback.print_exc()
            code = _report(error, as_json="--json" in words)
        if code == output.EXIT_INTERRUPTED:
            output.say("; ".join(["interrupted", *self._notes]))
        sys.exit(code or output.EXIT_OK)

    def _show_completion(self, shell: str) -> int:
        """Print the script that Typer writes where this variable is set; return the exit code."""
        os.environ["_PRIVET_COMPLETE"] = f"source_{shell}"
        script = io.StringIO()
        try:
            with redirect_stdout(script), suppress(SystemExit):
                super().main(args=[], prog_name="privet", standalone_mode=False)
        finally:
            del os.environ["_PRIVET_COMPLETE"]
        try:
            print(script.getvalue().strip(), flush=True)  # zsh wants its "#compdef" on the first line
        except BrokenPipeError:
            _drop_stdout()
            return output.EXIT_PIPE
        return output.EXIT_OK

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; a reader that has seen enough (``| head``) is no error to speak of."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_stdout()
            raise typer.Exit(output.EXIT_PIPE) from None
        except KeyboardInterrupt as interrupt:  # Typer makes an exit code of it, and nothing else
            self._notes = notes_of(interrupt)
            raise


def _set_option_panels(command: Any) -> None:
    """Give options their panels, below ``command`` too; a panel that is set already stays."""
    for below in getattr(command, "commands", {}).values():
        _set_option_panels(below)
    panel_of = {name: panel for panel, names in OPTION_PANELS.items() for name in names}
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    if len(options) < _MANY_OPTIONS:
        return
    for option in options:
        option.rich_help_panel = option.rich_help_panel or next(
            (panel_of[n] for n in option.opts if n in panel_of), None
        )


def _shell_asked_for(words: list[str]) -> str | None:
    """Return the shell whose completion script ``words`` ask for by name.

    Typer's own options take no name: they use the shell that they run in.
    """
    match words:
        case ["--show-completion", shell] if shell in _SHELLS:
            return shell
        case ["--show-completion" | "--install-completion" as option, shell]:
            raise ParameterError(
                f"{option} takes no {shell!r}: leave it out for the shell that you are in, or show the script of one "
                f"with --show-completion {'|'.join(_SHELLS)}"
            )
    return None


def _report(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong, and return the exit code for it."""
    sentence, code = _sentence_and_code(error)
    if isinstance(error, OSError) and error.errno in _NOT_WRITABLE:
        # What is left in its buffer cannot be written either.
        _drop_stdout()
        as_json = False
    if as_json:
        output.print_json({"error": sentence, "kind": type(error).__name__})
    else:
        output.say(sentence)
    return code


def _sentence_and_code(error: Exception) -> tuple[str, int]:
    if isinstance(error, typer.TyperException):
        return _usage_sentence(error), output.EXIT_USAGE
    trouble, code = _trouble_and_code(error)
    # The error that stopped the command carries a note of what was spent until then.
    return output.one_line("; ".join([trouble, *notes_of(error)])), code


def _trouble_and_code(error: Exception) -> tuple[str, int]:
    if isinstance(error, ParameterError):
        return str(error), output.EXIT_USAGE
    if isinstance(error, BudgetExceeded):
        return str(error), output.EXIT_BUDGET
    if isinstance(error, PrivetError):
        return str(error), output.EXIT_DATA
    if isinstance(error, OSError) and error.errno in _NOT_WRITABLE:
        return f"cannot write the output: {os.strerror(error.errno)}; make room, or write elsewhere", output.EXIT_USAGE
    # Its own message may quote a value.
    return _BUG.format(type(error).__name__), output.EXIT_BUG


def _usage_sentence(error: typer.TyperException) -> str:
    message = output.one_line(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "privet"
    way_out = "check its permissions" if message.endswith("is not readable") else f"see `{command} --help`"
    # Typer may close with a question: "Did you mean 'fit'?"
    joined = f"{message} S{way_out[1:]}" if message.endswith("?") else f"{message}; {way_out}"
    return joined[:1].lower() + joined[1:]


def _drop_stdout() -> None:
    """Point stdout at nothing, so that flushing what is left in its buffer fails no more."""
    try:
        descriptor = sys.stdout.fileno()
    except (io.UnsupportedOperation, AttributeError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
