"""A line of the table of claims that is judged by what was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from papers.claim import Claim, Reason
from papers.jagannathan2012.lines import NotMeasured
from papers.paper import Results


class Verdict(NamedTuple):
    """What was measured, whether the claim holds, and if not, why, and by whose fault."""

    measured: str
    holds: bool
    why: str = ""
    reason: Reason | None = None


@dataclass(frozen=True)
class Row:
    """A claim, the paper's figure or word and how we read it, and the function that judges it."""

    text: str
    paper: str
    judge: Callable[[Results], Verdict]
    reading: str = ""
    ours: bool = False

    def claim(self, results: Results) -> Claim:
        """Return the line; a scale that measures too little leaves the question open."""
        try:
            measured, holds, why, reason = self.judge(results)
        except NotMeasured:
            return Claim(self.text, self.paper, "", None, reading=self.reading, ours=self.ours)
        # What explains a failure is left out where there is none.
        why, blamed = ("", None) if holds else (why, reason)
        return Claim(self.text, self.paper, measured, bool(holds), why, blamed, self.reading, self.ours)
