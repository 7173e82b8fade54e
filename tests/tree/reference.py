"""The plain twins of `kernels`: the same arguments and results, one row and one test at a time, for tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.tree.forest import ATTRIBUTE_SHIFT, MULTIWAY_SHIFT, THRESHOLD_SHIFT


def leaf_of(words: NDArray[np.uint64], root: int, depth: int, record: NDArray[Any]) -> int:
    """Return the leaf that one record reaches from ``root``."""
    node = int(root)
    for _ in range(depth):
        word = int(words[node])
        first_child = word % 2**ATTRIBUTE_SHIFT
        attribute = word // 2**ATTRIBUTE_SHIFT % 2 ** (MULTIWAY_SHIFT - ATTRIBUTE_SHIFT)
        code = int(record[attribute])
        if word // 2**MULTIWAY_SHIFT % 2:
            node = first_child + code
        elif code > word // 2**THRESHOLD_SHIFT:
            node = first_child + 1
        else:
            node = first_child
    return node


def route(
    words: NDArray[np.uint64],
    root: int,
    depth: int,
    multiway: bool,
    records: NDArray[Any],
    stride: int,
    first: int,
    n_rows: int,
    leaves: NDArray[np.uint32],
) -> None:
    """Write to ``leaves`` the leaf that each row reaches."""
    table = records.reshape(-1, stride)
    for i in range(n_rows):
        leaves[i] = leaf_of(words, root, depth, table[first + i])


def count_classes(
    words: NDArray[np.uint64],
    roots: NDArray[np.int64],
    depth: int,
    multiway: bool,
    records: NDArray[Any],
    stride: int,
    labels: NDArray[np.uint16],
    counts: NDArray[np.int64],
) -> None:
    """``counts[leaf, class] += 1`` for every row and tree."""
    for record, label in zip(records.reshape(-1, stride), labels, strict=True):
        for root in roots:
            counts[leaf_of(words, root, depth, record), label] += 1


def vote_shares(
    words: NDArray[np.uint64],
    roots: NDArray[np.int64],
    depth: int,
    multiway: bool,
    records: NDArray[Any],
    stride: int,
    weights: NDArray[np.int64],
    otherwise: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write to ``out`` each class's share of the weights of all leaves that a row reaches."""
    for row, record in enumerate(records.reshape(-1, stride)):
        votes = sum(weights[leaf_of(words, root, depth, record)] for root in roots)
        out[row] = votes / np.sum(votes) if np.sum(votes) > 0 else otherwise


def count_tables(
    words: NDArray[np.uint64],
    roots: NDArray[np.int64],
    depth: int,
    multiway: bool,
    records: NDArray[Any],
    stride: int,
    labels: NDArray[np.uint16],
    slots: NDArray[np.int64],
    offsets: NDArray[np.uint64],
    n_classes: int,
    tables: NDArray[np.int64],
) -> None:
    """Count every attribute's (code, class) pairs in the node that a row has come to."""
    for record, label in zip(records.reshape(-1, stride), labels, strict=True):
        for root in roots:
            slot = slots[leaf_of(words, root, depth, record)]
            if slot >= 0:
                for offset, code in zip(offsets, record, strict=True):
                    tables[slot, int(offset) + n_classes * int(code) + int(label)] += 1


def vote_most_confident(
    words: NDArray[np.uint64],
    roots: NDArray[np.int64],
    depth: int,
    multiway: bool,
    records: NDArray[Any],
    stride: int,
    shares: NDArray[np.float64],
    tie_weight: float,
    out: NDArray[np.float64],
) -> None:
    """Write to ``out`` the most confident tree's share for each class, plus a little of all shares."""
    for row, record in enumerate(records.reshape(-1, stride)):
        own = shares[[leaf_of(words, root, depth, record) for root in roots]]
        leads = own.argmax(axis=1)[:, None] == np.arange(own.shape[1])
        total = np.zeros(own.shape[1])
        for each in own:
            total = total + each
        out[row] = np.where(leads, own, 0.0).max(axis=0) + tie_weight * total
