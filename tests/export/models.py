"""Models with all that makes exporting hard, and rows that fall on every border of their domains."""

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, PrivateRDTClassifier, RandomResponseForestClassifier, Schema
from privet.local import RecordComplement, Secret, perturb
from privet.tree.forest import LEAF, Forest
from tests.tree.forests import mixed_forest

N_ROWS, FEW_ROWS = 10_000, 1_500
HOSTILE = "</script><!-- \"quoted\" 'twice' \\ {}%s %d\n\r\u2028\u2029 äöü 東京 🌳 */ --> ]]> &amp; \x00\x1b"

NUMBERS = [
    Numeric("plain", 16, 100),
    Numeric("bins", -1, 1, bins=2),
    Numeric("thirds", 0, 1, bins=3),
    Numeric("edges", 0, 100, edges=[20, 35.5, 60]),
    Numeric("huge", -1e300, 1e300, bins=7),
    Numeric("tiny", 0, 1e-320, bins=4),
    Numeric("fine", 0, 1, bins=1_000),
]
CATEGORIES = [
    Categorical("text", ["", " ", "red", "Red", "grün", "0", "null", "NaN"]),
    Categorical("whole", [3, 1, 2]),
    Categorical("fractions", [0.1, 1, -2.5, 2**53]),
    Categorical("truth", [False, True]),
    Categorical("one", ["only"]),
    Categorical("many", [f"place {i}" for i in range(700)]),
]
HOSTILE_ATTRIBUTES = [
    Numeric(HOSTILE, 0, 1, inferred=True),
    Categorical("__proto__", [HOSTILE, "b", "</script>"]),
    Categorical("label", ["constructor", "__proto__", "toString"]),
    Numeric("probabilities", 0, 10, bins=5),
    Categorical("Concat_0", [1, 2]),
    Numeric("constant_0", 0, 1),
    Categorical("'\"`${1}", [True]),
]


@dataclass
class Case:
    model: Any
    table: pd.DataFrame

    @cached_property
    def rows(self) -> list[list[Any]]:
        """The rows as plain Python values, None where missing."""
        columns = [[None if pd.isna(v) else v for v in self.table[name].tolist()] for name in self.table]
        return [list(row) for row in zip(*columns, strict=True)]


def schema_of(attributes, classes):
    return Schema(attributes, classes=classes, rows=500)


def fitted(schema, *, n_trees=5, height=4, epsilon=2.0):
    """A forest with noise in its counts, some of them negative; the seed makes it the same in every run."""
    table = to_fit(schema, 500)
    labels = np.random.default_rng(3).choice(len(schema.classes), 500)
    model = PrivateRDTClassifier(
        schema, epsilon=epsilon, n_trees=n_trees, height=height, random_state=7, unsafe_seeded_noise=True
    )
    return model.fit(table, [schema.classes[label] for label in labels])


def with_forest(model, attribute, cut, n_trees, counts):
    """The model with another forest and other released counts."""
    forest = Forest.from_nodes(
        np.array(attribute, dtype=np.int32), np.array(cut, dtype=np.int32), n_trees, model.schema_.attributes
    )
    return with_counts(model, np.array(counts, dtype=np.int64), forest)


def with_counts(model, counts, forest=None):
    changed = copy(model)
    changed._set_fitted(model._encoder, forest or model.forest_, counts, model.guarantee_)
    return changed


def cells_by_hand():
    """A model of two trees that branch on cells, also below each other and below a cut.

    The first asks for the cell of "edges": in its second cell for that of "thirds", in its fourth by a cut that all
    there exceed, and where it is missing for that of "one", which has a single cell. The second cuts "thirds" and asks
    for its cell where it is below.
    """
    schema = schema_of([NUMBERS[3], NUMBERS[2], Numeric("one", -1, 1, bins=1)], ["no", "yes"])
    # Roots; children of both; below "thirds", the cut, "one" and the second tree's "thirds".
    attribute = [0, 1, LEAF, 1, LEAF, 0, 2, 1, LEAF, *[LEAF] * 12]
    cut = [-1, 1, -1, -1, -1, 0, -1, -1, -1, *[-1] * 12]
    counts = [[3 * i % 7, 5 * i % 11 - 2] for i in range(15)]
    return with_forest(fitted(schema), attribute, cut, 2, counts)


def cells_and_cuts():
    """A model of random trees in which a number is cut by one node and branched on by another."""
    rng = np.random.default_rng(5)
    schema = schema_of([*NUMBERS[1:5], CATEGORIES[1], NUMBERS[6]], [5, 9])
    forest = mixed_forest(rng, schema, n_trees=6, height=3)
    counts = rng.integers(-2, 20, (len(forest.leaves), 2))
    return with_counts(fitted(schema), counts, forest)


def table_of(schema, n_rows):
    rng = np.random.default_rng(11)
    return pd.DataFrame({a.name: _column(a, n_rows, rng) for a in schema.attributes})


def complete(attributes):
    """Return the attributes, never missing. Rows to predict lack their values all the same."""
    return [replace(attribute, never_missing=True) for attribute in attributes]


