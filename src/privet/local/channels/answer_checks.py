"""Whether rows can have come through a channel. What is impossible is an error; what is only unlikely is a doubt.

Every test bounds the chance that honest answers look so, whatever the people's values are; answer_checks.md has the
argument. No message holds a value or an exact count.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError
from privet.local.channels.channel import Channel
from privet.local.channels.columns import AddedNoise, Clear, ColumnChannel, midpoints_of
from privet.local.channels.complement import Complement
from privet.local.channels.random_answer import RandomAnswer
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.schema.encoding import Encoder, numbers_of, without_dictionary
from privet.schema.table import as_arrow, columns_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# All tests of a table together call honest answers unlikely at most so often.
NEVER = 1e-6
# How far from an answer a number may lie, in steps of the noise's grid or widths of an interval: for rounding alone.
_TOLERANCE = 1e-3
# Windows of a number's answers, at least as wide as this share of its grid, for tests of two fields together.
_WINDOWS = 16
# As many pairs of fields are looked at, and pairs of as many answers.
_MOST_PAIRS, _MOST_CELLS = 300, 100_000
# Mixes the answers of a record into one number; odd, so that none is lost.
_MIX = np.uint64(0x9E3779B97F4A7C15)
# What differences of chances lose to rounding.
_ROUNDING = 1e-15
RECORDS = "whole records"


@dataclass(frozen=True, eq=False)
class _Asked:
    """One field's answers by number, -1 where there is none.

    A test puts answers into groups, and says how likely each is at least and at most, whatever the value; the first has
    every answer by itself, the last has the fewest groups.
    """

    name: str
    answer: Ints
    tests: tuple[tuple[Ints, Floats, Floats], ...]


def refuse_impossible(channel: Channel, table: Any) -> None:
    """Refuse a table with rows that the channel cannot have answered."""
    if channel.record is not None:
        _refuse(~_possible_bits(channel.record, table), "hold bits that no record is coded in")
        return
    columns = columns_of(table, channel.schema.names, label=channel.schema.target)
    for attribute, column, values in zip(channel.schema.attributes, channel.columns, columns, strict=True):
        refuse_impossible_values(values, column, attribute)


def refuse_impossible_values(values: Any, column: ColumnChannel, attribute: Attribute) -> None:
    """Refuse values of one field that its channel cannot have answered."""
    if isinstance(column, Clear):
        return
    if isinstance(attribute, Categorical):
        found = without_dictionary(as_arrow(values, attribute.name))
        known = np.asarray(found.is_null()) | (codes_of(values, attribute) < attribute.n_values)
        _refuse(~known, f"hold a value in {attribute.name!r} that is none of its categories")
        return
    numbers = _numbers(values, attribute.name)
    if isinstance(column, AddedNoise):
        place, is_near = _places(numbers, column)
        low, high = -column.reach, column.n_steps + column.reach
        _refuse(~is_near, f"hold a number in {attribute.name!r} that is not on the grid of its noise")
        outside = (place < low) | (place > high)
        _refuse(outside, f"hold a number in {attribute.name!r} that is beyond the reach of its noise")
        return
    strange = ~_are_midpoints(numbers, attribute)
    _refuse(strange, f"hold a number in {attribute.name!r} that is the middle of no interval")


def doubts_about(channel: Channel, table: Any, labels: Ints) -> tuple[str, ...]:
    """Return the fields whose answers are all but impossible through the channel, by name; none where all is well."""
    if channel.hides_nothing:  # and so promises nothing
        return ()
    if channel.record is not None:
        return _doubts_about_bits(channel.record, table)
    columns = columns_of(table, channel.schema.names, label=channel.schema.target)
    parts = zip(channel.schema.attributes, channel.columns, columns, strict=True)
    asked = [_asked(values, column, a) for a, column, values in parts if isinstance(column, (AddedNoise, RandomAnswer))]
    if channel.label is not None:
        asked.append(_answered_at_random(channel.schema.target, labels.astype(np.int64), channel.label))
    return _doubts(asked)


def doubts_about_values(values: Any, column: ColumnChannel, attribute: Attribute) -> bool:
    """Return whether one field's answers are all but impossible through its channel."""
    return isinstance(column, (AddedNoise, RandomAnswer)) and bool(_doubts([_asked(values, column, attribute)]))


def _doubts(asked: Sequence[_Asked]) -> tuple[str, ...]:
    tests = [*_of_fields(asked), *_of_pairs(asked), *_of_records(asked)]
    n_tests = sum(n for _, _, n in tests)
    limit = math.log(NEVER / max(n_tests, 1))
    named = [name for names, log_chance, _ in tests if log_chance < limit for name in names]
    return tuple(dict.fromkeys(named))


# A test: what it is about, the logarithm of the least chance found, and how many chances were looked at.
_Test = tuple[tuple[str, ...], float, int]


def _of_fields(asked: Sequence[_Asked]) -> Iterator[_Test]:
    for field in asked:
        given = field.answer[field.answer >= 0]
        for group, least, most in field.tests:
            if len(given):
                counts = np.bincount(group[given], minlength=len(least))
                yield (field.name,), _log_chance(counts, len(given), least, most), 2 * len(least)


