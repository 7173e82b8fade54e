"""What the paper says of privacy and of effort, beside what was measured."""

import math
from collections.abc import Iterator

import pandas as pd

from papers.agrawal2000.people import NOISES, SPELLED, channel
from papers.claim import ROUNDING, Claim
from privet.local.channels.distributions import Gaussian

# Table 1: how many standard deviations wide the interval is, by confidence.
_PRINTED = {0.5: "1.34", 0.95: "3.92", 0.999: "6.8"}
# What we read into "the entire range" and "considerably".
_WHOLE_RANGE, _CONSIDERABLY = 0.95, 2.0


def privacy_claims(hiding: pd.DataFrame, effort: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on privacy and effort."""
    yield gaussian_widths()
    yield from (hidden_in_whole_range(hiding, noise) for noise in NOISES)
    yield no_local_epsilon()
    yield local_costs_more(effort)


def gaussian_widths() -> Claim:
    """Return whether the intervals of Table 1 hold a value with the confidence printed."""
    widths = {confidence: Gaussian(1.0).width(confidence) for confidence in _PRINTED}
    off = [c for c, width in widths.items() if abs(width - float(_PRINTED[c])) > ROUNDING * _last_digit(_PRINTED[c])]
    exact = " / ".join(f"{width:.3g}" for width in widths.values())
    at = " and ".join(f"{confidence:.1%}" for confidence in off)
    why = f"worked out from the normal distribution: at {at} the figure printed is another" if off else ""
    text = "Table 1: the interval of Gaussian noise at 50%, 95% and 99.9% confidence, in standard deviations"
    return Claim(text, " / ".join(_PRINTED.values()), exact, not off, why, "paper")


def hidden_in_whole_range(lines: pd.DataFrame, noise: str) -> Claim:
    """Return whether "100 % privacy" leaves a value anywhere in its range."""
    found = lines[(lines["noise"] == noise) & (lines["privacy"] == 1.0)].drop(columns=["noise", "attribute"]).mean()
    left = found["unsure_after"] / found["unsure_before"]
    measured = (
        f"who knows the answer is as unsure as within {left:.0%} of before; a guess that filters the noise errs by "
        f"{found['error_filtered']:.0%} of the range, one without the answer by {found['error_without']:.0%}"
    )
    holds, reading = bool(left >= _WHOLE_RANGE), f"as unsure as within {_WHOLE_RANGE:.0%} of before"
    why = (
        "entropies were worked out and a filter was run: the paper's interval looks at the noise alone, but values lie "
        "in a known range, and attributes tell of one another"
    )
    text = f"Section 6, {SPELLED[noise]} noise at 100% privacy: a value cannot be estimated closer than its whole range"
    return Claim(text, "the entire range", measured, holds, "" if holds else why, "paper", reading)


def no_local_epsilon() -> Claim:
    """Return whether either noise proves something on the scale of local differential privacy."""
    epsilons = {noise: channel(noise, 1.0).local_epsilon for noise in NOISES}
    unbounded = all(map(math.isinf, epsilons.values()))
    measured = ", ".join(f"{SPELLED[noise]} {epsilon:g}" for noise, epsilon in epsilons.items())
    text = "Neither noise is locally differentially private, however much of it"
    why = "some answers rule values out, or as good as; Laplace noise and randomized response have a local epsilon"
    return Claim(text, "", f"local epsilon: {measured}", unbounded, why, "paper", ours=True)


def local_costs_more(effort: pd.DataFrame) -> Claim:
    """Return whether Local asks for considerably more computation."""
    times = effort["local"] / effort["by_class"]
    measured = f"{times.min():.1f} to {times.max():.1f} times ByClass, {times.mean():.1f} in the mean"
    holds = bool(times.mean() >= _CONSIDERABLY)
    why = "" if holds else "only nodes of many rows, and attributes not yet split on, are reconstructed again here"
    text = "Section 6: Local requires considerably more computation"
    reading = f"{_CONSIDERABLY:g} times or more in the mean"
    return Claim(text, "considerably", measured, holds, why, "protocol", reading)


def _last_digit(printed: str) -> float:
    """Return what one step of a figure's last digit is worth."""
    return float(10.0 ** -len(printed.partition(".")[2]))
