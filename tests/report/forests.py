"""Fitted forests for the tests of this folder."""

import math

import numpy as np

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.tree.forest import LEAF, Forest
from tests.draws import cached


def one_tree(classes=("no", "yes")):
    """Return a model of one tree that asks age < 50 and knows six people."""
    schema = Schema([Numeric("age", 0, 100, edges=[50])], classes=classes, rows=6)
    model = PrivateRDTClassifier(schema, epsilon=math.inf, n_trees=1, height=1, random_state=0)
    no, yes = schema.classes
    return model.fit([[20], [30], [40], [60], [70], [80]], [no, no, no, no, yes, yes])


@cached
def wide_forest(n_categories=12, *, epsilon=1.0, height=3):
    """Return a noisy forest over a wide categorical attribute with long and awkward names."""
    schema = Schema(
        [
            Categorical("native country of birth", [f"a rather long category {i}" for i in range(n_categories)]),
            Categorical("$x_1$", ["a", "b$", "$c$"]),
            Numeric("age", 0, 100),
        ],
        classes=["_never", "$50K$", "other, but long"],
    )
    rng = np.random.default_rng(2)
    columns = [rng.choice(a.categories, 500) for a in schema.attributes[:2]]
    X = np.stack([*columns, rng.integers(0, 100, 500).astype(object)], axis=1)
    y = rng.choice(schema.classes, 500)
    options = {"n_trees": 6, "height": height, "random_state": 1, "unsafe_seeded_noise": True}
    return PrivateRDTClassifier(schema, epsilon=epsilon, **options).fit(X, y)


@cached
def cells_tree():
    """Return a model of one tree that branches on the four cells of an age."""
    schema = Schema([Numeric("age", 0, 100, edges=[20, 40, 60])], classes=["no", "yes"], rows=60)
    model = PrivateRDTClassifier(schema, epsilon=math.inf, n_trees=1, height=1, random_state=0)
    model.fit([[10]], ["no"])
    nodes = np.array([0, *[LEAF] * 5], dtype=np.int32), np.full(6, -1, dtype=np.int32)
    counts = np.array([[9, 1], [1, 9], [2, 18], [7, 3], [0, 5]])
    model._set_fitted(model._encoder, Forest.from_nodes(*nodes, 1, schema.attributes), counts, model.guarantee_)
    return model