def to_fit(schema, n_rows):
    """Return rows of which none lacks a value that is never missing."""
    table = table_of(schema, n_rows)
    for a in (a for a in schema.attributes if a.never_missing):
        known, instead = (
            (table[a.name].notna(), a.low)
            if isinstance(a, Numeric)
            else (table[a.name].isin(a.categories), a.categories[0])
        )
        table[a.name] = table[a.name].where(known, instead)
    return table


def _column(attribute, n_rows, rng):
    if isinstance(attribute, Numeric):
        return rng.choice(_numbers(attribute, rng), n_rows)
    known = list(attribute.categories)
    unknown = {str: "unheard of", bool: None}.get(type(known[0]), 4.25)
    values = [*known, unknown, None]
    chosen = [values[i] for i in rng.integers(0, len(values), n_rows)]
    return pd.Series(chosen, dtype=np.float64 if isinstance(unknown, float) else object)


def _numbers(attribute, rng):
    borders = np.array([attribute.low, *attribute.cuts, attribute.high])
    inside = (
        attribute.low / 2 + attribute.high / 2 + (attribute.high / 2 - attribute.low / 2) * rng.uniform(-1.2, 1.2, 300)
    )
    around = [np.nextafter(borders, -np.inf), borders, np.nextafter(borders, np.inf), -borders]
    return np.concatenate([*around, inside, [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e308]])


def cases():
    mixed = schema_of([*NUMBERS[:4], *CATEGORIES[:4]], ["a", "b", "c"])
    numbers = fitted(schema_of(NUMBERS, [False, True]))
    lone = fitted(schema_of([NUMBERS[1], CATEGORIES[1]], ["no", "yes"]))
    # Two trees that are a leaf, one that asks only whether the number is missing, one that branches on categories.
    forest = ([LEAF, 0, LEAF, 1, 0, LEAF, LEAF, LEAF, LEAF, LEAF, LEAF, LEAF],
              [-1, 1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1], 4)  # fmt: skip
    counts = [[3, 1], [0, 7], [1, 5], [0, 2], [4, 4], [9, -1], [0, 0], [-5, 2], [6, 1]]
    models = {
        "numbers, bool classes": numbers,
        "categories, classes 5 and 9": fitted(schema_of(CATEGORIES, [9, 5]), height=2),
        "mixed, three classes": fitted(mixed, n_trees=12, height=5),
        "hostile text": fitted(schema_of(HOSTILE_ATTRIBUTES, [HOSTILE, "</script>", "no"])),
        "float classes": fitted(schema_of(NUMBERS[:2], [0.5, 2])),
        "lone leaves": with_forest(lone, *forest, counts),
        "one tree, one leaf": with_forest(lone, [LEAF], [-1], 1, [[1, 2]]),
        "little left": fitted(mixed, epsilon=0.05),
        "nothing left in leaves": with_counts(numbers, _few_positive(numbers)),
        "nothing left at all": with_counts(lone, np.minimum(lone.noisy_counts_, 0) - 1),
        "votes of 2^53": with_counts(lone, np.full_like(lone.noisy_counts_, 2**53 // 5 // 2 - 7) + _steps(lone)),
        "cells by hand": cells_by_hand(),
        "cells and cuts": cells_and_cuts(),
        "never missing": fitted(
            schema_of([*complete(NUMBERS), Numeric("other", 0, 1), *complete(CATEGORIES)], [5, 9]), n_trees=12
        ),
        "bits of coded values": on_bits([*NUMBERS[:5], *CATEGORIES[:5]], ["a", "b", "c"]),
        "bits, hostile text": on_bits(HOSTILE_ATTRIBUTES, [HOSTILE, "</script>", "no"], vote="majority"),
        "bits of flipped records": on_bits([*NUMBERS[:3], *CATEGORIES[:2]], ["no", "yes"], theta=0.9),
        "weighted classes": fitted(mixed, n_trees=12).with_class_weight({"a": 0.3, "c": 7}),
    }
    # One case in full; the others show what they can do with fewer rows.
    sizes = {name: N_ROWS if name == "mixed, three classes" else FEW_ROWS for name in models}
    return {name: Case(model, table_of(model.schema_, sizes[name])) for name, model in models.items()}


def on_bits(attributes, classes, theta=None, **options):
    """Return a forest that tests the bits of coded values, of clear rows or of flipped records."""
    schema = schema_of(attributes, classes)
    table = table_of(schema, FEW_ROWS)
    labels = np.random.default_rng(5).choice(np.array(classes, dtype=object), FEW_ROWS)
    if theta is None:
        return RandomResponseForestClassifier(schema, n_trees=6, random_state=3, **options).fit(table, labels)
    channel = RecordComplement(schema, theta=theta).channel
    answers = perturb(table, channel, Secret.of_key(bytes(32)))
    forest = RandomResponseForestClassifier(channel=channel, n_trees=6, cautious=False, random_state=3, **options)
    return forest.fit(answers, labels)


def _few_positive(model):
    counts = np.zeros_like(model.noisy_counts_)
    counts[::9], counts[1::9] = [2, 12], [5, -3]
    return counts


def _steps(model):
    return np.arange(model.noisy_counts_.size).reshape(model.noisy_counts_.shape) % 7
