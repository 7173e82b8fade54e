import importlib

import numpy as np
import pandas as pd
import pytest

from papers.szucs2013.split import Split
from privet import Categorical, Coding, Numeric, Schema

MODULES = ("coding", "forest", "mirrors", "plain_forest", "sibling", "votes")


@pytest.fixture
def small_split(monkeypatch):
    """A small table in the place of both of UCI's: a colour and an amount, mostly 0, that tell the class."""
    rng = np.random.default_rng(5)
    labels = rng.choice(["no", "yes"], 900, p=[0.7, 0.3])
    colours = np.where(rng.random(900) < 0.8, np.where(labels == "yes", "red", "blue"), "green")
    amounts = np.where(rng.random(900) < 0.9, 0.0, 10.0 * rng.random(900))
    ages = rng.uniform(20, 60, 900) + 10 * (labels == "yes")
    X = pd.DataFrame({"colour": pd.Categorical(colours), "amount": amounts, "age": ages})
    attributes = [Categorical("colour", ["red", "green", "blue"]), Numeric("amount", 0, 10), Numeric("age", 20, 70)]
    schema = Schema(attributes, classes=["no", "yes"], target="bought")
    coding = Coding.from_rows(X[:600], schema)
    rows = Split(X[:600], X[600:], labels[:600], labels[600:], coding, schema.target)
    for name in MODULES:
        monkeypatch.setattr(importlib.import_module(f"papers.szucs2013.{name}"), "split", lambda _table: rows)
    return rows
