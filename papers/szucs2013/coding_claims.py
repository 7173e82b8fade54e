"""What the paper says of its coding, beside what was measured."""

from collections.abc import Iterator

import pandas as pd

from papers.claim import Claim
from papers.szucs2013.coding import NUMBER
from papers.szucs2013.split import TITLES

_QUARTERS = 4


def coding_claims(lines: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on the coding of tables."""
    yield relationship_takes_three_bits(lines)
    for table in TITLES:
        found = lines[lines["table"] == table]
        yield better_is_best(found, table)
        yield numbers_are_kept(found, table)
    yield never_the_most_frequent(lines)


def relationship_takes_three_bits(lines: pd.DataFrame) -> Claim:
    """Return the paper's example."""
    bits = int(lines[(lines["table"] == "adult") & (lines["attribute"] == "relationship")]["bits"].iloc[0])
    total = int(lines[lines["table"] == "adult"]["bits"].sum())
    text = "Section 4.4, Adult: dummy attributes for relationship, which has six values"
    why = "" if bits == 3 else "three bits have codes enough for six values"
    return Claim(text, "3", f"{bits}; the record has {total} bits", bits == 3, why, "paper")


def better_is_best(found: pd.DataFrame, table: str) -> Claim:
    """Return whether no other value than the first or the last is better left alone."""
    text = f"Section 3.2, {TITLES[table]}: of an odd number of values, the better of equations 7 and 8 is the optimum"
    if found.empty:
        return Claim(text, "optimal", "", None)
    odd = _odd(found)
    best = int((odd[["by_eq_7", "by_eq_8"]].max(axis=1) >= odd["by_any"]).sum())
    holds = best == len(odd)
    why = "" if holds else "every value was left alone in turn, the others paired in order"
    measured = f"no value left alone gives more, for {best} of {len(odd)} attributes"
    return Claim(text, "optimal", measured, holds, why, "paper")


def never_the_most_frequent(lines: pd.DataFrame) -> Claim:
    """Return whether the second of the two equations is ever needed."""
    odd = _odd(lines)
    better = int((odd["by_eq_8"] > odd["by_eq_7"]).sum())
    text = "Section 3.2: equation 8 is never better than equation 7, so that there is nothing to compare"
    why = (
        "a pair's weighted entropy grows with either frequency, so each pair of equation 7 has at least that of its "
        "counterpart in equation 8"
    )
    measured = f"equation 8 is better for {better} of {len(odd)} attributes"
    return Claim(text, "", measured, better == 0, why, "paper", ours=True)


def numbers_are_kept(found: pd.DataFrame, table: str) -> Claim:
    """Return whether quartiles tell four cells of every number apart."""
    text = f"Section 3.2, {TITLES[table]}: quartiles solve the problem of numbers perfectly"
    paper, reading = "perfectly", "every number has four cells"
    if found.empty:
        return Claim(text, paper, "", None, reading=reading)
    numbers = found[found["kind"] == NUMBER]
    merged = numbers[numbers["values"] < _QUARTERS]
    told = ", ".join(f"{row.attribute} ({row.largest_share:.0%} in one)" for row in merged.itertuples())
    measured = f"{len(merged)} of {len(numbers)} numbers have fewer than four cells: {told}"
    why = "where so many rows hold one value, quartiles coincide and the amount is lost; the others have four cells"
    return Claim(text, paper, measured, merged.empty, "" if merged.empty else why, "data set", reading)


def _odd(found: pd.DataFrame) -> pd.DataFrame:
    """Return the anonymities of attributes with an odd number of values."""
    odd: pd.DataFrame = found[["by_eq_7", "by_eq_8", "by_any"]].apply(pd.to_numeric).dropna()
    return odd
