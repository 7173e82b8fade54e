"""What an attacker recovers from disturbed numbers by filtering the noise out.

Numbers that go together betray each other: noise is independent from column to column and values are not. The attacker
has all answers and knows the noise, and so knows how values vary together: the covariance of the answers less that of
the noise. Two filters use it: the best linear estimate (Wiener's; Huang, Du and Chen 2005), and the spectral
one, which keeps the directions in which answers vary more than noise does (Kargupta et al. 2003).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.channel import Channel
from privet.local.channels.perturb import perturb
from privet.local.channels.secret import Secret
from privet.schema import Numeric, Schema
from privet.schema.encoding import numbers_of
from privet.schema.table import check_present, column_names, columns_of

Floats = NDArray[np.float64]
# Fewer complete rows say nothing about how columns go together.
LEAST_ROWS = 20


@dataclass(frozen=True)
class Recovered:
    """The mean absolute errors of what an attacker takes for a number, each as a share of its range.

    Attributes
    ----------
    answer : float
        Of the answer itself, moved into the range.
    linear, spectral : float
        Of the best linear estimate, and of the spectral filter.
    naive : float
        Of the median, which needs no answer.
    """

    answer: float
    linear: float
    spectral: float
    naive: float

    @property
    def best(self) -> float:
        """The least of them."""
        return min(self.answer, self.linear, self.spectral, self.naive)

    def to_json(self) -> dict[str, Any]:
        """Return the errors as plain JSON values."""
        return {"answer": self.answer, "linear": self.linear, "spectral": self.spectral, "naive": self.naive}


def attack(rows: Any, channel: Channel, *, person: str | None = None) -> dict[str, Recovered]:
    """Disturb clear ``rows`` with a secret of their own, filter the answers, and compare.

    The attacker uses all numbers, disturbed or clear. Categories would tell more. Nothing is found where fewer than
    20 rows are complete.
    """
    both = enumerate(zip(channel.schema.attributes, channel.columns, strict=True))
    used = {j: (a, own.noise_variance) for j, (a, own) in both if isinstance(a, Numeric) and not own.draws_from}
    if not any(variance for _, variance in used.values()):
        return {}
    disturbed = perturb(rows, channel, Secret(), person=person)
    clear, answers = (
        np.column_stack([numbers_in(table, channel.schema, j) for j in used]) for table in (rows, disturbed)
    )
    complete = ~np.isnan(clear).any(axis=1)
    if complete.sum() < LEAST_ROWS:
        return {}
    return _compared(clear[complete], answers[complete], list(used.values()))


def best_linear(answers: Floats, noise: Floats) -> Floats:
    """Return the best linear estimate of the values behind ``answers``; ``noise`` is the variance of each column's."""
    mean, between = answers.mean(axis=0), _covariance(answers)
    values = _without_negative(between - np.diag(noise))
    filtered = values @ np.linalg.pinv(values + np.diag(noise), hermitian=True)
    estimates: Floats = mean + (answers - mean) @ filtered.T
    return estimates


def spectral(answers: Floats, noise: Floats) -> Floats:
    """Return the answers' part in the directions that vary more than ``noise`` alone would."""
    n_rows, n_columns = answers.shape
    mean, scale = answers.mean(axis=0), np.sqrt(noise)
    whitened = (answers - mean) / scale
    variances, directions = np.linalg.eigh(_covariance(whitened))
    # Where there is noise only, the largest variance is about this (Marchenko and Pastur 1967).
    kept = directions[:, variances > (1 + np.sqrt(n_columns / n_rows)) ** 2]
    estimates: Floats = mean + whitened @ kept @ kept.T * scale
    return estimates


def _compared(clear: Floats, answers: Floats, columns: list[tuple[Numeric, float]]) -> dict[str, Recovered]:
    """Return how far off guesses at noisy columns are; each comes with its attribute and the variance of its noise."""
    noise = np.array([variance for _, variance in columns])
    is_noisy = noise > 0
    linear, filtered = best_linear(answers, noise), answers.copy()
    filtered[:, is_noisy] = spectral(answers[:, is_noisy], noise[is_noisy])
    naive = np.broadcast_to(np.median(clear, axis=0), clear.shape)
    guesses = (answers, linear, filtered, naive)
    return {
        attribute.name: Recovered(*(_error(guess[:, k], clear[:, k], attribute) for guess in guesses))
        for k, (attribute, variance) in enumerate(columns)
        if variance > 0
    }


def _error(guess: Floats, values: Floats, attribute: Numeric) -> float:
    low, high = attribute.low, attribute.high
    return float(np.mean(np.abs(np.clip(guess, low, high) - np.clip(values, low, high)))) / (high - low)


def attributes_in(table: Any, schema: Schema) -> Any:
    """Return a table with the schema's columns alone, without the label's or a person's."""
    found, names = column_names(table), list(schema.names)
    if found is None:
        return table
    check_present(found, names)
    return table.select(names) if hasattr(table, "column_names") else table[names]


def numbers_in(table: Any, schema: Schema, j: int) -> Floats:
    """Return the ``j``-th attribute of a table as numbers, NaN where missing."""
    column = columns_of(attributes_in(table, schema), schema.names)[j]
    return np.asarray(numbers_of(column, schema.names[j]), dtype=np.float64)


def _covariance(rows: Floats) -> Floats:
    return np.atleast_2d(np.cov(rows, rowvar=False))


def _without_negative(matrix: Floats) -> Floats:
    """Return the nearest matrix that can be a covariance."""
    variances, directions = np.linalg.eigh(matrix)
    return np.asarray((directions * np.maximum(variances, 0.0)) @ directions.T)
