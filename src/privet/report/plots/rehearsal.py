"""A picture of a rehearsal: accuracy over epsilon, a colour for each method and a dash for each number of rows."""

import math
from typing import TYPE_CHECKING

from privet.errors import ParameterError
from privet.report.plots.trees import class_colour, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privet.rehearsal import Rehearsal

_PLAIN = "{x:,.10g}"
_DASHES = ("-", "--", ":", "-.")


def plot_rehearsal(rehearsal: "Rehearsal", *, ax: "Axes | None" = None) -> "Axes":
    """Draw how accurate models of made-up or public rows were, over epsilon.

    Parameters
    ----------
    rehearsal : Rehearsal
        From `privet.rehearse`. A line's height is the mean over draws; its band is one standard deviation.
    ax : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib axes
    """
    if not hasattr(rehearsal, "scores"):
        raise ParameterError("plot_rehearsal draws what rehearse returns; pass that")
    if ax is None:
        ax = new_axes(6.5, 4.8, layout="constrained")
    lines = list(dict.fromkeys((score.method, score.rows) for score in rehearsal.scores))
    methods, sizes = (list(dict.fromkeys(each)) for each in zip(*lines, strict=True))
    for method, rows in lines:
        own = [s for s in rehearsal.scores if (s.method, s.rows) == (method, rows) and math.isfinite(s.epsilon)]
        epsilons, heights = [s.epsilon for s in own], [100 * s.accuracy for s in own]
        colour = class_colour(methods.index(method))
        ax.plot(
            epsilons, heights, color=colour, linestyle=_DASHES[sizes.index(rows) % len(_DASHES)], marker="o",
            markersize=3.5, label=f"{method}, {rows:,} rows",
        )  # fmt: skip
        low, high = ([h + side * 100 * s.deviation for h, s in zip(heights, own, strict=True)] for side in (-1, 1))
        ax.fill_between(epsilons, low, high, color=colour, alpha=0.1, linewidth=0)
    ax.axhline(100 * rehearsal.majority, color="0.6", linestyle=":", linewidth=1, label="the largest class")
    if rehearsal.best is not None:
        ax.axhline(100 * rehearsal.best, color="0.3", linestyle="--", linewidth=1, label="what can be known at most")
    ax.set(xscale="log", xlabel="epsilon", ylabel="accuracy, % of new rows")
    ax.set_title(f"Expected from {rehearsal.basis}", fontsize=9)
    ax.xaxis.set_major_formatter(_PLAIN)
    ax.minorticks_off()
    ax.set_xticks(sorted({s.epsilon for s in rehearsal.scores if math.isfinite(s.epsilon)}))
    ax.spines[["top", "right"]].set_visible(False)
    # Below: lines may run anywhere inside.
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return ax
