"""Progress of work on a file of the user's own: how far it is read, and how many rows are done."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from privet.cli.support import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Seconds between two lines where there is no terminal.
_BETWEEN_LINES = 2.0


class RowProgress:
    """A bar on stderr in a terminal; elsewhere plain lines where they are asked for, and else nothing."""

    _task: "TaskID"

    def __init__(self, what: str, *, shown: bool = True, lines: bool = False) -> None:
        self._what = what
        self._bar = _bar() if shown and sys.stderr.isatty() else None
        self._lines = lines and self._bar is None
        self._rows, self._share, self._last_line = 0, 0.0, time.monotonic()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=1.0, rows="")
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif failure == (None, None, None):
            self._say(f"{self._what} {self._rows:,} rows")

    def watch(self, share: float) -> None:
        """Note which share of the file has been read."""
        self._share = share

    def over(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, showing how many of their rows are done."""
        for batch in batches:
            yield batch
            self._rows += batch.num_rows
            if self._bar is not None:
                self._bar.update(self._task, completed=self._share, rows=f"{self._rows:,} rows")
            elif time.monotonic() - self._last_line >= _BETWEEN_LINES:
                self._say(f"{self._what} {self._rows:,} rows, {min(self._share, 1.0):.0%} of the file")
                self._last_line = time.monotonic()

    def _say(self, sentence: str) -> None:
        if self._lines:
            output.say(sentence)


def _bar() -> "Progress":
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[rows]}", markup=False), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=output.console(stderr=True), transient=True)
