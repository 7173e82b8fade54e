"""The pictures of the page, drawn from a summary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from benchmarks.utility import monotone
from benchmarks.utility.methods import EPSILONS, FOREST, METHODS, NAIVE_BAYES
from benchmarks.utility.splits import TABLES
from benchmarks.utility.summary import Place, Summary, critical_difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """How a method is drawn: colours of Okabe and Ito, which the colour-blind tell apart; peers have broken lines."""

    colour: str
    marker: str
    line: str = "-"
    width: float = 1.4


LOOKS = {
    FOREST: Look("#D55E00", "o", width=2.8),
    NAIVE_BAYES: Look("#999999", "X", ":"),
    "DPDF, 1 tree": Look("#0072B2", "s"),
    "DiffPID3, n_gini": Look("#009E73", "^"),
    "Private-RDT": Look("#56B4E9", "D"),
    "DP-RF": Look("#CC79A7", "v"),
    "private ID3": Look("#E69F00", "P"),
    "diffprivlib forest": Look("#000000", "o", "--"),
    "diffprivlib naive Bayes": Look("#0072B2", "d", "--"),
    "diffprivlib logistic": Look("#009E73", "<", "--"),
    "diffprivlib logistic, cells": Look("#E69F00", ">", "--"),
    "DP-EBM": Look("#CC79A7", "*", "--"),
    "MST, then boosting": Look("#56B4E9", "h", "-."),
    "AIM, then boosting": Look("#D55E00", "p", "-."),
}
_DOTS_PER_INCH = 100
# Of the way from guessing to what is possible without privacy, and at least these points.
_SHOWN_BELOW, _SHOWN_AT_LEAST = 0.35, 0.05
_SHOWN_ABOVE = 0.15


def ranked_methods() -> list[str]:
    """Return the methods that are drawn and are fitted to any table."""
    return [method for method in methods_of_means() if not METHODS[method].binary_only]


def methods_of_means() -> list[str]:
    """Return the methods that are drawn and have means over tables."""
    return [method for method in LOOKS if not METHODS[method].apart]


def draw_tables(summary: Summary, tables: Sequence[str], path: Path) -> None:
    """Draw accuracy over epsilon, a panel a table, with a band of one standard deviation over splits."""
    height = -(-len(tables) // 3)
    inches = 3 * height + 2
    figure = _figure(15, inches, layout=None)  # fitting many panels automatically takes seconds
    figure.subplots_adjust(left=0.06, right=0.985, top=1 - 0.42 / inches, bottom=2 / inches, hspace=0.2, wspace=0.16)
    axes = figure.subplots(height, 3, sharex=True).ravel()
    for axis, table in zip(axes, tables, strict=True):
        axis.set_title(table, fontsize=13)
        if not any(summary.repeats(Place(FOREST, table, epsilon)) for epsilon in EPSILONS):
            axis.set_axis_off()
            continue
        for method in LOOKS:
            _draw_method(axis, summary, method, table)
        _epsilon_axis(axis, named=table in tables[-3:])
        _draw_bounds(axis, summary.majority(table), summary.ceiling(table))
        _cut_below(axis, summary.majority(table), summary.ceiling(table))
    axes[height // 2 * 3].set_ylabel("accuracy on held-out rows, %", fontsize=13)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=12)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def draw_steps(summary: Summary, path: Path) -> None:
    """Draw the recommended forest's accuracy over more epsilons, a panel a table; steps that clearly fall are red."""
    shown = [table for table in TABLES if table in monotone.measured_tables(summary)]
    if not shown:
        return
    width = 5
    height = -(-len(shown) // width)
    inches = 2.4 * height + 0.9
    figure = _figure(15, inches, layout=None)
    figure.subplots_adjust(left=0.045, right=0.99, top=1 - 0.35 / inches, bottom=0.9 / inches, hspace=0.3, wspace=0.22)
    axes = figure.subplots(height, width, sharex=True, squeeze=False).ravel()
    for axis in axes[len(shown) :]:
        axis.set_axis_off()
    for axis, table in zip(axes, shown, strict=False):
        means = [100 * summary.mean(Place(FOREST, table, epsilon)) for epsilon in monotone.EPSILONS]
        axis.plot(monotone.EPSILONS, means, "o-", color="#0072B2", label="private forest")
        for step, low, high in zip(monotone.steps(summary, table), means, means[1:], strict=False):
            if step.lead.turned.is_clear:
                axis.plot(step.epsilons, [low, high], color="#D55E00", linewidth=4, label="falls clearly")
        _draw_bounds(axis, summary.majority(table), summary.ceiling(table))
        axis.set_title(table, fontsize=12)
        axis.set_xscale("log")
        axis.set_xticks(monotone.EPSILONS, [f"{epsilon:g}" for epsilon in monotone.EPSILONS])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
        axis.tick_params(labelbottom=True, labelsize=9)
    entries = {name: line for axis in axes for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(entries.values(), entries.keys(), loc="lower center", ncols=4, fontsize=12, frameon=False)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def draw_means(summary: Summary, path: Path) -> None:
    """Draw the mean accuracy over tables: all tables, and those of two classes with the peer that knows no more."""
    figure = _figure(11, 6.2)
    left, right = figure.subplots(1, 2)
    all_methods = ranked_methods()
    _draw_panel(left, summary, all_methods, summary.common_tables(all_methods, EPSILONS), "mean over {} tables")
    drawn = methods_of_means()
    _draw_panel(right, summary, drawn, summary.common_tables(drawn, EPSILONS), "over the {} with two classes")
    left.set_ylabel("accuracy on held-out rows, %", fontsize=14)
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=13, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=1.5 * _DOTS_PER_INCH)


def draw_ranks(summary: Summary, path: Path) -> None:
    """Draw mean ranks over tables with Nemenyi's intervals: methods whose intervals overlap are not told apart."""
    methods = ranked_methods()
    tables = summary.common_tables(methods, EPSILONS)
    if not tables:
        return
    ranks = np.array([summary.ranks(methods, epsilon, tables) for epsilon in EPSILONS])
    half = critical_difference(len(methods), len(tables)) / 2
    order = np.argsort(-ranks.mean(axis=0))
    figure = _figure(13, 5)
    for axis, epsilon, own in zip(
        figure.subplots(1, len(EPSILONS), sharex=True, sharey=True), EPSILONS, ranks, strict=True
    ):
        for height, m in enumerate(order):
            look = LOOKS[methods[m]]
            axis.plot([own[m] - half, own[m] + half], [height, height], color=look.colour, linewidth=3, alpha=0.45)
            axis.plot(own[m], height, look.marker, color=look.colour, markersize=8)
        axis.set_yticks(range(len(methods)), [methods[m] for m in order], fontsize=12)
        axis.set_title(f"epsilon {epsilon:g}", fontsize=13)
        axis.set_xticks(range(1, len(methods) + 1, 2))
        axis.grid(axis="x", alpha=0.3)
    figure.supxlabel(f"mean rank by accuracy over {len(tables)} tables; 1 is the best", fontsize=13)
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _draw_method(axis: "Axes", summary: Summary, method: str, table: str) -> None:
    places = [Place(method, table, epsilon) for epsilon in EPSILONS]
    means = 100 * np.array([summary.mean(place) for place in places])
    deviations = 100 * np.nan_to_num([summary.deviation(place) for place in places])
    _draw_line(axis, method, means)
    axis.fill_between(
        EPSILONS, means - deviations, means + deviations, color=LOOKS[method].colour, alpha=0.12, linewidth=0
    )


def _draw_panel(axis: "Axes", summary: Summary, methods: Sequence[str], tables: Sequence[str], title: str) -> None:
    for method in methods:
        _draw_line(axis, method, 100 * np.array([summary.over_tables(method, epsilon, tables) for epsilon in EPSILONS]))
    _epsilon_axis(axis, named=True)
    if tables:
        majority, ceiling = (
            np.mean([bound(table) for table in tables]) for bound in (summary.majority, summary.ceiling)
        )
        _draw_bounds(axis, float(majority), float(ceiling))
    axis.set_title(title.format(len(tables)), fontsize=14)
    axis.tick_params(labelsize=13)


def _draw_line(axis: "Axes", method: str, percents: np.typing.NDArray[np.float64]) -> None:
    look = LOOKS[method]
    axis.plot(
        EPSILONS, percents, look.line, color=look.colour, marker=look.marker, linewidth=look.width, markersize=7,
        label=method, zorder=3 if method == FOREST else 2,
    )  # fmt: skip


def _draw_bounds(axis: "Axes", majority: float, ceiling: float) -> None:
    """Draw guessing and what is possible without privacy, and end the axis a little above all that is drawn."""
    highest = np.nanmax([100 * ceiling, *(np.max(line.get_ydata()) for line in axis.get_lines())])
    axis.axhline(100 * ceiling, color="#444444", linewidth=1.2, linestyle=(0, (8, 2)), label="without privacy")
    axis.axhline(100 * majority, color="#444444", linewidth=1.2, linestyle=(0, (1, 2)), label="guessing")
    axis.set_ylim(top=highest + 100 * _SHOWN_ABOVE * (ceiling - majority))


def _cut_below(axis: "Axes", majority: float, ceiling: float) -> None:
    """Cut off what is far below guessing, where it would flatten the rest."""
    least = majority - max(_SHOWN_BELOW * (ceiling - majority), _SHOWN_AT_LEAST)
    if axis.get_ylim()[0] < 100 * least:
        axis.set_ylim(bottom=100 * least)


def _epsilon_axis(axis: "Axes", *, named: bool) -> None:
    axis.set_xscale("log")
    axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.margins(y=0.1)
    if named:
        axis.set_xlabel("epsilon", fontsize=13)


def _figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)
