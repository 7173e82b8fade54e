"""Figs 2, 5 and 6, drawn from the measured lines."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from papers.agrawal2000.accuracy import FUNCTIONS, ORIGINAL, STRATEGIES
from papers.agrawal2000.means import Means
from papers.agrawal2000.people import NOISES, SPELLED
from papers.agrawal2000.shape_claims import distances
from papers.agrawal2000.shapes import SCALES, SHAPES, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by those who see few colours too (Okabe and Ito 2008), and by their markers.
_STYLES: dict[str, dict[str, Any]] = {
    ORIGINAL: {"color": "black", "marker": "o"},
    "Randomized": {"color": "0.55", "marker": "x"},
    "Global": {"color": "#E69F00", "marker": "^"},
    "ByClass": {"color": "#0072B2", "marker": "s"},
    "Local": {"color": "#009E73", "marker": "D", "markerfacecolor": "none"},
}
_DASHES = {"gaussian": "-", "uniform": "--"}
_DPI = 100


def draw_shapes(lines: pd.DataFrame, folder: Path) -> Path:
    """Draw Fig. 2: the first draw of the most values."""
    figure = _figure(11, 6.5)
    most = lines["values"].max()
    first = lines[(lines["values"] == most) & (lines["draw"] == 0)]
    for ax, (shape, noise) in zip(figure.subplots(2, 2).flat, product(SHAPES, SCALES), strict=True):
        found = first[(first["shape"] == shape) & (first["noise"] == noise)]
        at = distances(found)
        _draw_shape(ax, found)
        ax.set_title(f"{shape}, {SPELLED[noise]} noise: L1 {at.before:.2f} before, {at.after:.2f} after", fontsize=11)
    figure.axes[0].legend(frameon=False, loc="upper left")
    return _saved(figure, folder / "figure2.png")


def draw_by_function(means: Means, folder: Path) -> Path:
    """Draw Fig. 5: accuracy over functions."""
    figure = _figure(10, 7)
    panels = figure.subplots(2, 2, sharey="row").flat
    for ax, (privacy, noise) in zip(panels, product((0.25, 1.0), ("uniform", "gaussian")), strict=True):
        for name in (ORIGINAL, *STRATEGIES):
            ax.plot(FUNCTIONS, [means.of(f, noise, privacy, name) for f in FUNCTIONS], label=name, **_STYLES[name])
        ax.set_title(f"{SPELLED[noise]} noise, {privacy:.0%} privacy", fontsize=11)
        ax.set(xticks=FUNCTIONS, xlabel="function", ylabel="accuracy, %")
    figure.axes[2].legend(frameon=False)
    return _saved(figure, folder / "figure5.png")


def draw_by_privacy(means: Means, folder: Path) -> Path:
    """Draw Fig. 6: accuracy over privacy, a panel for every function."""
    figure = _figure(10.5, 6)
    panels = figure.subplots(2, 3)
    for ax, function in zip(panels.flat, FUNCTIONS, strict=False):
        _draw_function(ax, means, function)
    last = panels.flat[-1]
    last.axis("off")
    last.legend(*panels.flat[0].get_legend_handles_labels(), frameon=False, loc="center")
    return _saved(figure, folder / "figure6.png")


def _draw_shape(ax: "Axes", found: pd.DataFrame) -> None:
    edges = [*found["low"], found["low"].iloc[-1] + WIDTH]
    ax.stairs(100 * found["original"], edges, label="original", color="0.75", fill=True)
    ax.stairs(100 * found["disturbed"], edges, label="disturbed", color="#E69F00", linewidth=1.6, linestyle="--")
    ax.stairs(100 * found["reconstructed"], edges, label="reconstructed", color="#0072B2", linewidth=1.6)
    ax.set(xlim=(-0.6, 1.6), xlabel="value", ylabel=f"% of values, per {WIDTH:g}")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_function(ax: "Axes", means: Means, function: int) -> None:
    percents = [100 * privacy for privacy in means.privacies]
    for name, noise in product(("Randomized", "ByClass", "Local"), NOISES):
        heights = [means.of(function, noise, privacy, name) for privacy in means.privacies]
        ax.plot(percents, heights, _DASHES[noise], label=f"{name} ({noise[0].upper()})", **_STYLES[name])
    ax.axhline(means.original(function), color="black", label=ORIGINAL)
    ax.set_title(f"function {function}", fontsize=11)
    ax.set(xlabel="privacy, % of the range", ylabel="accuracy, %", xticks=percents)


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _saved(figure: "Figure", path: Path) -> Path:
    figure.savefig(path, dpi=_DPI)
    return path
