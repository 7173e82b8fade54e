"""Fitted models for the tests of the page."""

import math
import warnings

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.errors import NoGuaranteeWarning, PrivacyLeakWarning
from privet.registry import METHODS
from tests.draws import cached

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


def people(n_rows=600):
    rng = np.random.default_rng(4)
    age = rng.integers(16, 100, n_rows)
    table = pd.DataFrame({"age": age, "country": rng.choice([f"land {i}" for i in range(12)], n_rows)})
    return table, np.where(age > 50, "yes", "no")


SCHEMA = Schema(
    [Numeric("age", 16, 100), Categorical("country", [f"land {i}" for i in range(12)])], classes=["no", "yes"], rows=600
)


@cached
def fitted(*, epsilon=1.0, batches=1, n_trees=3, height=3, **options):
    """Return a forest over people; with seeded noise where it is asked for."""
    model = PrivateRDTClassifier(SCHEMA, epsilon=epsilon, n_trees=n_trees, height=height, random_state=1, **options)
    X, y = people()
    size = len(X) // batches
    for i in range(batches):
        model.partial_fit(X[i * size : (i + 1) * size], y[i * size : (i + 1) * size])
    return model


@cached
def of_method(method, *, epsilon=50.0, **options):
    """Return a model of any method over people, as it is by default, with little noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoGuaranteeWarning)  # of the papers' variants
        return METHODS[method](SCHEMA, epsilon=epsilon, random_state=1, **options).fit(*people())


@cached
def paper(**options):
    """Return a model as its paper has it, for which nothing is proven."""
    return of_method("dpdf", variant="paper", **options)


@cached
def leaking(*, epsilon=1.0):
    """Return a model whose schema was read from the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return PrivateRDTClassifier("infer", epsilon=epsilon, n_trees=2, height=2).fit(*people())


@cached
def of_visits(unit="visit_id", max_rows=3):
    """Return a model that protects all rows with the same value in a column."""
    X, y = people()
    X = X.assign(**{unit: np.arange(len(X)) // 4})
    return PrivateRDTClassifier(SCHEMA, n_trees=3, height=2, random_state=1, unit=unit, max_rows=max_rows).fit(X, y)


def of_batches(*epsilons, **options):
    """Return a model of batches of other rows, each at its own price."""
    model = PrivateRDTClassifier(SCHEMA, n_trees=2, height=2, random_state=1, **options)
    X, y = people()
    for part, epsilon in zip(np.array_split(np.arange(len(X)), len(epsilons)), epsilons, strict=True):
        model.set_params(epsilon=epsilon).partial_fit(X.iloc[part], y[part])
    return model


@cached
def exact():
    """Return a forest without noise, whose numbers can be counted by hand."""
    return fitted(epsilon=math.inf)


@cached
def hostile():
    """Return a model whose every name is an attack on the page."""
    schema = Schema(
        [Numeric(HOSTILE, 0, 1), Categorical("a\u202eb", [HOSTILE, "\"'`${1}", "&lt;"])],
        classes=[HOSTILE, "<b>yes"], target=HOSTILE + "t", rows=300,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    X = pd.DataFrame({HOSTILE: rng.random(300), "a\u202eb": rng.choice(list(schema.attributes[1].categories), 300)})
    model = PrivateRDTClassifier(schema, epsilon=50.0, n_trees=2, height=2, random_state=1)
    return model.fit(X, np.where(X[HOSTILE] > 0.5, HOSTILE, "<b>yes"))
