"""What an entry of each kind must hold. A chain that fits shows that nothing was damaged, not that nobody lied."""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from privet.checks import is_hex

# The kinds of entries. The meaning of one never changes: a ledger is read for years.
BUDGET, RESERVED, SETTLED, WITHDRAWN, ADDED = "budget", "reserved", "settled", "withdrawn", "added"
# The state of a fit that was charged without a release: on a strict account, rows may have made it fail.
FAILED = "failed"
# These two spend nothing, so accounts ignore them.
BATCH_KEY, BATCH = "batch key", "batch"
# The statement about a part where a unit has several rows.
STATEMENT = "no_person_in_two_parts"
# Python's integers have no largest value, floats do, and amounts are added up.
LARGEST_AMOUNT = 1e300
KEY_BYTES = 32

_COST = ("dataset", "epsilon", "delta")
_REQUIRED: dict[str, tuple[str, ...]] = {
    BUDGET: (*_COST, "unit"),
    RESERVED: (*_COST, "part", "what", "method"),
    ADDED: (*_COST, "part", "what", "method"),
    SETTLED: (*_COST, "reservation"),
    WITHDRAWN: ("dataset", "reservation"),
    BATCH_KEY: ("dataset", "key"),
    BATCH: ("dataset", "before", "after", "structure", "fingerprint"),
}


def is_body(body: object, kind: str) -> TypeGuard[Mapping[str, Any]]:
    """Return whether an entry of this kind may hold ``body``; an unknown kind may hold any object."""
    if not isinstance(body, Mapping) or not all(name in body for name in _REQUIRED.get(kind, ())):
        return False
    if kind == BUDGET and body["epsilon"] == "inf":
        return False
    return all(_FIELDS[name](value) for name, value in body.items() if name in _FIELDS)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_amount(value: object) -> bool:
    """Return whether this is a finite amount, not below 0."""
    return type(value) in (int, float) and 0 <= value <= LARGEST_AMOUNT  # type: ignore[operator]


def _is_epsilon(value: object) -> bool:
    return value == "inf" or _is_amount(value)


def _is_delta(value: object) -> bool:
    return _is_amount(value) and value < 1  # type: ignore[operator]


def _is_key(value: object) -> bool:
    return is_hex(value, KEY_BYTES)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_entry_number(value: object) -> bool:
    return type(value) is int


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "dataset": _is_text,
    "unit": _is_text,
    "what": _is_text,
    "method": _is_text,
    "because": _is_text,
    "after": _is_text,
    "structure": _is_text,
    "fingerprint": _is_text,
    "key": _is_key,
    "before": _is_text_or_none,
    "dated": _is_text_or_none,
    "part": _is_text_or_none,
    "model": _is_text_or_none,
    "epsilon": _is_epsilon,
    "delta": _is_delta,
    "rho": _is_amount,
    "reservation": _is_entry_number,
    "leaks": _are_texts,
    "strict": _is_bool,
    STATEMENT: _is_bool,
}
