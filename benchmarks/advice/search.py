"""What a search among candidates is worth: ``python -m benchmarks.advice.search``, about half an hour.

`prices` works out from what `benchmarks.utility` measured what several ways of choosing would come to, if the best
candidate at the price of the trial were always found. `measured` fits `PrivateSearch` and the default at the same whole
epsilon to the same rows. The lines are printed, and stand in docs/search.md.
"""

import csv
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.utility.splits import Split
from privet import (
    DiffPID3Classifier,
    DPDFClassifier,
    PrivateForestClassifier,
    PrivateRDTClassifier,
    PrivateSearch,
    Schema,
)  # fmt: skip

RESULTS = Path(__file__).parents[1] / "utility" / "results" / "summary.csv"
TABLES, EPSILONS, SPLITS = ("adult", "nursery", "mushroom", "segment"), (0.5, 1.0, 4.0), 4
FOREST = "private forest"
CANDIDATES = {
    "two methods": (FOREST, "DPDF, 1 tree"),
    "four methods": (FOREST, "DPDF, 1 tree", "DiffPID3, n_gini", "Private-RDT"),
}
# Of rows times epsilon, what a candidate is chosen by and what the model that leaves is fitted with, of k candidates.
WAYS: dict[str, Callable[[int], tuple[float, float]]] = {
    "trial at a fifth, then a fit": lambda k: (0.2 / (k + 1), 0.8),
    "trial at two fifths, then a fit": lambda k: (0.4 / (k + 1), 0.6),
    "random stopping, logarithmic (2 epsilon)": lambda _: (0.4, 0.4),
    "random stopping, geometric (3 epsilon)": lambda _: (0.8 / 3, 0.8 / 3),
    "all on the same rows": lambda k: (0.8 / k, 0.8 / k),
    "each on rows of its own": lambda k: (1 / (k + 1), 1 / (k + 1)),
}


@cache
def curves() -> dict[tuple[str, str], dict[float, float]]:
    """Return the accuracies by method and table, over epsilon."""
    found: dict[tuple[str, str], dict[float, float]] = defaultdict(dict)
    with RESULTS.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["epsilon"]:
                found[line["method"], line["table"]][float(line["epsilon"])] = float(line["accuracy"])
    return found


def accuracy_at(method: str, table: str, epsilon: float) -> float:
    """Return the accuracy at an epsilon between two that were measured; below them it falls on as steeply."""
    epsilons, heights = map(np.array, zip(*sorted(curves()[method, table].items()), strict=True))
    logs, here = np.log(epsilons), np.log(epsilon)
    steepness = (heights[1] - heights[0]) / (logs[1] - logs[0])
    return float(np.interp(here, logs, heights) + min(0.0, here - logs[0]) * max(steepness, 0.0))


def prices() -> None:
    """Print the mean points that each way is ahead of the default, over all tables."""
    tables = sorted({table for method, table in curves() if method == FOREST})
    prices = " | ".join(f"epsilon {epsilon:g}" for epsilon in (0.5, 1, 2))
    print(f"| candidates | way | {prices} |\n| --- | --- | ---: | ---: | ---: |")
    for title, names in CANDIDATES.items():
        for way, parts in WAYS.items():
            chosen_at, fitted_at = parts(len(names))
            ahead = []
            for epsilon in (0.5, 1, 2):
                best = [max(names, key=lambda m: accuracy_at(m, t, chosen_at * epsilon)) for t in tables]
                own = [accuracy_at(m, t, fitted_at * epsilon) for m, t in zip(best, tables, strict=True)]
                ahead.append(100 * np.mean(np.subtract(own, [accuracy_at(FOREST, t, epsilon) for t in tables])))
            print(f"| {title} | {way} | {' | '.join(f'{each:+.1f}' for each in ahead)} |", flush=True)


def searches(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return what is searched among."""
    forest: dict[str, Any] = {"forest": PrivateForestClassifier(schema)}
    two = {**forest, "dpdf": DPDFClassifier(schema)}
    return {
        "two methods": two,
        "four methods": {**two, "diffpid3": DiffPID3Classifier(schema), "rdt": PrivateRDTClassifier(schema)},
        "three group sizes": {f"{size}": PrivateForestClassifier(schema, group_size=size) for size in (1, 2, 3)},
    }


def measured() -> None:
    """Print accuracies of the default and of searches, at the same whole epsilon, and what was chosen."""
    print("| table | epsilon | default | two methods | four methods | three group sizes | chosen of four |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for table in TABLES:
        for epsilon in EPSILONS:
            found, chosen = defaultdict(list), []
            for repeat in range(SPLITS):
                split = Split(table, repeat)
                (rows, test), truth = split.frames(), split.truth
                models: dict[str, Any] = {"default": PrivateForestClassifier(split.schema, epsilon=epsilon)}
                models |= {name: PrivateSearch(own, epsilon=epsilon) for name, own in searches(split.schema).items()}
                for name, model in models.items():
                    fitted = model.fit(rows, split.labels)
                    found[name].append((fitted.predict_proba(test).argmax(axis=1) == truth).mean())
                chosen.append(models["four methods"].best_)
            cells = [f"{100 * np.mean(own):.1f} ± {100 * np.std(own, ddof=1):.1f}" for own in found.values()]
            counted = ", ".join(f"{name} {chosen.count(name)}" for name in sorted(set(chosen)))
            print(f"| {table} | {epsilon:g} | {' | '.join(cells)} | {counted} |", flush=True)


if __name__ == "__main__":
    prices()
    print()
    measured()
