"""What becomes of an error: one sentence and an exit code, never a traceback that nobody asked for."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from privet.cli import output
from privet.errors import BudgetExceeded, ParameterError, PrivetError

_BUG = (
    "an unexpected {} stopped the command; run it again with --debug to see where "
    "(the traceback may quote values of rows)"
)


_READING_ORDER = ("demo", "schema", "fit", "predict", "evaluate", "export")


class Program(TyperGroup):
    """The command line as a whole."""

    # Typer's other parameters pass through by name.
    def main(self, args: Sequence[str] | None = None, **options: Any) -> NoReturn:  # type: ignore[override]
        """Run ``args``, or the words of the command line, and exit."""
        words = list(sys.argv[1:] if args is None else args)
        # Allowed anywhere on the line: one adds it at the end of a command that has just failed.
        debug = "--debug" in words
        words = [word for word in words if word != "--debug"]
        options |= {"prog_name": "privet", "standalone_mode": False}
        try:
            code = super().main(args=["--debug", *words] if debug else words, **options)
        except Exception as error:
            if debug:
                traceback.print_exc()
            code = _report(error, as_json="--json" in words)
        if code == output.EXIT_INTERRUPTED:
            output.say("interrupted")
        sys.exit(code or output.EXIT_OK)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order in which one needs them."""
        known = super().list_commands(ctx)
        return [verb for verb in _READING_ORDER if verb in known] + [
            verb for verb in known if verb not in _READING_ORDER
        ]

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; a reader that has seen enough (``| head``) is no error to speak of."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_stdout()
            raise typer.Exit(output.EXIT_PIPE) from None


def _report(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong, and return the exit code for it."""
    sentence, code = _sentence_and_code(error)
    if as_json:
        output.print_json({"error": sentence, "kind": type(error).__name__})
    else:
        output.say(sentence)
    return code


def _sentence_and_code(error: Exception) -> tuple[str, int]:
    if isinstance(error, typer.TyperException):
        return _usage_sentence(error), output.EXIT_USAGE
    if isinstance(error, ParameterError):
        return output.one_line(str(error)), output.EXIT_USAGE
    if isinstance(error, BudgetExceeded):
        return output.one_line(str(error)), output.EXIT_BUDGET
    if isinstance(error, PrivetError):
        return output.one_line(str(error)), output.EXIT_DATA
    # Its own message may quote a value.
    return _BUG.format(type(error).__name__), output.EXIT_BUG


def _usage_sentence(error: typer.TyperException) -> str:
    message = output.one_line(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "privet"
    way_out = f"see `{command} --help`"
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
