"""A picture of a plan: how far off answers would be, over the number of people, at several epsilons."""

import math
from typing import TYPE_CHECKING

import numpy as np

from privet.errors import ParameterError
from privet.local.planning.answers_plan import AnswersPlan
from privet.report.plots.trees import class_colour, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLAIN = "{x:,.10g}"
# So many times fewer and more people than planned are shown.
_AROUND = 30.0


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
