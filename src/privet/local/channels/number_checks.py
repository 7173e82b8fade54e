"""What counts as a number among the parameters of a disturbance, decided once."""

import math
from typing import TypeGuard

import numpy as np

from privet.errors import ParameterError


def is_number(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is a number of Python or NumPy; True and False are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_share(name: str, value: object) -> None:
    """Refuse what does not lie between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise ParameterError(f"{name}={value!r} must lie between 0 and 1")


def check_epsilon(epsilon: object) -> None:
    """Refuse what is no local epsilon."""
    if not (is_number(epsilon) and 0 < epsilon < math.inf):
        raise ParameterError(f"epsilon={epsilon!r} must be above 0 and finite; smaller hides more")


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name}={value!r} must be True or False")
