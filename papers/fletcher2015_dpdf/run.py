"""The paper, ready to be run."""

from papers.accuracies import Accuracies
from papers.claim import Claim
from papers.fletcher2015_dpdf.accuracy import ACCURACY, BUDGETS, TABLES
from papers.fletcher2015_dpdf.claims import paper_claims
from papers.fletcher2015_dpdf.figures import draw
from papers.fletcher2015_dpdf.own_claims import accuracy_claims, privacy_claims
from papers.paper import Paper, Results


def claims(results: Results) -> list[Claim]:
    """Return every claim of the paper beside what was measured, and our own."""
    accuracies = Accuracies(results[ACCURACY.name], tuple(TABLES), BUDGETS)
    return [*paper_claims(accuracies), *privacy_claims(), *accuracy_claims(accuracies)]


PAPER = Paper(
    "fletcher2015-dpdf",
    "Greedy private forests with rules, against DiffPID3",
    (ACCURACY,),
    claims,
    draw,
    tables=tuple(TABLES),
)
