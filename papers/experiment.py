"""An experiment: cells to measure, each once, kept in a CSV file that a later run goes on from.

A cell holds everything that its measurement depends on, as plain values: a quick run and a full one can share a file.
"""

import csv
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

Scale: TypeAlias = Literal["quick", "full"]
Cell: TypeAlias = tuple[Any, ...]
# Told after every cell how many of how many there are.
Watch: TypeAlias = Callable[[int, int], None]


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
    measure: Callable[..., Sequence[tuple[Any, ...]]]

    def path(self, folder: Path) -> Path:
        """Return where the lines are kept."""
        return folder / f"{self.name}.csv"

    def read(self, folder: Path, scale: Scale) -> pd.DataFrame:
        """Return the lines of a scale's cells that have been measured."""
        lines = _read(self.path(folder), (*self.settings, *self.findings))
        wanted = {self._text(cell) for cell in self.cells(scale)}
        kept = [line for line in lines if tuple(line[: len(self.settings)]) in wanted]
        table = pd.DataFrame(kept, columns=[*self.settings, *self.findings])
        return table.apply(_numbers)

    def missing(self, folder: Path, scale: Scale) -> list[Cell]:
        """Return the cells of a scale that have not been measured."""
        lines = _read(self.path(folder), (*self.settings, *self.findings))
        done = {tuple(line[: len(self.settings)]) for line in lines}
        return [cell for cell in dict.fromkeys(self.cells(scale)) if self._text(cell) not in done]

    def run(self, folder: Path, scale: Scale, *, jobs: int = 1, watch: Watch | None = None) -> None:
        """Measure what is missing; a line is written as soon as its cell is measured."""
        missing = self.missing(folder, scale)
        total = len(set(self.cells(scale)))
        tell = watch or _quietly
        tell(total - len(missing), total)
        if not missing:
            return
        self.path(folder).parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(min(jobs, len(missing))) as pool:
            futures = {pool.submit(self.measure, *cell): cell for cell in missing}
            try:
                for count, future in enumerate(as_completed(futures), start=total - len(missing) + 1):
                    self._write(folder, futures[future], future)
                    tell(count, total)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def settle(self, folder: Path) -> None:
        """Put the lines in order: by the cells of the full scale, which the order of measuring is not."""
        header = (*self.settings, *self.findings)
        order = {self._text(cell): i for i, cell in enumerate([*self.cells("full"), *self.cells("quick")])}
        lines = _read(self.path(folder), header)
        lines.sort(key=lambda line: order.get(tuple(line[: len(self.settings)]), len(order)))
        draft = self.path(folder).with_suffix(".draft")
        with draft.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *lines])
        draft.replace(self.path(folder))

    def _write(self, folder: Path, cell: Cell, measured: "Future[Sequence[tuple[Any, ...]]]") -> None:
        path = self.path(folder)
        fresh = not path.exists()
        lines = [(*self._text(cell), *map(_shown, found)) for found in measured.result()]
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([(*self.settings, *self.findings), *lines] if fresh else lines)
            file.flush()
            os.fsync(file.fileno())

    def _text(self, cell: Cell) -> tuple[str, ...]:
        return tuple(_shown(value) for value in cell)


def _quietly(_done: int, _total: int) -> None:
    pass


def _shown(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _read(path: Path, header: tuple[str, ...]) -> list[list[str]]:
    """Return the whole lines of a file; one that a crash cut short is measured again."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))
    if not lines or tuple(lines[0]) != header:
        raise ValueError(f"{path} has other columns than this experiment; move it away, and the run starts anew")
    return [line for line in lines[1:] if len(line) == len(header)]


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column
