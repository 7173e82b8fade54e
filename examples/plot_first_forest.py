"""A first forest, and whether its chances are calibrated.

The recommended forest needs a schema and an epsilon, and nothing to tune. Who pays a loan back is a matter of chance
here, as it is in life. On people that the forest has not seen, the chances that it gives are compared with what came
true: on the dashed line, of all who were given a chance of 70 %, 70 % did not pay. A low epsilon costs
accuracy; the chances stay about as true.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from privet import PrivateForestClassifier, Schema
from privet.datasets import agrawal
from privet.report import plot_reliability

EPSILONS = (1.0, 0.05)


def main(picture: Path, n_rows: int = 20_000) -> None:
    """Draw the chances that two forests give to new people."""
    (X, y), (X_new, y_new) = invented(n_rows, 0), invented(10_000, 1)
    schema = Schema(agrawal(1).schema.attributes, classes=["paid", "unpaid"], target="outcome", rows=n_rows)
    figure, axes = plt.subplots(1, len(EPSILONS), figsize=(9, 4.4), sharey=True, layout="constrained")
    for epsilon, ax in zip(EPSILONS, axes, strict=True):
        model = PrivateForestClassifier(schema, epsilon=epsilon).fit(X, y)
        plot_reliability(model, X_new, y_new, ax=ax)
        ax.set_title(f"epsilon = {epsilon:g}, accuracy {model.score(X_new, y_new):.0%}")
    axes[1].set_ylabel("")
    figure.savefig(picture, dpi=85)
    plt.close(figure)
    print(model.guarantee_)


def invented(n_rows, seed):
    """Return people, and whether each paid: the larger the loan beside the salary, the less likely."""
    X = agrawal(n_rows, random_state=seed).X
    chance = 1 / (1 + np.exp(-(X["loan"] / 80_000 - X["salary"] / 25_000)))
    return X, np.where(np.random.default_rng(1_000 + seed).random(n_rows) < chance, "unpaid", "paid")


if __name__ == "__main__":
    main(Path("first_forest.png"))
