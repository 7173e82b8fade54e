"""What has been measured: a file with a line of JSON for every fit, which a later run goes on from."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.utility.scores import Scores

_DIGITS = 5


class Cell(NamedTuple):
    """One fit: a method on one split of a table. Methods without a price have no epsilon.

    ``run`` tells fits apart that differ in what was drawn alone. Lines that do not name it are of run 0.
    """

    method: str
    table: str
    epsilon: float | None
    repeat: int
    run: int = 0


Results: TypeAlias = dict[Cell, Scores]


class Store:
    """A file of lines that grows while fits are scored.

    A line that the end of a run cut off is not there, and its cell is measured again. A fit that failed has a line
    that says why, and is not tried again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def scores(self) -> Results:
        """Return the scores of every fit."""
        return {_cell(line): _scores(line) for line in self._lines() if "failed" not in line}

    def failures(self) -> dict[Cell, str]:
        """Return why fits failed."""
        return {_cell(line): line["failed"] for line in self._lines() if "failed" in line}

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have no line."""
        done = {_cell(line) for line in self._lines()}
        return [cell for cell in dict.fromkeys(cells) if cell not in done]

    def add(self, cell: Cell, scores: Scores) -> None:
        """Add the line of a fit."""
        self._append({**cell._asdict(), **{name: round(value, _DIGITS) for name, value in scores._asdict().items()}})

    def add_failure(self, cell: Cell, why: str) -> None:
        """Add the line of a fit that failed."""
        self._append({**cell._asdict(), "failed": why})

    def forget(self, cells: Iterable[Cell]) -> None:
        """Take lines out of the file; no other run may be adding to it."""
        gone = set(cells)
        kept = [_text(line) for line in self._lines() if _cell(line) not in gone]
        draft = self.path.with_suffix(".draft")
        draft.write_text("".join(kept), encoding="utf-8")
        draft.replace(self.path)

    def _append(self, line: dict[str, Any]) -> None:
        """Write the line at once, on a line of its own even where the last one was cut off."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            whole = file.read() in (b"", b"\n")
            file.write((("" if whole else "\n") + _text(line)).encode())

    def _lines(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        found = (_parsed(text) for text in self.path.read_text(encoding="utf-8").splitlines())
        return [line for line in found if line is not None]


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def _parsed(text: str) -> dict[str, Any] | None:
    """Return a line, or None for one that was cut off."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _cell(line: dict[str, Any]) -> Cell:
    return Cell(**{name: line[name] for name in Cell._fields if name in line})


def _scores(line: dict[str, Any]) -> Scores:
    return Scores(*(line[name] for name in Scores._fields))
