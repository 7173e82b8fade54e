"""What counts as a whole number, as hexadecimal digits, and as one of the classes, and how many there are, in words."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from privet.errors import ParameterError


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether ``value`` is an int of Python or NumPy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_whole(name: str, value: object, *, least: int, most: int) -> int:
    """Return ``value`` as an int where it is a whole number from ``least`` to ``most``."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise ParameterError(f"{name}={value!r} must be a whole number from {least} to {most:,}")


def counted(n: int, one: str, many: str = "") -> str:
    """Return how many there are in words: "1 release", "2,000 releases"."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def is_hex(value: object, n_bytes: int) -> bool:
    """Return whether ``value`` spells so many bytes in lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == 2 * n_bytes and set(value) <= set("0123456789abcdef")


def class_position(classes: Sequence[Any], class_: object) -> int:
    """Return where ``class_`` stands among the classes."""
    if class_ not in classes:
        raise ParameterError(f"class_={class_!r} is none of the classes; choose from {list(classes)}")
    return classes.index(class_)
