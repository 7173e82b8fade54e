"""Binary anonymity (Szűcs 2013, eq. 3): how well a value and its mirror image are mixed up.

Logarithms are to base 2, and 0 log 0 = 0. Written out, a pair's anonymity is half the entropy of the coin that decides
about flipping plus half the entropy of the pair itself. So it is not 0 where nothing is flipped (theta = 1), and a
value without a partner has H(theta) / 2, where the paper's text has 0; here the equation counts.

What it does not promise: it is an average, it looks at one attribute at a time, and it takes the attacker to know
nothing but the frequencies. Of a whole record the mirror image hardly ever occurs.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.local.channels.coding import Coding


def pair_anonymity(p1: ArrayLike, p2: ArrayLike, theta: ArrayLike) -> Any:
    """Return eq. 3 of pairs with shares ``p1`` and ``p2`` within the pair, kept with probability ``theta``.

    Examples
    --------
    >>> float(pair_anonymity(0.5, 0.5, 0.5))
    1.0
    >>> float(pair_anonymity(0.5, 0.5, 1.0))
    0.5
    """
    first, second, kept = (np.asarray(value, dtype=np.float64) for value in (p1, p2, theta))
    if not (np.all((kept >= 0) & (kept <= 1)) and np.all(first >= 0) and np.all(second >= 0)):
        raise ParameterError("theta must lie between 0 and 1, and shares must not be negative; correct them")
    as_it_is = _entropy_term(kept * first) + _entropy_term((1 - kept) * second)
    flipped = _entropy_term(kept * second) + _entropy_term((1 - kept) * first)
    return (as_it_is + flipped) / 2


def binary_anonymity(pairs: ArrayLike, theta: float) -> float:
    """Return the mean anonymity of pairs, each weighted by how many of all rows it has.

    Parameters
    ----------
    pairs : array of shape (n_pairs, 2)
        How frequent a value, or a record, and its mirror image are: shares of all rows, or counts.
    theta : float
        The probability of keeping.
    """
    shares = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    weights = shares.sum(axis=1)
    if not weights.sum() > 0 or np.any(shares < 0):
        raise ParameterError("anonymity needs at least one pair with a positive share; pass shares or counts")
    within = shares / np.where(weights > 0, weights, 1.0)[:, None]
    return float(np.average(pair_anonymity(within[:, 0], within[:, 1], theta), weights=weights))


def coding_anonymity(coding: "Coding", theta: float) -> float:
    """Return the binary anonymity of a coding: the plain mean over its attributes.

    This weighting gives .87 .85 .81 .73 .60 .51 .37 for the Adult table at theta .5 .6 .7 .8 .9 .95 1.
    """
    return float(np.mean([code.anonymity(theta) for code in coding.codes]))


def record_anonymity(bits: NDArray[np.uint8], theta: float) -> float:
    """Return the binary anonymity of whole records, those that occur paired with their mirror images."""
    records, counts = np.unique(np.packbits(bits, axis=1), axis=0, return_counts=True)
    mirrors = np.packbits(1 - np.unpackbits(records, axis=1, count=bits.shape[1]), axis=1)
    count_of = dict(zip(map(bytes, records), counts.tolist(), strict=True))
    pairs: list[tuple[int, int]] = []
    for record, mirror, count in zip(map(bytes, records), map(bytes, mirrors), counts.tolist(), strict=True):
        if record < mirror or mirror not in count_of:
            pairs.append((count, count_of.get(mirror, 0)))
    return binary_anonymity(pairs, theta)


def _entropy_term(share: NDArray[np.float64]) -> NDArray[np.float64]:
    return -share * np.log2(np.where(share > 0, share, 1.0))
