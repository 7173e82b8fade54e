"""What Fig. 1 shows: the accuracy of DP-RF and Private-RDT on nine tables at seven budgets."""

import math
from collections.abc import Iterator
from typing import Any

from sklearn.dummy import DummyClassifier

from papers.cross_validation import accuracy, table
from papers.experiment import Cell, Experiment, Scale
from privet import DPRFClassifier, PrivateRDTClassifier, Schema

TABLES = {
    "car-evaluation": "Car Evaluation",
    "tic-tac-toe": "Tic-Tac-Toe",
    "pima-diabetes": "Pima Diabetes",
    "page-blocks": "Page Blocks",
    "mushroom": "Mushroom",
    "nursery": "Nursery",
    "chess-krk": "Chess (King-Rook vs. King)",
    "bank-marketing": "Bank Marketing",
    "adult": "Adult",
}
BUDGETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
# The paper cuts numbers into so many cells of equal width, for both methods.
BINS = 5
RUNS = 30
FEWER_RUNS = 5
# Of these a run takes seconds.
LARGE = ("bank-marketing", "adult")

DP_RF, ROOT_C, PRIVATE_RDT = "DP-RF", "DP-RF, sqrt(C)", "Private-RDT"
MOST_FREQUENT = "most frequent class"
PRIVATE = (DP_RF, PRIVATE_RDT, ROOT_C)


def n_runs(scale: Scale, name: str, method: str) -> int:
    """Return the paper's 30, fewer where a run takes long or the paper has none."""
    if scale == "quick" or method == MOST_FREQUENT:
        return 1
    return FEWER_RUNS if name in LARGE or method == ROOT_C else RUNS


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield the first run of everything, then the second, and so on."""
    for run in range(RUNS):
        for name in TABLES:
            for method in (*PRIVATE, MOST_FREQUENT):
                if run < n_runs(scale, name, method):
                    budgets = BUDGETS if method in PRIVATE else (math.inf,)
                    yield from ((name, method, budget, run) for budget in budgets)


def classifier(method: str, schema: Schema, budget: float) -> Any:
    """Return what a method's name stands for."""
    if method == PRIVATE_RDT:
        return PrivateRDTClassifier(schema, epsilon=budget, n_trees=10)
    if method == MOST_FREQUENT:
        return DummyClassifier(strategy="most_frequent")
    return DPRFClassifier(schema, epsilon=budget, noise_factor="classes" if method == DP_RF else "sqrt_classes")


def measure(name: str, method: str, budget: float, run: int) -> list[tuple[float]]:
    """Return the accuracy of one run of cross-validation, with fresh trees and fresh noise in every fold."""
    data = table(name)
    model = classifier(method, data.schema.with_bins(BINS), budget)
    return [(accuracy(model, data.X, data.y, run=run),)]


ACCURACY = Experiment("accuracy", ("table", "method", "epsilon", "run"), ("accuracy",), cells, measure)
