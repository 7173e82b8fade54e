"""Forests of released weights with all that makes exporting hard.

Groups, shared cells, soft numbers, a second stage, ties, scores that saturate.
"""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, PrivateForestClassifier
from privet.central.weights.knots import with_cells
from privet.central.weights.trees import Trees
from tests.central.weights.problems import soft_cells
from tests.draws import cached
from tests.export.models import (
    CATEGORIES,
    FEW_ROWS,
    HOSTILE,
    HOSTILE_ATTRIBUTES,
    N_ROWS,
    NUMBERS,
    Case,
    complete,
    schema_of,
    table_of,
    to_fit,
)

FIVE = "five classes, groups of three"
MANY, FINE = CATEGORIES[5], NUMBERS[6]
SMALL = [Categorical(f"c{j}", [f"v{i}" for i in range(2 + j % 2)]) for j in range(7)]
OPEN = [Numeric("around zero", -5, 9), Numeric("pay", 0, 1e5)]
NAMES = [
    "two classes, groups of two", FIVE, "nine classes", "weights, hostile text", "cells that neighbours share",
    "class balance alone", "class balance of five alone", "scores that saturate", "ties", "weights, never missing",
    "two stages", "two stages of five classes", "two stages, never missing", "a second stage of categories",
    "knots close together", "batches", "batches of five classes", "weights, weighted classes",
    "a single tree", "a single tree of five classes", "a single tree, never missing",
]  # fmt: skip


def fitted_weights(schema, *, epsilon=20.0, **parameters):
    """A forest whose weights the labels decide, with noise; the seed makes it the same in every run."""
    table, n_classes = to_fit(schema, 500), len(schema.classes)
    codes = pd.util.hash_pandas_object(table.iloc[:, :2].astype(str), index=False).to_numpy() % n_classes
    model = PrivateForestClassifier(schema, epsilon=epsilon, random_state=7, unsafe_seeded_noise=True, **parameters)
    return model.fit(table, [schema.classes[int(code)] for code in codes])


def with_batches(model, n_rows=300):
    """The model with two batches more."""
    schema = model.schema_
    for seed in (1, 2):
        labels = np.random.default_rng(seed).integers(0, len(schema.classes), n_rows)
        model.partial_fit(to_fit(schema, n_rows), [schema.classes[int(label)] for label in labels])
    return model


def with_released(model, trees=None, **changes):
    """The model with other released numbers, and other trees where their attributes are given."""
    changed, released = copy(model), model.released_
    if trees is not None:
        changes["trees"] = trees if isinstance(trees, Trees) else Trees.of(trees, model.schema_)
    changed._set_fitted(model._encoder, [replace(released, **changes)], model.guarantee_)
    return changed


def with_random_weights(model, trees, *, exponent=-30, largest=1.0):
    """The model with these trees and weights up to ``largest``."""
    n_columns = model.released_.weights.shape[1]
    most = int(largest * 2.0**-exponent)
    trees = trees if isinstance(trees, Trees) else Trees.of(trees, model.schema_)
    weights = np.random.default_rng(17).integers(-most, most, (trees.n_leaves, n_columns), endpoint=True)
    return with_released(model, trees, weights=weights, exponent=exponent)


def soft_trees(attributes, first, later, n_bins=6):
    """Return the trees of two stages by the names of what they ask for, and the attributes with cells for them."""
    cells, knots, few = soft_cells(schema_of(attributes, [5, 9]), n_bins)
    first, later = ([[cells.names.index(name) for name in own] for own in stage] for stage in (first, later))
    both = Trees.of(first, cells, knots).with_later(Trees.later(later, cells, few))
    return both, cells.attributes


def two_stages(classes, changed=list, exponent=-40):
    """Numbers alone and in groups of up to four, with a list of 700 places, and with some that no tree asks for."""
    attributes = changed([NUMBERS[0], *NUMBERS[3:5], FINE, Numeric("around zero", -5, 9), *CATEGORIES[:4], MANY])
    trees, cells = soft_trees(
        attributes,
        [["plain"], ["huge"], ["fine"], ["around zero"], ["edges"], ["text", "truth"], ["many"]],
        [["plain", "around zero"], ["edges", "plain", "text"], ["truth", "around zero", "many"],
         ["plain", "edges", "around zero", "text"], ["fine", "plain"]],
    )  # fmt: skip
    model = fitted_weights(schema_of(cells, classes), group_size=1)
    return with_random_weights(model, trees, exponent=exponent, largest=8.0)


