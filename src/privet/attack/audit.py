"""An audit: what attackers can show of an estimator's epsilon. The argument is in audit.md."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attack.bound import check_confidence
from privet.attack.distinguishing import Attack, distinguish
from privet.attack.evidence import Evidence
from privet.attack.neighbours import Neighbours, Table, worst_cases
from privet.attack.verdict import CAVEAT, is_proven, verdict
from privet.checks import check_whole
from privet.errors import NoGuaranteeWarning, ParameterError
from privet.estimator import PrivateClassifier
from privet.schema import Schema
from privet.tree.threads import n_threads

# Told the case, and how many of how many releases there are.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Audit:
    """What was claimed, and what attackers have shown.

    Attributes
    ----------
    epsilon, delta : float
        The claim.
    confidence : float
        Of all lower bounds together.
    attacks : dict
        By the name of the case.
    proven : bool
        Whether what was audited promises anything.
    """

    epsilon: float
    delta: float
    confidence: float
    attacks: dict[str, Attack]
    proven: bool = True

    def __str__(self) -> str:
        """Return the audit in words."""
        return self.sentence

    @property
    def epsilon_shown(self) -> float:
        """The most that any case has shown."""
        return max(attack.epsilon_shown for attack in self.attacks.values())

    @property
    def contradicts(self) -> bool:
        """Whether more was shown than is claimed."""
        return self.epsilon_shown > self.epsilon

    @property
    def most(self) -> float:
        """What an attacker who is always right would have shown in as many runs."""
        return max(attack.most for attack in self.attacks.values())

    @property
    def runs(self) -> int:
        """How many releases were made."""
        return sum(attack.runs for attack in self.attacks.values())

    @property
    def sentence(self) -> str:
        """The audit in words."""
        claim = f"epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")
        found = verdict(self.epsilon_shown, self.most, self.epsilon, proven=self.proven)
        return (
            f"An attacker who knows every row but one and sees the whole model got at least epsilon = "
            f"{self.epsilon_shown:.3g}, {found} ({claim}); {100 * self.confidence:.6g}% confidence, "
            f"{self.runs:,} releases. {CAVEAT}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {
            "claimed": {"epsilon": self.epsilon, "delta": self.delta},
            "epsilon_shown": self.epsilon_shown,
            "could_show_at_most": self.most,
            "proven": self.proven,
            "confidence": self.confidence,
            "releases": self.runs,
            "contradicts": self.contradicts,
            "sentence": self.sentence,
            "cases": [
                {
                    "name": name,
                    "epsilon_shown": attack.epsilon_shown,
                    "says_there_is_the_row": dict(zip(("without", "with"), attack.rates, strict=True)),
                    "releases": attack.runs,
                }
                for name, attack in self.attacks.items()
            ],
        }


@dataclass(frozen=True)
class _Fit:
    """A fit of a fresh clone, and what the attacker reads in it."""

    estimator: Any
    evidence: Evidence

    def __call__(self, table: Table) -> NDArray[np.float64]:
        from sklearn.base import clone

        with warnings.catch_warnings():
            # Said once, by the audit, and not in each of thousands of fits.
            warnings.simplefilter("ignore", NoGuaranteeWarning)
            return self.evidence(clone(self.estimator).fit(table.X, table.y))


@dataclass(frozen=True)
class _Release:
    """Any callable, and what the attacker reads in what it returns."""

    release: Callable[[Any], Any]
    read: Callable[[Any], Any] = field(default=np.ravel)

    def __call__(self, table: Any) -> NDArray[np.float64]:
        return np.asarray(self.read(self.release(table)), dtype=np.float64)


def audit(
    subject: Any,
    neighbours: Sequence[Neighbours] | tuple[Any, Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    read: Callable[[Any], Any] | None = None,
    runs: int = 2_000,
    confidence: float = 0.95,
    n_jobs: int | None = -1,
    watch: Watch | None = None,
) -> Audit:
    """Return a lower bound on the epsilon of an estimator, or of any callable that releases something about a table.

    Parameters
    ----------
    subject : estimator or callable
        An unfitted estimator of privet; or a function of a table, whose result the attacker sees.
    neighbours : sequence of Neighbours, or two tables
        By default, of an estimator, `worst_cases` of its schema. A callable needs two tables: one without, one with the
        row.
    epsilon, delta : float, optional
        The claim; by default the estimator's own parameters.
    read : callable, optional
        Turns what a callable returns into numbers, the attacker's evidence; by default they are numbers already.
    runs : int
        Releases of each table and case. The bound comes from half of them: with 2,000 it stays some 0.15 below what
        the attack really gets.
    confidence : float
        That no bound exceeds the truth by luck.
    n_jobs : int, optional
        Processes; -1 for as many as there are cores.
    watch : callable, optional
        Told the case, and how many of how many releases there are.

    Returns
    -------
    Audit
        With `epsilon_shown`, a `sentence`, and each case's `Attack`.
    """
    runs, confidence = check_whole("runs", runs, least=20, most=10**8), check_confidence(confidence)
    claimed = _claim(subject, epsilon, delta)
    attempts = _attempts(subject, neighbours, read)
    # The doubt is shared out, so that all bounds hold together: the largest of several is no better than its worst.
    each = 1.0 - (1.0 - confidence) / len(attempts)
    attacks = {}
    for name, observe, tables in attempts:
        tell = None if watch is None else partial(watch, name)
        attacks[name] = distinguish(
            observe, tables, runs=runs, delta=claimed[1], confidence=each, n_jobs=n_threads(n_jobs), watch=tell
        )
    return Audit(*claimed, confidence, attacks, proven=is_proven(subject))


def _claim(subject: Any, epsilon: float | None, delta: float | None) -> tuple[float, float]:
    asked = getattr(subject, "epsilon", None) if epsilon is None else epsilon
    if asked is None:
        raise ParameterError("an audit of a callable needs the epsilon that it claims; pass epsilon=")
    return float(asked), float(getattr(subject, "delta", 0.0) if delta is None else delta)


def _attempts(subject: Any, neighbours: Any, read: Any) -> list[tuple[str, Any, tuple[Any, Any]]]:
    if not isinstance(subject, PrivateClassifier):
        if not callable(subject) or not isinstance(neighbours, tuple) or len(neighbours) != 2:
            raise ParameterError(
                "an audit is of an estimator of privet, or of a callable and two tables: one without the row, one with"
            )
        release = _Release(subject) if read is None else _Release(subject, read)
        return [("the two tables given", release, neighbours)]
    if not math.isfinite(subject.epsilon):
        raise ParameterError("epsilon=inf claims nothing that an audit could contradict; audit a finite epsilon")
    cases = worst_cases(_declared(subject)) if neighbours is None else neighbours
    return [(case.name, _Fit(subject, Evidence(case)), (case.without, case.with_row)) for case in cases]


def _declared(estimator: PrivateClassifier) -> Schema:
    if isinstance(estimator.schema, Schema):
        return estimator.schema
    if estimator.schema is None or estimator.schema == "infer":
        raise ParameterError("an audit makes tables by the schema, so it must be declared; pass a Schema or its path")
    return Schema.load(estimator.schema)
