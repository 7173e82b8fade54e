"""One run: what was measured, on what machine, in files that a page is made of."""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from benchmarks.speed.curve import Curve
from benchmarks.speed.harness import Bar

FOLDER = Path(__file__).parent / "results"
_FILE = "speed.json"


@dataclass(frozen=True)
class Group:
    """Bars that one script measured, and how."""

    title: str
    about: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Results:
    """All of a run; ``command`` is how it was started."""

    machine: dict[str, str]
    command: str
    groups: tuple[Group, ...] = field(default=())
    curves: tuple[Curve, ...] = field(default=())

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The bars of all groups."""
        return tuple(bar for group in self.groups for bar in group.bars)

    def save(self, folder: Path = FOLDER) -> None:
        """Write ``speed.json``, and the same as two tables for other programs."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (folder / _FILE).write_text(text + "\n", encoding="utf-8")
        bars = [_bar_line(group.title, bar) for group in self.groups for bar in group.bars]
        _write_csv(folder / "bars.csv", ("group", "bar", "ours", "theirs", "measured", "unit", "target", "holds"), bars)
        points = [
            (curve.what, curve.factor, f"{size:.0f}", f"{value:.6g}", curve.unit)
            for curve in self.curves
            for size, value in curve.points
        ]
        _write_csv(folder / "growth.csv", ("what", "factor", "size", "measured", "unit"), points)

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Self:
        """Read what `save` wrote."""
        data = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        groups = tuple(
            Group(group["title"], group["about"], tuple(Bar(**bar) for bar in group["bars"]))
            for group in data["groups"]
        )
        return cls(data["machine"], data["command"], groups, tuple(_curve(curve) for curve in data["curves"]))


def _curve(data: dict[str, Any]) -> Curve:
    return Curve(**{**data, "points": tuple((size, value) for size, value in data["points"])})


def _bar_line(group: str, bar: Bar) -> tuple[str, ...]:
    measured = "" if bar.result is None else f"{bar.result:.4g}"
    target = "" if bar.target is None else f"{'>=' if bar.at_least else '<='} {bar.target:.4g}"
    return group, bar.name, bar.ours, bar.theirs, measured, bar.unit, target, bar.verdict


def _write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])
