"""What each attribute does, drawn with matplotlib."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet.checks import check_whole
from privet.errors import ParameterError
from privet.lazy import matplotlib
from privet.report.page.effects import (
    BAND,
    Effect,
    effects_of,
    marked,
    places,
    score_of,
    shown_range,
    tick_names,
    ticks,
)
from privet.report.plots.trees import class_colour, short
from privet.schema import Label, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 16
_MOST_CLASSES = 10
_COLUMNS = 3
_MOST_LABELS = 24
_MISSING_AT = 1.14
# Of the width, between two borders that are named, and a letter of their names.
_ROOM, _LETTER = 0.03, 0.016
_MAP_COLOURS = "RdBu_r"


def plot_shapes(model: Any, n_shapes: int = 9, class_: Label | None = None) -> "list[Axes]":
    """Draw what attributes add to a score in a new figure: each one alone, the most important first.

    Then comes what several do together beyond that, if it stands out from noise. A number has a curve, or a step for
    each cell that was declared, and categories have bars; bands reach two standard deviations of noise to either side,
    for rows that lie as released. Where that was not released it is *if rows were spread evenly*, and a grey band is
    the noise where hardly any row comes, as far as the picture goes. Where rows crowd into a narrow range it is drawn
    wider than it is. Two attributes together have a map, grey where it is no more than noise, more a list of their
    strongest points. A bar is pale and hatched, as a curve is dotted, where noise hides whether there are rows. Missing
    values are left out where none were seen.

    Parameters
    ----------
    model : a fitted forest of weights
    n_shapes : int
        At most so many pictures. What stands out from noise is chosen before what does not, the most important first.
    class_ : label, optional
        Whose score; by default that of the second of two classes. With more classes it is that of each of the ten most
        frequent, a grey band about zero is the noise, and a map shows the class that moves most.

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
    n_shapes = check_whole("n_shapes", n_shapes, least=1, most=100)
    shown = [effect for effect in effects_of(model, class_) if effect.is_shown]
    # What stands out is chosen first, and drawn in the order of the model.
    ranked = sorted(range(len(shown)), key=lambda i: (not shown[i].stands_out, -shown[i].share))
    effects = [shown[i].of_seen() for i in sorted(ranked[:n_shapes])]
    if not effects:
        raise ParameterError("the model is its class balance alone, without a tree to draw; raise epsilon")
    axes, n_classes = _new_figure(len(effects)), len(effects[0].classes)
    drawn = sorted(np.argsort(-model.class_shares_, kind="stable")[:_MOST_CLASSES].tolist()) if n_classes > 1 else [0]
    for effect, ax in zip(effects, axes, strict=True):
        _draw(ax, effect if len(effect.cells) == 2 else effect.of_classes(drawn), model.schema_)
    _add_legend(axes, n_classes)
    return axes


def _new_figure(n_axes: int) -> "list[Axes]":
    n_columns = min(_COLUMNS, n_axes)
    n_rows = math.ceil(n_axes / n_columns)
    size = (4.6 * n_columns, 3.3 * n_rows)
    figure, grid = matplotlib("pyplot").subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    axes = list(grid.flat)
    for spare in axes[n_axes:]:
        figure.delaxes(spare)
    return axes[:n_axes]


def _draw(ax: "Axes", effect: Effect, schema: Schema) -> None:
    classes = schema.ends
    if effect.is_number:
        _draw_number(ax, effect, classes)
    elif len(effect.cells) == 2:
        _draw_pair(ax, effect)
    else:
        _draw_bars(ax, effect, classes)
    size = f"{100 * effect.share:.0f} %" + (f", {effect.asked}" if effect.asked else "")
    ax.set_title(f"{short(effect.title)} ({size})", fontsize=10, parse_math=False)
    if len(effect.cells) != 2:
        along = ax.set_ylabel if effect.is_number else ax.set_xlabel
        along(short(score_of(effect, schema)), fontsize=8, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=7)


def _draw_number(ax: "Axes", effect: Effect, classes: tuple[Label, ...]) -> None:
    xs, n_missing = places(effect), int(effect.has_missing[0])
    n_known = len(effect.cells[0]) - n_missing
    missing_at = [_MISSING_AT] * n_missing
    far, several = BAND * effect.noise, len(effect.classes) > 1
    if several:
        # Bands of many classes would hide each other: this one is what noise alone may do to any of them.
        _fill(ax, effect, xs, -far[:n_known], far[:n_known], color="0.5", alpha=0.2)
    for k, label in enumerate(effect.classes):
        colour, own = _colour_of(k, label, classes), effect.of_class(k)
        if not several:
            _fill(ax, effect, xs, (own - far)[:n_known], (own + far)[:n_known], color=colour, alpha=0.2)
        if effect.curve is None:
            ax.stairs(own[:n_known], xs, baseline=None, color=colour, linewidth=1.5, label=_shown(label))
        else:
            # Dotted where no rows are for sure.
            ax.plot(xs, own[:n_known], color=colour, linewidth=0.8, linestyle=":", label="")
            sure = np.where(effect.seen, own, np.nan)[:n_known]
            ax.plot(xs, sure, color=colour, linewidth=1.5, label=_shown(label))
        ax.errorbar(missing_at, own[n_known:], yerr=far[n_known:], fmt="s", markersize=4, color=colour)
    low, high = shown_range(effect)
    room = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - room, high + room)
    if effect.rare_noise is not None and len(effect.classes) == 1:
        # As far as the picture reaches, what noise may do where hardly any row comes.
        own, far = effect.values[:n_known, 0], BAND * effect.rare_noise[:n_known]
        _fill(ax, effect, xs, own - far, own + far, color="0.5", alpha=0.12)
    ax.axhline(0, color="0.6", linestyle=":", linewidth=1)
    written = np.array(ticks(effect))
    at = np.interp(written, marked(effect), xs)
    every = tick_names(effect)
    chosen = _apart(at, every)
    names = [every[i] for i in chosen]
    ax.set_xticks([*at[chosen], *missing_at], [*names, *("missing" for _ in missing_at)])
    if at[-1] == xs[-1]:
        ax.get_xticklabels()[len(names) - 1].set_horizontalalignment("right")


