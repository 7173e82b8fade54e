"""The type of all example tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privet.schema import Categorical

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from privet.schema import Schema


# Compared by identity: comparing the frames by value would not give a single truth value.
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Dataset:
    """A table, its labels, and what is public about both.

    Parameters
    ----------
    X : pandas.DataFrame
        One column per attribute: floats for numeric ones; whole numbers, or text with None for a missing
        value, for categorical ones.
    y : ndarray of str, shape (n_rows,)
        The labels.
    schema : Schema
        The public domains and classes.
    name : str
        The name of the table.
    """

    X: pd.DataFrame
    y: NDArray[np.str_]
    schema: Schema
    name: str

    def with_categories(self) -> Dataset:
        """Return the table with categorical columns as pandas categories, which are encoded faster."""
        names = {a.name: "category" for a in self.schema.attributes if isinstance(a, Categorical)}
        return replace(self, X=self.X.astype(names))

    def __repr__(self) -> str:
        n_rows, n_attributes = self.X.shape
        n_classes = len(self.schema.classes)
        return f"Dataset({self.name!r}, {n_rows} rows, {n_attributes} attributes, {n_classes} classes)"
