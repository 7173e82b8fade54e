"""A table whose greedy trees are known, and a plain twin that grows them: recursive, on lists of rows."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder
from privet.tree.forest import LEAF

SCHEMA = Schema(
    [
        Categorical("a", ["u", "v"]),
        Categorical("b", ["p", "q", "r"]),
        Numeric("x", 0, 8, bins=4),
        Categorical("c", [1, 2, 3]),
    ],
    classes=["no", "yes"],
    rows=900,
)


def table(n=900, seed=1):
    """Return rows of which most follow a rule, some values missing."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.choice(["u", "v"], n), rng.choice(["p", "q", "r"], n), rng.choice([1.0, 2.0, 3.0], n)
    x = rng.uniform(0, 8, n)
    yes = np.where(a == "u", x > 4, (b == "p") | (c == 3)) ^ (rng.random(n) < 0.1)
    X = pd.DataFrame({"a": a, "b": b, "x": x, "c": c})
    X.loc[rng.random(n) < 0.05, "b"] = None
    X.loc[rng.random(n) < 0.05, "x"] = np.nan
    return X, np.where(yes, "yes", "no")


def coded(X, y, schema=SCHEMA) -> list[tuple]:
    """Return rows as codes, the class last."""
    codes, labels = Encoder(schema).encode(X), Encoder(schema).encode_labels(y)
    return [(*map(int, row), int(label)) for row, label in zip(codes, labels, strict=True)]


@dataclass
class Node:
    """What a tree says: the classes of its rows, and where it is split, on what and into which nodes."""

    counts: tuple
    attribute: int = LEAF
    children: tuple = ()


def classes_of(rows, n_classes=2) -> tuple:
    counted = Counter(row[-1] for row in rows)
    return tuple(counted[label] for label in range(n_classes))


def branches(rows, attribute, schema) -> list[list]:
    codes = range(schema.attributes[attribute].n_values + 1)
    return [[row for row in rows if row[attribute] == code] for code in codes]


def impurity(counts) -> Fraction:
    """Return n gini, in rows."""
    n = sum(counts)
    return n - Fraction(sum(c * c for c in counts), n) if n else Fraction(0)


def bits(counts) -> float:
    """Return n H, in bits."""
    n = sum(counts)
    return -sum(c * math.log2(c / n) for c in counts if c)


def greedy(rows, left, height, *, measure, least, schema=SCHEMA) -> Node:
    """Grow as ID3 does: split on what leaves the least of ``measure``, while a node is mixed and large enough."""
    counts = classes_of(rows, len(schema.classes))
    if not (height and left and sum(counts) >= least and sum(c > 0 for c in counts) > 1):
        return Node(counts)
    remaining = {a: sum(measure(classes_of(part)) for part in branches(rows, a, schema)) for a in left}
    best = min(left, key=lambda a: (round(float(remaining[a]), 9), a))
    parts = branches(rows, best, schema)
    below = [a for a in left if a != best]
    grown = [greedy(part, below, height - 1, measure=measure, least=least, schema=schema) for part in parts]
    return Node(counts, best, tuple(grown))


def pruned(node: Node, gains) -> Node:
    """Make leaves from below, of nodes over leaves that gain nothing."""
    children = tuple(pruned(child, gains) for child in node.children)
    if node.attribute != LEAF and all(c.attribute == LEAF for c in children) and not gains(node, children):
        return Node(node.counts)
    return Node(node.counts, node.attribute, children)


def told(model, node=0) -> Node:
    """Return what a fitted model's tree says, from its released counts."""
    forest, counts = model.forest_, tuple(model.nodes_.counts[node].tolist())
    first, n = int(forest.first_child[node]), int(forest.n_children[node])
    children = tuple(told(model, child) for child in range(first, first + n))
    return Node(counts, int(forest.attribute[node]), children)
