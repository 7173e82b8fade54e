"""Making the fits that are paid for: each is begun once, whatever happens to the server. Argued in gateway.md."""

import queue
import threading
from functools import partial
from pathlib import Path
from typing import Any

from privet.central.updates.update import fit_files
from privet.counting.sources import Files
from privet.files.whole_file import write_new
from privet.privacy.ledger import Ledger
from privet.service.gateway.fits import PaidFit, fits_of
from privet.service.gateway.folder import GatewayFolder

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


class Workers:
    """A few threads that make fits in the order in which they were paid for.

    The queue needs no bound of its own: a strict account takes a hundred fits.
    """

    def __init__(self, folder: GatewayFolder, ledger: Ledger, number: int = 1) -> None:
        self._folder, self._ledger, self._number = folder, ledger, number
        self._queue: queue.SimpleQueue[PaidFit | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        # Fits that wait or run in this process; the others were ended, or stopped with another process.
        self._waiting: set[str] = set()
        self._running: set[str] = set()

    def start(self) -> None:
        """Begin, with the fits that an earlier process has left waiting."""
        for fit in fits_of(self._ledger.account()):
            self.take(fit)
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._number)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the fits that run; those that wait are for the next start."""
        with self._lock:
            self._waiting.clear()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def take(self, fit: PaidFit) -> None:
        """Put a fit in the queue, unless it was begun or waits already, or was paid to another gateway."""
        with self._lock:
            if fit.id in self._waiting or not self._is_to_be_made(fit):
                return
            self._waiting.add(fit.id)
        self._queue.put(fit)

    def state(self, fit: PaidFit) -> str:
        """Return how a fit stands, in a word that depends on no row but by the release or its failing."""
        with self._lock:
            in_hand = RUNNING if fit.id in self._running else WAITING if fit.id in self._waiting else None
        # A model is saved before its cost is settled, and may be used from then on.
        if self._folder.model_file(fit.id).exists():
            return DONE
        if in_hand is not None and not fit.has_failed:
            return in_hand
        return WAITING if self._is_to_be_made(fit) else FAILED

    def _is_to_be_made(self, fit: PaidFit) -> bool:
        """Return whether this gateway is to make a fit: another one of the account would draw its noise again."""
        is_own = fit.gateway == self._folder.name
        return is_own and fit.is_open and not self._folder.begun_file(fit.id).exists()

    def _work(self) -> None:
        while (fit := self._queue.get()) is not None:
            with self._lock:
                if fit.id not in self._waiting:
                    continue
                self._running.add(fit.id)
            try:
                self._make(fit)
            except Exception:  # noqa: S110 - its text may quote a row; the ledger has its name, or nothing was begun
                pass
            finally:
                with self._lock:
                    self._waiting.discard(fit.id)
                    self._running.discard(fit.id)

    def _make(self, fit: PaidFit) -> None:
        """Begin a fit, open the rows, release and save the model, settle."""
        try:
            # On the disk before a row is read, and made by one process: what was killed is not begun again.
            write_new(self._folder.begun_file(fit.id), b"", anywhere=True)
        except FileExistsError:
            return
        with fit.reservation(self._ledger) as reservation:
            model = fit.request.estimator(self._folder.schema, self._folder.unit)
            save = partial(_save, self._folder.model_file(fit.id))
            fit_files(model, Files(self._folder.rows), reservation=reservation, save=save)


def _save(path: Path, model: Any) -> None:
    model.save(path)
