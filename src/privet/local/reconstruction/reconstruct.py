"""What a collector can tell of how values were spread, from the answers and the channel alone.

R. Agrawal and R. Srikant, "Privacy-preserving data mining", SIGMOD 2000, section 3. Values of single people are not
estimated: only their distribution is.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from privet.checks import check_whole, is_number
from privet.errors import DataError, ParameterError
from privet.local.channels.answer_checks import doubts_about_values, refuse_impossible_values
from privet.local.channels.cells import FieldValues, Floats, intervals_for
from privet.local.channels.field_channel import FieldChannel, Mass
from privet.local.reconstruction.bayes_iteration import MAX_STEPS, TOLERANCE, iterate
from privet.schema import Attribute, Categorical
from privet.schema.attribute import labels_of
from privet.schema.labels import Label


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """How values were spread, as far as answers tell.

    Attributes
    ----------
    attribute : Numeric or Categorical
        The attribute, with the cells that the estimate is for.
    estimate : float array
        The estimated share of each cell or category; they add up to 1. Where the channel covers missing values, the
        last share is theirs.
    observed : int64 array
        How often answers fell into each cell of ``observed_edges``, or how often each category was answered.
    observed_edges : float array or None
        The cells of the answers, over the widened range; None for categories.
    n_values, n_missing : int
        How many answers there were, and how many more were missing.
    n_steps : int
        Of the iteration; 0 where none was needed.
    converged : bool
        Whether it came to its end before the last step allowed.
    unclipped, standard_errors : float array or None
        After channel inversion, the unbiased estimate, which may lie below 0, and how far chance takes it.
    looks_answered : bool
        Whether the values look as if they had come through the channel; else the estimate means nothing.
    """

    attribute: Attribute
    estimate: Floats
    observed: NDArray[np.int64]
    observed_edges: Floats | None
    n_values: int
    n_missing: int
    n_steps: int = 0
    converged: bool = True
    unclipped: Floats | None = None
    standard_errors: Floats | None = None
    looks_answered: bool = True

    @property
    def edges(self) -> Floats | None:
        """The borders of the estimate's cells; None for categories."""
        if isinstance(self.attribute, Categorical):
            return None
        return self.attribute.borders

    @property
    def categories(self) -> list[Label | None]:
        """What each share is for: the category or the cell's middle, None for missing values."""
        labels: list[Label | None] = list(labels_of(self.attribute))
        return labels + [None] * (len(self.estimate) - len(labels))

    @property
    def expected_counts(self) -> Floats:
        """How many of the values are estimated to lie in each cell."""
        return self.n_values * self.estimate


def reconstruct(
    values: Any,
    channel: FieldChannel,
    bins: int | None = None,
    *,
    attribute: Attribute | None = None,
    mass: Mass = "interval",
    method: Literal["iterate", "invert"] = "iterate",
    max_steps: int = MAX_STEPS,
    tolerance: float = TOLERANCE,
) -> Reconstruction:
    """Estimate how values were spread before they went through ``channel``.

    Parameters
    ----------
    values : column of answers
        NumPy, pandas, polars, Arrow or a list. Missing ones are left out, unless the channel covers them.
    channel : FieldChannel
        The column's: one of a `Channel`'s columns, or its label.
    bins : int, optional
        Into how many intervals a number's range is cut. By default as the attribute declares, else one for every
        hundred answers, at least 10 and at most 100.
    attribute : Numeric or Categorical, optional
        Whose answers these are; needed for a randomized response, which does not know the categories' names.
    mass : {"interval", "midpoint"}
        What stands for the chance of an answer: the noise's exact mass over both cells, or, as in the paper, its
        density at the distance of their midpoints.
    method : {"iterate", "invert"}
        For a randomized response, the same iteration or the inverse of the channel's matrix, whose estimate is unbiased
        and is then clipped at 0.
    max_steps : int
        Of the iteration.
    tolerance : float
        The iteration stops when successive estimates, as counts, differ by less than this share of the chi-square
        test's 0.95 threshold.

    Returns
    -------
    Reconstruction
    """
    _check(method, max_steps, tolerance)
    if not isinstance(channel, FieldChannel):
        raise ParameterError("channel must be that of one column, such as one of a Channel's columns")
    if method == "invert" and not channel.can_be_inverted:
        raise ParameterError('method="invert" is for randomized response; noise on numbers needs "iterate"')
    own = channel.domain(attribute)
    if own is None or not channel.fits(own):
        raise ParameterError(
            f"a randomized response to {channel.name!r} does not know what its answers stand for; "
            "pass attribute=, as the schema has it"
        )
    given = FieldValues(own, values)
    cells = _cells(channel, given, bins)
    seen = channel.see(given, cells, mass)
    if seen is None:
        found = _of_cells(FieldValues(cells, values))
    else:
        observed = np.bincount(seen.answer[seen.answer >= 0], minlength=len(seen.chances))
        n_values = _some(int(observed.sum()))
        found = Reconstruction(cells, seen.start, observed, seen.edges, n_values, len(seen.answer) - n_values)
        invert = method == "invert"
        found = _inverted(found, seen.chances) if invert else _iterated(found, seen.chances, int(max_steps), tolerance)
    refuse_impossible_values(values, channel, own)
    return replace(found, looks_answered=not doubts_about_values(values, channel, own))


