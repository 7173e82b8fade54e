"""Pictures of what to expect, drawn before any fit: of a plan of answers, and of a rehearsal."""

import math
from typing import TYPE_CHECKING

import numpy as np

from privet.errors import ParameterError
from privet.local.planning.answers_plan import AnswersPlan
from privet.report.plots.trees import class_colour, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privet.rehearsal import Rehearsal

_PLAIN = "{x:,.10g}"
# So many times fewer and more people than planned are shown.
_AROUND = 30.0
_DASHES = ("-", "--", ":", "-.")


def plot_answers_plan(plan: AnswersPlan, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how far off the least known share of a value would be, over the number of people, a line an epsilon.

    Parameters
    ----------
    plan : AnswersPlan
        From `plan_answers`. The dot is what was planned, the dashed line the error that was asked for.
    ax : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib axes
    """
    if not isinstance(plan, AnswersPlan):
        raise ParameterError("plot_answers_plan draws what plan_answers returns; pass that")
    if ax is None:
        ax = new_axes(6.5, 4.2, layout="constrained")
    people = np.geomspace(max(plan.people / _AROUND, 1.0), plan.people * _AROUND, 60)
    for position, need in enumerate(plan.needs):
        points = np.minimum(100 * plan.error * np.sqrt(need.people / people), 100.0)
        own = need.epsilon == plan.local_epsilon
        ax.plot(people, points, color=class_colour(position), linewidth=2.2 if own else 1.2,
                label=f"epsilon {need.epsilon:.6g}")  # fmt: skip
        if own:
            planned = min(100 * plan.error * math.sqrt(need.people / plan.people), 100.0)
            ax.plot([plan.people], [planned], marker="o", color=class_colour(position))
    ax.axhline(100 * plan.error, color="0.6", linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="people who answer")
    ax.set_ylabel("points that a value's share is off by, 95 times of 100")
    ax.xaxis.set_major_formatter(_PLAIN)
    ax.yaxis.set_major_formatter(_PLAIN)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


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
