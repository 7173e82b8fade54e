"""Random schemas, forests and tables for the tests of this folder."""

import numpy as np

from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.tree.forest import Forest
from privet.tree.random_structure import random_structure


def random_schema(rng: np.random.Generator, *, n_attributes: int, wide: bool) -> Schema:
    def attribute(j: int) -> Attribute:
        most = 300 if wide else 6
        if rng.random() < 0.5:
            return Categorical(f"c{j}", range(int(rng.integers(1, most))))
        return Numeric(f"n{j}", 0, 1, bins=int(rng.integers(1, most)))

    return Schema([attribute(j) for j in range(n_attributes)], classes=range(5, 5 + int(rng.integers(2, 5))))


def random_codes(rng: np.random.Generator, schema: Schema, n_rows: int, dtype: type) -> np.ndarray:
    columns = [rng.integers(0, attribute.n_values + 1, n_rows) for attribute in schema.attributes]
    return np.stack(columns, axis=1).astype(dtype)


def by_hand() -> tuple[Schema, Forest]:
    """Return two trees over x (4 cells), c (2 categories), drawn by hand.

    Tree 0 asks x <= 1, and above that for c; tree 1 is a single leaf. Nodes in level order:
    0 root of tree 0, 1 root of tree 1, 2 leaf x <= 1, 3 test of c, 4 c = a, 5 c = b, 6 c missing.
    """
    schema = Schema([Numeric("x", 0, 4, bins=4), Categorical("c", ["a", "b"])], classes=["no", "yes"])
    attribute = np.array([0, -1, -1, 1, -1, -1, -1], dtype=np.int32)
    cut = np.array([1, -1, -1, -1, -1, -1, -1], dtype=np.int32)
    return schema, Forest.from_nodes(attribute, cut, 2, schema.attributes)


def mixed_forest(rng: np.random.Generator, schema: Schema, *, n_trees: int, height: int) -> Forest:
    """Return trees that test any attribute anywhere: numbers by a cut, or with a child per code as categories are."""
    level, attribute, cut = n_trees, [], []
    for depth in range(height + 1):
        n_children = 0
        for _ in range(level):
            ends = depth == height or (depth > 0 and rng.random() < 0.3)
            number = -1 if ends else int(rng.integers(len(schema.attributes)))
            tested = None if ends else schema.attributes[number]
            cuts = isinstance(tested, Numeric) and rng.random() < 0.5
            attribute.append(number)
            cut.append(int(rng.integers(tested.n_values)) if cuts else -1)
            n_children += 0 if tested is None else 2 if cuts else tested.n_values + 1
        level = n_children
    return Forest.from_nodes(np.array(attribute, np.int32), np.array(cut, np.int32), n_trees, schema.attributes)


def grown(rng: np.random.Generator, schema: Schema, *, height: int, n_trees: int) -> Forest:
    return random_structure(schema, n_trees=n_trees, height=height, public_rng=rng)
