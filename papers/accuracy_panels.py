"""Accuracy over the budget: a panel a table, a line a method, as the papers draw it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from papers.accuracies import Accuracies

# Okabe and Ito's colours, which colour-blind readers tell apart; blue is Private-RDT, as in its own paper's figures.
BLUE, GREEN, ORANGE, PURPLE, VERMILION, SKY = "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#D55E00", "#56B4E9"
BLACK = "#000000"
COLUMNS = 3
DPI = 110
# A panel shows at least so many points, lest noise look like a finding.
LEAST_SPAN = 5.0


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    marker: str = "o"
    line: str = "-"


def draw_panels(
    path: Path,
    accuracies: Accuracies,
    *,
    titles: Mapping[str, str],
    looks: Mapping[str, Look],
    levels: Mapping[str, str],
) -> Path:
    """Draw each method over the budget, with its deviation over runs, and ``levels`` without one as flat lines."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    lines = -(-len(titles) // COLUMNS)
    figure, axes = plt.subplots(lines, COLUMNS, figsize=(9.2, 2.75 * lines + 0.4), layout="constrained", squeeze=False)
    for axis, (name, title) in zip(axes.flat, titles.items(), strict=False):
        _draw_panel(axis, accuracies, name, looks, levels)
        axis.set_title(title, fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy in per cent", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("privacy budget", fontsize=9)
    handles, names = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    _in_few_colours(path)
    return path


def _in_few_colours(path: Path) -> None:
    """Make the picture smaller: bands over bands have many tints that nobody tells apart."""
    from PIL import Image

    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(128)
    few.save(path, optimize=True)


def _draw_panel(
    axis: Any, accuracies: Accuracies, name: str, looks: Mapping[str, Look], levels: Mapping[str, str]
) -> None:
    # Budgets are evenly spaced: on their own scale the small ones, which matter most, fall together.
    places = range(len(accuracies.budgets))
    for method, look in looks.items():
        mean, deviation = accuracies.of(method).loc[name], accuracies.deviation(method).loc[name]
        axis.plot(
            places, mean, look.line, color=look.colour, marker=look.marker, markersize=4, linewidth=1.4, label=method
        )
        axis.fill_between(places, mean - deviation, mean + deviation, color=look.colour, alpha=0.15, linewidth=0)
    for method, line in levels.items():
        axis.axhline(accuracies.without_budget(method)[name], color=BLACK, linewidth=1.1, linestyle=line, label=method)
    low, high = axis.get_ylim()
    short = max(0.0, LEAST_SPAN - (high - low)) / 2
    axis.set_ylim(low - short, high + short)
    axis.set_xticks(list(places), [f"{budget:g}" for budget in accuracies.budgets])
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.25)
