"""A plan before, a ledger after.

A plan reads no row and costs nothing: it says what a fit would spend on what, and what noise would do. A ledger
is the file in which the owner of the rows keeps account. Each fit reserves its epsilon there before it reads a row, and
what exceeds the budget is refused.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from privet import DPDFClassifier, Ledger, PrivateForestClassifier, PrivateRDTClassifier
from privet.datasets import agrawal
from privet.errors import BudgetExceeded

METHODS = {"PrivateForest": PrivateForestClassifier, "PrivateRDT": PrivateRDTClassifier, "DPDF": DPDFClassifier}
COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00", "#999999", "#F0E442", "#000000")
ASKED = (1.0, 0.5, 0.25, 1.0, 0.25)
BUDGET = 2.0


def main(picture: Path, n_rows: int = 20_000) -> None:
    """Draw how three methods would split their budget, and what became of five fits under one ledger."""
    people = agrawal(n_rows, function=4, random_state=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for row, method in enumerate(METHODS.values()):
        draw_plan(left, row, method(people.schema, epsilon=1.0).plan())
    left.set_yticks(range(len(METHODS)), METHODS)
    left.set_ylim(len(METHODS) - 0.35, -0.45)
    left.set(xlabel="share of epsilon = 1, release by release", title="plans: nothing is spent")
    with tempfile.TemporaryDirectory() as folder:
        draw_fits(right, Ledger(f"{folder}/ledger.db", dataset="people", epsilon=BUDGET), people)
    right.set(xlabel="fit", ylabel="epsilon spent in all", ylim=(0, 1.5 * BUDGET), title="a ledger: five fits ask")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def draw_plan(ax, row, plan) -> None:
    """Draw the releases of a plan beside each other, and name those that have room for it."""
    start = 0.0
    for step, colour in zip(plan.steps, COLOURS, strict=False):
        ax.barh(row, step.epsilon, left=start, color=colour, edgecolor="white", height=0.55)
        if step.epsilon > 0.3:
            ax.text(start + step.epsilon / 2, row, step.what, ha="center", va="center", color="white")
        start += step.epsilon
    worth = f"{plan.reliability:.0%} of votes reliable"
    if hasattr(plan, "expected_loss"):
        worth = f"expected loss {100 * plan.expected_loss.mean:.2g} points"
    told = f"noise of a leaf {plan.noise_std:.3g} rows; {worth}"
    ax.text(0, row + 0.33, told, va="top", fontsize=8.5, color="0.3")


def draw_fits(ax, ledger, people) -> None:
    """Fit at each epsilon that is asked, and draw what the ledger says after it."""
    for number, epsilon in enumerate(ASKED, start=1):
        before = ledger.spent
        ax.bar(number, before, color="0.85")
        try:
            PrivateForestClassifier(people.schema, epsilon=epsilon, ledger=ledger).fit(people.X, people.y)
        except BudgetExceeded as refusal:
            print(refusal)
            ax.bar(number, epsilon, bottom=before, color="none", edgecolor="#D55E00", hatch="///")
            ax.text(number, before + epsilon + 0.03, "refused", ha="center", color="#D55E00")
        else:
            ax.bar(number, ledger.spent - before, bottom=before, color="#0072B2")
    ax.axhline(BUDGET, color="0.3", linestyle="--")
    ax.text(0.6, BUDGET + 0.03, "the budget", color="0.3")


if __name__ == "__main__":
    main(Path("budget.png"))
