"""What an attacker with clear reference rows makes of flipped records: mostly, he tells which they are.

A flipped record would be as deniable as its coin only if its mirror image were as common. He compares how likely both
are among people like those in his reference rows: attribute by attribute, each given the one it depends on most (a
tree of attributes, Chow and Liu 1968). A code that no value has gives a mirror image away at once.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, ParameterError
from privet.local.channels.coding import Coding

Floats = NDArray[np.float64]
# What is added to every count, so that nothing is impossible that the reference rows happen not to hold.
_PSEUDO_ROWS = 0.05
_NO_PARENT = -1


@dataclass(frozen=True, eq=False)
class MirrorAttack:
    """How likely records are: every attribute's parent, and the logarithms of its codes' chances given the parent's."""

    coding: Coding
    parent: NDArray[np.int64]
    log_chances: tuple[Floats, ...]

    @classmethod
    def of(cls, reference: NDArray[np.uint8], coding: Coding) -> Self:
        """Learn from clear reference rows in bits, as ``coding.bits`` gives them."""
        if not len(reference):
            raise DataError("an attacker without reference rows knows nothing; pass some clear rows")
        codes = _codes(reference, coding)
        sizes = [2**code.n_bits for code in coding.codes]
        parent = _dependency_tree(codes, sizes)
        return cls(coding, parent, tuple(_log_chances(codes, sizes, j, int(parent[j])) for j in range(len(sizes))))

    def log_likelihood(self, bits: NDArray[np.uint8]) -> Floats:
        """Return the logarithm of how likely each record is."""
        codes = _codes(bits, self.coding)
        total = np.zeros(len(bits))
        for j, (parent, log_chances) in enumerate(zip(self.parent, self.log_chances, strict=True)):
            given = np.zeros(len(bits), dtype=np.int64) if parent == _NO_PARENT else codes[:, parent]
            total += log_chances[given, codes[:, j]]
        return total

    def chance_flipped(self, bits: NDArray[np.uint8], keep: float) -> Floats:
        """Return how sure the attacker is, by Bayes' rule, that each disguised record is a mirror image."""
        if not 0 < keep < 1:
            raise ParameterError(f"keep={keep!r} must lie between 0 and 1: at both ends there is nothing to guess")
        as_it_is = np.log(keep) + self.log_likelihood(bits)
        flipped = np.log(1 - keep) + self.log_likelihood(1 - bits)
        return np.asarray(1 / (1 + np.exp(np.clip(as_it_is - flipped, -700, 700))))

    def recovered(self, bits: NDArray[np.uint8], keep: float) -> NDArray[np.uint8]:
        """Return the records that the attacker believes to be the true ones."""
        believed = (self.chance_flipped(bits, keep) > 0.5).astype(np.uint8)
        return bits ^ believed[:, None]


def recovered_share(true: NDArray[np.uint8], disguised: NDArray[np.uint8], reference: NDArray[np.uint8], coding: Coding,
                    keep: float) -> float:  # fmt: skip
    """Return of how many disguised records an attacker with ``reference`` rows finds the true one; all are bits."""
    believed = MirrorAttack.of(reference, coding).recovered(disguised, keep)
    return float((believed == true).all(axis=1).mean())


def _codes(bits: NDArray[np.uint8], coding: Coding) -> NDArray[np.int64]:
    """Return every attribute's code as a number."""
    places = np.concatenate([1 << np.arange(code.n_bits - 1, -1, -1) for code in coding.codes])
    codes = np.zeros((len(bits), len(coding.codes)), dtype=np.int64)
    for bit, (attribute, place) in enumerate(zip(coding.attribute_of_bit, places, strict=True)):
        codes[:, attribute] += bits[:, bit].astype(np.int64) * place
    return codes


def _dependency_tree(codes: NDArray[np.int64], sizes: list[int]) -> NDArray[np.int64]:
    """Return every attribute's parent in the tree of greatest mutual information, grown from the first attribute."""
    parent = np.full(len(sizes), _NO_PARENT)
    strength, nearest = np.full(len(sizes), -1.0), np.zeros(len(sizes), dtype=np.int64)
    left, newest = set(range(1, len(sizes))), 0
    while left:
        for j in left:
            information = _information(codes, sizes, newest, j)
            if information > strength[j]:
                strength[j], nearest[j] = information, newest
        newest = max(left, key=lambda j: strength[j])
        parent[newest] = nearest[newest]
        left.remove(newest)
    return parent


def _information(codes: NDArray[np.int64], sizes: list[int], i: int, j: int) -> float:
    """Return the mutual information of two attributes among the reference rows."""
    joint = _table(codes, sizes, i, j) / len(codes)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / apart[there])).sum())


def _log_chances(codes: NDArray[np.int64], sizes: list[int], j: int, parent: int) -> Floats:
    """Return one line for every code of the parent; where it was never seen, as among all rows."""
    overall = np.bincount(codes[:, j], minlength=sizes[j]) + _PSEUDO_ROWS
    overall = overall / overall.sum()
    table = np.zeros((1, sizes[j])) if parent == _NO_PARENT else _table(codes, sizes, parent, j)
    likely = table + overall
    log_chances: Floats = np.log(likely / likely.sum(axis=1, keepdims=True))
    return log_chances


def _table(codes: NDArray[np.int64], sizes: list[int], i: int, j: int) -> Floats:
    joint = np.bincount(codes[:, i] * sizes[j] + codes[:, j], minlength=sizes[i] * sizes[j])
    return joint.reshape(sizes[i], sizes[j]).astype(np.float64)
