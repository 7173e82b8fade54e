"""Scores as text, for tables."""

import math

from privet.cli.support import output

# Of scores that are no figure of three decimals.
_FORMATS = {
    "accuracy": output.percent,
    "balanced accuracy": output.percent,
    "mean absolute error": "{:,.4g}".format,
    "root mean squared error": "{:,.4g}".format,
}


def score_text(score: str, value: float) -> str:
    """Return a score as text; nothing where the rows do not tell it."""
    return "" if math.isnan(value) else _FORMATS.get(score, "{:.3f}".format)(value)


def share_text(share: float) -> str:
    """Return a share in percent; nothing where there is none."""
    return "" if math.isnan(share) else output.percent(share)
