"""An audit: a lower bound on the epsilon of an estimator or function, found by attack. The argument is in audit.md."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.attack.claim import CAVEAT, check_confidence, check_fits_rows, claim_of, fit_clone, is_proven, verdict
from privet.attack.distinguishing import Attack, Observe, distinguish, numbers_in
from privet.attack.evidence import Evidence
from privet.attack.neighbours import Neighbours, Table, worst_cases
from privet.checks import check_whole, n_threads
from privet.errors import ParameterError
from privet.estimator import PrivateEstimator
from privet.files.whole_file import whole_bytes
from privet.lazy import matplotlib
from privet.privacy.unit import EACH_ROW, Unit
from privet.schema import Schema

# Called with the case, the number of releases made and the number of all releases.
Watch = Callable[[str, int, int], None]
# A name, the observation that is made of a table, and the two tables.
_Attempt: TypeAlias = tuple[str, Observe, tuple[Any, Any]]
_WITHOUT, _WITH = "#0072b2", "#d55e00"
_BINS = 40
_COLUMNS = 3
# Below this width, title and legend are cut off.
_LEAST_WIDTH = 7.5


@dataclass(frozen=True)
class Audit:
    """What is claimed, and what attackers have shown.

    Attributes
    ----------
    epsilon, delta : float
        The claim.
    confidence : float
        That all lower bounds hold together.
    attacks : dict
        The attack on each case, by its name.
    subject : str
        The name of what was audited.
    proven : bool or None
        Whether privet has an argument for the claim; None for a function, whose claim is its author's.
    unit : Unit
        The unit of privacy of the claim.
    """

    epsilon: float
    delta: float
    confidence: float
    attacks: dict[str, Attack]
    subject: str = ""
    proven: bool | None = None
    unit: Unit = EACH_ROW

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
        found = verdict(self.epsilon_shown, self.most, self.epsilon, proven=self.proven, trials="runs")
        all_but = "every row but one" if self.unit.column is None else f"all rows but those of one {self.unit.name!r}"
        return (
            f"An attacker who knows {all_but} and sees all that is released got at least epsilon = "
            f"{self.epsilon_shown:.3g}, {found} ({claim}). In {self.runs:,} releases at most {self.most:.3g} could "
            f"have been shown, with {100 * self.confidence:.6g}% confidence. {CAVEAT}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {
            "subject": self.subject,
            "claimed": {"epsilon": self.epsilon, "delta": self.delta},
            "epsilon_shown": self.epsilon_shown,
            "could_show_at_most": self.most,
            "proven": self.proven,
            "unit": self.unit.name,
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
    """Fits a fresh clone and returns what the attacker reads in it."""

    estimator: PrivateEstimator
    evidence: Evidence
    names: list[str]
    unit: Unit

    def __call__(self, table: Table) -> NDArray[np.float64]:
        X: Any = table.X
        if self.unit.column is not None:
            X = self.evidence.neighbours.with_people(table, self.names, self.unit.column)
        return self.evidence(fit_clone(self.estimator, X, table.y))


@dataclass(frozen=True)
class _Release:
    """Calls any function and returns what the attacker reads in its result."""

    release: Callable[[Any], Any]
    read: Callable[[Any], Any] | None

    def __call__(self, table: Any) -> NDArray[np.float64]:
        released = self.release(table)
        return numbers_in(released if self.read is None else self.read(released))


def audit(
    subject: Any,
    neighbours: Sequence[Neighbours] | tuple[Any, Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    read: Callable[[Any], Any] | None = None,
    runs: int = 2_000,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Return a lower bound on the epsilon of an estimator, or of any callable that releases something about a table.

    Parameters
    ----------
    subject : estimator or callable
        An unfitted estimator of privet; or a function of a table, whose result the attacker sees.
    neighbours : sequence of Neighbours, or two tables
        For an estimator, the `worst_cases` of its schema by default. A callable needs two tables: one without the row
        and one with it.
    epsilon, delta : float, optional
        The claim; by default the estimator's own parameters. Pass it to attack an estimator without noise
        (``epsilon=inf``), for instance to see that the attack succeeds.
    read : callable, optional
        Turns what a callable returns into the attacker's evidence: numbers, equally many each time. By default the
        result itself must be such numbers. NaN and infinity are outcomes like any other.
    runs : int
        Releases of each table and case. The bound comes from half of them. With 2,000 it stays about 0.15 below the
        epsilon that the attack really shows.
    confidence : float
        The probability that no bound exceeds the true epsilon by chance.
    n_jobs : int, optional
        Processes; -1 for as many as there are cores. The default is -1 for an estimator and 1 for a callable: if the
        callable keeps a generator, forked processes would repeat each other's draws.
    watch : callable, optional
        Called with the case, the number of releases made and the number of all releases.

    Returns
    -------
    Audit
        With `epsilon_shown`, a `sentence`, and each case's `Attack`.
    """
    runs, confidence = check_whole("runs", runs, least=20, most=10**8), check_confidence(confidence)
    is_estimator = isinstance(subject, PrivateEstimator)
    if is_estimator:
        check_fits_rows(subject)
        _check_reads_nothing_else(read)
    claimed = claim_of(subject, epsilon, delta)
    unit = Unit(subject.unit, subject.max_rows) if is_estimator else EACH_ROW
    attempts = _fits(subject, neighbours, unit) if is_estimator else _releases(subject, neighbours, read)
    n_processes = n_threads(-1 if n_jobs is None and is_estimator else n_jobs)
    # The error probability is divided among the cases, so that all bounds hold together, and so does their maximum.
    each = 1.0 - (1.0 - confidence) / len(attempts)
    attacks = {}
    for name, observe, tables in attempts:
        watch_case = None if watch is None else partial(watch, name)
        attacks[name] = distinguish(
            observe, tables, runs=runs, delta=claimed[1], confidence=each, n_jobs=n_processes, watch=watch_case
        )
    return Audit(*claimed, confidence, attacks, _name_of(subject), is_proven(subject), unit)


