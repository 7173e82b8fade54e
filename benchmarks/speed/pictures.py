"""Pictures of a run. Colours are Okabe and Ito's, and shapes or words say the same, for those who see no difference."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.curve import Curve
from benchmarks.speed.harness import HOLDS, Bar

_BLUE, _VERMILION, _GREEN, _ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
_PURPLE, _SKY, _GREY = "#CC79A7", "#56B4E9", "#595959"
_LINES = ((_BLUE, "o"), (_VERMILION, "s"), (_GREEN, "^"), (_PURPLE, "D"), (_ORANGE, "v"), (_SKY, "P"))
_NOT_PRIVATE, _PRIVATE = "not private", "private"
# What the README's picture shows: a bar's name, its words there, and whether the other side is private.
_SHOWN = {
    "fit 1,000,000 rows, RandomForest": ("Private-RDT, fit vs RandomForest", _NOT_PRIVATE),
    "fit 1,000,000 rows, ExtraTrees(max_features=1)": ("Private-RDT, fit vs ExtraTrees", _NOT_PRIVATE),
    "fit per row-tree at 1e6 rows, diffprivlib 0.6.6 at 2e4": (
        "Private-RDT, per row and tree vs diffprivlib",
        _PRIVATE,
    ),
    "predict 1e6 rows, RandomForest": ("Private-RDT, predict 1,000,000 rows vs RandomForest", _NOT_PRIVATE),
    "predict 1 row, RandomForest": ("Private-RDT, predict one row vs RandomForest", _NOT_PRIVATE),
    "fit the forest, 1,000,000 rows, 2 classes, HistGradientBoosting": (
        "PrivateForest, fit vs HistGradientBoosting",
        _NOT_PRIVATE,
    ),
    "fit the forest, 1,000,000 rows, 2 classes, DP-EBM": ("PrivateForest, fit vs DP-EBM", _PRIVATE),
    "1e6 discrete Laplace noises of scale 30, OpenDP": ("1,000,000 exact noises vs OpenDP", _PRIVATE),
}


def bars(measured: Sequence[Bar], path: Path) -> None:
    """Draw how many times better than its target every bar is, on a logarithmic axis."""
    judged = [(bar, bar.margin) for bar in measured if bar.margin is not None]
    figure, axes = _figure(9.0, 1.2 + 0.27 * len(judged))
    for place, (bar, margin) in enumerate(judged):
        colour, marker = (_BLUE, "o") if bar.verdict == HOLDS else (_VERMILION, "X")
        axes.plot([1, margin], [place, place], color=colour, linewidth=2)
        axes.plot(margin, place, marker, color=colour, markersize=7)
        _, _, _, result, target, _ = bar.cells()
        axes.annotate(
            f"{result} ({target})", (max(1.0, margin), place), (8, 0), textcoords="offset points", va="center", size=8,
            color=_GREY,
        )  # fmt: skip
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(judged)), [bar.name for bar, _ in judged], fontsize=8)
    axes.set_ylim(max(1, len(judged)) - 0.5, -0.5)
    axes.set_xscale("log")
    _plain_ticks(axes.xaxis)
    axes.set_xlim(right=1.6 * axes.get_xlim()[1] ** 1.25)
    axes.set_xlabel("times better than its target; at 1 a bar just holds (a dot holds, a cross does not)")
    _save(figure, path)


def growth(curves: Sequence[Curve], path: Path) -> None:
    """Draw every curve against its smallest size, a panel for each factor, with a line that is linear."""
    factors = list(dict.fromkeys((curve.factor, curve.unit) for curve in curves))
    figure, grid = _figure(11.0, 3.3 * -(-len(factors) // 3), rows=-(-len(factors) // 3), columns=3)
    panels = grid.flatten()
    for (factor, unit), axes in zip(factors, panels, strict=False):
        own = [curve for curve in curves if (curve.factor, curve.unit) == (factor, unit)]
        for curve, (colour, marker) in zip(own, _LINES, strict=False):
            _draw(axes, curve, colour, marker)
        longest = max(curve.points[-1][0] / curve.points[0][0] for curve in own)
        axes.plot([1, longest], [1, longest], color=_GREY, linewidth=1, linestyle=":", label="linear")
        axes.set_title(f"over {factor}" if unit == "s" else f"memory over {factor}", fontsize=10)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        _plain_ticks(axes.xaxis)
        _plain_ticks(axes.yaxis)
        axes.margins(y=0.2)
        axes.legend(fontsize=7, frameon=False, loc="upper left")
    for axes in panels[len(factors) :]:
        axes.set_axis_off()
    figure.supxlabel("times the smallest size", fontsize=10)
    figure.supylabel("times what the smallest size takes", fontsize=10)
    _save(figure, path)


def _draw(axes: Any, curve: Curve, colour: str, marker: str) -> None:
    (first, low) = curve.points[0]
    sizes, values = zip(*((size / first, value / low) for size, value in curve.points), strict=True)
    label = f"{curve.what}: {curve.exponent}"
    axes.plot(sizes, values, marker=marker, color=colour, linewidth=1.5, markersize=5, label=label)


def ratios(measured: Sequence[Bar], path: Path) -> None:
    """Draw the README's picture: how many times faster privet is than what people know. Nothing without a ratio."""
    found = {bar.name: bar.result for bar in measured if bar.result is not None}
    shown = [(found[name], *words) for name, words in _SHOWN.items() if name in found]
    if not shown:
        return
    figure, axes = _figure(8.0, 1.3 + 0.42 * len(shown))
    for kind, colour, hatch in ((_NOT_PRIVATE, _BLUE, ""), (_PRIVATE, _ORANGE, "//")):
        own = {place: ratio for place, (ratio, _, other) in enumerate(shown) if other == kind}
        axes.barh(
            list(own), list(own.values()), height=0.68, color=colour, hatch=hatch, edgecolor="white",
            label=f"compared with what is {kind}",
        )  # fmt: skip
    for place, (ratio, _, _) in enumerate(shown):
        axes.annotate(f"{ratio:.0f}x", (ratio, place), (5, 0), textcoords="offset points", va="center", size=12)
    axes.set_yticks(range(len(shown)), [words for _, words, _ in shown], fontsize=11)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(1, 3 * max(ratio for ratio, _, _ in shown))
    _plain_ticks(axes.xaxis)
    axes.tick_params(axis="x", labelsize=10)
    figure.supxlabel("How many times faster privet is: CPU time on one thread, both sides in one run", fontsize=11)
    figure.legend(frameon=False, fontsize=11, loc="outside upper center", ncols=2)
    _save(figure, path)


def _figure(width: float, height: float, *, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=rows * columns == 1)


def _plain_ticks(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    # Without a date or a version, the same numbers give the same file.
    figure.savefig(path, dpi=130, metadata={"Software": None})
