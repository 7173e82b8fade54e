"""Whatever a call says: output, warnings, logs, threads that fail, and the error with all that hangs on it."""

import contextlib
import io
import logging
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Heard:
    """What was heard during a call."""

    result: Any = None
    error: BaseException | None = None
    output: io.StringIO = field(default_factory=io.StringIO)
    warned: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)

    def things(self, what: str) -> Iterator[tuple[str, Any]]:
        """Yield all of it by name, but for the result."""
        yield f"{what}: output", self.output.getvalue()
        yield f"{what}: warnings", self.warned
        yield f"{what}: logs", self.logged
        yield f"{what}: threads that failed", self.threads
        if self.error is not None:
            yield from error_things(self.error, what)


class _Notebook(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(f"{record.name} {self.format(record)} {record.args!r}")


@contextlib.contextmanager
def listening() -> Iterator[Heard]:
    """Listen to all channels at once; the root logger and all others at DEBUG."""
    heard = Heard()
    root, notebook = logging.getLogger(), _Notebook(heard.logged)
    before, hook = root.level, threading.excepthook
    threading.excepthook = lambda args: heard.threads.append("".join(traceback.format_exception(args.exc_value)))
    root.addHandler(notebook)
    root.setLevel(logging.DEBUG)
    try:
        with (
            contextlib.redirect_stdout(heard.output),
            contextlib.redirect_stderr(heard.output),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            yield heard
    finally:
        root.setLevel(before)
        root.removeHandler(notebook)
        threading.excepthook = hook
    heard.warned += [f"{one.category.__name__}: {one.message} {one.message!r}" for one in caught]


def heard(call: Callable[[], Any]) -> Heard:
    """Return what a call says and how it ends."""
    with listening() as all_of_it:
        try:
            all_of_it.result = call()
        except Exception as error:
            all_of_it.error = error
    return all_of_it


def error_things(error: BaseException, what: str) -> Iterator[tuple[str, Any]]:
    """Yield an error as it is printed, shown, stored and sent, and all that led to it."""
    yield f"{what}: traceback", "".join(traceback.format_exception(error))
    chain = [error]
    for link in chain:
        yield f"{what}: error", [str(link), repr(link), link.args, vars(link)]
        chain += [own for own in (link.__cause__, link.__context__) if own is not None and own not in chain]
    with contextlib.suppress(TypeError, AttributeError, pickle.PicklingError):  # some errors of others cannot travel
        yield f"{what}: pickled error", pickle.dumps(error)
