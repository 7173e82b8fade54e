"""Models that take batches of new rows: each batch is a release of its own, and no row is in two. See update.md."""

from concurrent.futures import Executor
from typing import Any, Self

import numpy as np

from privet.central.receipts import in_parallel, trial_of
from privet.central.released_classifier import CuratorClassifier, FitCall, ReleasedModel
from privet.errors import ParameterError
from privet.privacy.events import Event, Parallel
from privet.schema import Schema


class UpdatedModel(ReleasedModel):
    """A model of one batch of rows or several."""

    # How many batches a model may have.
    max_batches: int

    def _add_batch(self, X: Any, y: Any, executor: Executor | None, classes: Any = None) -> Self:
        """Fit to a batch of new rows, the first or a further one."""
        adds = hasattr(self, "guarantee_")
        call = FitCall(X, y, executor=executor, classes=classes, batch=self._part_check(adds=adds), adds=adds)
        return self._run(call)

    @property
    def _batches(self) -> tuple[Event, ...]:
        """The receipt of each batch."""
        return in_parallel(self.guarantee_.event)

    def _with_batch(self, receipt: Event) -> Event:
        """Return the receipts of all batches, the newest last."""
        return Parallel((*self._batches, receipt), because=self._unit().one_batch_each)

    def _check_next_batch(self) -> None:
        if trial_of(self.guarantee_.event) is not None:
            raise ParameterError("a model whose settings were chosen by a trial takes no further batches; fit again")
        if self._unit() != self.guarantee_.protects:
            raise ParameterError("unit or max_rows changed since the first batch; set them back, or fit again")
        if len(self._batches) >= self.max_batches:
            raise ParameterError(f"a model takes at most {self.max_batches:,} batches; fit again, with far less noise")

    def _assumptions(self, event: Event) -> list[str]:
        return [self._unit().one_batch_each] if isinstance(event, Parallel) else []


class UpdatedClassifier(UpdatedModel, CuratorClassifier):
    """A classifier of one batch of rows or several."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, *, executor: Executor | None = None) -> Self:
        """Add a batch of new rows: a release of its own, with fresh noise, joined to what is there.

        A row may be in one batch only. The cost of the model is then that of the most expensive batch, while the
        noise grows with every batch; `noise_growth_` shows it. The first call is a fit.

        Parameters
        ----------
        X, y, executor
            As in `fit`.
        classes : array of labels, optional
            For scikit-learn's sake; the schema has them, and other ones are an error.
        """
        return self._add_batch(X, y, executor, classes)


def check_classes(schema: Schema, classes: Any) -> None:
    """Refuse classes that differ from the schema's."""
    if classes is not None and set(np.asarray(classes).tolist()) != set(schema.classes):
        raise ParameterError("classes differ from the schema's; leave classes out, or declare them in the schema")
