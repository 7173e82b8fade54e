"""Whom the promise is about and what it rests on, in words that hold for every unit. Plain text: escape it in HTML."""

from typing import Any

from privet.privacy.guarantee import CURATOR
from privet.privacy.unit import Unit


def one(guarantee: dict[str, Any]) -> str:
    """Return what one neighbour more stands for: "one row", or "one 'visit_id'" where a column tells units apart."""
    return f"one {_name(guarantee)}"


def several(guarantee: dict[str, Any]) -> str:
    """Return more than one of them."""
    return "several rows" if _column(guarantee) is None else f"several values of {_name(guarantee)}"


def was_in(guarantee: dict[str, Any]) -> str:
    """Return whose presence an attacker asks for, with its verb."""
    return "one row was" if _column(guarantee) is None else f"the rows of {one(guarantee)} were"


def caveat(guarantee: dict[str, Any]) -> str:
    """Return who is protected less than the promise says; a unit need not be a person."""
    return f"Somebody with {several(guarantee)} is protected less: with k of them at k times epsilon."


def provided(guarantee: dict[str, Any]) -> str:
    """Return what the promise rests on and nobody can check, after a comma; empty where it rests on nothing."""
    return f", provided that {'; '.join(guarantee['assumptions'])}" if guarantee["assumptions"] else ""


def of_parties(guarantee: dict[str, Any]) -> bool:
    """Return whether several parties counted, and no curator held all rows."""
    return bool(guarantee["trust"] != CURATOR)


def _name(guarantee: dict[str, Any]) -> str:
    column = _column(guarantee)
    return guarantee["unit"] if column is None else repr(column)


def _column(guarantee: dict[str, Any]) -> str | None:
    return Unit(guarantee["unit"], guarantee["max_rows"]).column