def _iterated(made: Reconstruction, matrix: Floats, max_steps: int, tolerance: float) -> Reconstruction:
    """Return what the iteration makes of the first estimate."""
    with threadpool_limits(1, "blas"):  # the matrices are small: threads cost more than they bring
        counts = made.observed[None, :].astype(np.float64)
        found = iterate(matrix, counts, made.estimate, max_steps=max_steps, tolerance=tolerance)
    return replace(made, estimate=found.shares[0], n_steps=int(found.n_steps[0]), converged=bool(found.converged[0]))


def _inverted(made: Reconstruction, matrix: Floats) -> Reconstruction:
    shares = made.observed / made.n_values
    inverse = np.linalg.inv(matrix)
    unclipped = inverse @ shares
    # The variance of a sum of inverse[:, answer] over answers that are drawn one by one.
    variance = (inverse**2 @ shares - unclipped**2) / made.n_values
    clipped = np.maximum(unclipped, 0.0)
    return replace(
        made, estimate=clipped / clipped.sum(), unclipped=unclipped, standard_errors=np.sqrt(np.maximum(variance, 0.0))
    )


def _of_cells(values: FieldValues) -> Reconstruction:
    """Return the counts of answers that tell their cells themselves."""
    cells, codes = values.attribute, values.codes
    observed = np.bincount(codes, minlength=cells.n_values + 1)[: cells.n_values]
    n_values = _some(int(observed.sum()))
    made = Reconstruction(cells, observed / n_values, observed, None, n_values, len(codes) - n_values)
    return made if made.edges is None else replace(made, observed_edges=made.edges)


def _cells(channel: FieldChannel, values: FieldValues, bins: int | None) -> Attribute:
    """Return the attribute with the cells that are estimated."""
    attribute = values.attribute
    if isinstance(attribute, Categorical) or channel.draws_from:
        return attribute
    if channel.has_own_cells:
        if bins is not None and int(bins) != attribute.n_values:
            raise ParameterError(f"the answers to {attribute.name!r} are intervals already; leave bins out")
        return attribute
    if bins is not None:
        return replace(attribute, bins=check_whole("bins", bins, least=1, most=10_000), edges=None)
    n_values = int(np.count_nonzero(~np.isnan(values.numbers)))
    return replace(attribute, bins=intervals_for(n_values)) if attribute.is_open else attribute


def _check(method: str, max_steps: object, tolerance: object) -> None:
    if method not in ("iterate", "invert"):
        raise ParameterError(f'method={method!r} is not known; choose "iterate" or "invert"')
    check_whole("max_steps", max_steps, least=1, most=10**9)
    if not (is_number(tolerance) and 0 <= tolerance < 1):
        raise ParameterError(f"tolerance={tolerance!r} must be a number from 0 to below 1")


def _some(n_values: int) -> int:
    if not n_values:
        raise DataError("there are no answers to reconstruct from; pass at least one that is not missing")
    return int(n_values)