def _of_pairs(asked: Sequence[_Asked]) -> Iterator[_Test]:
    """Yield tests of two fields together, which clear rows fail whose fields go together."""
    for one, other in islice(combinations(asked, 2), _MOST_PAIRS):
        first, second = one.tests[-1], other.tests[-1]
        both = (one.answer >= 0) & (other.answer >= 0)
        cells = len(first[1]) * len(second[1])
        if both.any() and cells <= _MOST_CELLS:
            cell = first[0][one.answer[both]] * len(second[1]) + second[0][other.answer[both]]
            counts = np.bincount(cell, minlength=cells)
            least, most = np.outer(first[1], second[1]).ravel(), np.outer(first[2], second[2]).ravel()
            yield (one.name, other.name), _log_chance(counts, int(both.sum()), least, most), 2 * cells


def _of_records(asked: Sequence[_Asked]) -> Iterator[_Test]:
    """Yield tests of how often all answers of a person come again."""
    if not asked:
        return
    whole = np.all([field.answer >= 0 for field in asked], axis=0)
    n_rows = int(np.count_nonzero(whole))
    if n_rows < 2:
        return
    records = np.zeros(n_rows, dtype=np.uint64)
    for field in asked:
        records = (records ^ field.answer[whole].astype(np.uint64)) * _MIX
        records ^= records >> np.uint64(29)
    times = np.unique(records, return_counts=True)[1]
    log_most = sum(math.log(float(field.tests[0][2].max())) for field in asked)
    what = RECORDS if len(asked) > 1 else asked[0].name
    yield (what,), _log_repeats(n_rows, int(times.max()), log_most), 1
    yield (what,), _log_twins(n_rows, int((times // 2).sum()), log_most), 1


def _log_chance(counts: Ints, n: int, least: Floats, most: Floats) -> float:
    """Return the logarithm of a bound on the chance of so small or so large a count, the least of all counts.

    Hoeffding (1963): where each of n independent trials succeeds with chance at least p, a share of s < p or less has a
    chance of at most exp(-n KL(s, p)); and likewise above.
    """
    share = counts / n
    below = np.where(share < least, -n * _divergence(share, least), 0.0)
    above = np.where(share > most, -n * _divergence(share, most), 0.0)
    return float(min(below.min(initial=0.0), above.min(initial=0.0)))


def _divergence(share: Floats, chance: Floats) -> Floats:
    """Return the relative entropy of two biased coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(share > 0, share * np.log(share / chance), 0.0)
        tails = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - chance)), 0.0)
    return heads + tails


def _log_repeats(n: int, times: int, log_most: float) -> float:
    """Return the logarithm of a bound on the chance that some record comes ``times`` times: any such set of rows."""
    return min(0.0, _log_choose(n, times) + (times - 1) * log_most)


def _log_twins(n: int, pairs: int, log_most: float) -> float:
    """Return the logarithm of a bound on the chance of so many disjoint pairs of equal records."""
    ways = math.lgamma(n + 1) - math.lgamma(n - 2 * pairs + 1) - math.lgamma(pairs + 1) - pairs * math.log(2)
    return min(0.0, ways + pairs * log_most)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _asked(values: Any, column: AddedNoise | RandomAnswer, attribute: Attribute) -> _Asked:
    if isinstance(column, RandomAnswer):
        codes = codes_of(values, attribute)
        return _answered_at_random(attribute.name, np.where(codes < column.n_answers, codes, -1), column)
    numbers = _numbers(values, attribute.name)
    place = np.where(np.isnan(numbers), -1, _places(numbers, column)[0] + column.reach).astype(np.int64)
    tests = tuple(_windows(column, width) for width in _widths(column))
    return _Asked(attribute.name, place, tests)


def _answered_at_random(name: str, answer: Ints, column: RandomAnswer) -> _Asked:
    kept, other = column.chances
    each = np.arange(column.n_answers)
    least, most = np.full(len(each), min(kept, other)), np.full(len(each), max(kept, other))
    return _Asked(name, answer, ((each, least, most),))


def _widths(column: AddedNoise) -> list[int]:
    """Return widths of windows, in steps: one, and twice as much each time, until few windows are left."""
    n_places = column.n_steps + 2 * column.reach + 1
    return [2**k for k in range(max(1, math.ceil(math.log2(n_places / _WINDOWS)) + 1))]


def _windows(column: AddedNoise, width: int) -> tuple[Ints, Floats, Floats]:
    """Return the window of every place, and how likely an answer is in each at least and at most, from any value."""
    n_places, reach = column.n_steps + 2 * column.reach + 1, column.reach
    start = np.arange(0, n_places, width) - reach
    stop = np.minimum(start + width, n_places - reach)
    # Noise falls off to both sides, so a window is likeliest from its middle and least likely from one of the ends.
    middle = np.clip((start + stop - 1) // 2, 0, column.n_steps)
    values = np.stack([np.zeros_like(middle), np.full_like(middle, column.n_steps), middle,
                       np.minimum(middle + 1, column.n_steps)])  # fmt: skip
    chances = column.chance_below(stop - values) - column.chance_below(start - values)
    chances[:, 0] = column.chance_below(stop[0] - values[:, 0])
    chances[:, -1] = 1 - column.chance_below(start[-1] - values[:, -1])
    least, most = chances.min(axis=0) - _ROUNDING, chances.max(axis=0) + _ROUNDING
    return np.arange(n_places) // width, np.maximum(least, 0.0), np.minimum(most, 1.0)


def _places(numbers: Floats, column: AddedNoise) -> tuple[Floats, NDArray[np.bool_]]:
    """Return where on the grid numbers lie, and whether they lie there as near as rounding puts them."""
    low, step = column.attribute.low, column.step
    with np.errstate(over="ignore", invalid="ignore"):
        place = np.rint((numbers - low) / step)
        miss = np.abs(low + place * step - numbers)
    return place, np.isnan(numbers) | (miss <= _TOLERANCE * step + 4 * np.spacing(np.abs(numbers)))


def _are_midpoints(numbers: Floats, attribute: Numeric) -> NDArray[np.bool_]:
    answers = midpoints_of(attribute)
    after = np.clip(np.searchsorted(answers, numbers), 1, max(len(answers) - 1, 1))
    nearest = np.minimum(np.abs(numbers - answers[after - 1]), np.abs(numbers - answers[after % len(answers)]))
    width = (attribute.high - attribute.low) / len(answers)
    close: NDArray[np.bool_] = np.isnan(numbers) | (nearest < _TOLERANCE * width + 4 * np.spacing(np.abs(numbers)))
    return close


def _bits(record: Complement, table: Any) -> Floats:
    columns = columns_of(table, record.coding.bit_names, label=record.coding.schema.target)
    return np.column_stack([_numbers(v, name) for v, name in zip(columns, record.coding.bit_names, strict=True)])


def _possible_bits(record: Complement, table: Any) -> NDArray[np.bool_]:
    bits = _bits(record, table)
    kept, flipped = _readings(record, np.nan_to_num(bits).astype(np.int64) & 1)
    possible: NDArray[np.bool_] = ((bits == 0) | (bits == 1)).all(axis=1) & (kept | flipped)
    return possible


def _readings(record: Complement, bits: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows are a record's code as they are, and which with all bits flipped."""
    kept, flipped = np.ones(len(bits), dtype=bool), np.ones(len(bits), dtype=bool)
    start = 0
    for code in record.coding.codes:
        own = bits[:, start : start + code.n_bits] @ (1 << np.arange(code.n_bits - 1, -1, -1))
        kept &= np.isin(own, code.codes)
        flipped &= np.isin(code.mirror(0) - own, code.codes)
        start += code.n_bits
    return kept, flipped


def _doubts_about_bits(record: Complement, table: Any) -> tuple[str, ...]:
    """Return a doubt where bits, or records that can be read in one way only, are flipped too often or too seldom."""
    bits = _bits(record, table).astype(np.int64)
    kept, flipped = _readings(record, bits)
    sure, n = kept ^ flipped, len(bits)
    lost = 1 - record.keep
    least, most = np.full(bits.shape[1], lost), np.full(bits.shape[1], record.keep)
    chances = [_log_chance(bits.sum(axis=0), n, least, most)] if n else []
    if sure.any():
        counts = np.array([np.count_nonzero(sure & flipped)])
        chances.append(_log_chance(counts, int(sure.sum()), np.array([lost]), np.array([lost])))
    limit = math.log(NEVER / (2 * bits.shape[1] + 2))
    return (RECORDS,) if min(chances, default=0.0) < limit else ()


def _refuse(strange: NDArray[np.bool_], what: str) -> None:
    if strange.any():
        raise DataError(
            f"{_how_many(float(strange.mean()))} of the rows {what}: they did not come through this channel; pass the "
            "answers as `privet perturb` or respondent.js gave them, with the channel that was written beside them"
        )


def _how_many(share: float) -> str:
    """Return a share in words so round that no row can be told from them."""
    words = {0.05: "some", 0.15: "about 1 in 10", 0.4: "about 1 in 4", 0.6: "about half", 0.95: "most"}
    return next((word for upto, word in words.items() if share < upto), "all or nearly all")


def _numbers(values: Any, name: str) -> Floats:
    return np.asarray(numbers_of(without_dictionary(as_arrow(values, name)), name), dtype=np.float64)


def codes_of(values: Any, attribute: Attribute) -> NDArray[np.int64]:
    """Return the code of every value of a column; that of missing values is the attribute's last."""
    import pyarrow as pa

    # An encoder is for tables with a label; this one is never asked for it.
    schema = Schema([attribute], classes=("no", "yes"), target=f"label of {attribute.name}")
    table = pa.table({attribute.name: as_arrow(values, attribute.name)})
    return Encoder(schema).encode(table)[:, 0].astype(np.int64)
