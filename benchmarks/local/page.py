"""Write the page beside this file from ``results/accuracy.json``: ``python -m benchmarks.local.page``."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.local.accuracy import DRAWS, EPSILONS, METHODS, RESULTS, TABLES

PAGE = Path(__file__).with_name("README.md")
_TEMPLATE = Path(__file__).with_name("template.md")


def page() -> str:
    """Return the page in Markdown."""
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))
    scores = {(own["method"], own["table"], own["epsilon"]): 100 * np.array(own["accuracy"]) for own in measured}
    means = {cell: own.mean() for cell, own in scores.items()}
    head = _row(["table", "method", *(f"{epsilon:g}" for epsilon in EPSILONS), "clear", "majority"])
    lines = [head, _row(["---"] * (len(EPSILONS) + 4))]
    for table in TABLES:
        ends = [f"{means[method, table, None]:.1f}" for method in ("clear", "majority")]
        lines += [_row([table, own, *(f"{means[own, table, e]:.1f}" for e in EPSILONS), *ends]) for own in METHODS]
    text = _TEMPLATE.read_text(encoding="utf-8")
    return text.format(draws=DRAWS, table="\n".join(lines), short=_short(scores))


def _short(scores: dict[tuple[str, str, float | None], NDArray[np.float64]]) -> str:
    """Return the cells where the sampled forest is below naive Bayes, with the standard error of their difference."""
    lines = []
    for table in TABLES:
        for epsilon in EPSILONS:
            own = scores["sampled-forest", table, epsilon] - scores["naive Bayes", table, epsilon]
            if own.mean() < 0:
                error = own.std(ddof=1) / np.sqrt(DRAWS)
                lines.append(f"- {table} at {epsilon:g}: {-own.mean():.1f} below (standard error {error:.1f}).")
    return "\n".join(lines) or "None."


def _row(parts: list[str]) -> str:
    return f"| {' | '.join(parts)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
