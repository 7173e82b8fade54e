"""A claim of a paper beside what was measured, and whether it holds."""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HEADER = ("claim", "paper", "measured", "holds?", "why")


@dataclass(frozen=True)
class Claim:
    """One line of a paper's table of claims.

    Parameters
    ----------
    text
        What is claimed, and where: "Fig. 4: batches cost a gradual loss".
    paper, measured
        The paper's figure and ours, as text.
    holds
        None where this scale measured too little to tell.
    why
        The reason where it does not hold, or holds only in part.
    """

    text: str
    paper: str
    measured: str
    holds: bool | None
    why: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the line's columns."""
        verdict = "not measured" if self.holds is None else "yes" if self.holds else "no"
        return self.text, self.paper, self.measured, verdict, self.why


def judged(text: str, paper: str, measured: str, numbers: Iterable[float], holds: bool, why: str = "") -> Claim:
    """Return the claim, or one that is not judged where a number that it rests on is missing, or all are."""
    given = list(numbers)
    if not given or any(map(math.isnan, given)):
        return Claim(text, paper, "", None)
    return Claim(text, paper, measured, holds, why)


def too_little(text: str, paper: str) -> Claim:
    """Return the claim where cells are missing."""
    return Claim(text, paper, "not all cells measured", None)


def write_claims(folder: Path, claims: Sequence[Claim], *, command: str) -> None:
    """Write the table as ``claims.csv`` and, to read, as ``claims.md``."""
    lines = [HEADER, *(claim.cells() for claim in claims)]
    with (folder / "claims.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    rows = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    rows.insert(1, " | ".join("---" for _ in HEADER))
    text = "\n".join(f"| {row} |" for row in rows)
    (folder / "claims.md").write_text(f"Made by `{command}`.\n\n{text}\n", encoding="utf-8")
