"""The plain twins of `interval_kernels`: the same arguments and results, by another way, for tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_answers(group: NDArray[np.int64], answer: NDArray[Any], counts: NDArray[np.int64]) -> None:
    """``counts[group, answer] += 1`` for every row whose group and answer are not -1."""
    for own, given in zip(group.tolist(), answer.tolist(), strict=True):
        if own >= 0 and given >= 0:
            counts[own, given] += 1


def order_by_place(
    rows: NDArray[np.int64],
    place: NDArray[np.int64],
    n_places: int,
    order: NDArray[np.int64],
) -> None:
    """Write the rows that have a place to ``order``, sorted by it."""
    order[:] = sorted((row for row in rows if place[row] >= 0), key=lambda row: place[row])


def assign_in_order(
    order: NDArray[np.int64],
    group: NDArray[np.int64],
    upto: NDArray[np.int64],
    column: int,
    codes: NDArray[Any],
) -> None:
    """Give each group's rows the codes 0, 1, ... in order, as many as ``upto`` says."""
    for own in range(len(upto)):
        rows = [row for row in order if group[row] == own]
        codes[rows, column] = np.searchsorted(upto[own], np.arange(len(rows)), side="right")


def best_splits(
    tables: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_codes: NDArray[np.int64],
    binary: NDArray[np.bool_],
    n_classes: int,
    attribute: NDArray[np.int64],
    cut: NDArray[np.int64],
    purity: NDArray[np.float64],
) -> None:
    """Write for every table the split that leaves the least Gini index, trying all of them."""
    for node, table in enumerate(tables):
        parts = [
            table[start : start + n * n_classes].reshape(n, n_classes)
            for start, n in zip(offsets, n_codes, strict=True)
        ]
        attribute[node], cut[node], purity[node] = -1, -1, _purity([parts[0].sum(axis=0)])
        for a, part in enumerate(parts):
            for where, children in _splits(part, binary=bool(binary[a])):
                score = _purity(children)
                if max(child.sum() for child in children) < table[: n_codes[0] * n_classes].sum() and (
                    score > purity[node]
                ):
                    attribute[node], cut[node], purity[node] = a, where, score


def _splits(part: NDArray[np.int64], *, binary: bool) -> list[tuple[int, list[NDArray[np.int64]]]]:
    if not binary:
        return [(-1, list(part))]
    sizes = part.sum(axis=1).cumsum()[:-1]
    cuts = [int(np.flatnonzero(sizes == size).sum() // np.count_nonzero(sizes == size)) for size in np.unique(sizes)]
    return [(cut, [part[: cut + 1].sum(axis=0), part[cut + 1 :].sum(axis=0)]) for cut in cuts]


def _purity(children: list[NDArray[np.int64]]) -> float:
    score = 0.0
    for child in children:
        n = child.sum()
        score += (child.astype(float) ** 2).sum() / n if n else 0.0
    return float(score)
