"""How frequent values are, and where their quartiles lie: what a coding is made from.

Read from clear rows these are leaks. Estimated from answers that were disguised before anyone saw them, they are what a
collector may know anyway.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError
from privet.local.channels.answer_checks import codes_of
from privet.local.channels.columns import AddedNoise, Clear, ColumnChannel, edges_of
from privet.local.channels.random_answer import RandomAnswer
from privet.local.reconstruction.reconstruct import reconstruct
from privet.schema import Attribute, Categorical, Label, Numeric, Schema
from privet.schema.encoding import Encoder, numbers_of
from privet.schema.table import columns_of

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel
    from privet.local.channels.complement import Complement

Shares = NDArray[np.float64]  # of an attribute's values and, in the last entry, of missing ones
_QUARTERS = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True)
class Facts:
    """Of each attribute the shares of its values or cells, and of those that are cut anew the quartiles."""

    frequencies: dict[str, dict[Label | None, float]]
    quartiles: dict[str, list[float]]


@dataclass(frozen=True)
class _Found:
    attribute: Attribute
    shares: Shares
    quartiles: list[float] | None = None


def facts_from_rows(table: Any, schema: Schema) -> Facts:
    """Return the facts of clear rows; numbers whose cells are declared keep them."""
    columns = _columns(table, schema)
    return _facts([_of_clear(column, a) for column, a in zip(columns, schema.attributes, strict=True)])


def facts_from_answers(table: Any, channel: "Channel", *, recut: bool = True) -> Facts:
    """Return the facts that answers through ``channel`` tell.

    Numbers are cut at their estimated quartiles; without ``recut`` they keep the cells that they were answered in.
    """
    if channel.record is not None:
        bits = Encoder(channel.record.coding.bit_schema).encode(table) > 0
        found = _of_records(bits, channel.record)
    else:
        columns = _columns(table, channel.schema)
        found = [_of_answers(*told) for told in zip(columns, channel.schema.attributes, channel.columns, strict=True)]
    return _facts([_at_quartiles(one) if recut else one for one in found])


def quartered(attribute: Numeric, quartiles: list[float]) -> Numeric:
    """Return a number's attribute in quarters, of which those without room between them are one cell.

    A quarter holds its upper border; a cell of a schema holds its lower one, which is the next number.
    """
    above = np.unique(np.nextafter(np.asarray(quartiles, dtype=np.float64), np.inf))
    inside = above[(above > attribute.low) & (above < attribute.high)]
    return replace(attribute, bins=None, edges=tuple(inside.tolist()))


def _columns(table: Any, schema: Schema) -> list[Any]:
    columns = columns_of(table, schema.names, label=schema.target)
    if not len(columns[0]):
        raise DataError("the table has no rows, so it does not tell how frequent values are; pass some rows")
    return columns


def _facts(found: list[_Found]) -> Facts:
    quartiles = {one.attribute.name: one.quartiles for one in found if one.quartiles is not None}
    return Facts({one.attribute.name: _by_value(one.attribute, one.shares) for one in found}, quartiles)


def _by_value(attribute: Attribute, shares: Shares) -> dict[Label | None, float]:
    values: list[Label | None] = list(
        attribute.categories if isinstance(attribute, Categorical) else range(attribute.n_values)
    )
    return dict(zip([*values, None], shares.tolist(), strict=True))


def _of_clear(column: Any, attribute: Attribute) -> _Found:
    if isinstance(attribute, Categorical) or not attribute.is_open:
        return _Found(attribute, _counted(column, attribute))
    numbers = np.asarray(numbers_of(column, attribute.name), dtype=np.float64)
    known = np.clip(numbers[~np.isnan(numbers)], attribute.low, attribute.high)
    quartiles = np.quantile(known, _QUARTERS).tolist() if len(known) else [attribute.high] * 3
    cells = quartered(attribute, quartiles)
    return _Found(cells, _counted(numbers, cells), quartiles)


def _of_answers(column: Any, attribute: Attribute, channel: ColumnChannel) -> _Found:
    if isinstance(channel, AddedNoise):
        found = reconstruct(column, channel)
        return _Found(found.attribute, np.append(found.expected_counts, found.n_missing))
    if isinstance(channel, RandomAnswer):
        return _Found(attribute, inverted(_counted(column, attribute), channel))
    return (
        _of_clear(column, attribute) if isinstance(channel, Clear) else _Found(attribute, _counted(column, attribute))
    )


def _of_records(bits: NDArray[np.bool_], record: "Complement") -> list[_Found]:
    """Return what disguised records tell: of a code and its mirror image, both counts."""
    found, start = [], 0
    for code in record.coding.codes:
        own = bits[:, start : start + code.n_bits].astype(np.int64) @ (1 << np.arange(code.n_bits - 1, -1, -1))
        counts = np.bincount(own, minlength=2**code.n_bits)
        true = (record.keep * counts - (1 - record.keep) * counts[::-1]) / (2 * record.keep - 1)
        values = np.maximum(true[list(code.codes)], 0.0)
        found.append(_Found(code.attribute, np.append(values, [0.0] * (code.attribute.n_values + 1 - len(values)))))
        start += code.n_bits
    return found


def inverted(counts: Shares, channel: RandomAnswer) -> Shares:
    """Return the estimated counts of true values, at least 0; those that are no answers stay."""
    kept, other = channel.chances
    answers = counts[: channel.n_answers]
    true = np.maximum((answers - other * answers.sum()) / (kept - other), 0.0)
    return np.append(true, counts[channel.n_answers :])


def _counted(column: Any, attribute: Attribute) -> Shares:
    return np.bincount(codes_of(column, attribute), minlength=attribute.n_values + 1).astype(np.float64)


def _at_quartiles(found: _Found) -> _Found:
    """Return numbers that are known by cell, cut at their quartiles; values are taken as evenly spread in a cell."""
    attribute, total = found.attribute, found.shares[:-1].sum()
    if isinstance(attribute, Categorical) or found.quartiles is not None or not total:
        return found
    edges = edges_of(attribute)
    upto = np.append(0.0, np.cumsum(found.shares[:-1])) / total
    quartiles = np.interp(_QUARTERS, upto, edges).tolist()
    cells = quartered(attribute, quartiles)
    borders = np.interp(edges_of(cells), edges, upto)
    return _Found(cells, np.append(np.diff(borders) * total, found.shares[-1]), quartiles)
