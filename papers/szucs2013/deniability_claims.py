"""What the paper says of deniability, beside what an attacker tells, and what a proven kind costs."""

from collections.abc import Iterator

import pandas as pd

from papers.claim import Claim
from papers.szucs2013.split import TITLES

# An attacker who is right so often has nothing left to be told.
_AS_GOOD_AS_ALWAYS = 0.99
_GUESSING = 0.5


def deniability_claims(forest: pd.DataFrame, mirrors: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on what an attacker can tell."""
    for table in TITLES:
        yield mirrors_occur(mirrors[mirrors["table"] == table], table)
        yield truth_is_hidden(forest[(forest["table"] == table) & (forest["theta"] < 1)], table)


def mirrors_occur(found: pd.DataFrame, table: str) -> Claim:
    """Return whether mirror images coincide with records of other people."""
    text = f"Section 3.2, {TITLES[table]}: mirror images may coincide with regular records"
    if found.empty:
        return Claim(text, "positive probability", "", None)
    mirrored, records = int(found["mirrored"].iloc[0]), int(found["records"].iloc[0])
    why = "" if mirrored else "values are paired one attribute at a time; a whole record's mirror image occurs nowhere"
    return Claim(text, "positive probability", f"{mirrored:,} of {records:,} records do", mirrored > 0, why)


def truth_is_hidden(found: pd.DataFrame, table: str) -> Claim:
    """Return whether a record can be told from its mirror image."""
    text = f"Section 3.2, {TITLES[table]}: there is no possibility to reveal the truth"
    if found.empty:
        return Claim(text, "none", "", None)
    told = float(found["attacker_recovers"].min())
    # Written to five digits, a share of 1 may still be a little less.
    measured = f"an attacker with clear rows of other people finds {min(told, 0.9999):.2%} of the records or more"
    holds = told < _AS_GOOD_AS_ALWAYS
    why = (
        ""
        if holds
        else "whoever sees a record knows it is one of two, of which one is likely; no local epsilon bounds that"
    )
    return Claim(text, "none", measured, holds, why)


def sibling_learns(lines: pd.DataFrame) -> Claim:
    """Return what the same trees learn from answers that have a local epsilon."""
    told = ", ".join(f"{row.auc:.3f} at {row.epsilon:g}" for row in lines.sort_values("epsilon").itertuples())
    text = "Ours, Adult: the sound sibling, with a local epsilon for every attribute, learns on the same trees"
    holds = bool((lines["auc"] > _GUESSING).all())
    why = "the AUC over the epsilon of a whole record, its label clear: what it costs where deniability is proven"
    return Claim(text, "not considered", told, holds, why)
