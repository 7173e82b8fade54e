"""The page: tables of accuracy by number of parties, and a picture, from the lines of all fits."""

from pathlib import Path

import numpy as np

from benchmarks.utility.store import Results, Store

_EPSILONS, _PARTIES = (0.1, 0.5, 1.0), (3, 10, 30)
_METHODS = ("combined", "secure", "one party, best", "one party, mean", "random trees")
_WORDS = {
    "combined": "forests of the parties, combined",
    "secure": "secure sum",
    "one party, best": "one party, the best",
    "one party, mean": "one party, the middle one",
    "random trees": "random trees, counts added up",
}


def mean(results: Results, method: str, epsilon: float, table: str | None = None) -> tuple[float, float]:
    """Return the mean over tables of the mean accuracy over splits, in percent, and its standard error."""
    tables = sorted({cell.table for cell in results}) if table is None else [table]
    found = [
        [100 * scores.accuracy for cell, scores in results.items() if cell[:3] == (method, name, epsilon)]
        for name in tables
    ]
    if not all(found):
        return float("nan"), float("nan")
    squares = [np.var(own, ddof=1) / len(own) if len(own) > 1 else 0.0 for own in found]
    return float(np.mean([np.mean(own) for own in found])), float(np.sqrt(sum(squares)) / len(tables))


def write(fits: Path) -> None:
    """Write the page and the picture beside the lines."""
    results = Store(fits).scores()
    lines = [
        "# Several holders of rows",
        "",
        "Mean accuracy in percent on held-out rows of six public tables, over splits "
        f"({', '.join(f'{table} {n}' for table, n in _splits(results).items())}).",
        "Rows are dealt out at random in equal parts.",
        "The curator has all rows. `make parties` measures it again; every fit is a line of fits.jsonl.",
        "",
        "| | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in _EPSILONS) + " |",
        "|---|" + "---|" * len(_EPSILONS),
        "| curator | " + " | ".join(f"{mean(results, 'curator', e)[0]:.1f}" for e in _EPSILONS) + " |",
    ]
    for n in _PARTIES:
        for method in _METHODS:
            cells = [mean(results, f"{method}, {n} parties", e) for e in _EPSILONS]
            lines.append(
                f"| {n} parties: {_WORDS[method]} | " + " | ".join(f"{m:.1f} ({se:.1f})" for m, se in cells) + " |"
            )
    lines += ["", "In brackets: the standard error over splits; a table with one split adds nothing to it.", ""]
    for epsilon in _EPSILONS:
        tables = sorted({cell.table for cell in results})
        lines += [f"## Epsilon {epsilon:g}", "", "| | " + " | ".join(tables) + " |", "|---|" + "---|" * len(tables)]
        rows = ["curator", *(f"{method}, {n} parties" for n in _PARTIES for method in _METHODS)]
        for method in rows:
            own = " | ".join(f"{mean(results, method, epsilon, table)[0]:.1f}" for table in tables)
            lines.append(f"| {method} | {own} |")
        lines.append("")
    fits.with_name("README.md").write_text("\n".join(lines))
    draw(results, fits.with_name("parties.png"))


def _splits(results: Results) -> dict[str, int]:
    """Return how many splits of each table all methods were measured on."""
    methods = {cell.method for cell in results}
    found: dict[str, int] = {}
    for table in sorted({cell.table for cell in results}):
        of_methods = [{cell.repeat for cell in results if cell[:2] == (method, table)} for method in methods]
        found[table] = len(set.intersection(*of_methods))
    return found


def draw(results: Results, path: Path) -> None:
    """Draw accuracy over the number of parties, a panel for each epsilon."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(_EPSILONS), figsize=(10, 3.4), sharey=True)
    for panel, epsilon in zip(panels, _EPSILONS, strict=True):
        panel.axhline(mean(results, "curator", epsilon)[0], color="black", linestyle="--", label="curator, all rows")
        for method in _METHODS:
            panel.plot(
                range(len(_PARTIES)), [mean(results, f"{method}, {n} parties", epsilon)[0] for n in _PARTIES],
                marker="o", label=_WORDS[method],
            )  # fmt: skip
        panel.set_xticks(range(len(_PARTIES)), [str(n) for n in _PARTIES])
        panel.set_title(f"epsilon {epsilon:g}")
        panel.set_xlabel("parties")
    panels[0].set_ylabel("accuracy in percent, six tables")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncol=3, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    figure.savefig(path, dpi=120)
    plt.close(figure)
