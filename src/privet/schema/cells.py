"""The cells of a number's public range, and what stands for each code of an attribute in a table."""

import numpy as np
from numpy.typing import NDArray

from privet.schema.attribute import Attribute, Categorical, Label, Numeric

Floats = NDArray[np.float64]


def edges_of(attribute: Numeric) -> Floats:
    """Return the borders of all cells, the bounds with them."""
    return np.array([attribute.low, *attribute.cuts, attribute.high])


def midpoints_of(attribute: Numeric) -> Floats:
    """Return the middle of every cell."""
    edges = edges_of(attribute)
    middle: Floats = (edges[:-1] + edges[1:]) / 2
    return middle


def labels_of(attribute: Attribute) -> list[Label]:
    """Return what stands for each code in a table: the category, or the middle of the cell."""
    if isinstance(attribute, Categorical):
        return list(attribute.categories)
    return [float(middle) for middle in midpoints_of(attribute)]
