"""A line of the table of claims that is judged by what was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from papers.claim import Claim
from papers.jagannathan2012.lines import NotMeasured
from papers.paper import Results


class Verdict(NamedTuple):
    """What was measured, whether the claim holds, and why not, or by which rule."""

    measured: str
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Row:
    """A claim, the paper's figure, and the function that judges it."""

    text: str
    paper: str
    judge: Callable[[Results], Verdict]

    def claim(self, results: Results) -> Claim:
        """Return the line; a scale that measures too little leaves the question open."""
        try:
            measured, holds, why = self.judge(results)
        except NotMeasured:
            return Claim(self.text, self.paper, "", None)
        return Claim(self.text, self.paper, measured, bool(holds), why)
