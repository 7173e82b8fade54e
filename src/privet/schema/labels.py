"""Names and labels that can be written to a file: text, true/false, and finite numbers."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from privet.errors import SchemaError

Label: TypeAlias = str | int | float | bool

MAX_LABEL = 1_000


def check_name(name: object) -> None:
    """Refuse a column name that is empty or not text."""
    if not isinstance(name, str) or not name:
        raise SchemaError(
            "every attribute needs a name that is a non-empty text; for a NumPy table invent one per column"
        )
    if not is_writable(name):
        raise SchemaError(
            "a column's name holds half a surrogate pair, which cannot be written to a file; rename the column"
        )


def is_writable(text: str) -> bool:
    """Return whether a text can be written to a file and matched by Arrow. Half a surrogate pair cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def checked_labels(values: object, *, where: str, noun: str) -> tuple[Label, ...]:
    """Return ``values`` as plain Python labels: not empty, without repeats, and all of one kind."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise SchemaError(f"{where}: {noun} must be a list; write them in [ ]")
    labels = tuple(_plain_label(value, where, noun) for value in values)
    if not labels:
        raise SchemaError(f"{where}: {noun} is empty; list every value that is publicly known to be possible")
    if len({label_kind(label) for label in labels}) > 1:
        raise SchemaError(f"{where}: {noun} must be all text, all numbers or all true/false; write them in one way")
    if len(set(labels)) < len(labels):
        raise SchemaError(f"{where}: {noun} holds the same value twice; list each value once")
    return labels


def label_kind(label: Label) -> str:
    """Return ``"text"``, ``"true/false"`` or ``"numbers"``."""
    if isinstance(label, str):
        return "text"
    return "true/false" if isinstance(label, bool) else "numbers"


def _plain_label(value: object, where: str, noun: str) -> Label:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str) and len(plain) <= MAX_LABEL and is_writable(plain):
        return plain
    if isinstance(plain, bool) or (isinstance(plain, int) and -(2**53) <= plain <= 2**53):
        return plain
    if isinstance(plain, float) and math.isfinite(plain):
        return plain
    raise SchemaError(
        f"{where}: {noun} must be text of up to {MAX_LABEL:,} characters, true/false, or finite numbers up to 2^53; "
        "a missing value needs no entry"
    )
