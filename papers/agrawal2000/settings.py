"""What the paper leaves open of its trees, tried where they fall short: purity and least node, one by one."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd

from papers.agrawal2000.accuracy import ORIGINAL, STRATEGIES, TEST_ROWS, TRAINING_ROWS
from papers.agrawal2000.people import NOISES, channel, disturbed, people, schema
from papers.experiment import Experiment, Scale
from papers.workers import Cell
from privet import ReconstructionTreeClassifier

HARD = (2, 3)
PRIVACIES = {"quick": (0.5,), "full": (0.25, 0.5, 1.0)}
# The share of one class at which a node stays a leaf, and the least rows of one that is split; the first are ours.
SETTINGS = ((0.99, 500), (0.95, 500), (1.0, 500), (0.99, 100), (0.99, 2_000))


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every hard function under both noises."""
    yield from ((f, 0, TRAINING_ROWS, noise, p) for p, f, noise in product(PRIVACIES[scale], HARD, NOISES))


def measure(function: int, run: int, rows: int, noise: str, privacy: float) -> list[tuple[float, int, str, float]]:
    """Train ByClass and Local with every setting on one table, and Original on its clear rows."""
    seed = 1_000 * function + run
    train, test = people(rows, function, seed), people(TEST_ROWS, function, 500_000 + seed)
    through = channel(noise, privacy)
    answers, lines = disturbed(train.X, through), []
    for purity, min_rows in SETTINGS:
        limits: dict[str, Any] = {"purity": purity, "min_rows": min_rows}
        clear = ReconstructionTreeClassifier(schema(), **limits).fit(train.X, train.y)
        scores = {ORIGINAL: clear.score(test.X, test.y)}
        for name in ("ByClass", "Local"):
            model = ReconstructionTreeClassifier(
                channel=through, strategy=STRATEGIES[name], cautious=False, random_state=run, **limits
            )
            scores[name] = model.fit(answers, train.y).score(test.X, test.y)
        lines += [(purity, min_rows, name, round(100 * score, 3)) for name, score in scores.items()]
    return lines


def least_gap(lines: pd.DataFrame, function: int, privacy: float) -> float:
    """Return how far below Original the worst of ByClass and Local is at best, over all settings; NaN if not tried."""
    found = lines[(lines["function"] == function) & (lines["privacy"] == privacy)]
    if found.empty:
        return math.nan
    scores = found.pivot_table(index=["purity", "least_node", "noise"], columns="algorithm", values="accuracy")
    gaps = scores[ORIGINAL] - scores.drop(columns=ORIGINAL).min(axis=1)
    return float(gaps.groupby(["purity", "least_node"]).max().min())


OPEN_SETTINGS = Experiment(
    "settings",
    ("function", "run", "rows", "noise", "privacy"),
    ("purity", "least_node", "algorithm", "accuracy"),
    cells,
    measure,
)
