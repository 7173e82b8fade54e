"""A claim of a paper, or of ours, beside what was measured, and whether it holds."""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self, TypeAlias

HEADER = ("claim", "paper", "measured", "holds?", "reason", "why")
# Papers print whole per cents: so many points a figure may lie beside the printed one.
ROUNDING = 0.5
# What the column "paper" says of a claim that is ours.
OURS = "ours"
# What a failing claim fails by: it is wrong as printed, or the set-up, theirs or ours, decides it, or the rows do.
Reason: TypeAlias = Literal["paper", "protocol", "data set"]


@dataclass(frozen=True)
class Claim:
    """One line of a paper's table of claims.

    Parameters
    ----------
    text
        What is claimed, and where: "Fig. 4: batches cost a gradual loss".
    paper, measured
        The paper's figure or word, and what was measured, as text.
    holds
        None where this scale measured too little to tell.
    why
        How the reason is known where it does not hold; else what there is to add.
    reason
        Whether the paper, the protocol or the data set is at fault if it does not hold.
    reading
        What we take the paper's word for, where it gives no figure: "within 2 points".
    ours
        Whether the claim is ours; ``paper`` and ``reading`` are then left empty.
    """

    text: str
    paper: str
    measured: str
    holds: bool | None
    why: str = ""
    reason: Reason | None = None
    reading: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        """Refuse a claim that is said to be ours and the paper's at once."""
        if self.ours and (self.paper or self.reading):
            raise ValueError(f"{self.text!r} is a claim of ours; leave out what the paper says")

    @property
    def source(self) -> str:
        """What the paper says and how we read it, or that the claim is ours."""
        return OURS if self.ours else f"{self.paper}; our reading: {self.reading}" if self.reading else self.paper

    @property
    def fault(self) -> str:
        """The reason of a claim that does not hold; of any other it is empty."""
        return self.reason or "" if self.holds is not None and not self.holds else ""

    def cells(self) -> tuple[str, ...]:
        """Return the line's columns."""
        verdict = "not measured" if self.holds is None else "yes" if self.holds else "no"
        return self.text, self.source, self.measured, verdict, self.fault, self.why

    def judged_by(self, numbers: Iterable[float]) -> Self:
        """Return the claim, or one that is not judged where a number that it rests on is missing, or all are."""
        given = list(numbers)
        missing = not given or any(map(math.isnan, given))
        return replace(self, measured="", holds=None, why="") if missing else self


def too_little(text: str, paper: str = "", *, reading: str = "", ours: bool = False) -> Claim:
    """Return the claim where cells are missing."""
    return Claim(text, paper, "not all cells measured", None, reading=reading, ours=ours)


def write_claims(folder: Path, claims: Sequence[Claim], *, command: str) -> None:
    """Write the table as ``claims.csv`` and, to read, as ``claims.md``."""
    lines = [HEADER, *(claim.cells() for claim in claims)]
    with (folder / "claims.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    rows = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    rows.insert(1, " | ".join("---" for _ in HEADER))
    text = "\n".join(f"| {row} |" for row in rows)
    (folder / "claims.md").write_text(f"Made by `{command}`.\n\n{text}\n", encoding="utf-8")
