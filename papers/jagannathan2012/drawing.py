"""Figs 1 to 5 and the parties of section 5.3 as box plots: the least, quartiles, median and largest of the runs."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from papers.jagannathan2012 import epsilons, horizontal, vertical
from papers.jagannathan2012.tables import MUSHROOM, NURSERY, TITLES, VOTES
from papers.paper import Results

# Okabe and Ito's colours, which colour-blind readers tell apart. Blue is Private-RDT at one curator throughout.
BLUE, VERMILION, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7"
METHODS = {epsilons.RDT: BLUE, epsilons.ID3: VERMILION, epsilons.OUR_ID3: GREEN}
PARTIES = {
    horizontal.CURATOR: BLUE,
    horizontal.FILES: ORANGE,
    horizontal.SUM: GREEN,
    horizontal.SUM_OF_HONEST: PURPLE,
}
HALVES = {vertical.WHOLE: BLUE, vertical.SHARED: GREEN, vertical.PAPER: ORANGE}
FIGURES = {NURSERY: "figure1.png", MUSHROOM: "figure2.png", VOTES: "figure3.png"}
DPI = 110


class Boxes(NamedTuple):
    """Boxes of one colour, by their place on the axis."""

    label: str
    colour: str
    accuracy: "pd.Series[Any]"


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw what has been measured, and return the files."""
    guesses = _most_frequent(results["table1"])
    return [*_over_epsilon(results["epsilons"], guesses, folder), *_others(results, guesses, folder)]


def _others(results: Results, guesses: dict[str, float], folder: Path) -> Iterator[Path]:
    for name, file, drawing in (
        ("batches", "figure4.png", _in_batches),
        ("vertical", "figure5.png", _in_halves),
        ("horizontal", "parties.png", _among_parties),
    ):
        if not results[name].empty:
            yield _saved(drawing(results[name], guesses), folder / file)


def _most_frequent(table_1: pd.DataFrame) -> dict[str, float]:
    lines = table_1[table_1["method"] == "most frequent class"]
    return {str(name): float(mean) for name, mean in lines.groupby("table")["accuracy"].mean().items()}


def _over_epsilon(lines: pd.DataFrame, guesses: dict[str, float], folder: Path) -> Iterator[Path]:
    for name, file in FIGURES.items():
        own = lines[lines["table"] == name]
        if own.empty:
            continue
        figure, axes = _panels(1, len(METHODS), height=3.7)
        for axis, (method, colour) in zip(axes, METHODS.items(), strict=True):
            boxes = own[own["method"] == method].set_index("epsilon")["accuracy"]
            _draw_boxes(axis, [Boxes(method, colour, boxes)], sorted(set(own["epsilon"]), reverse=True), _inverse)
            _finish(axis, guesses.get(name), "1 / epsilon", title=TITLES[name])
        axes[0].set_ylabel("accuracy in per cent")
        for axis in axes:
            axis.legend(fontsize=8, loc="lower left")
        yield _saved(figure, folder / file)


def _in_batches(lines: pd.DataFrame, guesses: dict[str, float]) -> Any:
    figure, axes = _panels(1, len(TITLES), height=3.7)
    for axis, (name, title) in zip(axes, TITLES.items(), strict=True):
        boxes = lines[lines["table"] == name].set_index("batches")["accuracy"]
        _draw_boxes(axis, [Boxes("Private-RDT, updated", BLUE, boxes)], sorted(set(lines["batches"])), "{:g}".format)
        _finish(axis, guesses.get(name), "batches", title=title)
    axes[0].set_ylabel("accuracy in per cent")
    axes[1].legend(fontsize=8, loc="lower left")
    return figure


def _in_halves(lines: pd.DataFrame, guesses: dict[str, float]) -> Any:
    figure, (axis,) = _panels(1, 1, height=4.2)
    own = lines.set_index("spent")
    boxes = [Boxes(way, colour, own[own["way"] == way]["accuracy"]) for way, colour in HALVES.items()]
    _draw_boxes(axis, boxes, sorted(set(lines["spent"]), reverse=True), _inverse)
    _finish(axis, guesses.get(VOTES), "1 / epsilon that is truly spent", title=TITLES[VOTES])
    axis.set_ylabel("accuracy in per cent")
    axis.legend(fontsize=9, loc="lower left")
    return figure


def _among_parties(lines: pd.DataFrame, guesses: dict[str, float]) -> Any:
    figure, axes = _panels(len(TITLES), 1, height=9.5)
    for axis, (name, title) in zip(axes, TITLES.items(), strict=True):
        own = lines[lines["table"] == name].set_index("parties")
        boxes = [Boxes(way, colour, own[own["way"] == way]["accuracy"]) for way, colour in PARTIES.items()]
        _draw_boxes(axis, boxes, sorted(set(lines["parties"])), "{:g}".format)
        _finish(axis, guesses.get(name), "parties", title=title)
        axis.set_ylabel("accuracy in per cent")
    axes[1].legend(fontsize=9, loc="center", ncols=2)
    return figure


def _panels(n_lines: int, n_columns: int, *, height: float) -> tuple[Any, Sequence[Any]]:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        n_lines, n_columns, figsize=(9.2, height), layout="constrained", squeeze=False, sharey=n_lines == 1
    )
    return figure, list(axes.flat)


def _draw_boxes(axis: Any, groups: Sequence[Boxes], values: Sequence[float], told: Callable[[float], str]) -> None:
    """Draw the boxes of all groups side by side at every value; values are evenly spaced, as in the paper."""
    wide = 0.8 / len(groups)
    for i, value in enumerate(values):
        present = [group for group in groups if value in group.accuracy.index]
        for k, group in enumerate(present):
            place = i + (k - (len(present) - 1) / 2) * wide
            _draw_box(axis, group.accuracy.loc[[value]], place, 0.8 * wide, group.colour)
    for group in groups:
        axis.plot([], [], color=group.colour, linewidth=6, alpha=0.6, label=group.label)
    axis.set_xticks(range(len(values)), [told(value) for value in values])
    axis.set_xlim(-0.6, len(values) - 0.4)


def _draw_box(axis: Any, accuracy: "pd.Series[Any]", place: float, width: float, colour: str) -> None:
    axis.boxplot(
        accuracy.to_numpy(),
        positions=[place],
        widths=width,
        whis=(0, 100),
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.45, "edgecolor": colour},
        medianprops={"color": colour, "linewidth": 1.8},
        whiskerprops={"color": colour},
        capprops={"color": colour},
    )


def _finish(axis: Any, guess: float | None, x: str, *, title: str) -> None:
    if guess is not None:
        axis.axhline(guess, color="0.45", linewidth=1, linestyle=":", label="most frequent class")
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(x)
    axis.tick_params(labelsize=8)
    axis.grid(axis="y", alpha=0.25)


def _inverse(epsilon: float) -> str:
    return "0" if math.isinf(epsilon) else f"{1 / epsilon:.2f}".rstrip("0").rstrip(".")


def _saved(figure: Any, path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    return path
