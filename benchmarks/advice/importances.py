"""Do importances agree with what attributes are worth? ``python -m benchmarks.advice.importances``, some minutes.

What an attribute is worth is its permutation importance in the forest without noise: by how much the log loss of rows
that the forest has not seen grows when its values are shuffled. At epsilon 1, over several draws of noise, ranks are
compared: of the mean size of effects where all cells count alike, of importances of a model without released cells,
which guesses how rows lie, of the importances that privet tells, and of the mean size where the rows of every cell are
known. The way of computing was chosen on other tables.

A generated table of customers has an attribute, ``total``, that decides nothing and is declared far wider than any row
reaches. How often does it come first?
"""

import csv
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr
from sklearn.inspection import permutation_importance

from benchmarks.advice import tables
from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.weights.parts import evenly, first_axes
from privet.central.weights.trees import Axis

TABLES = ("adult", "bank-marketing", "census-income-kdd", "compas", "page-blocks", "german-credit")
RESULTS = Path(__file__).with_name("results")
_MOST_ROWS, _TEST_ROWS, _DRAWS, _CUSTOMER_FITS = 20_000, 4_000, 10, 40
# What customers may have: its share, and what it adds to the score of leaving.
_SERVICES = (
    ("electronic check", 0.34, 0.4), ("paperless", 0.59, 0.3), ("partner", 0.48, 0.0), ("dependents", 0.3, 0.0),
    ("senior", 0.16, 0.2), ("security", 0.29, -0.4), ("backup", 0.34, 0.0), ("support", 0.29, -0.35),
    ("television", 0.38, 0.0), ("telephone", 0.9, 0.0),
)  # fmt: skip

Floats = NDArray[np.float64]


class Agreement(NamedTuple):
    """Mean rank correlations over draws, as Spearman's and Kendall's, and how many attributes are told apart."""

    table: str
    rows: int
    attributes: int
    told_apart: float
    alike_spearman: float
    guessed_spearman: float
    told_spearman: float
    known_spearman: float
    alike_kendall: float
    guessed_kendall: float
    told_kendall: float
    known_kendall: float


def mean_sizes(model: Any, shares: dict[int, Floats]) -> Floats:
    """Return the mean size of what each attribute adds by itself beside its mean, where points have these shares."""
    sizes = np.zeros(model.n_features_in_)
    for shape in model.shapes():
        if len(shape.attributes) == 1:
            own = shares[shape.attributes[0]]
            sizes[shape.attributes[0]] = (own[:, None] * np.abs(shape.weights - own @ shape.weights)).sum()
    return sizes


def all_alike(model: Any) -> dict[int, Floats]:
    """Return even shares of each attribute's leaves, at its points; none for the missing value."""
    return {
        a: np.bincount(axis.cell_of, evenly(axis)[: len(axis.cell_of)]).astype(np.float64)
        for a, axis in _axes(model).items()
    }


def exact_shares(model: Any, X: Any) -> dict[int, Floats]:
    """Return the shares of each attribute's points among rows ``X``."""
    codes = model._encoder.encode(X)  # noqa: SLF001 - no public method shows rows as codes
    return {
        a: np.bincount(axis.cell_of[codes[:, a]], minlength=axis.n_cells) / len(codes)
        for a, axis in _axes(model).items()
    }


def _axes(model: Any) -> dict[int, Axis]:
    return first_axes(model.trees_)


def guessed(model: Any) -> Floats:
    """Return the importances that the same model would tell had the rows in its cells not been released."""
    other = copy(model)
    other.released_ = replace(model.released_, cells=None)
    importances: Floats = other.feature_importances_
    return importances


