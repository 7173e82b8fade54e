"""The integers a mechanism is handed: exact values and their sensitivity."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.checks import check_whole
from privet.errors import ParameterError

# Values up to 2**62 and noise below 2**62 add up in 64 bits.
_LARGEST = 2**62


def exact_integers(exact: ArrayLike) -> NDArray[np.int64]:
    """Return a copy of ``exact`` as 64-bit integers, or refuse what is no array of integers."""
    values = np.asarray(exact)
    if values.dtype.kind not in "iu":
        raise ParameterError(
            f"exact values must be integers, not {values.dtype}; "
            "count in whole units, or round to a grid and count the rounding in the sensitivity"
        )
    if values.size and (values.max() > _LARGEST or values.min() < -_LARGEST):
        raise ParameterError("exact values must stay within 2**62 on either side of 0; count in coarser units")
    return values.astype(np.int64)


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as a Python int from 1 to 2**62, or say that ``name`` must be one."""
    return check_whole(name, value, least=1, most=_LARGEST)
