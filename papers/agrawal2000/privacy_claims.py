"""What the paper says of privacy and of effort, beside what was measured."""

import math
from collections.abc import Iterator

import pandas as pd

from papers.agrawal2000.people import NOISES, SPELLED, channel
from papers.claim import Claim
from privet.local.channels.distributions import Gaussian

# Table 1: how many standard deviations wide the interval is, by confidence.
_PRINTED = {0.5: 1.34, 0.95: 3.92, 0.999: 6.8}
# Printed with two or three digits.
_ROUNDING = 0.011
_WHOLE_RANGE = 0.95
_CONSIDERABLY = 2.0


def privacy_claims(hiding: pd.DataFrame, effort: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on privacy and effort."""
    yield gaussian_widths()
    yield from (hidden_in_whole_range(hiding, noise) for noise in NOISES)
    yield no_local_epsilon()
    yield local_costs_more(effort)


def gaussian_widths() -> Claim:
    """Return whether the intervals of Table 1 hold a value with the confidence printed."""
    widths = {confidence: Gaussian(1.0).width(confidence) for confidence in _PRINTED}
    off = [f"{c:.1%}" for c, width in widths.items() if abs(width - _PRINTED[c]) > _ROUNDING]
    printed, exact = (" / ".join(f"{w:.3g}" for w in part.values()) for part in (_PRINTED, widths))
    why = f"at {' and '.join(off)} the interval printed is wider than need be" if off else ""
    text = "Table 1: the interval of Gaussian noise at 50%, 95% and 99.9% confidence, in standard deviations"
    return Claim(text, printed, exact, not off, why)


def hidden_in_whole_range(lines: pd.DataFrame, noise: str) -> Claim:
    """Return whether "100 % privacy" leaves a value anywhere in its range."""
    found = lines[(lines["noise"] == noise) & (lines["privacy"] == 1.0)].drop(columns=["noise", "attribute"]).mean()
    left = found["unsure_after"] / found["unsure_before"]
    measured = (
        f"who knows the answer is as unsure as within {left:.0%} of before; a guess that filters the noise errs by "
        f"{found['error_filtered']:.0%} of the range, one without the answer by {found['error_without']:.0%}"
    )
    why = "the interval looks at the noise alone: values lie in a known range, and attributes tell of one another"
    text = f"Section 6, {SPELLED[noise]} noise at 100% privacy: a value cannot be estimated closer than its whole range"
    return Claim(text, "the entire range", measured, bool(left >= _WHOLE_RANGE), "" if left >= _WHOLE_RANGE else why)


def no_local_epsilon() -> Claim:
    """Return whether either noise proves something on the scale of local differential privacy."""
    epsilons = {noise: channel(noise, 1.0).local_epsilon for noise in NOISES}
    unbounded = all(map(math.isinf, epsilons.values()))
    measured = ", ".join(f"{SPELLED[noise]} {epsilon:g}" for noise, epsilon in epsilons.items())
    text = "Ours: neither noise is locally differentially private, however much of it"
    why = "some answers rule values out, or as good as; Laplace noise and randomized response have a local epsilon"
    return Claim(text, "not considered", f"local epsilon: {measured}", unbounded, why)


def local_costs_more(effort: pd.DataFrame) -> Claim:
    """Return whether Local asks for considerably more computation."""
    times = effort["local"] / effort["by_class"]
    measured = f"{times.min():.1f} to {times.max():.1f} times ByClass, {times.mean():.1f} in the mean"
    holds = bool(times.mean() >= _CONSIDERABLY)
    why = "" if holds else "only nodes of many rows, and attributes not yet split on, are reconstructed again"
    text = "Section 6: Local requires considerably more computation"
    return Claim(text, f"read as {_CONSIDERABLY:g} times or more", measured, holds, why)
