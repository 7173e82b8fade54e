"""A picture of an audit: what the attacker's test gave with the row, and without."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.attack.distinguishing import Attack
from privet.files.whole_file import whole_bytes

if TYPE_CHECKING:
    from privet.attack.audit import Audit

_WITHOUT, _WITH = "#0072b2", "#d55e00"
_BINS = 40
_COLUMNS = 3
# Title and legend are cut off below it.
_LEAST_WIDTH = 7.5


def draw_audit(audit: "Audit", path: Path) -> None:
    """Write a picture with a panel a case to ``path``."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(len(audit.attacks), _COLUMNS)
    lines = -(-len(audit.attacks) // columns)
    size = max(4.4 * columns, _LEAST_WIDTH), 1.1 + 3.0 * lines
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.1))  # pyplot would look for a screen
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for ax in axes.flat[len(audit.attacks) :]:
        ax.set_axis_off()
    for ax, (name, attack) in zip(axes.flat, audit.attacks.items(), strict=False):
        _draw_case(ax, name, attack)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of releases")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    figure.suptitle(_title(audit), fontsize=11)
    with whole_bytes(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=120)


def _title(audit: "Audit") -> str:
    return (
        f"{audit.subject}: at least epsilon = {audit.epsilon_shown:.3g} was shown, {audit.epsilon:g} is claimed\n"
        f"{audit.runs:,} releases, {100 * audit.confidence:.6g}% confidence"
    )


def _draw_case(ax: Any, name: str, attack: Attack) -> None:
    both = np.concatenate([attack.scores_without, attack.scores_with])
    # The outermost scores would flatten everything else.
    low, high = np.quantile(both, [0.005, 0.995])
    edges = np.linspace(low, high if high > low else low + 1, _BINS)
    for scores, colour, label in (
        (attack.scores_without, _WITHOUT, "without the row"),
        (attack.scores_with, _WITH, "with the row"),
    ):
        weights = np.full(len(scores), 1 / len(scores))
        ax.hist(np.clip(scores, edges[0], edges[-1]), edges, weights=weights, color=colour, alpha=0.55, label=label)
    # Beyond the outermost bars all is gathered in them.
    border = float(np.clip(attack.threshold, edges[0], edges[-1]))
    ax.axvline(border, color="black", linewidth=1, linestyle="--", label='right of it he says "the row is there"')
    ax.locator_params(axis="x", nbins=5)
    ax.set_title(f"{name}\nat least {attack.epsilon_shown:.3g}", fontsize=9)
    ax.set_xlabel("the attacker's score")
