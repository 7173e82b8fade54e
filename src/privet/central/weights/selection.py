"""Which attributes are worth a tree, chosen by score, one after another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.privacy.events import Event
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.privacy.mechanisms.rational import equal_share
from privet.rng import NoiseSource

# The balance is rounded to whole parts of this, so that scores are whole numbers.
_PARTS = 2**20
# A row moves a score by at most this many units. Scores are rounded down, which moves no two of them farther apart.
SENSITIVITY = 2**12


def choose_informative(
    exact_tables: Sequence[NDArray[np.int64]],
    codings: Sequence[Sequence[NDArray[np.int64]]],
    balance: NDArray[np.float64],
    n_kept: int,
    *,
    epsilon: float,
    rows: int,
    what: str,
    noise: NoiseSource,
) -> tuple[list[int], list[Event]]:
    """Choose the attributes whose values' class counts are farthest from what the class balance makes expect.

    Parameters
    ----------
    exact_tables : one array an attribute, codes x classes
    codings : for each attribute several arrays
        The cell of each code; an attribute's score is that of its best coding.
    balance : array
        Released class shares.
    n_kept : int
        How many to choose.
    epsilon : float
        What all choices cost together.
    rows : int
        How many rows one unit of privacy may have.

    Privacy
    -------
    The score of a coding is half the sum over its cells v and classes c of |n_vc - p_c n_v|. A row of class y moves it
    by at most 1 - p_y, at most 1 - min p: exactly so, since p is in whole parts that add up to one. The largest of
    several numbers moves by no more than one of them does. ``n_kept`` choices at equal shares of ``epsilon``.
    """
    parts = whole_parts(balance)
    moves = 2 * (_PARTS - int(parts.min()))
    scores = [
        SENSITIVITY * max(exact_score(merged(table, cells), parts) for cells in ways) // moves
        for table, ways in zip(exact_tables, codings, strict=True)
    ]
    left, each, receipts = list(range(len(scores))), equal_share(epsilon, n_kept), []
    for _ in range(n_kept):
        index, receipt = permute_and_flip(
            np.array([scores[a] for a in left], dtype=np.int64),
            epsilon=each, sensitivity=SENSITIVITY * rows, what=what, noise=noise,
        )  # fmt: skip
        left.pop(index)
        receipts.append(receipt)
    return [a for a in range(len(scores)) if a not in left], receipts


def merged(table: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the class counts of cells, from those of codes."""
    found = np.zeros((int(cells.max()) + 1, table.shape[1]), dtype=np.int64)
    np.add.at(found, cells, table)
    return found


def exact_score(table: NDArray[np.int64], parts: NDArray[np.int64]) -> int:
    """Return the score of one attribute, times twice the number of parts."""
    off = np.abs(_PARTS * table - parts * table.sum(axis=1, keepdims=True))
    return int(off.sum())


def whole_parts(balance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the balance in whole parts that add up to `_PARTS`; what rounding leaves goes to the largest class."""
    parts: NDArray[np.int64] = np.floor(balance / balance.sum() * _PARTS).astype(np.int64)
    parts[parts.argmax()] += _PARTS - parts.sum()
    return parts