def fitted(schema: Schema, X: pd.DataFrame, y: NDArray[Any], epsilon: float, seed: int) -> Any:
    """Fit with noise from a seed, or without."""
    model = PrivateForestClassifier(schema, epsilon=epsilon, random_state=seed, unsafe_seeded_noise=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no noise, or noise from a seed, promises nothing
        return model.fit(X, y)


def agreement(table: str) -> Agreement:
    """Fit a table without noise and with several draws of it, and compare ranks."""
    n_rows = min(tables.n_train(table), _MOST_ROWS)
    part = tables.part_of(table, n_rows, seed=0)
    own = part.schema, part.X, part.y
    worth = permutation_importance(
        fitted(*own, np.inf, 0), part.X_test[:_TEST_ROWS], part.y_test[:_TEST_ROWS], scoring="neg_log_loss",
        n_repeats=3, random_state=0,
    ).importances_mean  # fmt: skip
    models = [fitted(*own, 1.0, seed) for seed in range(1, _DRAWS + 1)]
    ranked = [
        [mean_sizes(m, all_alike(m)), guessed(m), m.feature_importances_, mean_sizes(m, exact_shares(m, part.X))]
        for m in models
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
        *(mean(spearmanr, i) for i in range(4)),
        *(mean(kendalltau, i) for i in range(4)),
    )


def customers(seed: int, n_rows: int = 7_043) -> tuple[Schema, pd.DataFrame, NDArray[Any]]:
    """Return customers who leave or stay; ``total`` is months times charge, at most a tenth of what is declared."""
    rng = np.random.default_rng(seed)
    contract = rng.choice(["month", "one year", "two years"], n_rows, p=[0.55, 0.21, 0.24])
    low, high = np.select([contract == "month", contract == "one year"], [0, 5], 20), 72
    months = np.where(contract == "month", rng.exponential(18, n_rows), rng.uniform(low, high)).clip(0, high).round()
    internet = rng.choice(["fibre", "cable", "none"], n_rows, p=[0.44, 0.34, 0.22])
    charge = np.select([internet == "fibre", internet == "cable"], [90.0, 58.0], 21.0) + rng.normal(0, 9, n_rows)
    X = pd.DataFrame({"months": months, "charge": charge.clip(18, 119), "contract": contract, "internet": internet})
    X.insert(2, "total", X["months"] * X["charge"] * rng.uniform(0.95, 1.05, n_rows))
    score = -1.3 - 0.035 * months + np.select([contract == "month", contract == "one year"], [1.3, 0.3], -0.7)
    score += np.select([internet == "fibre", internet == "cable"], [0.9, 0.0], -0.9)
    for name, share, effect in _SERVICES:
        has = rng.random(n_rows) < share
        X[name], score = np.where(has, "yes", "no"), score + effect * has
    numbers = [Numeric("months", 0, 100), Numeric("charge", 0, 200), Numeric("total", 0, 100_000)]
    names = [Categorical(name, sorted(set(X[name]))) for name in X.columns[3:]]
    y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "yes", "no")
    return Schema([*numbers, *names], classes=["no", "yes"], rows=n_rows), X, y


def firsts(n_fits: int = _CUSTOMER_FITS) -> tuple[int, int, int]:
    """Return in how many fits ``total`` comes first: all cells alike, guessed, and told."""
    found = np.zeros(3, dtype=int)
    for seed in range(n_fits):
        model = fitted(*customers(seed), 1.0, seed)
        ranked = mean_sizes(model, all_alike(model)), guessed(model), model.feature_importances_
        found += [list(model.feature_names_in_)[int(sizes.argmax())] == "total" for sizes in ranked]
    return int(found[0]), int(found[1]), int(found[2])


def main() -> None:
    found = [agreement(table) for table in TABLES]
    with (RESULTS / "importances.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Agreement._fields)
        writer.writerows(found)
    for each in found:
        print(*each)
    print(f"`total` is first of {_CUSTOMER_FITS} fits: alike, guessed, told", *firsts())
    draw(found)


def draw(found: list[Agreement]) -> None:
    """Draw the rank correlations, a group of bars a table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axis = figure.subplots()
    bars = {
        "all cells alike": "#999999", "guessed (before)": "#CC79A7", "as told now": "#D55E00",
        "if rows of cells were known": "#56B4E9",
    }  # fmt: skip
    for i, (name, colour) in enumerate(bars.items()):
        axis.bar(
            np.arange(len(found)) + 0.21 * (i - 1.5), [each[4 + i] for each in found], 0.19, color=colour, label=name
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
