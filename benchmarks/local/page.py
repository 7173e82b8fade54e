"""Write the page beside this file from ``results/accuracy.json``: ``python -m benchmarks.local.page``."""

import json
from pathlib import Path

import numpy as np

from benchmarks.local.accuracy import DRAWS, EPSILONS, METHODS, RESULTS, TABLES

PAGE = Path(__file__).with_name("README.md")
_TEMPLATE = Path(__file__).with_name("template.md")
# What a sketch of one question a person reached in three draws, in whole points, at the epsilons from 1 on.
_SKETCH = {
    "adult": (77.5, 80.2, 83.4, 84.4), "nursery": (61, 80, 90, 90), "mushroom": (77, 92, 91, 93),
    "connect-4": (66, 66, 71, 71), "bank-marketing": (88, 88, 89, 89), "compas": (53, 57, 64, 67),
}  # fmt: skip


def page() -> str:
    """Return the page in Markdown."""
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))
    means = {(own["method"], own["table"], own["epsilon"]): 100 * np.mean(own["accuracy"]) for own in measured}
    head = _row(["table", "method", *(f"{epsilon:g}" for epsilon in EPSILONS), "clear", "majority"])
    lines = [head, _row(["---"] * (len(EPSILONS) + 4))]
    for table in TABLES:
        ends = [f"{means[method, table, None]:.1f}" for method in ("clear", "majority")]
        lines += [_row([table, own, *(f"{means[own, table, e]:.1f}" for e in EPSILONS), *ends]) for own in METHODS]
        lines.append(_row([table, "a sketch", "", *map(str, _SKETCH[table]), *ends]))
    text = _TEMPLATE.read_text(encoding="utf-8")
    return text.format(draws=DRAWS, table="\n".join(lines), short=_short(means))


def _short(means: dict[tuple[str, str, float | None], float]) -> str:
    """Return the cells below the sketch, and whether rounding to its whole points lifts them to it."""
    lines = []
    for table in TABLES:
        for epsilon, sketch in zip(EPSILONS[1:], _SKETCH[table], strict=True):
            own = means["sampled-forest", table, epsilon]
            if own < sketch:
                end = "as good in whole points" if round(own) >= sketch else "short of it"
                lines.append(f"- {table} at {epsilon:g}: {own:.2f} beside {sketch}, {end}.")
    return "\n".join(lines) or "None."


def _row(parts: list[str]) -> str:
    return f"| {' | '.join(parts)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
