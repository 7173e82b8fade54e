"""Fitted forests of weights for the tests of this folder."""

import math
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from tests.draws import cached
from tests.report.people import HOSTILE, SCHEMA, people

COLOURS, SIZES = ["red", "green", "blue"], ["small", "large"]


# Enough for each of two attributes at epsilon 1 that it is released how they lie.
N_ROWS = 800


@cached
def weights(*, epsilon=1.0, **options):
    """Return the recommended forest over people."""
    schema = replace(SCHEMA, rows=N_ROWS)
    return PrivateForestClassifier(schema, epsilon=epsilon, random_state=1, **options).fit(*people(N_ROWS))


def exact_weights():
    """Return it without noise, so that its numbers repeat."""
    return weights(epsilon=math.inf)


def without_shares(model):
    """Return the model as it were had it not been released how rows lie."""
    other = copy(model)
    other.released_ = replace(model.released_, cells=None)
    return other


def only_balance():
    """Return it at so small an epsilon that it is its class balance."""
    return weights(epsilon=0.01)


@cached
def grouped(group_size=2, *, classes=("no", "yes"), epsilon=math.inf, n_groups=1, **options):
    """Return a forest whose categorical attributes share trees, over a few things of three attributes and a number."""
    attributes = [Categorical("colour", COLOURS), Categorical("size", SIZES), Categorical("shop", ["a", "b", "c"])]
    schema = Schema([*attributes, Numeric("price", 0, 10, edges=[2, 4, 8])], classes=list(classes), rows=900)
    rng = np.random.default_rng(8)
    X = pd.DataFrame({a.name: rng.choice(a.categories, 900) for a in attributes} | {"price": rng.uniform(0, 10, 900)})
    right = (X["colour"] == "red") & (X["size"] == "large") | (X["price"] > 8)
    y = np.array(classes)[np.where(right, 1, np.arange(900) % len(classes) // 2 * 2)]
    model = PrivateForestClassifier(schema, epsilon=epsilon, group_size=group_size, random_state=2, **options)
    return model.fit(X, y)


@cached
def hostile_weights():
    """Return a forest of weights whose every name is an attack."""
    schema = Schema(
        [Numeric(HOSTILE, 0, 1), Categorical("a\u202eb", [HOSTILE, "\"'`${1}", "&lt;\n"])],
        classes=[HOSTILE, "<b>yes"], target=HOSTILE + "t", rows=300,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    X = pd.DataFrame({HOSTILE: rng.random(300), "a\u202eb": rng.choice(list(schema.attributes[1].categories), 300)})
    y = np.where(X[HOSTILE] > 0.5, HOSTILE, "<b>yes")
    return PrivateForestClassifier(schema, epsilon=50.0, random_state=1).fit(X, y)


@cached
def of_many_attributes():
    """Return a forest of so many trees that a delta is worth it, and normal noise is drawn."""
    names = [f"a{i}" for i in range(48)]
    schema = Schema([Categorical(name, ["x", "y"]) for name in names], classes=["no", "yes"], rows=20_000)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(["x", "y"], (20_000, 48)), columns=names)
    y = np.where((X[names[:5]] == "x").sum(axis=1) > 2, "yes", "no")
    return PrivateForestClassifier(schema, epsilon=0.5, delta=1e-5, group_size=1).fit(X, y)
