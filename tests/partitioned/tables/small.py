"""A small schema, tables of parties that differ, and their sums."""

import math

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, Schema
from privet.partitioned import Party, PrivateKey, Roster, TableRound, Terms

SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("job", ["nurse", "clerk", "cook"]), Categorical("night", [False, True])],
    classes=["no", "yes"],
    target="smokes",
    rows=3_000,
)
NAMES = ("bank", "clinic", "school")


def table(n=1_000, seed=2, *, ages=(0, 100), often=0.5):
    """Rows whose class depends on age and job; ``ages`` and how ``often`` a row is of the second class can differ."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < often, "yes", "no")
    low, high = ages
    age = np.clip(rng.normal(np.where(y == "yes", 65, 35), 15), low, high)
    job = np.where(rng.random(n) < 0.7, np.where(y == "yes", "cook", "clerk"), rng.choice(["nurse", "clerk"], n))
    X = pd.DataFrame({"age": age, "job": job, "night": rng.choice([False, True], n)})
    return X, y


def tables(names=NAMES, n=1_000):
    """One table for each party, no two alike in how old and how often of a class their rows are."""
    ages, often = [(0, 60), (30, 100), (0, 100)], [0.2, 0.8, 0.5]
    return {name: table(n, i, ages=ages[i % 3], often=often[i % 3]) for i, name in enumerate(names)}


def structure(epsilon=math.inf, **options):
    return TableRound.draw(SCHEMA, **{"epsilon": epsilon, "round_": "spring", **options})


def keys_of(names=NAMES):
    """Keys that are the same in every test: they are public here, and protect nobody."""
    return {name: PrivateKey(name, name.encode().ljust(32, b".")) for name in names}


def parties(folder, names=NAMES, **options):
    """Parties that would also release exact counts."""
    return {
        name: Party(key, store=folder / name, **{"epsilon": math.inf, **options})
        for name, key in keys_of(names).items()
    }


def terms_of(agreed, names=NAMES, honest=None):
    return Terms(agreed, Roster([key.public for key in keys_of(names).values()]), honest)
