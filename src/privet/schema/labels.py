"""Names and labels that can be written to a file, and one rule for a number and its text.

Labels are text, true/false or finite numbers. `0`, `0.0` and "0" are one category, in a data frame as in a CSV.

Where categories are numbers, text is read as a number. Where they are text, a number is looked up by how it is plainly
written, and text has to be equal, as in exported predictors. That needs categories in which a number has one spelling,
which the schema alone decides, never a row: beside "07" or "7.0" it is not certain what 7 is, and numbers are refused.
Where categories are true and false, 0 and 1 and these words are read as them. A column of true and false fits such
categories only.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from privet.errors import DataError, SchemaError

Label: TypeAlias = str | int | float | bool

MAX_LABEL = 1_000
# How a CSV may write true and false.
TRUE_WORDS, FALSE_WORDS = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0")
_PLAIN = re.compile(r"0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9]")
_LOOKS_LIKE_A_NUMBER = re.compile(r"\s*[+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")


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


def arrow_type_of(labels: Sequence[Label]) -> Any:
    """Return the Arrow type in which labels of this kind are compared."""
    import pyarrow as pa

    return {"text": pa.large_string(), "numbers": pa.float64(), "true/false": pa.bool_()}[label_kind(labels[0])]


def as_labels(labels: Sequence[Label]) -> Any:
    """Return labels as an Arrow array."""
    import pyarrow as pa

    return pa.array(labels, type=arrow_type_of(labels))


@lru_cache
def numbers_in_text(labels: tuple[Label, ...]) -> list[float | None] | None:
    """Return the number that each label of text is, None for other words; None where that is ambiguous or never so."""
    texts = [str(label) for label in labels]
    numbers = [float(text) if _PLAIN.fullmatch(text) else None for text in texts]
    is_odd = [n is None and bool(_LOOKS_LIKE_A_NUMBER.fullmatch(t)) for n, t in zip(numbers, texts, strict=True)]
    return None if any(is_odd) or all(n is None for n in numbers) else numbers


def as_kind_of(column: Any, found: str, labels: tuple[Label, ...], name: str) -> tuple[Any, Any] | None:
    """Return a column and its labels as Arrow arrays of one kind; None where there is none.

    ``found`` says what the column holds.
    """
    import pyarrow as pa

    wanted = label_kind(labels[0])
    if found in {wanted, "nothing"}:
        return column, as_labels(labels)
    if (found, wanted) == ("text", "numbers"):
        return _parsed(column, name), as_labels(labels)
    if (found, wanted) == ("numbers", "text"):
        numbers = numbers_in_text(labels)
        return None if numbers is None else (column, pa.array(numbers, type=pa.float64()))
    if wanted == "true/false" and found in {"text", "numbers"}:
        return _truths(column, name, is_text=found == "text"), as_labels(labels)
    return None


def _parsed(column: Any, name: str) -> Any:
    """Return text as numbers. As in a CSV, spaces around a number do not count, and no text is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        plain = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
        return pc.if_else(pc.equal(plain, ""), None, plain).cast(pa.float64())
    except pa.ArrowInvalid:  # it quotes the value
        raise _unread(name, "text that is not a number", "numbers") from None


def _truths(column: Any, name: str, *, is_text: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string() if is_text else pa.float64()
    true, false = (TRUE_WORDS, FALSE_WORDS) if is_text else ((1.0,), (0.0,))
    column = column.cast(kind)
    is_true, is_false = (pc.is_in(column, value_set=pa.array(words, type=kind)) for words in (true, false))
    no_value = pc.equal(column, "") if is_text else pc.is_nan(column)
    truths = pc.if_else(pc.fill_null(no_value, True), None, is_true)
    if pc.any(pc.and_(pc.is_valid(truths), pc.invert(pc.or_(is_true, is_false)))).as_py():
        raise _unread(name, "values other than 0, 1, true and false", "true/false")
    return truths


def _unread(name: str, what: str, wanted: str) -> DataError:
    return DataError(
        f"column {name!r} holds {what}, but its categories in the schema are {wanted}; convert those values, or leave "
        "them empty where a value may be missing"
    )
