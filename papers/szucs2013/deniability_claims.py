"""What the paper says of deniability, beside what an attacker tells, and what a proven kind costs."""

from collections.abc import Iterator

import pandas as pd

from papers.claim import ROUNDING, Claim
from papers.szucs2013.split import TITLES

_GUESSING = 0.5


def deniability_claims(forest: pd.DataFrame, mirrors: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on what an attacker can tell."""
    for table in TITLES:
        yield mirrors_occur(mirrors[mirrors["table"] == table], table)
        yield truth_is_hidden(forest[(forest["table"] == table) & (forest["theta"] < 1)], table)


def mirrors_occur(found: pd.DataFrame, table: str) -> Claim:
    """Return whether mirror images coincide with records of other people."""
    text = f"Section 3.2, {TITLES[table]}: mirror images may coincide with regular records"
    paper, reading = "positive probability", "one does among those given"
    if found.empty:
        return Claim(text, paper, "", None, reading=reading)
    mirrored, records = int(found["mirrored"].iloc[0]), int(found["records"].iloc[0])
    why = (
        "all records were looked up, on the paper's own table: values are paired one attribute at a time, and a "
        "record's mirror image needs all of them at once"
    )
    measured = f"{mirrored:,} of {records:,} records do"
    return Claim(text, paper, measured, mirrored > 0, "" if mirrored else why, "paper", reading)


def truth_is_hidden(found: pd.DataFrame, table: str) -> Claim:
    """Return whether an attacker is right more often than the coin that kept records."""
    text = f"Section 3.2, {TITLES[table]}: there is no possibility to reveal the truth"
    paper, reading = "none", "an attacker is right no more often than theta"
    if found.empty:
        return Claim(text, paper, "", None, reading=reading)
    told, theta = float(found["attacker_recovers"].min()), float(found["theta"].min())
    # Written to five digits, a share of 1 may still be a little less.
    measured = (
        f"an attacker with clear rows of other people finds {min(told, 0.9999):.2%} of the records or more, down to "
        f"theta {theta:g}"
    )
    holds = bool((100 * (found["attacker_recovers"] - found["theta"]) <= ROUNDING).all())
    why = "the attack was run: of a record and its mirror image one is likely, and no local epsilon bounds that"
    return Claim(text, paper, measured, holds, "" if holds else why, "paper", reading)


def sibling_learns(lines: pd.DataFrame) -> Claim:
    """Return what the same trees learn from answers that have a local epsilon."""
    told = ", ".join(f"{row.auc:.3f} at {row.epsilon:g}" for row in lines.sort_values("epsilon").itertuples())
    text = "Adult: the sound sibling, with a local epsilon for every attribute, learns on the same trees"
    holds = bool((lines["auc"] > _GUESSING).all())
    why = "the AUC over the epsilon of a whole record, its label clear: what it costs where deniability is proven"
    return Claim(text, "", told, holds, why, "protocol", ours=True)
