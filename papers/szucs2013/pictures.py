"""Figs 1 and 2, drawn from the measured lines."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from papers.szucs2013.anonymity import PAIRS
from papers.szucs2013.curves import Curves
from papers.szucs2013.plain_forest import BITS, LEAST_NODE
from papers.szucs2013.split import TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The solid, dashed and dotted lines of the paper.
_DASHES = dict(zip(PAIRS, ("-", "--", ":"), strict=True))
# Told apart by those who see few colours too (Okabe and Ito 2008).
_LINES = {
    "auc": ("o-", "#0072B2", "random response forest"),
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
    figure, ax = _figure(7, 4.4)
    for column, (style, colour, label) in _LINES.items():
        curve = curves.of(table, column)
        ax.plot(curve.index, curve, style, color=colour, label=label)
    plain = curves.plain(table, BITS, LEAST_NODE)
    ax.axhline(plain, color="black", linewidth=1, label="random forest on the clear bits")
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
