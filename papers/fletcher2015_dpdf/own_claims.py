"""What was not in the paper: what its choices give away, and what it costs to be sound."""

from papers.accuracies import Accuracies, cells, complete
from papers.claim import Claim, too_little
from papers.fletcher2015_dpdf.accuracy import GINI, GINI_100, N_GINI, PAPER_1, PAPER_4, SOUND_1, SOUND_4, TABLES
from papers.fletcher2015_dpdf.leak import (
    PRICE,
    SEEMING_SIZE,
    chance_of_seeming,
    given_away,
    paper_exponent,
    sound_exponent,
)
from papers.fletcher2015_dpdf.prices import TABLE_1, prices


def privacy_claims() -> list[Claim]:
    """Return what can be worked out without measuring."""
    return [price_of_a_question(), price_of_a_choice(), price_of_a_sound_choice()]


def accuracy_claims(accuracies: Accuracies) -> list[Claim]:
    """Return how sound and unsound forms compare."""
    return [
        ahead(accuracies, SOUND_1, PAPER_1, "One tree: the sound form is on average ahead of the paper's"),
        ahead(accuracies, SOUND_4, PAPER_4, "Four trees: the sound form is on average ahead of the paper's"),
        ahead(accuracies, SOUND_1, GINI_100, "One tree in the sound form is on average ahead of DiffPID3, 100 rows"),
        ahead(
            accuracies, SOUND_1, GINI, "One tree in the sound form is on average ahead of DiffPID3, its authors' rule"
        ),
        ahead(accuracies, SOUND_1, N_GINI, "One tree in the sound form is on average ahead of DiffPID3 with n*Gini"),
    ]


def price_of_a_question() -> Claim:
    """Judge Table 1, to the last printed digit."""
    own = prices()
    equal = sum(
        f"{found:.3f}" == f"{printed:.3f}"
        for method, row in TABLE_1.items()
        for found, printed in zip(own[method], row, strict=True)
    )
    n_prices = sum(map(len, TABLE_1.values()))
    text, paper = "Table 1: epsilon of a question, by method and budget", f"{n_prices} prices"
    return Claim(text, paper, f"{equal} of {n_prices} equal", equal == n_prices)


def price_of_a_choice() -> Claim:
    """Judge Theorem 1 as the paper uses it."""
    worst, likelier = given_away(paper_exponent(SEEMING_SIZE), PRICE)
    seldom = round(1 / chance_of_seeming(SEEMING_SIZE, PRICE))
    measured = (
        f"{worst:.3f} at a node of one row that seems to hold {SEEMING_SIZE:,}; {likelier:.3f} for the likelier choice"
    )
    why = (
        "the sensitivity is taken at the noisy size, and a node may be far smaller than it seems: at this price one "
        f"node of one row in {seldom} seems as large, or larger"
    )
    holds = worst <= PRICE
    text = "Theorem 1: at the noisy size of a node a choice costs no more than its epsilon"
    return Claim(text, f"{PRICE:g}", measured, holds, "" if holds else why, "paper")


def price_of_a_sound_choice() -> Claim:
    """Judge the sound score on the same neighbours."""
    worst, _ = given_away(sound_exponent, PRICE)
    text = "The sound choice, by n*Gini with sensitivity 2, costs no more than its epsilon on the same rows"
    return Claim(text, "", f"{worst:.4f} of {PRICE:g}", worst <= PRICE, ours=True)


def ahead(accuracies: Accuracies, better: str, worse: str, text: str) -> Claim:
    """Judge the mean over all cells, and tell where it is otherwise."""
    lead = accuracies.lead(better, worse)
    if not complete(lead):
        return too_little(text, ours=True)
    mean, won = float(lead.mean().mean()), int((lead > 0).to_numpy().sum())
    measured = f"{mean:+.1f} points on average, ahead in {won} of {lead.size} cells"
    return Claim(text, "", measured, mean > 0, f"behind in {cells(lead < 0, TABLES)}", "data set", ours=True)
