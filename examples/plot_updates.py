"""New rows month by month, and the noise they bring.

A batch of new rows is counted on the same trees with fresh noise, and added. The guarantee stays, as long as a row
is in one batch only. Counts grow with the number of batches and noise with its root, so a model gets better as months
come; but one fit of the whole year, at the same epsilon, would have had the noise of a single month. The smaller the
batches, the more that matters.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from privet import PrivateRDTClassifier
from privet.datasets import agrawal

BATCHES = 12
SIZES = {"months of 2,000 rows": (1.0, "#0072B2", "o"), "months of 200 rows": (0.1, "#D55E00", "s")}


def main(picture: Path, n_rows: int = 2_000) -> None:
    """Draw how noise and accuracy go on over a year of updates."""
    others = agrawal(5_000, function=4, balanced=True, random_state=1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    months = np.arange(1, BATCHES + 1)
    for name, (share, colour, marker) in SIZES.items():
        model, scores = updated(int(share * n_rows), others)
        style = {"color": colour, "marker": marker, "label": name}
        left.plot(months, model.noise_growth_ / (share * n_rows * months / 100), **style)
        right.plot(months, scores, **style)
        year = agrawal(int(share * n_rows) * BATCHES, function=4, balanced=True, random_state=100)
        at_once = unfitted(year.schema).fit(year.X, year.y)
        right.axhline(100 * at_once.score(others.X, others.y), color=colour, linestyle="--", label=f"{name}, at once")
    left.set(ylabel="noise of a leaf's count, in % of all rows", ylim=(0, None))
    right.set(ylabel="accuracy on other people, in %")
    for ax in (left, right):
        ax.set(xlabel="months in the model")
        ax.set_xticks(months)
        ax.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False)
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def updated(n_rows, others):
    """Return a model after a year of updates, and its accuracy after each."""
    model, scores = None, []
    for month in range(BATCHES):
        batch = agrawal(n_rows, function=4, balanced=True, random_state=100 + month)
        if model is None:
            model = unfitted(batch.schema)
        model.partial_fit(batch.X, batch.y)
        scores.append(100 * model.score(others.X, others.y))
    return model, scores


def unfitted(schema):
    """Return the trees, the same ones for all."""
    return PrivateRDTClassifier(schema, epsilon=0.5, height=4, random_state=0)


if __name__ == "__main__":
    main(Path("updates.png"))
