"""An update: a batch of new rows from files, added to a model of leaf counts once. The argument is in update.md."""

from collections.abc import Callable
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from privet.central.updates.update_files import BatchFiles
from privet.central.updates.update_history import BatchHistory, Version
from privet.counting.sources import PathLike
from privet.errors import ParameterError
from privet.methods import UPDATED


@dataclass
class Update:
    """A batch that is added to ``model``, and recorded in the ledger that the model has.

    Parameters
    ----------
    model : LeafCountClassifier
        As it was fitted or loaded; `add` changes it.
    dated : str, optional
        The batch's date, YYYY-MM-DD; it must be after those of the batches before it.
    before_noise : callable, optional
        Called after the last row is read; what it raises stops the update while nothing is spent.
    """

    model: Any
    dated: str | None = None
    before_noise: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        if not takes_batches(self.model):
            raise ParameterError(
                f"a model of the method {self.model.method!r} takes no further rows: nothing that it released can be "
                f"added to; fit anew on all rows, or use a method of random trees, {' or '.join(UPDATED)}, from the "
                "start"
            )
        self._before = Version.of(self.model)
        self._history = None if self.model.ledger is None else BatchHistory(self.model.ledger)
        self._fingerprint: str | None = None
        self.known_batches = 0 if self._history is None else len(self._history.path_to(self._before))
        if self._history is not None and self.dated is not None:
            self._history.check_date(self._before, self.dated)

    def add(self, *named: PathLike, watch: Callable[[float], None] | None = None) -> None:
        """Count the rows of files, add noise, settle, and write the batch down.

        The batch is on record before the caller can save the model: were it the other way round, a crash in between
        would leave a model whose last batch nobody remembers. Where it cannot be recorded, the model stays as it was.
        """
        key = None if self._history is None else self._history.key
        updated = copy(self.model).partial_fit(BatchFiles(*named, key=key, at_end=self._check, watch=watch))
        if self._history is not None and self._fingerprint is not None:
            self._history.record(self._before, Version.of(updated), self._fingerprint, self.dated)
        self.model._take_over(updated)  # noqa: SLF001 - another state of the same model

    @property
    def unknown_batches(self) -> int:
        """How many batches were in the model that the ledger has no fingerprint of."""
        return max(0, self._before.n_batches - self.known_batches)

    def _check(self, fingerprint: str | None) -> None:
        self.before_noise()
        if self._history is not None and fingerprint is not None:
            self._history.check_new(self._before, fingerprint)
            self._history.check_part(fingerprint)
        self._fingerprint = fingerprint


def fit_first(
    model: Any, *named: PathLike, executor: Executor | None = None, watch: Callable[[float], None] | None = None
) -> None:
    """Fit a model that takes batches to files and write these down as its first; workers take no fingerprint."""
    history = None if model.ledger is None else BatchHistory(model.ledger)
    taken: list[str] = []

    def take(fingerprint: str | None) -> None:
        if history is not None and fingerprint is not None:
            history.check_part(fingerprint)
            taken.append(fingerprint)

    key = None if history is None else history.key
    fitted = copy(model).fit(BatchFiles(*named, key=key, at_end=take, watch=watch), executor=executor)
    if history is not None and taken:
        history.record(None, Version.of(fitted), taken[-1])
    model._take_over(fitted)  # noqa: SLF001 - another state of the same model


def takes_batches(model: object) -> bool:
    """Return whether a model's released counts can be added to."""
    return getattr(model, "method", None) in UPDATED
