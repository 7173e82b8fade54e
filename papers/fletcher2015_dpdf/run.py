"""The paper, ready to be run."""

from papers.accuracies import Accuracies
from papers.claim import Claim
from papers.fletcher2015_dpdf.accuracy import ACCURACY, BUDGETS, IN_ORDER, TABLES
from papers.fletcher2015_dpdf.claims import paper_claims
from papers.fletcher2015_dpdf.figures import draw
from papers.fletcher2015_dpdf.own_claims import accuracy_claims, privacy_claims
from papers.paper import Paper, Results


def claims(results: Results) -> list[Claim]:
    """Return every claim of the paper beside what was measured, and our own."""
    accuracies, in_order = (Accuracies(results[each.name], tuple(TABLES), BUDGETS) for each in (ACCURACY, IN_ORDER))
    return [*paper_claims(accuracies, in_order), *privacy_claims(), *accuracy_claims(accuracies)]


PAPER = Paper(
    "fletcher2015-dpdf",
    "Greedy private forests with rules, against DiffPID3",
    (ACCURACY, IN_ORDER),
    claims,
    draw,
    tables=tuple(TABLES),
)
