"""What becomes of an error: one sentence and an exit code, never a traceback that nobody asked for."""

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from privet.cli.support import output
from privet.cli.support.help_panels import in_reading_order, set_panels
from privet.errors import BudgetExceeded, ParameterError, PrivetError, notes_of

_BUG = (
    "an unexpected {} stopped the command; run it again with --debug to see where "
    "(the traceback may quote values of rows)"
)
# What a full, failing or read-only disk answers when stdout goes to a file on it.
_NOT_WRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


class Program(TyperGroup):
    """The command line as a whole."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._notes: list[str] = []
        set_panels(self.commands)

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

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order in which one needs them."""
        return in_reading_order(super().list_commands(ctx))

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


def _shell_asked_for(words: list[str]) -> str | None:
    """Return the shell whose completion script ``words`` ask for by name.

    Typer's own options know no name and take the shell that they run in.
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
    # What was spent by then is noted on whatever error stopped the command.
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