def _fill(ax: "Axes", effect: Effect, xs: Any, low: Any, high: Any, **style: Any) -> None:
    if effect.curve is None:
        ax.stairs(high, xs, baseline=low, fill=True, **style)
    else:
        ax.fill_between(xs, low, high, linewidth=0, **style)


def _draw_bars(ax: "Axes", effect: Effect, classes: tuple[Label, ...]) -> None:
    """Draw the strongest points of one attribute, or of three or four together, as bars."""
    several, positions = len(effect.classes) > 1, []
    for cells, _ in effect.strongest(_MOST_BARS * len(effect.classes)):
        positions += [cells] if cells not in positions else []
    positions = sorted(positions[:_MOST_BARS], key=lambda cells: float(effect.values[(*cells, 0)]))
    height = 0.8 / len(effect.classes)
    for k, label in enumerate(effect.classes):
        at = np.arange(len(positions)) + (k - (len(effect.classes) - 1) / 2) * height
        own = [float(effect.values[(*cells, k)]) for cells in positions]
        far = None if several else [BAND * float(effect.noise[cells]) for cells in positions]
        colour = _colour_of(k, label, classes)
        bars = ax.barh(at, own, height, xerr=far, color=colour, alpha=0.8, label=_shown(label))
        for bar, cells in zip(bars, positions, strict=True):
            if not effect.seen[cells]:
                bar.set(alpha=0.3, hatch="///")
    low, high = shown_range(effect)
    room = 0.06 * (high - low) or 1.0
    ax.set_xlim(low - room, high + room)
    names = [", ".join(own[i] for own, i in zip(effect.cells, cells, strict=True)) for cells in positions]
    ax.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
    ax.axvline(0, color="0.6", linestyle=":", linewidth=1)


def _draw_pair(ax: "Axes", effect: Effect) -> None:
    k = int(effect.values.reshape(-1, len(effect.classes)).std(axis=0).argmax())
    values = effect.of_class(k)
    most = float(np.quantile(np.abs(values), 0.95)) or 1.0
    # Grey is no more than noise, or where no rows are for sure.
    values = np.where(effect.seen & (np.abs(values) >= BAND * effect.noise), values, np.nan)
    ax.set_facecolor("0.88")
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


def _apart(xs: Any, names: list[str]) -> list[int]:
    """Return which borders have room for their names; that of the last one ends there."""
    chosen, halves = [0], [_LETTER * len(name) / 2 for name in names]
    for i in range(1, len(xs) - 1):
        before, after = xs[chosen[-1]] + halves[chosen[-1]], xs[-1] - 2 * halves[-1]
        if min(xs[i] - halves[i] - before, after - xs[i] - halves[i]) >= _ROOM:
            chosen.append(i)
    return [*chosen, len(xs) - 1]


def _cut(name: str) -> str:
    return name if len(name) <= 14 else f"{name[:13]}…"


def _shown(label: Label) -> str:
    # matplotlib leaves out labels that begin with an underscore.
    return f" {label}" if str(label).startswith("_") else short(str(label))


def _colour_of(position: int, label: Label, classes: tuple[Label, ...]) -> tuple[float, float, float]:
    """Return the colour of a class: its own in every picture, or where there are more than colours, of those drawn."""
    return class_colour(classes.index(label) if len(classes) <= _MOST_CLASSES else position)


def _add_legend(axes: "list[Axes]", n_classes: int) -> None:
    """Name the classes once, beside all pictures."""
    named = [ax.get_legend_handles_labels() for ax in axes]
    handles, labels = next((each for each in named if len(each[0]) > 1), ([], []))
    if n_classes < 2 or not handles:
        return
    title = f"{len(labels)} most frequent of {n_classes} classes" if n_classes > len(labels) else None
    figure = axes[0].get_figure(root=True)
    legend = figure.legend(  # type: ignore[union-attr]
        handles, labels, loc="outside lower center", ncols=min(len(labels), 10), fontsize=7, title=title,
        title_fontsize=8, frameon=False,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
