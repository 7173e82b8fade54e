"""Pictures of a model, drawn with matplotlib: a tree, and what matters."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privet.checks import check_whole
from privet.lazy import matplotlib
from privet.report.page.counts import not_told_apart, ranked_importances
from privet.report.page.trees import Box, Outline
from privet.tree.conditions import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CHILDREN = 12
MAX_ENDS = 60
_MAX_BARS = 30
_MAX_CLASSES = 10
_MAX_TEXT = 32
_FONT, _SMALLEST = 9.0, 5.0
# In inches, where the picture may choose its size.
_SLOT = 0.46
_BOX_WIDTH, _BOX_HEIGHT, _LINE = 0.84, 0.8, 1.35
# Small letters are drawn on whole pixels, and come out wider than their outlines.
_SNUG = 0.88
_PALE = 0.92
# How much of its colour a bar has whose importance may be noise alone.
_UNSURE = 0.35


@dataclass(frozen=True)
class _Placed:
    """A box and where its centre is: column and slot."""

    box: Box
    x: int
    y: float
    parent: "_Placed | None"


def plot_tree(model: Any, tree: int = 0, max_depth: int = 3, ax: "Axes | None" = None) -> "Axes":
    """Draw one tree of a fitted forest, its root at the left.

    A box shows the answer that leads to it, its released class counts, and how far noise moves each of them, 95 times
    of 100. It has the colour of the class with the largest count, and the colour is stronger the larger that share is.
    It is grey where noise alone could explain all counts. Beyond twelve siblings the smallest are folded into one box.
    A picture that would not fit ends at a smaller depth than ``max_depth``.

    Parameters
    ----------
    model : a fitted forest of counts
    tree : int
        Which tree, from 0.
    max_depth : int
        Draw no more than this many tests on a path.
    ax : matplotlib axes, optional
        Where to draw; by default in a new figure of a size that suits.

    Returns
    -------
    matplotlib axes

    Privacy
    -------
    Only released numbers enter: post-processing, which costs nothing.
    """
    outline = Outline(model)
    depth = check_whole("max_depth", max_depth, least=1, most=2**31)
    root = _fitting(outline, tree, depth, MAX_ENDS if ax is None else _readable_ends(ax))
    classes = [short(quoted(label)) for label in model.schema_.classes]
    n_header = 2 + math.ceil(min(len(classes), _MAX_CLASSES) / 5)
    n_slots = root.n_ends + 0.5 * n_header
    placed = list(_placed(root, 0, 0.0, None))
    texts = [_box_text(each.box, classes) for each in placed]
    widest = _widest(texts)
    if ax is None:
        column = _FONT * widest / (_SNUG * _BOX_WIDTH * 72)
        ax = new_axes(column * root.n_levels, _SLOT * n_slots)
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(-0.5, root.n_levels - 0.5)
    ax.set_ylim(root.n_ends, -0.5 * n_header)
    ax.set_axis_off()
    size = _font_size(ax, widest, root.n_levels, n_slots)
    for each, text in zip(placed, texts, strict=True):
        _draw(ax, each, text, size)
    _legend(ax, f"tree {tree} of {outline.n_trees}: released counts, ± noise at 95 %", classes, size)
    return ax


def plot_importances(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the attributes' importances as bars, the largest at the top; thirty at most.

    A bar is pale where the importance may be noise alone.

    Privacy
    -------
    Only released numbers enter: post-processing, which costs nothing.
    """
    ranked = ranked_importances(model)[:_MAX_BARS]
    if ax is None:
        ax = new_axes(6.5, 0.8 + 0.3 * len(ranked), layout="constrained")
    bars = ax.barh(range(len(ranked)), [100 * share for _, share in ranked], color=class_colour(0))
    pale = set(not_told_apart(model))
    for bar, (name, _) in zip(bars, ranked, strict=True):
        bar.set_alpha(_UNSURE if name in pale else 1.0)
    ax.bar_label(bars, [f"{100 * share:.1f} %" for _, share in ranked], padding=3, fontsize=_FONT)
    ax.set_yticks(range(len(ranked)), [short(quoted(name)) for name, _ in ranked])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.18 * max(100 * ranked[0][1], 1.0))
    ax.set_xlabel("importance in %, from released numbers" + ("; pale: may be noise alone" if pale else ""))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def new_axes(width: float, height: float, layout: Literal["constrained"] | None = None) -> "Axes":
    """Return the axes of a new figure of this size in inches."""
    axes: Axes = matplotlib("pyplot").subplots(figsize=(width, height), layout=layout)[1]
    return axes


def _fitting(outline: Outline, tree: int, max_depth: int, most_ends: int) -> Box:
    """Return the tree to the largest depth at which all its boxes can be read."""
    root = outline.tree(tree, max_depth=1, most_children=MAX_CHILDREN)
    for depth in range(2, max_depth + 1):
        deeper = outline.tree(tree, max_depth=depth, most_children=MAX_CHILDREN)
        if deeper.n_ends > most_ends or deeper.n_levels == root.n_levels:
            break
        root = deeper
    return root


