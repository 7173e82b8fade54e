"""The portable document: what a predictor in any language needs, and nothing else.

`README.md` in this folder describes the document and how to predict from it. It contains released numbers only.
Clipping them, and leaving out borders that no tree tests, is post-processing.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet import __version__
from privet.export.leaf_sums import Borders, CountSums, WeightSums, leaf_sums
from privet.schema import Attribute, Categorical
from privet.tree.forest import Forest

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier
    from privet.local.channels.coding import Coding

# Version 1 had no continuous node with a child per cell, version 2 only counts, version 3 no bits, version 4 no places.
FORMAT, VERSION, VERSION_OF_BITS, VERSION_OF_PLACES = "privet-predictor", 3, 4, 5
# The version of a document with class weights, whatever else is in it.
VERSION_OF_CLASS_WEIGHTS = 6
# More than the cells of any attribute, so that a pair of attribute and cut is one number.
_CUT_SPAN = 2**17


def portable_document(model: "PrivateClassifier") -> dict[str, Any]:
    """Return ``model`` as plain JSON values that a predictor in any language can read.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import Numeric, PrivateRDTClassifier, Schema
    >>> schema = Schema([Numeric("age", 0, 100, bins=2)], classes=["no", "yes"], rows=4)
    >>> ages = np.array([[20.0], [30.0], [60.0], [70.0]])
    >>> model = PrivateRDTClassifier(schema, epsilon=np.inf, n_trees=1, height=1)
    >>> document = portable_document(model.fit(ages, ["no", "no", "yes", "yes"]))
    >>> document["trees"]
    {'count': 1, 'attribute': [0, -1, -1], 'cut': [0]}
    >>> document["leaf_weights"]
    [2, 0, 0, 2]
    """
    sums, schema = leaf_sums(model), model.schema_
    forest = sums.forest
    borders = sums.borders(schema.attributes)
    version, asked = _asked(sums)
    if version == VERSION:
        cuts, cut_of_node = _used_cuts(forest, borders)
    else:
        cuts, cut_of_node = [[] if own is None else own.tolist() for own in borders], []
    parts = zip(schema.attributes, cuts, sums.cell_of, strict=True)
    class_weights = {}
    if sums.class_weights is not None:
        version, class_weights = VERSION_OF_CLASS_WEIGHTS, {"class_weights": sums.class_weights}
    return {
        "format": FORMAT,
        "version": version,
        "software": f"privet {__version__}",
        "guarantee": model.guarantee_.sentence,
        "target": schema.target,
        "classes": model.classes_.tolist(),
        "attributes": [_attribute(*part) for part in parts],
        **asked,
        "trees": {"count": forest.n_trees, "attribute": forest.attribute.tolist(), "cut": cut_of_node},
        "kind": sums.kind,
        "leaf_weights": sums.weights.ravel().tolist(),
        **sums.entries(),
        **class_weights,
    }


def _asked(sums: CountSums | WeightSums) -> tuple[int, dict[str, Any]]:
    """Return the document's version, and what trees ask for where it is not the attributes themselves."""
    if sums.coding is not None:
        return VERSION_OF_BITS, {"bits": _bits(sums.coding)}
    if isinstance(sums, CountSums) or sums.places is None:
        return VERSION, {}
    places = [
        {"attribute": p.attribute, "of_code": p.of_code.tolist(), "grid": p.grid, "children": p.n_children}
        for p in sums.places
    ]
    return VERSION_OF_PLACES, {"places": places}


def _bits(coding: "Coding") -> list[dict[str, Any]]:
    """Return the bits that trees test instead of attributes: the attribute of each bit, and its value per code."""
    of_codes = [bits for code in coding.codes for bits in code.bits_of_value.T.tolist()]
    return [{"attribute": a, "of_code": of} for a, of in zip(coding.attribute_of_bit.tolist(), of_codes, strict=True)]


def json_lines(document: dict[str, Any]) -> list[str]:
    """Return the document as compact ASCII JSON, one line per entry."""
    entries = [f"{json.dumps(key)}:{_compact(value)}" for key, value in document.items()]
    return ["{", *(f"{entry}," for entry in entries[:-1]), entries[-1], "}"]


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _attribute(attribute: Attribute, cuts: list[float], cell_of: NDArray[np.int64]) -> dict[str, Any]:
    data: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if not isinstance(attribute, Categorical):
        return {**data, "bounds": [attribute.low, attribute.high], "cuts": cuts}
    shared = {} if cell_of[-1] == attribute.missing_code else {"cells": cell_of[:-1].tolist()}
    return {**data, "categories": list(attribute.categories), **shared}


def _used_cuts(forest: Forest, borders: Sequence[Borders]) -> tuple[list[list[float]], list[int]]:
    """Return, per attribute, the cell borders that some node tests, and for every numeric node the number of its cut.

    A node with a child per cell tests all borders, and its cut is -1. A cut at the last cell, which only a missing
    value exceeds, has no border; its number comes after all others.
    """
    is_numeric = np.array([*(own is not None for own in borders), False])  # the last entry is LEAF's
    own_borders = [np.empty(0) if own is None else own for own in borders]
    nodes = np.flatnonzero(is_numeric[forest.attribute])
    tested, cut = forest.attribute[nodes].astype(np.int64), forest.cut[nodes]
    whole = [j * _CUT_SPAN + np.arange(len(own_borders[j]) + 1) for j in np.unique(tested[cut < 0])]
    pairs = np.unique(np.concatenate([tested[cut >= 0] * _CUT_SPAN + cut[cut >= 0], *whole]))
    start = np.searchsorted(pairs, np.arange(len(borders) + 1) * _CUT_SPAN)
    used = [pairs[start[j] : start[j + 1]] % _CUT_SPAN for j in range(len(borders))]
    number = np.searchsorted(pairs, tested * _CUT_SPAN + cut) - start[tested]
    cuts = [own[kept[kept < len(own)]].tolist() for own, kept in zip(own_borders, used, strict=True)]
    return cuts, np.where(cut < 0, -1, number).tolist()
