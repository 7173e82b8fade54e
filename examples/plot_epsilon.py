"""Accuracy over epsilon.

The same people, four methods, and epsilons from next to nothing to 2. Noise is drawn anew in every fit, so each point
is a mean of several, and the band goes from the worst to the best. The dotted line is guessing, and the dashed one at
the top the recommended forest without noise.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from privet import DPDFClassifier, DPRFClassifier, PrivateForestClassifier, PrivateRDTClassifier
from privet.datasets import agrawal

EPSILONS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
METHODS = {
    PrivateForestClassifier: ("recommended forest", "#0072B2", "o"),
    PrivateRDTClassifier: ("Private-RDT", "#D55E00", "s"),
    DPDFClassifier: ("DPDF", "#009E73", "^"),
    DPRFClassifier: ("DP-RF", "#CC79A7", "D"),
}


def main(picture: Path, n_rows: int = 5_000, n_fits: int = 5) -> None:
    """Draw the accuracy of four methods over what they cost."""
    people = agrawal(n_rows, function=4, balanced=True, random_state=0)
    others = agrawal(4_000, function=4, balanced=True, random_state=1)

    def accuracies(method: type, epsilon: float) -> list[float]:
        fits = (method(people.schema, epsilon=epsilon).fit(people.X, people.y) for _ in range(n_fits))
        return [100 * fit.score(others.X, others.y) for fit in fits]

    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for method, (name, colour, marker) in METHODS.items():
        scores = np.array([accuracies(method, epsilon) for epsilon in EPSILONS])
        ax.fill_between(EPSILONS, scores.min(axis=1), scores.max(axis=1), color=colour, alpha=0.15, linewidth=0)
        ax.plot(EPSILONS, scores.mean(axis=1), color=colour, marker=marker, label=name)
    without = PrivateForestClassifier(people.schema, epsilon=np.inf).fit(people.X, people.y)
    ax.axhline(100 * without.score(others.X, others.y), color="#0072B2", linewidth=1, linestyle="--")
    ax.axhline(50, color="0.5", linestyle=":")
    ax.set(xscale="log", xlabel="epsilon", ylabel="accuracy on other people, in %")
    ax.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main(Path("epsilon.png"))
