"""Parties with small tables, a structure that they agree on, and what they release."""

import math

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, Schema
from privet.partitioned import Party, PrivateKey, Release, Roster, SplitStructure, Structure

SCHEMA = Schema(
    [
        Numeric("age", 0, 100, bins=10),
        Categorical("job", ["nurse", "clerk", "cook"]),
        Numeric("pay", 0, 10, bins=4),
        Categorical("night", [False, True]),
    ],
    classes=[5, 9],
    target="group",
    rows=600,
)
SPLIT = {"bank": ["age", "pay"], "clinic": ["job", "night"]}
NAMES = ("bank", "clinic", "school")


def table(n=600, seed=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(["nurse", "clerk", "cook"], n),
            "pay": rng.uniform(0, 10, n),
            "night": rng.choice([False, True], n),
        }
    )
    return X, np.where(X["age"] > 40, 9, 5)


def structure(epsilon=math.inf, **options):
    return Structure.draw(SCHEMA, epsilon=epsilon, **{"random_state": 3, "n_trees": 4, **options})


def split_structure(epsilon=math.inf, **options):
    return SplitStructure.draw(SCHEMA, SPLIT, epsilon=epsilon, **{"random_state": 3, "n_trees": 4, **options})


def parties(folder, names=NAMES, **options):
    """Return parties that would also release exact counts, so that tests know what comes out."""
    options = {"epsilon": math.inf, "delta": 1e-5, **options}
    return {name: Party(PrivateKey.generate(name), store=folder / name, **options) for name in names}


def roster_of(holders):
    return Roster(holder.public for holder in holders.values())


def released(holders, agreed):
    """Return every party's release of its share of the rows, and all rows."""
    X, y = table()
    n = len(holders)
    return [holder.release(agreed, X[i::n], y[i::n]) for i, holder in enumerate(holders.values())]


def released_columns(holders, agreed):
    """Return the release of every party of a split structure, of the same rows."""
    X, y = table()
    parts = [part for part in agreed.parts if part.party in holders]
    return [holders[part.party].release(part, X[list(part.schema.names)], y) for part in parts]


def signed_anew(holder, release, **changes):
    """Return the release with something changed and signed again: what a party that lies can send."""
    body = {name: value for name, value in {**release.document, **changes}.items() if name != "signature"}
    return Release({**body, "signature": holder.key.sign(body)})
