"""Hand-made lines of accuracies, every method flat apart from the cells that are told; and a table to measure."""

import math

import numpy as np
import pandas as pd

from papers.accuracies import Accuracies
from privet import Categorical, Schema
from privet.datasets import Dataset


def lines_of(tables, budgets, methods, levels, told=None):
    """Return one run: ``methods`` and ``levels`` give each its accuracy, ``told`` those of (method, table, budget)."""
    told = told or {}
    lines = [
        (table, method, budget, 0, told.get((method, table, budget), accuracy))
        for table in tables
        for method, accuracy in methods.items()
        for budget in budgets
    ]
    lines += [
        (table, method, math.inf, 0, told.get((method, table), accuracy))
        for table in tables
        for method, accuracy in levels.items()
    ]
    return pd.DataFrame(lines, columns=["table", "method", "epsilon", "run", "accuracy"])


def accuracies_of(tables, budgets, methods, levels, told=None):
    return Accuracies(lines_of(tables, budgets, methods, levels, told), tuple(tables), tuple(budgets))


def told_by_colour():
    """Return a table whose label follows from its only attribute."""
    colours = np.array(["red", "green", "blue"] * 200)
    schema = Schema([Categorical("colour", ["red", "green", "blue"])], classes=["no", "yes"], target="bought", rows=600)
    X = pd.DataFrame({"colour": pd.Categorical(colours)})
    return Dataset(X, np.where(colours == "green", "yes", "no"), schema, "colours")
