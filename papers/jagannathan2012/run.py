"""The paper, ready to be run."""

from papers.claim import Claim
from papers.jagannathan2012 import batches, curator_claims, epsilons, horizontal, parts_claims, table1, vertical
from papers.jagannathan2012.drawing import draw
from papers.jagannathan2012.tables import TREES
from papers.paper import Paper, Results


def claims(results: Results) -> list[Claim]:
    """Return every claim of the paper beside what was measured."""
    rows = (
        *curator_claims.table_1(),
        *curator_claims.over_epsilon(),
        *parts_claims.in_batches(),
        *parts_claims.among_parties(),
        *parts_claims.in_halves(),
    )
    return [row.claim(results) for row in rows]


PAPER = Paper(
    "jagannathan2012",
    "Private random decision trees: over epsilon, in batches, among parties",
    tuple(each.EXPERIMENT for each in (table1, epsilons, batches, vertical, horizontal)),
    claims,
    draw,
    tables=tuple(TREES),
)