def _placed(box: Box, column: int, top: float, parent: _Placed | None) -> Iterator[_Placed]:
    own = _Placed(box, column, top + box.n_ends / 2, parent)
    yield own
    for child in box.children:
        yield from _placed(child, column + 1, top, own)
        top += child.n_ends


def _box_text(box: Box, classes: list[str]) -> str:
    largest = sorted(range(len(classes)), key=lambda j: -box.counts[j])[:2]
    parts = [f"{classes[j]} {box.counts[j]:,}" for j in sorted(largest)]
    failed = "Failure: " if box.fails else ""
    parts += ["…"] if len(classes) > 2 else []
    noise = f" ± {box.reach:,}" if box.reach else ""
    below = f"  (+{box.n_below:,} below)" if box.n_below and not box.text.startswith("…") else ""
    return f"{short(box.text or 'all rows')}\n{failed}{', '.join(parts)}{noise}{below}"


def short(text: str) -> str:
    """Return a text that fits a picture; the end tells siblings apart."""
    half = _MAX_TEXT // 2
    return text if len(text) <= _MAX_TEXT else f"{text[: half - 1]}…{text[-half:]}"


def _widest(texts: list[str]) -> float:
    """Return the width of the longest line, in units of the font's size."""
    from matplotlib.textpath import TextPath

    # "$" would be read as mathematics.
    lines = {line.replace("$", "S") for text in texts for line in text.split("\n")}
    return max(float(np.ptp(TextPath((0, 0), line, size=1.0).vertices[:, 0])) for line in lines)


def _font_size(ax: "Axes", widest: float, n_columns: int, n_slots: float) -> float:
    """Return the largest size, up to the usual one, at which every text fits its box."""
    width, height = _points(ax)
    fits = _SNUG * _BOX_WIDTH * width / n_columns / widest, 0.95 * _BOX_HEIGHT * height / n_slots / (2 * _LINE)
    return float(max(0.5, min(_FONT, *fits)))


def _readable_ends(ax: "Axes") -> int:
    return max(MAX_CHILDREN, int(_points(ax)[1] * _BOX_HEIGHT / (2 * _LINE * _SMALLEST)))


def _points(ax: "Axes") -> tuple[float, float]:
    """Return the width and height of the axes; before the figure has been laid out, those it started with."""
    box = ax.get_window_extent()
    scale = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    return box.width * scale, box.height * scale


def _draw(ax: "Axes", placed: _Placed, text: str, size: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, parent = placed.x, placed.y, placed.parent
    corner = (x - _BOX_WIDTH / 2, y - _BOX_HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.04"
    patch = FancyBboxPatch(
        corner, _BOX_WIDTH, _BOX_HEIGHT, style, facecolor=_colour(placed.box), edgecolor="0.55", lw=0.6
    )
    ax.add_patch(patch)
    ax.text(x, y, text, ha="center", va="center", size=size, linespacing=_LINE, parse_math=False)
    if parent is not None:
        ends = [parent.x + _BOX_WIDTH / 2, x - _BOX_WIDTH / 2], [parent.y, y]
        ax.plot(*ends, color="0.55", lw=0.8, zorder=0)


def _colour(box: Box) -> tuple[float, float, float]:
    """Return the predicted class's colour, mixed with white; grey where noise could have made the counts."""
    n_classes = len(box.counts)
    if not box.stands_out:
        return (_PALE, _PALE, _PALE)
    share = min(1.0, int(box.counts.max()) / int(box.counts.sum()))
    strength = 0.1 + 0.6 * (share - 1 / n_classes) / (1 - 1 / n_classes)
    red, green, blue = (1 - strength * (1 - part) for part in class_colour(box.predicted))
    return red, green, blue


def class_colour(position: int) -> tuple[float, float, float]:
    """Return the colour of a class, the same in every picture."""
    from matplotlib import colormaps

    red, green, blue, _ = colormaps["tab10"](position % _MAX_CLASSES)
    return red, green, blue


def _legend(ax: "Axes", title: str, classes: list[str], size: float) -> None:
    from matplotlib.patches import Patch

    # matplotlib leaves out labels that begin with an underscore.
    names = [f" {name}" if name.startswith("_") else name for name in classes[:_MAX_CLASSES]]
    handles = [Patch(facecolor=class_colour(j)) for j in range(len(names))]
    handles.append(Patch(facecolor=(_PALE, _PALE, _PALE), edgecolor="0.55"))
    legend = ax.legend(
        handles, [*names, "no more than noise"], title=title, loc="upper left", ncols=5, frameon=False,
        fontsize=size, title_fontsize=size, alignment="left", borderaxespad=0.0, handlelength=1.2,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
