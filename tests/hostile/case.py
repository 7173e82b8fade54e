"""One case: a hostile file, opened and used within limits of time and memory. Its name makes it again."""

import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from unittest.mock import patch

from privet.errors import NoGuaranteeWarning, PrivacyLeakWarning, PrivetError
from tests.hostile.choices import Choices
from tests.hostile.mutations import mutated
from tests.hostile.seeds import Seed, files
from tests.hostile.targets import TARGETS

OPENED, REFUSED, VIOLATION = "opened", "refused", "violation"
# Files of a few kilobytes are used within milliseconds and megabytes. Waiting is allowed for longer than working: the
# machine may be busy with other things.
SECONDS, WAITING_SECONDS, MORE_BYTES = 20.0, 120.0, 2**30
_CLOCKS = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}


class Hang(BaseException):
    """A case took longer than it may; no target catches this."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case: opened and used, refused by privet, or anything else, with its traceback."""

    kind: str
    name: str
    what: str
    told: str = ""
    content: bytes = b""

    @property
    def culprit(self) -> str:
        """The error and the innermost line of privet's that it came through: what tells one bug from another."""
        inside = [line.strip() for line in self.told.splitlines() if "/src/privet/" in line]
        last = self.told.strip().splitlines()[-1] if self.told.strip() else ""
        return f"{last[:160]} @ {inside[-1].split('/src/')[-1] if inside else '?'}"


@dataclass(frozen=True)
class Case:
    """A hostile file of a kind, told by the choices that made it."""

    kind: str
    tape: Choices

    def run(self, folder: Path, name: str) -> Outcome:
        """Make the file in ``folder``, use it, and leave the folder empty."""
        seed: Seed = self.tape.pick(files().seeds[self.kind])
        content = mutated(seed, self.tape)
        path = folder / seed.name
        path.write_bytes(content)
        try:
            with limited_time():
                TARGETS[self.kind](path, self.tape)
        except PrivetError as error:
            return Outcome(self.kind, name, REFUSED, str(error))
        except (Exception, Hang):
            return Outcome(self.kind, name, VIOLATION, traceback.format_exc(), content)
        finally:
            _empty(folder)
        return Outcome(self.kind, name, OPENED)


@contextmanager
def hostile_room() -> Iterator[Path]:
    """Yield a folder for cases; within, memory is bounded and warnings are errors, but for those that privet means."""
    files()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_bytes_in_use() + MORE_BYTES, hard))
    previous = {number: signal.signal(number, _hang) for number in _CLOCKS.values()}
    try:
        # What a crash leaves on the disk is tested elsewhere; waiting for it would take a third of the time.
        with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(), patch("os.fsync", lambda _: None):
            warnings.simplefilter("error")
            for meant in (NoGuaranteeWarning, PrivacyLeakWarning):
                warnings.simplefilter("ignore", meant)
            yield Path(name)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def limited_time() -> Iterator[None]:
    """Raise `Hang` where the block works, or waits, for too long."""
    for clock, most in zip(_CLOCKS, (SECONDS, WAITING_SECONDS), strict=True):
        signal.setitimer(clock, most)
    try:
        yield
    finally:
        for clock in _CLOCKS:
            signal.setitimer(clock, 0)


def _hang(number: int, frame: FrameType | None) -> NoReturn:
    raise Hang


def _bytes_in_use() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
