"""Answers about the rows of a file, written batch by batch: to a file, whole or not at all, or to stdout."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from privet.cli.support import output
from privet.cli.support.files import check_output
from privet.cli.support.progress import Progress
from privet.errors import ParameterError
from privet.files.whole_file import whole_bytes

STDOUT = Path("-")


class RowTable(Protocol):
    """A table about the rows of a file; nothing is read before it is gone through."""

    @property
    def names(self) -> list[str]:
        """The columns."""

    def batches(self, watch: Callable[[float], None] | None = None) -> Iterator[Any]:
        """Yield one Arrow batch after the other."""

    def nothing(self) -> Any:
        """Return a batch without rows."""


def check_destination(path: Path, *, what: str, force: bool, inputs: tuple[Path, ...]) -> None:
    """Refuse a file that cannot be written, before any row is read."""
    if path == STDOUT:
        return
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise ParameterError(
            f"{what} are written as CSV or Parquet; name the output .csv, .csv.gz or .parquet, not {path.name!r}"
        )
    check_output(path, force=force, inputs=inputs)


def write_answers(
    answers: RowTable,
    destination: Path,
    *,
    done: str,
    lines: bool,
    as_json: Callable[[Iterator[Any]], dict[str, Any]] | None,
) -> None:
    """Write answers to ``destination``; to stdout as CSV, or as the JSON object that ``as_json`` makes of all of them.

    ``done`` is what has been done to the rows so far, for the progress; ``lines`` asks for it without a terminal.
    """
    on_screen = destination == STDOUT and sys.stdout.isatty()
    with Progress(done, shown=not on_screen, lines=lines) as shown:
        batches = shown.over(answers.batches(shown.read))
        if destination != STDOUT:
            _write_file(destination, answers, batches)
        elif as_json is not None:
            output.print_json(as_json(batches))
        else:
            _write_stdout(answers, batches, on_screen=on_screen)


def say_where(destination: Path, model_file: Path, *, what: str, as_json: bool) -> None:
    """Say where the answers are, if they are in a file."""
    if destination == STDOUT:
        return
    if as_json:
        output.print_json({"model": str(model_file), "output": str(destination)})
    else:
        output.say(f"{what} written to {str(destination)!r}")


def _write_file(destination: Path, answers: RowTable, batches: Iterator[Any]) -> None:
    from privet.cli.support.predictions import write_csv, write_parquet

    with whole_bytes(destination) as file:
        if destination.suffix == ".parquet":
            write_parquet(file, answers.nothing(), batches)
        else:
            write_csv(file, answers.names, batches)


def _write_stdout(answers: RowTable, batches: Iterator[Any], *, on_screen: bool) -> None:
    from privet.cli.support.predictions import write_csv

    if on_screen:
        write_csv(_Screen(), answers.names, batches)  # type: ignore[arg-type]
    else:
        write_csv(sys.stdout.buffer, answers.names, batches)


class _Screen:
    """A terminal, which no value of a table may drive."""

    def write(self, data: bytes) -> int:
        lines = bytes(data).decode().split("\n")
        sys.stdout.write("\n".join(output.printable(line) for line in lines))
        return len(data)
