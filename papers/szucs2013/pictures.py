"""Figs 1 and 2, drawn from the measured lines."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from papers.szucs2013.anonymity import PAIRS
from papers.szucs2013.curves import Curves
from papers.szucs2013.plain_forest import BITS, FULLY_GROWN, LEAST_NODE, MAJORITY, MEAN
from papers.szucs2013.split import TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The solid, dashed and dotted lines of the paper.
_DASHES = dict(zip(PAIRS, ("-", "--", ":"), strict=True))
# Told apart by those who see few colours too (Okabe and Ito 2008).
_VOTES = {
    (MAJORITY, LEAST_NODE): ("D-", "#D55E00", f"majority vote, nodes of {LEAST_NODE} rows"),
    (MAJORITY, FULLY_GROWN): ("v-", "#CC79A7", "majority vote, fully grown"),
    (MEAN, LEAST_NODE): ("o-", "#0072B2", f"mean of probabilities, nodes of {LEAST_NODE} rows"),
}
# By the mean, too.
_LINES = {
    "auc_disguised_label": ("s--", "#E69F00", "the label disguised too"),
    "auc_disguise_ignored": ("^:", "0.45", "the disguise ignored"),
}
_DPI = 110


def draw_anonymity(lines: pd.DataFrame, folder: Path) -> Path:
    """Draw Fig. 1."""
    figure, ax = _figure(6.5, 4.2)
    for pair, dash in _DASHES.items():
        found = lines[lines["frequent"] == pair]
        ax.plot(found["theta"], found["anonymity"], dash, color="black", label=f"{pair:g} and {1 - pair:.2g}")
    ax.set(xlabel="theta", ylabel="binary anonymity", ylim=(0, 1.02))
    ax.legend(frameon=False, title="frequencies")
    return _saved(figure, folder / "figure1.png")


def draw_forest(curves: Curves, table: str, folder: Path) -> Path:
    """Draw Fig. 2 for a table."""
    figure, ax = _figure(8.5, 5)
    for (vote, least_node), (style, colour, label) in _VOTES.items():
        curve = curves.voted(table, vote, least_node)
        ax.plot(curve.index, curve, style, color=colour, label=label)
    for column, (style, colour, label) in _LINES.items():
        curve = curves.of(table, column)
        ax.plot(curve.index, curve, style, color=colour, label=label)
    plain = curves.plain(table, BITS, LEAST_NODE, MEAN)
    ax.axhline(plain, color="black", linewidth=1, label="plain random forest on the clear bits, mean")
    ax.set(
        xlabel="theta, the chance that a record is given as it is", ylabel="AUC on clear test rows", title=TITLES[table]
    )
    ax.legend(frameon=False)
    return _saved(figure, folder / f"figure2_{table}.png")


def _figure(width: float, height: float) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _saved(figure: "Figure", path: Path) -> Path:
    figure.savefig(path, dpi=_DPI)
    return path
