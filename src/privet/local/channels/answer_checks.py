"""Whether rows can have come through a channel. What is impossible is an error; what is only unlikely is a doubt.

Every test bounds the chance that honest answers look so, whatever the people's values are; answer_checks.md has the
argument. No message holds a value or an exact count.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import DataError
from privet.local.channels.cells import FieldValues, Floats, Ints
from privet.local.channels.field_channel import AnswerTests, FieldChannel, Impossible
from privet.schema import Attribute
from privet.schema.table import columns_of

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel

# All tests of a table together call honest answers unlikely at most so often.
NEVER = 1e-6
# As many pairs of fields are looked at, and pairs of as many answers.
_MOST_PAIRS, _MOST_CELLS = 300, 100_000
# Mixes the answers of a record into one number; odd, so that none is lost.
_MIX = np.uint64(0x9E3779B97F4A7C15)
RECORDS = "whole records"


def refuse_impossible(channel: "Channel", table: Any) -> None:
    """Refuse a table with rows that the channel cannot have answered."""
    if channel.record is not None:
        refuse(channel.record.impossible(table))
        return
    columns = columns_of(table, channel.schema.names, label=channel.schema.target)
    for attribute, column, values in zip(channel.schema.attributes, channel.columns, columns, strict=True):
        refuse_impossible_values(values, column, attribute)


def refuse_impossible_values(values: Any, column: FieldChannel, attribute: Attribute) -> None:
    """Refuse values of one field that its channel cannot have answered."""
    refuse(column.impossible(FieldValues(attribute, values)))


def doubts_about(channel: "Channel", table: Any, labels: Ints) -> tuple[str, ...]:
    """Return the fields whose answers are all but impossible through the channel, by name; none where all is well."""
    if channel.hides_nothing:  # and so promises nothing
        return ()
    if channel.record is not None:
        return channel.record.doubts(table)
    columns = columns_of(table, channel.schema.names, label=channel.schema.target)
    tests = [
        column.tests(FieldValues(attribute, values))
        for attribute, column, values in zip(channel.schema.attributes, channel.columns, columns, strict=True)
    ]
    if channel.label is not None:
        tests.append(channel.label.tests(FieldValues(channel.label_attribute, None, labels.astype(np.int64))))
    return _doubts([own for own in tests if own is not None])


def doubts_about_values(values: Any, column: FieldChannel, attribute: Attribute) -> bool:
    """Return whether one field's answers are all but impossible through its channel."""
    tests = column.tests(FieldValues(attribute, values))
    return tests is not None and bool(_doubts([tests]))


def _doubts(asked: Sequence[AnswerTests]) -> tuple[str, ...]:
    return named_by([*_of_fields(asked), *_of_pairs(asked), *_of_records(asked)])


# A test: what it is about, the logarithm of the least chance found, and how many chances were looked at.
ChanceTest = tuple[tuple[str, ...], float, int]


def named_by(tests: Sequence[ChanceTest]) -> tuple[str, ...]:
    """Return what the tests that honest answers all but never fail are about."""
    limit = math.log(NEVER / max(sum(n for _, _, n in tests), 1))
    return tuple(dict.fromkeys(name for names, log_chance, _ in tests if log_chance < limit for name in names))


def _of_fields(asked: Sequence[AnswerTests]) -> Iterator[ChanceTest]:
    for field in asked:
        given = field.answer[field.answer >= 0]
        for group, least, most in field.tests:
            if len(given):
                counts = np.bincount(group[given], minlength=len(least))
                yield (field.name,), log_chance(counts, len(given), least, most), 2 * len(least)


def _of_pairs(asked: Sequence[AnswerTests]) -> Iterator[ChanceTest]:
    """Yield tests of two fields together, which clear rows fail whose fields go together."""
    for one, other in islice(combinations(asked, 2), _MOST_PAIRS):
        first, second = one.tests[-1], other.tests[-1]
        both = (one.answer >= 0) & (other.answer >= 0)
        cells = len(first[1]) * len(second[1])
        if both.any() and cells <= _MOST_CELLS:
            cell = first[0][one.answer[both]] * len(second[1]) + second[0][other.answer[both]]
            counts = np.bincount(cell, minlength=cells)
            least, most = np.outer(first[1], second[1]).ravel(), np.outer(first[2], second[2]).ravel()
            yield (one.name, other.name), log_chance(counts, int(both.sum()), least, most), 2 * cells


def _of_records(asked: Sequence[AnswerTests]) -> Iterator[ChanceTest]:
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
    yield from repeats(what, times, log_most)


def repeats(what: str, times: Ints, log_most: float) -> Iterator[ChanceTest]:
    """Yield tests of how often each answer came, where the likeliest has a chance of at most e^``log_most``."""
    n = int(times.sum())
    yield (what,), _log_repeats(n, int(times.max()), log_most), 1
    yield (what,), _log_twins(n, int((times // 2).sum()), log_most), 1


def log_chance(counts: Ints, n: int, least: Floats, most: Floats) -> float:
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


def refuse(found: Impossible) -> None:
    """Refuse rows that are impossible, in words that count them roughly."""
    for strange, what in found:
        if strange.any():
            raise DataError(
                f"{_how_many(float(strange.mean()))} of the rows {what}: they did not come through this channel; pass "
                "the answers as `privet perturb` or respondent.js gave them, with the channel that was written beside "
                "them"
            )


def _how_many(share: float) -> str:
    """Return a share in round words, which give no single row away."""
    words = {0.05: "some", 0.15: "about 1 in 10", 0.4: "about 1 in 4", 0.6: "about half", 0.95: "most"}
    return next((word for upto, word in words.items() if share < upto), "all or nearly all")
