"""Table 1: what a question costs, by method and budget, as privet's plans say."""

from papers.fletcher2015_dpdf.accuracy import BUDGETS, GINI, PAPER_1, PAPER_4, PRIVATE, classifier
from privet import Schema
from privet.datasets import tic_tac_toe

# Rounded to thousandths, as printed.
TABLE_1 = {
    GINI: (0.010, 0.025, 0.050, 0.100, 0.200),
    PAPER_1: (0.011, 0.028, 0.056, 0.111, 0.222),
    PAPER_4: (0.003, 0.007, 0.014, 0.028, 0.056),
}


def price(method: str, schema: Schema, budget: float) -> float:
    """Return the epsilon of one question; a plan's steps put the same question to all trees."""
    n_trees = PRIVATE[method][1].get("n_trees", 1)
    plan = classifier(method, schema, budget).plan()
    (epsilon,) = {round(step.epsilon, 12) for step in plan.steps}
    return float(epsilon / n_trees)


def prices() -> dict[str, tuple[float, ...]]:
    """Return the table as privet has it."""
    schema = tic_tac_toe().schema
    return {method: tuple(price(method, schema, budget) for budget in BUDGETS) for method in TABLE_1}
