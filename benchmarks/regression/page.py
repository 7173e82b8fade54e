"""Write the page and its picture from what was measured: ``python -m benchmarks.regression.page``."""

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regression.methods import BOUNDS, DELTA, EPSILONS, FOREST, FOREST_DELTA, METHODS, PRIVATE
from benchmarks.regression.run import FITS, REPEATS, lines_of
from benchmarks.regression.tables import MOST_ROWS, TARGETS

PAGE, PICTURE = Path(__file__).with_name("README.md"), Path(__file__).with_name("r2.png")
# Colours of Okabe and Ito; peers have broken lines.
_LOOKS = {
    "private forest": ("#D55E00", "o", "-"),
    "private forest, delta 1e-6": ("#0072B2", "s", "-"),
    "DP-EBM": ("#CC79A7", "*", "--"),
    "noisy sums, ridge": ("#E69F00", "d", "--"),
    "diffprivlib linear": ("#009E73", "<", "--"),
}
_LOWEST = -0.25


def scores(lines: list[dict[str, Any]]) -> dict[tuple[str, str, float | None], list[float]]:
    """Return R2 of every split by table, method and epsilon."""
    found = defaultdict(list)
    for line in lines:
        if "r2" in line:
            found[line["table"], line["method"], line["epsilon"]].append(line["r2"])
    return found


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Return the mean, and its standard error over splits."""
    if len(values) < 2:
        return float(np.mean(values)) if values else math.nan, math.nan
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))


def table_lines(found: dict[tuple[str, str, float | None], list[float]]) -> list[str]:
    """Return the figures as Markdown; the best private method of a cell is bold."""
    lines = [
        "| table, target | method | " + " | ".join(f"{e:g}" for e in EPSILONS) + " |",
        "|---" * (2 + len(EPSILONS)) + "|",
    ]
    for table, target in TARGETS.items():
        means = {(m, e): mean_and_error(found.get((table, m, e), [])) for m in PRIVATE for e in EPSILONS}
        best = {
            e: max((means[m, e][0] for m in PRIVATE if not math.isnan(means[m, e][0])), default=0) for e in EPSILONS
        }
        for method in PRIVATE:
            cells = [_cell(*means[method, e], is_best=means[method, e][0] == best[e]) for e in EPSILONS]
            lines.append(f"| {table}, {target} | {method} | " + " | ".join(cells) + " |")
        for method in BOUNDS:
            mean, error = mean_and_error(found.get((table, method, None), []))
            lines.append(
                f"| {table}, {target} | *{method}* | {_cell(mean, error, is_best=False)} |" + " |" * (len(EPSILONS) - 1)
            )
    return lines


def leads(found: dict[tuple[str, str, float | None], list[float]]) -> tuple[int, int, int]:
    """Return in how many cells the forest without a delta is ahead of all peers, of how many, and with it."""
    ahead, cells, with_delta = 0, 0, 0
    for table in TARGETS:
        for e in EPSILONS:
            means = {m: mean_and_error(found.get((table, m, e), []))[0] for m in PRIVATE}
            if any(math.isnan(mean) for mean in means.values()):
                continue
            peers = max(mean for method, mean in means.items() if method not in (FOREST, FOREST_DELTA))
            cells += 1
            ahead += means[FOREST] >= peers
            with_delta += means[FOREST_DELTA] >= peers
    return ahead, cells, with_delta


def _cell(mean: float, error: float, *, is_best: bool) -> str:
    if math.isnan(mean):
        return "not measured"
    text = f"{mean:.2f}" if mean > -10 else f"{mean:.0f}"
    return (f"**{text}**" if is_best else text) + ("" if math.isnan(error) else f" ({min(error, 99):.2f})")


def draw(found: dict[tuple[str, str, float | None], list[float]]) -> None:
    """Draw R2 over epsilon, a panel a table; what is below the lowest line is drawn on it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    for ax, (table, target) in zip(figure.subplots(2, 3, sharex=True).flat, TARGETS.items(), strict=True):
        for method, (colour, marker, line) in _LOOKS.items():
            pairs = [mean_and_error(found.get((table, method, e), [])) for e in EPSILONS]
            means = np.maximum([mean for mean, _ in pairs], _LOWEST)
            errors = [error if mean > _LOWEST else 0.0 for mean, error in pairs]
            ax.errorbar(
                EPSILONS, means, yerr=errors, color=colour, marker=marker, linestyle=line,
                label=method, capsize=2,
            )  # fmt: skip
        ceiling, _ = mean_and_error(found.get((table, "boosting, not private", None), []))
        ax.axhline(ceiling, color="black", linewidth=0.8, linestyle=":", label="boosting, not private")
        ax.axhline(0, color="grey", linewidth=0.8)
        ax.set(title=f"{table}: {target}", xscale="log", ylim=(_LOWEST - 0.05, max(1.0, ceiling) + 0.02))
        ax.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS], minor=False)
        ax.minorticks_off()
    figure.supxlabel("epsilon")
    figure.supylabel("R2 on held-out rows; 0 is the mean")
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    found = scores(lines_of(FITS))
    draw(found)
    failed = sorted({line["method"] for line in lines_of(FITS) if "failed" in line})
    ahead, cells, with_delta = leads(found)
    settings = [f"- {name}: `{method.setting}`, {method.promise}" for name, method in METHODS.items() if method.setting]
    text = [
        "# How well a number is predicted",
        "",
        "Six public tables, of each a numeric column as the target, with the bounds that its schema declares.",
        f"At most {MOST_ROWS:,} rows of a table, {len(REPEATS)} splits, a fifth held out.",
        "Targets were chosen before anything was fitted. The policy of the regressor was measured on ten other tables.",
        "`make regression` measures what is missing and writes this page.",
        "",
        f"![R2 over epsilon of the private forest's regressor and of peers]({PICTURE.name})",
        "",
        f"Of {cells} cells (tables at epsilons) the forest leads all others in {ahead}.",
        f"It has no delta there; DP-EBM and the ridge have {DELTA:g}. With the same delta it leads in {with_delta}.",
        "R2 is that of held-out rows: 0 is the mean of the training rows, and below 0 the mean would have been better.",
        "In brackets, the standard error over splits. The best private method of a cell is bold.",
        "",
        *table_lines(found),
        "",
        "## Settings",
        "",
        "All are told the same public bounds. What peers predict beyond the target's bounds is clipped to them.",
        "",
        *settings,
        *(["", f"Some fits failed: {', '.join(failed)}."] if failed else []),
    ]  # fmt: skip
    PAGE.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
