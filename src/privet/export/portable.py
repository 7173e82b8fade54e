"""The portable document: all that a predictor in any language needs, and nothing else.

`README.md` beside this file says what the document holds and how to predict from it. It is made of released numbers
alone; clipping them, and leaving out borders that no tree asks for, is post-processing.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet import __version__
from privet.errors import ParameterError
from privet.schema import Attribute, Categorical, Numeric
from privet.tree.forest import Forest
from privet.tree.vote import SummedCounts

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier

# Version 1 knew no continuous node with a child per cell.
FORMAT, VERSION = "privet-predictor", 2
# JavaScript has doubles only: whole numbers up to here are exact, and so are sums that stay below.
MAX_VOTES = 2**53
# More than any attribute has cells, so that a pair of attribute and cut is one number.
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
    vote = summed_counts(model)
    forest, schema = vote.forest, model.schema_
    cuts, cut_of_node = _used_cuts(forest, schema.attributes)
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": f"privet {__version__}",
        "guarantee": model.guarantee_.sentence,
        "target": schema.target,
        "classes": model.classes_.tolist(),
        "attributes": [_attribute(a, own) for a, own in zip(schema.attributes, cuts, strict=True)],
        "trees": {"count": forest.n_trees, "attribute": forest.attribute.tolist(), "cut": cut_of_node},
        "leaf_weights": vote.weights[forest.leaves].ravel().tolist(),
        "fallback": vote.otherwise.tolist(),
    }


def summed_counts(model: "PrivateClassifier") -> SummedCounts:
    """Return the model's vote; refuse a model that decides in another way, or whose sums a double cannot hold."""
    check_is_fitted(model)
    vote = vars(model).get("_vote")
    # A subclass may add up in another way, so only the class itself will do.
    if type(vote) is not SummedCounts:
        raise ParameterError(
            f"{type(model).__name__} cannot be exported: its vote is no sum of leaf counts over the trees, and that is "
            "all an exported predictor computes; save it with save() and predict with privet"
        )
    heaviest = int(vote.weights.sum(axis=1).max())
    if vote.forest.n_trees * heaviest > MAX_VOTES:
        raise ParameterError(
            "this model cannot be exported: its released counts may add up beyond 2^53, where a double is no longer "
            "exact; predict with privet instead"
        )
    return vote


def json_lines(document: dict[str, Any]) -> list[str]:
    """Return the document as compact JSON in ASCII, one entry a line; joined, the lines are the whole of it."""
    entries = [f"{json.dumps(key)}:{_compact(value)}" for key, value in document.items()]
    return ["{", *(f"{entry}," for entry in entries[:-1]), entries[-1], "}"]


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _attribute(attribute: Attribute, cuts: list[float]) -> dict[str, Any]:
    data: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if isinstance(attribute, Categorical):
        return {**data, "categories": list(attribute.categories)}
    return {**data, "bounds": [attribute.low, attribute.high], "cuts": cuts}


def _used_cuts(forest: Forest, attributes: Sequence[Attribute]) -> tuple[list[list[float]], list[int]]:
    """Return, per attribute, the cell borders that some node asks for, and the cut of every numeric node among them.

    A node with a child per cell asks for all borders, and its cut is -1. A cut at the last cell, which only a missing
    value exceeds, has no border; it is numbered after all others.
    """
    is_numeric = np.array([*(isinstance(a, Numeric) for a in attributes), False])  # the last entry is LEAF's
    nodes = np.flatnonzero(is_numeric[forest.attribute])
    tested, cut = forest.attribute[nodes].astype(np.int64), forest.cut[nodes]
    whole = [j * _CUT_SPAN + np.arange(attributes[j].n_values) for j in np.unique(tested[cut < 0])]
    pairs = np.unique(np.concatenate([tested[cut >= 0] * _CUT_SPAN + cut[cut >= 0], *whole]))
    start = np.searchsorted(pairs, np.arange(len(attributes) + 1) * _CUT_SPAN)
    cuts = [_borders(a, pairs[start[j] : start[j + 1]] % _CUT_SPAN) for j, a in enumerate(attributes)]
    number = np.searchsorted(pairs, tested * _CUT_SPAN + cut) - start[tested]
    return cuts, np.where(cut < 0, -1, number).tolist()


def _borders(attribute: Attribute, used: NDArray[np.int64]) -> list[float]:
    if isinstance(attribute, Categorical):
        return []
    borders: list[float] = attribute.cuts[used[used < len(attribute.cuts)]].tolist()
    return borders
