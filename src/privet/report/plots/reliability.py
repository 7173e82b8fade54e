"""How well probabilities match what happened: a reliability diagram."""

from typing import TYPE_CHECKING, Any

import numpy as np

from privet.checks import check_whole, class_position
from privet.errors import ParameterError
from privet.report.plots.trees import class_colour, new_axes
from privet.schema import Label
from privet.tree.conditions import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_reliability(
    model: Any, X: Any, y: Any, n_bins: int = 10, class_: Label | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw how often a class occurs among rows that were given about the same probability of it.

    Each bin of probabilities has a dot. The dot is as high as the share of the class among the bin's rows, and the
    number of rows stands beside it. On the dashed line, probabilities match what happened.

    Parameters
    ----------
    model : any fitted model
    X, y : table and labels
        Test rows of your own, which the model was not fitted to.
    n_bins : int
        Into how many bins of equal width probabilities are cut.
    class_ : label, optional
        The class; by default the second of two, or with more classes each row's predicted one.
    ax : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib axes

    Privacy
    -------
    None. The picture shows exact shares and counts of the rows that are given here, and nothing protects them. Show it
    only to people who may see these rows.
    """
    check_whole("n_bins", n_bins, least=2, most=1000)
    chances, happened, name = _chances(model, X, y, class_)
    if ax is None:
        ax = new_axes(5.2, 5.0, layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1, label="probabilities that match what happened")
    bins = np.minimum((chances * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    filled = np.flatnonzero(counts)
    given = np.bincount(bins, chances, minlength=n_bins)[filled] / counts[filled]
    came = np.bincount(bins, happened, minlength=n_bins)[filled] / counts[filled]
    ax.plot(given, came, marker="o", color=class_colour(0), label="these rows")
    for x, y_, count in zip(given, came, counts[filled], strict=True):
        ax.annotate(f"{count:,}", (x, y_), xytext=(6, -11), textcoords="offset points", fontsize=8, color="0.35")
    ax.set(xlim=(-0.02, 1.06), ylim=(-0.04, 1.04), xlabel=f"probability of {name}, mean of a bin")
    ax.set_ylabel("share of rows where it came true; numbers are rows")
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_parse_math(False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    return ax


def _chances(model: Any, X: Any, y: Any, class_: Label | None) -> tuple[Any, Any, str]:
    """Return the probability that each row was given, whether it came true, and of what."""
    classes = model.classes_.tolist()
    k = 1 if class_ is None else class_position(classes, class_)
    probabilities, labels = model.predict_proba(X), np.asarray(y)
    if labels.shape != (len(probabilities),) or not len(labels):
        raise ParameterError("X and y must hold one row and one label for each test row, and at least one")
    if class_ is None and len(classes) > 2:
        chosen = probabilities.argmax(axis=1)
        return probabilities.max(axis=1), model.classes_[chosen] == labels, "the predicted class"
    return probabilities[:, k], labels == model.classes_[k], quoted(classes[k])
