"""An update: a batch of new rows from files, added to a model once. The argument is in update.md."""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.forest_plan import expected_loss
from privet.central.receipts import asked_epsilon
from privet.central.released_classifier import FitCall
from privet.central.updates.batches import BatchCheck, BatchHistory, Version
from privet.central.weight_forest import WeightForestClassifier
from privet.counting.sources import Files
from privet.errors import ParameterError
from privet.methods import METHODS, UPDATED
from privet.privacy.ledger import Reservation

# Less is hardly seen in the votes, and a refit is expensive: it costs its epsilon on every row, old and new.
WORTH_A_REFIT = 2.0
# Of accuracy: what one fit has to be better by, as expected of a forest of weights.
WORTH_IN_LOSS = 0.005
# As far as it is looked ahead.
_MOST_AHEAD = 1_000
_ROUNDING = 1e-9


@dataclass
class Update:
    """A batch that is added to ``model``, and recorded in the ledger that the model has.

    Parameters
    ----------
    model : UpdatedClassifier
        As it was fitted or loaded; `add` changes it.
    dated : str, optional
        The batch's date, YYYY-MM-DD; it must be after those of the batches before it.
    before_noise : callable, optional
        Called after the last row is read; it may raise to stop the update while nothing is spent.
    """

    model: Any
    dated: str | None = None
    before_noise: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        if not takes_batches(self.model):
            others = [method.name for method in METHODS if method.takes_updates and method.learns == "classes"]
            raise ParameterError(
                f"a model of the method {self.model.method!r} takes no further rows: nothing that it released can be "
                f"added to; fit again on all rows, or use {', '.join(others[:-1])} or {others[-1]} from the start"
            )
        self._before = Version.of(self.model)
        self.known_batches = 0
        if self.model.ledger is not None:
            history = BatchHistory(self.model.ledger)
            history.refresh()
            self.known_batches = len(history.path_to(self._before))
            if self.dated is not None:
                history.check_date(self._before, self.dated)

    def add(self, files: Files, *, save: Callable[[Any], None] | None = None) -> None:
        """Release what the rows of files say, with noise, write the batch down, ``save`` the model, and settle.

        The batch is on record before the model is saved: were it the other way round, a crash in between would leave
        a model whose last batch nobody remembers. Where it cannot be recorded, the model stays as it was.
        """
        check = BatchCheck(self.model.ledger, self._before, self.dated, self.before_noise)
        _run(self.model, FitCall(files, batch=check, save=save, adds=True))

    @property
    def unknown_batches(self) -> int:
        """How many batches were in the model that the ledger has no fingerprint of."""
        return max(0, self._before.n_batches - self.known_batches)


def fit_files(
    model: Any,
    files: Files,
    *,
    executor: Executor | None = None,
    save: Callable[[Any], None] | None = None,
    reservation: Reservation | None = None,
) -> None:
    """Fit to files, and ``save`` the model before its cost is settled; ``reservation`` is one that was made already.

    A model that takes batches has them written down as its first, unless workers count: they take no fingerprint.
    """
    compares = model.ledger is not None and (takes_batches(model) or model.ledger.part is not None)
    check = BatchCheck(model.ledger) if compares else None
    _run(model, FitCall(files, executor=executor, batch=check, save=save, reservation=reservation))


def takes_batches(model: object) -> bool:
    """Return whether new rows can be added to a model."""
    return getattr(model, "method", None) in UPDATED


def _run(model: Any, call: FitCall) -> None:
    model._run(call)  # noqa: SLF001 - what fit does, with more to say


@dataclass(frozen=True)
class RefitAdvice:
    """The noise in a released count after each batch, and what it would be after one fit on all rows so far."""

    growth: NDArray[np.float64]

    @property
    def now(self) -> float:
        """The standard deviation in the model as it is."""
        return float(self.growth[-1])

    @property
    def one_fit(self) -> float:
        """That of one fit: about the least that a single batch has, since that is what the model's epsilon buys."""
        return float(np.sqrt(np.diff(np.square(self.growth), prepend=0.0)).min())

    @property
    def ratios(self) -> NDArray[np.float64]:
        """The noise after each batch, in that of one fit; the root of their number where all batches cost alike."""
        return self.growth / self.one_fit if self.one_fit > 0 else np.ones_like(self.growth)

    @property
    def advised(self) -> bool:
        """Whether a refit would at least halve the noise."""
        return bool(self.ratios[-1] >= WORTH_A_REFIT - _ROUNDING)

    @property
    def batches_until(self) -> int | None:
        """After how many more batches like one fit it is advised; 0 where it is now, None where it is never."""
        return 0 if self.advised else math.ceil(WORTH_A_REFIT**2 - float(self.ratios[-1]) ** 2 - _ROUNDING)


@dataclass(frozen=True)
class LossAdvice(RefitAdvice):
    """The same of a forest of weights: the noise in a leaf's pull, and what it is expected to cost in accuracy.

    ``rows`` are about how many rows there were after each batch, ``least`` is the noise of one fit, and ``epsilon``
    what a row may cost. Noise r times as large is that of a fit at epsilon / r.
    """

    rows: NDArray[np.float64]
    least: float
    epsilon: float
    n_attributes: int
    n_classes: int

    @property
    def one_fit(self) -> float:
        """The noise of one fit."""
        return self.least

    @property
    def losses(self) -> list[float]:
        """The accuracy that noise is expected to cost after each batch, as a share of all rows."""
        return [self._loss(rows, ratio) for rows, ratio in zip(self.rows, self.ratios, strict=True)]

    @property
    def losses_of_one_fit(self) -> list[float]:
        """The same of one fit on all rows so far."""
        return [self._loss(rows, 1.0) for rows in self.rows]

    @property
    def gain(self) -> float:
        """How much more accurate one fit on all rows so far is expected to be."""
        return self._gain(0)

    @property
    def advised(self) -> bool:
        """Whether a refit is expected to gain half a point of accuracy."""
        return self.gain >= WORTH_IN_LOSS

    @property
    def batches_until(self) -> int | None:
        """After how many more batches like those so far it is advised; 0 where it is now, None where it is never."""
        return next((n for n in range(_MOST_AHEAD) if self._gain(n) >= WORTH_IN_LOSS), None)

    def _gain(self, ahead: int) -> float:
        """Return the gain after so many more batches; their rows and noise are the mean of those so far."""
        grown = 1 + ahead / len(self.growth)
        rows, ratio = float(self.rows[-1]) * grown, float(self.ratios[-1]) * math.sqrt(grown)
        return self._loss(rows, max(ratio, 1.0)) - self._loss(rows, 1.0)

    def _loss(self, rows: float, ratio: float) -> float:
        return expected_loss(float(rows), self.epsilon / float(ratio), self.n_attributes, self.n_classes).mean


def refit_advice(model: Any) -> RefitAdvice:
    """Return what a fit on all rows so far would gain against a model with its batches."""
    if not isinstance(model, WeightForestClassifier):
        return RefitAdvice(model.noise_growth_)
    rows = np.cumsum([own.n_rows for own in model.releases_], dtype=np.float64)
    epsilon = asked_epsilon(model.guarantee_.event) / model.guarantee_.max_rows
    return LossAdvice(
        model.noise_growth_, rows, model.least_noise_, epsilon, len(model.schema_.attributes), len(model.classes_)
    )
