"""The noise against the counts it was added to, and how it grew over batches."""

import math
from typing import Any

from privet.report.page import wording
from privet.report.page.counts import Bin
from privet.report.page.formats import exact, number, percent
from privet.report.page.pictures import growth_curve, support_histogram
from privet.tree.intervals import RELIABLE


def noise_section(facts: dict[str, Any]) -> str:
    """Return the noise against the counts it was added to."""
    noise = facts["noise"]
    share = percent(noise["share_of_leaves_above_3_deviations"])
    if noise["standard_deviation_of_a_count"] == 0:
        told = "<p>The counts carry no noise: they are exact.</p>\n"
        unit = "released rows in a leaf"
    else:
        told = (
            "<p>Every released count carries noise with a standard deviation of "
            f"{number(noise['standard_deviation_of_a_count'])} rows; a leaf's support, the sum over its "
            f"{len(facts['model']['classes'])} classes, of {number(noise['standard_deviation_of_a_leaf'])}. "
            f"<strong>{share} of the {facts['model']['leaves']:,} leaves stand out</strong>: their support exceeds "
            f"{RELIABLE:g} standard deviations. Noise alone lifts fewer than one empty leaf in a hundred so far. What "
            "stays in the grey bars tells next to nothing on its own; a prediction draws on a path of every tree."
            "</p>\n"
        )
        unit = f"released support in standard deviations of its noise; grey: within ±{RELIABLE:g}, or below"
    picture = support_histogram([Bin(**each) for each in noise["histogram"]], unit)
    return (
        f'<h2>Noise against counts</h2>\n{told}<figure class="wide">{picture}<figcaption>Leaves by released support.'
        f"</figcaption></figure>\n{_growth(noise, of_parties=wording.of_parties(facts['guarantee']))}"
    )


def _growth(noise: dict[str, Any], *, of_parties: bool) -> str:
    deviations = noise["growth"]
    if len(deviations) < 2 or deviations[-1] == 0:
        return ""
    n, added, many = len(deviations), "batch", "batches"
    told = f"New rows were added in {n:,} batches."
    if of_parties:
        added, many, told = "party", "parties", f"{n:,} parties counted their own rows, and their counts were added up."
    return (
        f"<h3>Noise over {many}</h3>\n<p>{told} The noise of each adds "
        f"to that of a count, whose standard deviation went from {number(deviations[0])} to {number(deviations[-1])}. "
        f"{_dearest(noise['epsilon_of_batches'])}</p>\n"
        f'<figure class="wide">{growth_curve(deviations, added)}'
        "<figcaption>Standard deviation of the noise in a released count.</figcaption></figure>\n"
    )


def _dearest(epsilons: list[float]) -> str:
    """Return what batches of other rows did to the promise: the dearest one sets it."""
    first, most = epsilons[0], max(epsilons)
    if math.isinf(most):
        return "Epsilon is infinite, since nothing bounds what at least one of them gives away."
    if most == first:
        return f"Epsilon stayed what the first one cost, {exact(first)}, since no later one was dearer."
    return f"Epsilon grew from {exact(first)} to {exact(most)}, what the dearest one cost."
