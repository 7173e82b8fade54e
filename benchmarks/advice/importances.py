"""Do importances agree with what attributes are worth? ``python -m benchmarks.advice.importances``, some minutes.

What an attribute is worth is its permutation importance in the forest without noise: by how much the log loss of rows
that the forest has not seen grows when its values are shuffled. At epsilon 1, over several draws of noise, ranks are
compared: of the importances that privet tells, of the mean size of effects where all cells count alike, which it told
before, and of the mean size where the rows of every cell are known, which privet does not release. The way of computing
was chosen on other tables, but for two choices that the page of results names.
"""

import csv
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr
from sklearn.inspection import permutation_importance

from benchmarks.advice import tables
from privet import PrivateForestClassifier

TABLES = ("adult", "bank-marketing", "census-income-kdd", "compas", "page-blocks", "german-credit")
RESULTS = Path(__file__).with_name("results")
_MOST_ROWS, _TEST_ROWS, _DRAWS = 20_000, 4_000, 10

Floats = NDArray[np.float64]


class Agreement(NamedTuple):
    """Mean rank correlations over draws, as Spearman's and Kendall's, and how many attributes are told apart."""

    table: str
    rows: int
    attributes: int
    told_apart: float
    alike_spearman: float
    told_spearman: float
    known_spearman: float
    alike_kendall: float
    told_kendall: float
    known_kendall: float


def mean_sizes(model: Any, shares: list[Floats]) -> Floats:
    """Return the mean size of what each attribute's cells add beside their mean, where cells have these shares."""
    sizes = np.zeros(model.n_features_in_)
    for shape in model.shapes():
        for i, attribute in enumerate(shape.attributes):
            added = shape.weights
            for j in reversed(range(len(shape.attributes))):
                if j != i:
                    added = np.tensordot(added, shares[shape.attributes[j]], (j, 0))
            own = shares[attribute]
            sizes[attribute] += (own[:, None] * np.abs(added - own @ added)).sum()
    return sizes


def all_alike(model: Any) -> list[Floats]:
    """Return even shares of each attribute's cells, none for the missing value."""
    n_cells = [model.trees_.n_cells(a) for a in range(model.n_features_in_)]
    return [np.append(np.full(n - 1, 1 / (n - 1)), 0.0) for n in n_cells]


def exact_shares(model: Any, X: Any) -> list[Floats]:
    """Return the shares of each attribute's cells among rows ``X``."""
    codes, trees = model._encoder.encode(X), model.trees_  # noqa: SLF001 - no public method shows rows as codes
    cells = [trees.cell_of(a)[codes[:, a]] for a in range(model.n_features_in_)]
    return [np.bincount(own, minlength=trees.n_cells(a)) / len(own) for a, own in enumerate(cells)]


def agreement(table: str) -> Agreement:
    """Fit a table without noise and with several draws of it, and compare ranks."""
    n_rows = min(tables.n_train(table), _MOST_ROWS)
    part = tables.part_of(table, n_rows, seed=0)

    def fitted(epsilon: float, seed: int) -> Any:
        model = PrivateForestClassifier(part.schema, epsilon=epsilon, random_state=seed, unsafe_seeded_noise=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no noise, or noise from a seed, promises nothing
            return model.fit(part.X, part.y)

    worth = permutation_importance(
        fitted(np.inf, 0), part.X_test[:_TEST_ROWS], part.y_test[:_TEST_ROWS], scoring="neg_log_loss", n_repeats=3,
        random_state=0,
    ).importances_mean  # fmt: skip
    models = [fitted(1.0, seed) for seed in range(1, _DRAWS + 1)]
    ranked = [
        [mean_sizes(m, all_alike(m)), m.feature_importances_, mean_sizes(m, exact_shares(m, part.X))] for m in models
    ]

    def mean(correlation: Any, which: int) -> float:
        found = [correlation(one[which], worth).statistic if one[which].any() else 0.0 for one in ranked]
        return round(float(np.mean(found)), 3)

    told = round(float(np.mean([m.told_apart_.sum() for m in models])), 1)
    return Agreement(
        table,
        n_rows,
        len(worth),
        told,
        *(mean(spearmanr, i) for i in range(3)),
        *(mean(kendalltau, i) for i in range(3)),
    )


def main() -> None:
    found = [agreement(table) for table in TABLES]
    with (RESULTS / "importances.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Agreement._fields)
        writer.writerows(found)
    for each in found:
        print(*each)
    draw(found)


def draw(found: list[Agreement]) -> None:
    """Draw the rank correlations, a group of bars a table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axis = figure.subplots()
    bars = {"all cells alike (before)": "#999999", "as told now": "#D55E00", "if rows of cells were known": "#56B4E9"}
    for i, (name, colour) in enumerate(bars.items()):
        axis.bar(
            np.arange(len(found)) + 0.27 * (i - 1), [each[4 + i] for each in found], 0.25, color=colour, label=name
        )
    axis.set_xticks(range(len(found)), [each.table for each in found])
    axis.set(
        ylabel="Spearman, mean of ten draws", title="agreement with permutation importance without noise, epsilon 1"
    )
    axis.legend()
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(RESULTS / "importances.png", dpi=80)


if __name__ == "__main__":
    main()
