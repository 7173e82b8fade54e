"""Fits of methods to rows that are made up or public, at several epsilons and sizes; it reads no row of the owner."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from privet.central.released_classifier import ReleasedClassifier
from privet.checks import check_whole, is_number
from privet.datasets.stand_in import Strength, checked_shares, checked_strength
from privet.errors import NoGuaranteeWarning, ParameterError
from privet.privacy.mechanisms.rational import check_epsilon
from privet.registry import METHODS
from privet.rehearsal.populations import MadeUpPeople, Population, PublicRows
from privet.report.plots.plans import plot_rehearsal
from privet.rng import public_generator
from privet.schema import Label, Schema

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
_AROUND = 4
_MOST_ROWS, _MOST_DRAWS = 10_000_000, 1_000

Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Rehearsed:
    """How accurate one method was at one epsilon and with so many rows: the mean and the deviation over draws."""

    method: str
    rows: int
    epsilon: float
    accuracy: float
    deviation: float


@dataclass(frozen=True)
class Rehearsal:
    """How accurate models of made-up or public rows are.

    Attributes
    ----------
    basis : str
        What the rows were, in words.
    majority : float
        The accuracy of always guessing the largest class.
    best : float or None
        That of what could be known at most; None for public rows, of which nobody knows it.
    scores : tuple of Rehearsed
        One for each method, number of rows and epsilon. An infinite epsilon is the method without noise.
    """

    basis: str
    majority: float
    best: float | None
    scores: tuple[Rehearsed, ...]

    def table(self) -> "pd.DataFrame":
        """Return the scores, a line each."""
        import pandas as pd

        return pd.DataFrame([asdict(score) for score in self.scores])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw accuracy over epsilon: a colour for each method, a dash for each number of rows."""
        return plot_rehearsal(self, ax=ax)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def rehearse(
    schema: Schema | str | Path, n_rows: int | Sequence[int] | None = None, *,
    epsilons: Sequence[float] = EPSILONS, methods: Sequence[str] | Mapping[str, Any] = ("private-forest",),
    class_shares: Mapping[Label, float] | None = None, strength: Strength | Mapping[str, Strength] = "medium",
    best: float | None = None, like: Any = None, draws: int = 3, random_state: int | None = 0,
    watch: Watch | None = None,
) -> Rehearsal:  # fmt: skip
    """Fit methods to rows that are made up or public, and return how accurate they are. It spends nothing.

    Parameters
    ----------
    schema : Schema or path
        What is public about the table.
    n_rows : int or several, optional
        About how many rows there are; by default as the schema says. Of one number, a quarter of it and four times as
        many are tried too.
    epsilons : sequence of float
        What a fit may cost. The same fit without noise is always among the scores.
    methods : sequence of str, or dict
        Methods of a curator by name; or unfitted models by any name, so that settings can be compared.
    class_shares : dict, optional
        How frequent classes are, as far as that may be said; by default all alike.
    strength : float or word, or dict
        How strongly each attribute goes with the class, as Cohen's w: weak, medium and strong are 0.1, 0.2 and 0.4. A
        dict has attributes by name; the others are medium.
    best : float, optional
        How many rows can be guessed right at most, as a share: 0.87 where the best known model without privacy gets
        87 % of such rows right. Strengths are then scaled to it, and only say which attributes tell more than others.
        Owners who can state this should: it makes figures far less wrong.
    like : path or table, optional
        Rows of the same kind that are public, the label's column among them: taken in place of made-up ones. They must
        not be the rows that are to be protected, which nothing here protects.
    draws : int
        How many times rows are drawn.
    random_state : int, optional
        Fixes what is drawn.
    watch : callable, optional
        Called as ``watch(method, done, total)`` before each fit, and after the last.

    Returns
    -------
    Rehearsal

    Examples
    --------
    >>> from privet import Categorical, Numeric, Schema, rehearse
    >>> schema = Schema([Numeric("age", 16, 100), Categorical("sex", ["f", "m"])], classes=["no", "yes"])
    >>> found = rehearse(schema, [500], epsilons=[1.0], strength="strong", draws=2)
    >>> [score.epsilon for score in found.scores]
    [1.0, inf]
    """
    declared = schema if isinstance(schema, Schema) else Schema.load(schema)
    declared.require_classes()
    sizes = _sizes(n_rows, declared)
    prices = [*sorted({check_epsilon(epsilon) for epsilon in epsilons} - {math.inf}), math.inf]
    models = _models(methods, declared)
    population = _population(declared, class_shares, strength, best, like)
    n_draws = check_whole("draws", draws, least=2, most=_MOST_DRAWS)
    cells = list(product(models, sizes, prices))
    found, drawn = np.empty((n_draws, len(cells))), []
    steps = _Steps(watch, dict.fromkeys(models, n_draws * len(sizes) * len(prices)))
    for i, rng in enumerate(public_generator(random_state).spawn(n_draws)):
        drawn.append(population.draw(rng))
        rows, seed = {n: drawn[i].rows(n) for n in sizes}, int(rng.integers(2**31))
        for j, (name, n, epsilon) in enumerate(cells):
            steps.next(name)
            model = clone(models[name]).set_params(
                schema=replace(declared, rows=n), epsilon=epsilon, random_state=seed, unsafe_seeded_noise=True
            )
            found[i, j] = drawn[i].accuracy(_fitted(model, *rows[n]).predict_proba(drawn[i].test).argmax(axis=1))
    steps.end()
    scores = zip(cells, found.mean(axis=0).tolist(), found.std(axis=0, ddof=1).tolist(), strict=True)
    known = [each.best for each in drawn if each.best is not None]
    return Rehearsal(
        population.describe(), float(np.mean([each.chances.mean(axis=0).max() for each in drawn])),
        float(np.mean(known)) if known else None,
        tuple(Rehearsed(name, n, epsilon, mean, off) for (name, n, epsilon), mean, off in scores),
    )  # fmt: skip