def shared_cells():
    """700 categories and 1,000 cells of a number in 255 each, alone and in a group."""
    model = fitted_weights(schema_of([MANY, FINE, CATEGORIES[4], CATEGORIES[3]], [5, 9]), group_size=1)
    return with_random_weights(model, [[1], [2, 0, 3]])


@cached
def weight_cases():
    mixed = [*NUMBERS, *CATEGORIES[:5]]
    five = ["a", "b", "c", "d", "e"]
    two = fitted_weights(schema_of(mixed, ["no", "yes"]), group_size=2)
    pair = fitted_weights(schema_of([NUMBERS[1], CATEGORIES[1]], [9, 5]))
    models = [
        two,
        fitted_weights(schema_of([NUMBERS[0], NUMBERS[3], *SMALL], five), group_size=3),
        fitted_weights(schema_of([NUMBERS[2], *SMALL[:3]], [float(c) / 2 for c in range(9)])),
        fitted_weights(schema_of(HOSTILE_ATTRIBUTES, [HOSTILE, "</script>", "no"])),
        shared_cells(),
        fitted_weights(schema_of(mixed, [False, True]), epsilon=0.01),
        fitted_weights(schema_of(mixed, five), epsilon=0.01),
        with_random_weights(two, [[0], [1], [7, 8, 11], [10]], exponent=-40, largest=400.0),
        tied(pair),
        fitted_weights(schema_of([*complete(mixed), *SMALL[:2]], ["no", "yes"]), group_size=2),
        two_stages(["no", "yes"]),
        two_stages(five, exponent=-20),
        two_stages([5, 9], complete),
        in_two_stages(SMALL, [[0, 2], [1], [3, 4]], [[0, 1, 3], [4, 2]]),
        close_knots(),
        with_batches(fitted_weights(schema_of([*mixed, *OPEN], ["no", "yes"]), group_size=2)),
        with_batches(fitted_weights(schema_of([*OPEN, *SMALL], five), epsilon=60.0)),
        fitted_weights(schema_of([*NUMBERS[2:4], *SMALL], five), class_weight="balanced"),
        fitted_weights(schema_of(mixed, ["no", "yes"]), epsilon=0.08),
        fitted_weights(schema_of(OPEN, five), epsilon=0.3),
        fitted_weights(schema_of(complete(OPEN), [5, 9]), epsilon=0.08),
    ]
    sizes = {name: N_ROWS if name == FIVE else FEW_ROWS for name in NAMES}
    return {name: Case(m, table_of(m.schema_, sizes[name])) for name, m in zip(NAMES, models, strict=True)}


def close_knots():
    """A second stage whose knots are fewer codes apart than there are cells between them, the middle one among them."""
    cells = with_cells(schema_of([*OPEN, SMALL[0]], [5, 9]), 33)
    model = fitted_weights(cells, group_size=1)
    near = {0: ((7, 14, 16, 54), 8), 1: ((0, 1, 2, 3), 8)}
    later = Trees.later([[0, 2], [1, 0]], cells, near)
    trees = Trees.of([[0], [1], [2]], cells, dict.fromkeys(near, ((0, 30, 90), 32))).with_later(later)
    assert all(len(set(axis.cell_of.tolist())) < axis.n_cells for axis in later.axes[1])
    return with_random_weights(model, trees, exponent=-20)


def in_two_stages(attributes, first, later):
    """A model of categories that act together in a second stage."""
    model = fitted_weights(schema_of(attributes, ["no", "yes"]), group_size=1)
    trees = Trees.of(first, model.schema_).with_later(Trees.later(later, model.schema_, {}))
    return with_random_weights(model, trees)


def tied(model):
    """A balanced model in which half the leaves of its one tree decide nothing."""
    weights = np.array([[0], [3], [0], [-3]])
    return with_released(model, [[1]], weights=weights, exponent=-2, balance=np.array([0]))
