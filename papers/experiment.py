"""An experiment: cells to measure, each once, kept in a CSV file that a later run goes on from.

A cell holds everything that its measurement depends on, as plain values: a quick run and a full one can share a file.
"""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from papers import workers as processes
from papers.workers import CellFailed, Lines, Workers
from privet.errors import DataError

Cell: TypeAlias = processes.Cell
Scale: TypeAlias = Literal["quick", "full"]
# Told after every cell how many of how many there are.
Watch: TypeAlias = Callable[[int, int], None]


class ExperimentFailed(Exception):
    """One of its cells could not be measured: which one; the cause is the error that stopped it."""


@dataclass(frozen=True)
class Experiment:
    """What one figure or table of a paper needs.

    Parameters
    ----------
    name
        The stem of its CSV file.
    settings
        The columns that say what was tried; a cell has a value for each: text, a whole number or a float.
    findings
        The columns that were measured.
    cells
        Returns the cells of a scale; every quick cell that is also a full one is measured once.
    measure
        A module's function, so that a worker process can be sent it: takes a cell's values and returns the lines of
        findings, most often one.
    """

    name: str
    settings: tuple[str, ...]
    findings: tuple[str, ...]
    cells: Callable[[Scale], Iterable[Cell]]
    measure: Callable[..., Lines]

    @property
    def header(self) -> tuple[str, ...]:
        """All columns."""
        return *self.settings, *self.findings

    def path(self, folder: Path) -> Path:
        """Return where the lines are kept."""
        return folder / f"{self.name}.csv"

    def read(self, folder: Path, scale: Scale) -> pd.DataFrame:
        """Return the lines of a scale's cells that have been measured."""
        wanted = {self._text(cell) for cell in self.cells(scale)}
        kept = [line for line in _read(self.path(folder), self.header) if self._tried(line) in wanted]
        columns = zip(*kept, strict=True) if kept else [()] * len(self.header)
        return pd.DataFrame({name: _numbers(column) for name, column in zip(self.header, columns, strict=True)})

    def missing(self, folder: Path, scale: Scale) -> list[Cell]:
        """Return the cells of a scale that have not been measured."""
        done = {self._tried(line) for line in _read(self.path(folder), self.header)}
        return [cell for cell in dict.fromkeys(self.cells(scale)) if self._text(cell) not in done]

    def run(
        self, folder: Path, scale: Scale, *, jobs: int = 1, watch: Watch | None = None, workers: Workers | None = None
    ) -> None:
        """Measure what is missing, with ``workers`` or else ``jobs`` new ones; each cell is written as it comes."""
        missing = self.missing(folder, scale)
        total = len(set(self.cells(scale)))
        tell = watch or _quietly
        tell(total - len(missing), total)
        if not missing:
            return
        folder.mkdir(parents=True, exist_ok=True)
        _cut_to_whole_lines(self.path(folder))
        with Workers(jobs) if workers is None else nullcontext(workers) as own:
            for count, (cell, lines) in enumerate(self._measured(own, missing), start=total - len(missing) + 1):
                self._append(folder, cell, lines)
                tell(count, total)

    def settle(self, folder: Path) -> None:
        """Put the lines in order: by the cells of the full scale, which the order of measuring is not."""
        ordered = dict.fromkeys(map(self._text, [*self.cells("full"), *self.cells("quick")]))
        place = {cell: i for i, cell in enumerate(ordered)}
        lines = _read(self.path(folder), self.header)
        lines.sort(key=lambda line: place.get(self._tried(line), len(place)))
        draft = self.path(folder).with_suffix(".draft")
        draft.write_text(_as_csv([self.header, *lines]), encoding="utf-8", newline="")
        draft.replace(self.path(folder))

    def told(self, cell: Cell) -> str:
        """Return a cell in words: "table=nursery, run=0"."""
        return ", ".join(f"{name}={value}" for name, value in zip(self.settings, self._text(cell), strict=True))

    def _measured(self, workers: Workers, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Lines]]:
        try:
            yield from workers.measure(self.measure, cells)
        except CellFailed as failed:
            raise ExperimentFailed(f"{self.name}: nothing came of {self.told(failed.cell)}") from failed.__cause__

    def _append(self, folder: Path, cell: Cell, found: Lines) -> None:
        path = self.path(folder)
        lines: list[Sequence[str]] = [] if path.exists() else [self.header]
        lines += [(*self._text(cell), *map(_shown, findings)) for findings in found]
        # In one piece, so that a crash leaves all lines of a cell or none.
        with path.open("a", newline="", encoding="utf-8") as file:
            file.write(_as_csv(lines))
            file.flush()
            os.fsync(file.fileno())

    def _text(self, cell: Cell) -> tuple[str, ...]:
        return tuple(map(_shown, cell))

    def _tried(self, line: Sequence[str]) -> tuple[str, ...]:
        return tuple(line[: len(self.settings)])


def _quietly(_done: int, _total: int) -> None:
    pass


def _shown(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _as_csv(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _read(path: Path, header: tuple[str, ...]) -> list[list[str]]:
    """Return the whole lines of a file; one that a crash cut short is measured again."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))
    if lines and tuple(lines[0]) != header:
        raise DataError(f"{str(path)!r} has other columns than this experiment; move it away, and the run starts anew")
    return [line for line in lines[1:] if len(line) == len(header)]


def _cut_to_whole_lines(path: Path) -> None:
    """Take away what a crash left of a line, lest the next one be written behind it."""
    if not path.exists():
        return
    whole = path.read_bytes().rpartition(b"\n")[0]
    if whole:
        os.truncate(path, len(whole) + 1)
    else:
        path.unlink()


def _numbers(column: Sequence[str]) -> "pd.Series[Any]":
    texts = pd.Series(column, dtype=object)
    try:
        return pd.to_numeric(texts)
    except ValueError:
        return texts
