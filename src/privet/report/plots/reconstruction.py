"""A picture of a reconstruction: the original values, the answers, and the estimate made from them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, ParameterError
from privet.local.channels.cells import codes_of
from privet.local.reconstruction.reconstruct import Reconstruction
from privet.report.page.formats import number
from privet.report.plots.trees import class_colour, new_axes, short
from privet.schema.encoding import numbers_of
from privet.tree.conditions import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CATEGORIES = 30
# Answers can go far beyond the domain. This share of each tail is left out of the picture, and so is everything that is
# further out than the domain is wide.
_TAIL = 0.001
# For ticks: matplotlib would put a power of ten beside the axis.
_PLAIN = "{x:,.10g}"
_BAR = 0.8


def plot_reconstruction(reconstruction: Reconstruction, *, original: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the answers and the reconstructed distribution, and the original one where it is known.

    Numbers are drawn as shares per cell of the estimate's width, categories as bars, thirty at most.

    Parameters
    ----------
    reconstruction : Reconstruction
        From `reconstruct`.
    original : column of clear values, optional
        For a figure or an experiment: a collector has none.
    ax : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib axes
    """
    if not isinstance(reconstruction, Reconstruction):
        raise ParameterError("plot_reconstruction draws what reconstruct returns; pass that")
    if ax is None:
        ax = new_axes(6.5, 3.6, layout="constrained")
    if reconstruction.edges is None or reconstruction.observed_edges is None:
        _draw_categories(ax, reconstruction, original)
    else:
        _draw_numbers(ax, reconstruction, reconstruction.edges, reconstruction.observed_edges, original)
    ax.set_xlabel(short(quoted(reconstruction.attribute.name)), parse_math=False)
    ax.set_ylim(bottom=0)
    # Above, since bars and steps may reach any corner; on the right, so that a title has its place on the left.
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.2)
    ax.yaxis.set_major_formatter(_PLAIN)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_numbers(
    ax: "Axes", made: Reconstruction, edges: NDArray[np.float64], seen: NDArray[np.float64], original: Any
) -> None:
    typical = float(np.mean(np.diff(edges)))
    shares = {"disturbed": (made.observed / made.n_values, seen), "reconstructed": (made.estimate, edges)}
    if original is not None:
        shares = {"original": (_shares_of(original, made, edges), edges), **shares}
    for name, (share, borders) in shares.items():
        ax.stairs(100 * share * typical / np.diff(borders), borders, label=name, **_style(name))
    ax.set_xlim(*_shown(made, edges, seen))
    ax.xaxis.set_major_formatter(_PLAIN)
    ax.set_ylabel(f"% of values, per {number(typical)}")


def _shares_of(original: Any, made: Reconstruction, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    numbers = np.asarray(numbers_of(original, made.attribute.name), dtype=np.float64)
    numbers = np.clip(numbers[~np.isnan(numbers)], edges[0], edges[-1])
    return _normalised(np.histogram(numbers, edges)[0])


def _draw_categories(ax: "Axes", made: Reconstruction, original: Any) -> None:
    names = ["missing" if label is None else short(quoted(label)) for label in made.categories]
    shares = {"disturbed": made.observed / made.n_values, "reconstructed": made.estimate}
    if original is not None:
        codes = codes_of(original, made.attribute)
        shares = {"original": _normalised(np.bincount(codes, minlength=len(names))[: len(names)]), **shares}
    kept = np.sort(np.argsort(-made.estimate, kind="stable")[:_MOST_CATEGORIES])
    width = _BAR / len(shares)
    for i, (name, share) in enumerate(shares.items()):
        places = np.arange(len(kept)) + (i - (len(shares) - 1) / 2) * width
        ax.bar(places, 100 * share[kept], width, label=name, color=_style(name)["color"])
    ax.set_xticks(range(len(kept)), [names[j] for j in kept], rotation=0 if len(kept) <= 6 else 90)
    for label in ax.get_xticklabels():
        label.set_parse_math(False)
    ax.set_ylabel("% of values")


def _normalised(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    if not counts.sum():
        raise DataError("original has no value of the attribute's domain; pass the clear column")
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


def _shown(made: Reconstruction, edges: NDArray[np.float64], seen: NDArray[np.float64]) -> tuple[float, float]:
    upto = np.cumsum(made.observed) / made.n_values
    first, last = (int(place) for place in np.searchsorted(upto, [_TAIL, 1 - _TAIL]))
    low, high = float(edges[0]), float(edges[-1])
    furthest = (2 * low - high, 2 * high - low)
    return float(np.clip(seen[first], furthest[0], low)), float(np.clip(seen[last + 1], high, furthest[1]))


def _style(name: str) -> dict[str, Any]:
    position = ("reconstructed", "disturbed", "original").index(name)
    if name == "original":
        return {"color": "0.75", "fill": True}
    return {"color": class_colour(position), "linewidth": 1.6, "linestyle": "--" if name == "disturbed" else "-"}
