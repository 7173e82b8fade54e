"""What each attribute does, drawn with matplotlib."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet.checks import check_whole
from privet.errors import ParameterError
from privet.report.page.effects import BAND, Effect, borders, effects_of, places, score_of
from privet.report.page.formats import number
from privet.report.plots.trees import class_colour, short
from privet.schema import Label, Numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 16
_MOST_CLASSES = 10
_COLUMNS = 3
_MOST_LABELS = 24
_MISSING_AT = 1.14
# Of the width, between two borders that are named.
_ROOM = 0.19
_MAP_COLOURS = "RdBu_r"


def plot_shapes(model: Any, n_shapes: int = 9, class_: Label | None = None) -> "list[Axes]":
    """Draw what each tree adds to a score in a new figure, the trees of the most important attributes first.

    A number has a step for each cell and a band of two standard deviations of noise, *if rows were spread evenly*. The
    grey band is the noise of a cell that hardly any row reaches, as far as the picture goes. Narrow cells are drawn
    wider than they are. Categories have bars, two attributes have a map, and three have a list of their strongest
    cells. What all cells share is left out.

    Parameters
    ----------
    model : a fitted forest of weights
    n_shapes : int
        At most so many trees.
    class_ : label, optional
        Whose score; by default that of the second of two classes. With more classes it is every class's score, and in
        a map the score of the class that moves most.

    Returns
    -------
    list of matplotlib axes

    Privacy
    -------
    Only released numbers enter: post-processing, which costs nothing.
    """
    check_is_fitted(model)
    if not hasattr(model, "shapes"):
        raise ParameterError(f"{type(model).__name__} releases no weights, so it has no shapes; use plot_tree")
    effects = effects_of(model, class_)[: check_whole("n_shapes", n_shapes, least=1, most=100)]
    if not effects:
        raise ParameterError("the model is its class balance alone, without a tree to draw; raise epsilon")
    axes = _new_figure(len(effects))
    for effect, ax in zip(effects, axes, strict=True):
        _draw(ax, effect, model.schema_.classes)
    return axes


def _new_figure(n_axes: int) -> "list[Axes]":
    from matplotlib import pyplot as plt

    n_columns = min(_COLUMNS, n_axes)
    n_rows = math.ceil(n_axes / n_columns)
    size = (4.6 * n_columns, 3.3 * n_rows)
    figure, grid = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    axes = list(grid.flat)
    for spare in axes[n_axes:]:
        figure.delaxes(spare)
    return axes[:n_axes]


def _draw(ax: "Axes", effect: Effect, classes: tuple[Label, ...]) -> None:
    if effect.is_number:
        _draw_number(ax, effect, classes)
    elif len(effect.cells) == 2:
        _draw_pair(ax, effect)
    else:
        _draw_bars(ax, effect, classes)
    ax.set_title(f"{short(effect.title)} ({100 * effect.share:.0f} %)", fontsize=10, parse_math=False)
    if len(effect.cells) != 2:
        along = ax.set_ylabel if effect.is_number else ax.set_xlabel
        along(short(score_of(effect, classes)), fontsize=8, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=7)


def _draw_number(ax: "Axes", effect: Effect, classes: tuple[Label, ...]) -> None:
    (attribute,) = effect.attributes
    assert isinstance(attribute, Numeric)  # noqa: S101 - the caller has asked
    xs = places(attribute)
    noise, missing_noise = np.split(BAND * effect.noise, [len(xs) - 1])
    missing_at = [] if attribute.never_missing else [_MISSING_AT]
    for k, label in list(enumerate(effect.classes))[:_MOST_CLASSES]:
        colour = class_colour(classes.index(label))
        own, missing = np.split(effect.of_class(k), [len(xs) - 1])
        ax.stairs(own + noise, xs, baseline=own - noise, fill=True, color=colour, alpha=0.2)
        ax.stairs(own, xs, baseline=None, color=colour, linewidth=1.5, label=_shown(label))
        ax.errorbar(missing_at, missing, yerr=missing_noise, fmt="s", markersize=4, color=colour)
    _rare_band(ax, effect, xs)
    ax.axhline(0, color="0.6", linestyle=":", linewidth=1)
    ticks = _apart(xs)
    names = [number(float(value)) for value in borders(attribute)[ticks]]
    ax.set_xticks([*xs[ticks], *missing_at], [*names, *("missing" for _ in missing_at)])
    ax.get_xticklabels()[len(names) - 1].set_horizontalalignment("right")
    if len(effect.classes) > 1:
        ax.legend(fontsize=6, frameon=False)
        _plain_legend(ax)


def _rare_band(ax: "Axes", effect: Effect, xs: Any) -> None:
    """Draw, as far as the picture reaches, what noise may do where hardly any row comes."""
    if len(effect.classes) > 1:
        return
    own, far = effect.values[: len(xs) - 1, 0], BAND * effect.rare_noise[: len(xs) - 1]
    low, high = ax.get_ylim()
    ax.stairs(np.minimum(own + far, high), xs, baseline=np.maximum(own - far, low), fill=True, color="0.5", alpha=0.12)
    ax.set_ylim(low, high)


def _draw_bars(ax: "Axes", effect: Effect, classes: tuple[Label, ...]) -> None:
    """Draw the strongest cells of one attribute, or of three together, as bars."""
    several, positions = len(effect.classes) > 1, []
    for cells, _ in effect.strongest(_MOST_BARS * len(effect.classes)):
        positions += [cells] if cells not in positions else []
    positions = sorted(positions[:_MOST_BARS], key=lambda cells: float(effect.values[(*cells, 0)]))
    height = 0.8 / len(effect.classes[:_MOST_CLASSES])
    for k, label in list(enumerate(effect.classes))[:_MOST_CLASSES]:
        at = np.arange(len(positions)) + (k - (len(effect.classes[:_MOST_CLASSES]) - 1) / 2) * height
        own = [float(effect.values[(*cells, k)]) for cells in positions]
        far = None if several else [BAND * float(effect.noise[cells]) for cells in positions]
        ax.barh(at, own, height, xerr=far, color=class_colour(classes.index(label)), alpha=0.8, label=_shown(label))
    names = [", ".join(own[i] for own, i in zip(effect.cells, cells, strict=True)) for cells in positions]
    ax.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
    ax.axvline(0, color="0.6", linestyle=":", linewidth=1)
    if several:
        ax.legend(fontsize=6, frameon=False)
        _plain_legend(ax)


def _draw_pair(ax: "Axes", effect: Effect) -> None:
    k = int(effect.values.reshape(-1, len(effect.classes)).std(axis=0).argmax())
    values = effect.of_class(k)
    most = float(np.quantile(np.abs(values), 0.95)) or 1.0
    turned = values.shape[0] > values.shape[1]
    cells = effect.cells[::-1] if turned else effect.cells
    picture = ax.imshow(values.T if turned else values, cmap=_MAP_COLOURS, vmin=-most, vmax=most, aspect="auto")
    bar = ax.figure.colorbar(picture, ax=ax, extend="both")
    bar.ax.tick_params(labelsize=7)
    bar.set_label(f"for {short(str(effect.classes[k]))}", fontsize=8, parse_math=False)
    for set_ticks, names in ((ax.set_yticks, cells[0]), (ax.set_xticks, cells[1])):
        step = math.ceil(len(names) / _MOST_LABELS)
        set_ticks(range(0, len(names), step), [_cut(name) for name in names[::step]], parse_math=False)
    for label in ax.get_xticklabels():
        label.set(rotation=60, ha="right", rotation_mode="anchor")


def _apart(xs: Any) -> list[int]:
    """Return which borders have room to be named."""
    chosen = [0]
    for i in range(1, len(xs) - 1):
        if min(xs[i] - xs[chosen[-1]], xs[-1] - xs[i]) >= _ROOM:
            chosen.append(i)
    return [*chosen, len(xs) - 1]


def _cut(name: str) -> str:
    return name if len(name) <= 14 else f"{name[:13]}…"


def _shown(label: Label) -> str:
    # matplotlib leaves out labels that begin with an underscore.
    return f" {label}" if str(label).startswith("_") else short(str(label))


def _plain_legend(ax: "Axes") -> None:
    legend = ax.get_legend()
    for text in legend.get_texts() if legend else ():
        text.set_parse_math(False)
