"""The paper as a whole: what is measured, claimed and drawn."""

from collections.abc import Sequence
from pathlib import Path

from papers.claim import Claim
from papers.paper import Paper, Results
from papers.szucs2013.anonymity import ANONYMITY
from papers.szucs2013.anonymity_claims import anonymity_claims
from papers.szucs2013.coding import CODING
from papers.szucs2013.coding_claims import coding_claims
from papers.szucs2013.curves import Curves
from papers.szucs2013.deniability_claims import deniability_claims, sibling_learns
from papers.szucs2013.forest import FOREST
from papers.szucs2013.forest_claims import forest_claims
from papers.szucs2013.mirrors import MIRRORS
from papers.szucs2013.pictures import draw_anonymity, draw_forest
from papers.szucs2013.plain_forest import PLAIN_FOREST
from papers.szucs2013.sibling import SIBLING
from papers.szucs2013.split import TRAINING_ROWS
from papers.szucs2013.votes import VOTES


def claims(results: Results) -> list[Claim]:
    """Return every claim beside what was measured."""
    return [
        *anonymity_claims(results[ANONYMITY.name]),
        *coding_claims(results[CODING.name]),
        *forest_claims(_curves(results)),
        *deniability_claims(results[FOREST.name], results[MIRRORS.name]),
        sibling_learns(results[SIBLING.name]),
    ]


def draw(results: Results, folder: Path) -> Sequence[Path]:
    """Draw the figures, the second for every table that was measured."""
    curves = _curves(results)
    tables = results[FOREST.name]["table"].unique()
    return [draw_anonymity(results[ANONYMITY.name], folder), *(draw_forest(curves, table, folder) for table in tables)]


def _curves(results: Results) -> Curves:
    return Curves(results[FOREST.name], results[PLAIN_FOREST.name], results[VOTES.name])


PAPER = Paper(
    name="szucs2013",
    title="Random forests from records that were flipped as a whole, or not",
    experiments=(ANONYMITY, CODING, MIRRORS, PLAIN_FOREST, VOTES, FOREST, SIBLING),
    claims=claims,
    draw=draw,
    tables=tuple(TRAINING_ROWS),
)
