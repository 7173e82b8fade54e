"""Unfitted models of few trees and much noise, and what they are refused with."""

from functools import cache
from typing import Any

import pandas as pd

from privet.registry import METHODS
from tests.leaks.marks import Planting, planted
from tests.leaks.tables import FAULTS, SCHEMA

# So much noise that a released number is an exact one by luck alone, and few trees, so that luck is rare.
EPSILON = 0.001
SMALL: dict[str, dict[str, Any]] = {
    "private-rdt": {"n_trees": 3, "height": 3},
    "dp-rf": {"n_trees": 3},
    "dpdf": {"n_trees": 2, "height": 2},
    "diffpid3": {"height": 2},
    "private-id3": {"height": 2},
    "private-forest": {"epsilon": 0.05, "n_attributes": 2},
}


def unfitted(method: str, **options: Any) -> Any:
    """Return a model of few trees and much noise."""
    return METHODS[method](SCHEMA, **{"epsilon": EPSILON, "n_jobs": 1, **SMALL[method], **options})


def apart(table: Any) -> tuple[Any, Any]:
    """Return attributes and labels of a table that holds both."""
    if isinstance(table, pd.DataFrame):
        names = [name for name in table if name in {*SCHEMA.names, "gender"}]
        return table[names], table["class"]
    return table.select(list(SCHEMA.names)), table.column("class")


def fault(name: str) -> Any:
    """Return a table that is refused; it is shared, so it stays as it is."""
    return _fault(name, planted())


@cache
def _fault(name: str, rows: Planting) -> Any:
    return FAULTS[name]()
