"""The plain twins of `bit_kernels` and `inverse_kernels`: the same arguments and results, one node and bit at a time.

A node is known by the tests on its path alone; its rows are looked up and its sums are computed again for every
question.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Path = dict[int, int]  # the bits tested so far and their values

_WORD = 2**64


def mixed(word: int) -> int:
    """Return another word that looks unrelated to ``word``."""
    word = (word + 0x9E3779B97F4A7C15) % _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % _WORD
    return word ^ word >> 31


def drawn_bits(n_bits: int, n_tried: int, word: int) -> Iterator[tuple[list[int], int]]:
    """Yield bits, ``n_tried`` at a time, that were not yielded before, each time with the word that comes next."""
    order, n_drawn = list(range(n_bits)), 0
    while n_drawn < n_bits:
        tried = []
        for t in range(n_drawn, min(n_drawn + n_tried, n_bits)):
            word = mixed(word)
            other = t + (word >> 33) % (n_bits - t)
            order[t], order[other] = order[other], order[t]
            tried.append(order[t])
        n_drawn += len(tried)
        yield tried, word


def _gini_sum(estimates: NDArray[np.float64]) -> float:
    total = estimates.sum()
    return float(total - (estimates**2).sum() / total) if total > 0 else 0.0


def _grow(
    look: Callable[[Path], tuple[NDArray[np.float64], float, float]],
    is_possible: Callable[[Path, int], bool],
    settle: Callable[[Path, int], None],
    n_bits: int,
    n_tried: int,
    limits: tuple[float, float, int],
    draw: int,
) -> list[tuple[Path, int, int]]:
    """Return the nodes in the order in which they are made: path, bit or -1, first child.

    ``look`` tells of a path its clipped estimates by class, their unclipped sum, and the variance of that; ``settle``
    hears of every new node and the word that it draws by.
    """
    min_rows, min_leaf, max_depth = limits
    nodes: list[tuple[Path, int, int]] = [({}, -1, 0)]
    waiting = [(0, int(draw))]
    while waiting:
        node, word = waiting.pop()
        path = nodes[node][0]
        estimates, total, _ = look(path)
        if len(path) == max_depth or total < min_rows or (estimates > 0).sum() < 2:
            continue
        best, least, next_word = -1, math.inf, word
        for tried, following in drawn_bits(n_bits, n_tried, word):
            next_word = following
            for j in (j for j in tried if j not in path and is_possible(path, j)):
                sides = [look({**path, j: value}) for value in (0, 1)]
                if all(t >= min_leaf and t * t >= 4 * variance for _, t, variance in sides):
                    gini = sum(_gini_sum(e) for e, _, _ in sides) / sum(e.sum() for e, _, _ in sides)
                    if gini < least - 1e-12:
                        best, least = j, gini
            if best >= 0:
                break
        if best >= 0:
            nodes[node] = (path, best, len(nodes))
            for value in (1, 0):
                waiting.append((len(nodes) + value, mixed(next_word ^ value)))
                settle({**path, best: value}, mixed(next_word ^ value))
            nodes += [({**path, best: value}, -1, 0) for value in (0, 1)]
    return nodes


def grow_on_mirrors(
    words: NDArray[np.uint64], key: NDArray[Any], weight: NDArray[Any], n_bits: int, n_tried: int, plus: float,
    minus: float, min_rows: float, min_leaf: float, max_depth: int, draw: int, bit: NDArray[Any], left: NDArray[Any],
    counts: NDArray[np.int64],
) -> int:  # fmt: skip
    """Grow a tree on rows and their mirror images, and return how many nodes it has."""
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :n_bits]
    n_keys = counts.shape[1]

    def counted(path: Path) -> NDArray[np.int64]:
        on_path = (
            np.all([bits[:, j] == value for j, value in path.items()], axis=0) if path else np.ones(len(bits), bool)
        )
        return np.bincount(key[on_path], weights=weight[on_path], minlength=n_keys).astype(np.int64)

    def look(path: Path) -> tuple[NDArray[np.float64], float, float]:
        kept, mirrored = counted(path)[: n_keys // 2], counted(path)[n_keys // 2 :]
        estimates = plus * kept - minus * mirrored
        variance = plus * minus * (kept + mirrored).sum()
        return np.clip(estimates, 0, kept + mirrored), float(estimates.sum()), float(variance)

    nodes = _grow(look, lambda _, __: True, lambda _, __: None, n_bits, n_tried, (min_rows, min_leaf, max_depth), draw)
    for i, (path, tested, first) in enumerate(nodes):
        bit[i], left[i], counts[i] = tested, first, counted(path)
    return len(nodes)


def grow_on_answers(
    codes: NDArray[Any], labels: NDArray[Any], weight: NDArray[Any], start: NDArray[np.int64],
    patterns: NDArray[np.int64], n_answers: NDArray[np.int64], kept: NDArray[np.float64], other: NDArray[np.float64],
    bit_attribute: NDArray[np.int64], bit_mask: NDArray[np.int64], right_label: float, wrong_label: float, thin: float,
    n_tried: int, min_rows: float, min_leaf: float, max_depth: int, draw: int, bit: NDArray[Any], left: NDArray[Any],
    sums: NDArray[np.float64], squares: NDArray[np.float64],
) -> int:  # fmt: skip
    """Grow a tree on rows of answers, and return how many nodes it has."""
    n_classes = sums.shape[1]
    label_matrix = np.full((n_classes, n_classes), wrong_label) + np.eye(n_classes) * (right_label - wrong_label)
    thinned: dict[tuple[tuple[int, int], ...], NDArray[np.float64]] = {(): np.ones(len(codes))}

    def members(path: Path, attribute: int) -> NDArray[np.bool_]:
        own = patterns[start[attribute] : start[attribute + 1]]
        tests = [(own & bit_mask[j] > 0) == value for j, value in path.items() if bit_attribute[j] == attribute]
        inside: NDArray[np.bool_] = np.all([np.ones(len(own), dtype=bool), *tests], axis=0)
        return inside

    def factors(path: Path, attribute: int) -> NDArray[np.float64]:
        inside, n = members(path, attribute), int(n_answers[attribute])
        factor = inside.astype(np.float64)
        factor[:n] = (inside[:n] - inside[:n].sum() * other[attribute]) / (kept[attribute] - other[attribute])
        own: NDArray[np.float64] = factor[codes[:, attribute]]
        return own

    def products(path: Path) -> NDArray[np.float64]:
        if tuple(path.items()) in thinned:
            return thinned[tuple(path.items())]
        above, attribute = dict(list(path.items())[:-1]), int(bit_attribute[list(path)[-1]])
        before = factors(above, attribute)
        return thinned[tuple(above.items())] * factors(path, attribute) / np.where(before, before, 1.0)

    def settle(path: Path, word: int) -> None:
        own = products(path)
        chance = np.array([mixed(word ^ i * 0xD6E8FEB86659FD93 % _WORD) >> 11 for i in range(len(codes))]) * 2.0**-53
        stays = np.where(chance * thin < np.abs(own), np.sign(own) * thin, 0.0)
        thinned[tuple(path.items())] = np.where(np.abs(own) < thin, stays, own)

    def summed(path: Path, power: int) -> NDArray[np.float64]:
        return np.bincount(labels, weights=weight * products(path) ** power, minlength=n_classes).astype(np.float64)

    def look(path: Path) -> tuple[NDArray[np.float64], float, float]:
        own = summed(path, 1)
        estimates = np.clip(label_matrix @ own, 0, weight.sum())
        return estimates, float(own.sum()), float(summed(path, 2).sum() - own.sum())

    def is_possible(path: Path, j: int) -> bool:
        return all(members({**path, j: value}, int(bit_attribute[j])).any() for value in (0, 1))

    limits = (min_rows, min_leaf, max_depth)
    nodes = _grow(look, is_possible, settle, len(bit_attribute), n_tried, limits, draw)
    for i, (path, tested, first) in enumerate(nodes):
        bit[i], left[i], sums[i], squares[i] = tested, first, summed(path, 1), summed(path, 2)
    return len(nodes)