def _fitted(model: Any, rows: Any, labels: Any) -> Any:
    with warnings.catch_warnings():
        # Nobody is to have this model. Whether the rows are too few for one is what is being found out.
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        return model.fit(rows, labels)


def _sizes(n_rows: int | Sequence[int] | None, schema: Schema) -> list[int]:
    given = schema.rows if n_rows is None else n_rows
    if given is None:
        raise ParameterError(
            "a rehearsal needs to know roughly how many rows there are; pass n_rows (--rows), or declare rows"
        )
    several = list(given) if isinstance(given, Sequence) else [max(given // _AROUND, 1), given, _AROUND * given]
    if not several:
        raise ParameterError("n_rows is empty; pass one number of rows or more")
    return sorted({check_whole("n_rows", n, least=1, most=_MOST_ROWS) for n in several})


def _models(methods: Sequence[str] | Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    if isinstance(methods, str) or not len(methods):
        raise ParameterError(f"methods={methods!r} must be a list of names, or a dict of unfitted models")
    if not isinstance(methods, Mapping):
        unknown = [name for name in methods if name not in METHODS]
        if unknown:
            raise ParameterError(f"methods names {unknown[0]!r}; choose from {', '.join(METHODS)}")
        methods = {name: METHODS[name](schema) for name in methods}
    for name, model in methods.items():
        if not isinstance(model, ReleasedClassifier):
            raise ParameterError(f"methods[{name!r}] is no model of a curator; pass such as PrivateForestClassifier()")
        if model.unit != "row" or model.ledger is not None:
            raise ParameterError(
                f"methods[{name!r}] has a unit or a ledger, and rehearsed rows have none; leave it out"
            )
    return dict(methods)


def _population(
    schema: Schema, class_shares: Mapping[Label, float] | None, strength: Any, best: float | None, like: Any
) -> Population:
    if like is not None:
        if class_shares is not None or best is not None:
            raise ParameterError("like has classes and rules of its own; leave class_shares and best out, or like")
        return PublicRows.of(schema, like)
    stated = strength if isinstance(strength, Mapping) else dict.fromkeys(schema.names, strength)
    unknown = [name for name in stated if name not in schema.names]
    if unknown:
        raise ParameterError(f"strength names {unknown[0]!r}, which is no attribute of the schema; correct the name")
    each = tuple(checked_strength(stated.get(name, "medium")) for name in schema.names)
    shares = checked_shares(schema, class_shares)
    if best is not None and not (is_number(best) and shares.max() < best < 1):
        raise ParameterError(f"best={best!r} must be above the largest class's share, {shares.max():.3g}, and below 1")
    return MadeUpPeople(schema, shares, each, best)


class _Steps:
    """Tells a watcher how many fits of each method are done."""

    def __init__(self, watch: Watch | None, totals: Mapping[str, int]) -> None:
        self._watch, self._totals = watch, totals
        self._done = dict.fromkeys(totals, 0)

    def next(self, name: str) -> None:
        if self._watch is not None:
            self._watch(name, self._done[name], self._totals[name])
        self._done[name] += 1

    def end(self) -> None:
        if self._watch is not None:
            for name, total in self._totals.items():
                self._watch(name, total, total)
