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
        yield better_of_two(found, table)
        yield numbers_are_kept(found, table)


def relationship_takes_three_bits(lines: pd.DataFrame) -> Claim:
    """Return the paper's example."""
    bits = int(lines[(lines["table"] == "adult") & (lines["attribute"] == "relationship")]["bits"].iloc[0])
    total = int(lines[lines["table"] == "adult"]["bits"].sum())
    text = "Section 4.4, Adult: dummy attributes for relationship, which has six values"
    return Claim(text, "3", f"{bits}; the record has {total} bits", bits == 3)


def better_of_two(found: pd.DataFrame, table: str) -> Claim:
    """Return whether leaving the most frequent value alone is ever the better coding."""
    text = f"Section 3.2, {TITLES[table]}: of an odd number of values, either the first or the last is best left alone"
    paper = "equation 7 or 8, whichever is better"
    if found.empty:
        return Claim(text, paper, "", None)
    odd = found[["by_eq_7", "by_eq_8"]].apply(pd.to_numeric).dropna()
    better = int((odd["by_eq_8"] > odd["by_eq_7"]).sum())
    why = "" if better else "a rare value alone costs less anonymity than the most frequent one"
    return Claim(text, paper, f"equation 8 is better for {better} of {len(odd)} attributes", better > 0, why)


def numbers_are_kept(found: pd.DataFrame, table: str) -> Claim:
    """Return whether quartiles tell four cells of every number apart."""
    text = f"Section 3.2, {TITLES[table]}: quartiles solve the problem of numbers perfectly"
    if found.empty:
        return Claim(text, "perfectly", "", None)
    numbers = found[found["kind"] == NUMBER]
    merged = numbers[numbers["values"] < _QUARTERS]
    told = ", ".join(f"{row.attribute} ({row.largest_share:.0%} in one)" for row in merged.itertuples())
    measured = f"{len(merged)} of {len(numbers)} numbers have fewer than four cells: {told}"
    why = "where most rows hold 0, quartiles coincide and the amount is lost" if len(merged) else ""
    return Claim(text, "perfectly", measured, merged.empty, why)