def _check_reads_nothing_else(read: Any) -> None:
    if read is not None:
        raise ParameterError(
            "read= is for a callable; of an estimator, everything that it releases is read: leave it out"
        )


def _name_of(subject: Any) -> str:
    return str(getattr(subject, "method", None) or getattr(subject, "__name__", type(subject).__name__))


def _releases(subject: Any, neighbours: Any, read: Any) -> list[_Attempt]:
    if not callable(subject) or not isinstance(neighbours, tuple) or len(neighbours) != 2:
        raise ParameterError(
            "an audit is of an estimator of privet, or of a callable and two tables: one without the row, one with"
        )
    return [("the two tables given", _Release(subject, read), neighbours)]


def _fits(estimator: PrivateEstimator, neighbours: Any, unit: Unit) -> list[_Attempt]:
    schema = _declared(estimator)
    cases = worst_cases(schema, unit) if neighbours is None else list(neighbours)
    if not cases or not all(isinstance(case, Neighbours) for case in cases):
        raise ParameterError("neighbours of an estimator are a list of Neighbours; leave it out for the worst cases")
    return [
        (case.name, _Fit(estimator, Evidence(case), list(schema.names), unit), (case.without, case.with_row))
        for case in cases
    ]


def _declared(estimator: PrivateEstimator) -> Schema:
    if isinstance(estimator.schema, Schema):
        return estimator.schema
    if estimator.schema is None or estimator.schema == "infer":
        raise ParameterError("an audit makes tables by the schema, so it must be declared; pass a Schema or its path")
    return Schema.load(estimator.schema)


def draw_audit(audit: Audit, path: Path) -> None:
    """Write a picture to ``path``, with a panel for each case: the attacker's scores with the row and without."""
    columns = min(len(audit.attacks), _COLUMNS)
    lines = -(-len(audit.attacks) // columns)
    size = max(4.4 * columns, _LEAST_WIDTH), 1.1 + 3.0 * lines
    engine = matplotlib("layout_engine").ConstrainedLayoutEngine(w_pad=0.1)
    figure = matplotlib("figure").Figure(figsize=size, layout=engine)  # pyplot would look for a screen
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for ax in axes.flat[len(audit.attacks) :]:
        ax.set_axis_off()
    for ax, (name, attack) in zip(axes.flat, audit.attacks.items(), strict=False):
        _draw_case(ax, name, attack)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of releases")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    figure.suptitle(_title(audit), fontsize=11)
    with whole_bytes(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=120)


def _title(audit: Audit) -> str:
    return (
        f"{audit.subject}: at least epsilon = {audit.epsilon_shown:.3g} was shown, {audit.epsilon:g} is claimed\n"
        f"{audit.runs:,} releases, {100 * audit.confidence:.6g}% confidence"
    )


def _draw_case(ax: Any, name: str, attack: Attack) -> None:
    both = np.concatenate([attack.scores_without, attack.scores_with])
    # The outermost scores would flatten everything else.
    low, high = np.quantile(both, [0.005, 0.995])
    edges = np.linspace(low, high if high > low else low + 1, _BINS)
    for scores, colour, label in (
        (attack.scores_without, _WITHOUT, "without the row"),
        (attack.scores_with, _WITH, "with the row"),
    ):
        weights = np.full(len(scores), 1 / len(scores))
        ax.hist(np.clip(scores, edges[0], edges[-1]), edges, weights=weights, color=colour, alpha=0.55, label=label)
    # The outermost bars hold everything beyond them.
    border = float(np.clip(attack.threshold, edges[0], edges[-1]))
    ax.axvline(border, color="black", linewidth=1, linestyle="--", label='right of it he says "the row is there"')
    ax.locator_params(axis="x", nbins=5)
    ax.set_title(f"{name}\nat least {attack.epsilon_shown:.3g}", fontsize=9)
    ax.set_xlabel("the attacker's score")
