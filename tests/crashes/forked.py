"""A command in a forked child, which has everything imported, with a fault in its way."""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.crashes.write_points import Fault, Points

# No child takes as long; one that waits for what never comes is ended, and its test fails.
_SECONDS = 120
# Within the folder of a command: where heads of ledgers are kept.
STATE = "state"


@dataclass(frozen=True)
class Outcome:
    """What became of a command."""

    killed: bool
    code: int
    stdout: str
    stderr: str
    points: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The last thing it said."""
        lines = self.stderr.splitlines()
        return lines[-1].removeprefix("privet: ") if lines else ""


def run(
    folder: Path,
    words: list[str],
    *,
    fault: Fault | None = None,
    beforehand: Callable[[Points], None] = lambda _: None,
    largest_file: int | None = None,
    dies_of_large_files: bool = False,
) -> Outcome:
    """Run a command line in ``folder``; ``beforehand`` may change the child further before it starts.

    A file that would grow beyond ``largest_file`` bytes fails, as on a full disk, or kills the child in that very
    write, which SQLite's own are too.
    """
    limit = None if largest_file is None else (largest_file, dies_of_large_files)
    return _ended(*_started(folder, words, fault, beforehand, limit))


def together(
    folder: Path, lines: list[list[str]], *, beforehand: Callable[[Points], None] = lambda _: None
) -> list[Outcome]:
    """Run command lines at the same time."""
    children = [_started(folder, words, None, beforehand, None) for words in lines]
    return [_ended(*child) for child in children]


def _started(folder, words, fault, beforehand, limit) -> tuple[int, list[int]]:
    """Fork, and return the child with the ends of its pipes: what it says, and its points."""
    # Pipes, which no limit on files touches; what a command says is shorter than they are.
    pipes = [os.pipe() for _ in range(3)]
    child = fork()
    if child == 0:
        _run_child(folder, words, [pipe[1] for pipe in pipes], fault, beforehand, limit)
    for pipe in pipes:
        os.close(pipe[1])
    return child, [pipe[0] for pipe in pipes]


def _ended(child: int, pipes: list[int]) -> Outcome:
    told = []
    for pipe in pipes:
        with os.fdopen(pipe, encoding="utf-8") as file:
            told.append(file.read())
    status = os.waitpid(child, 0)[1]
    points = json.loads(told[2] or '{"seen": [], "missed": []}')
    return Outcome(
        os.WIFSIGNALED(status), os.waitstatus_to_exitcode(status), told[0], told[1],
        tuple(points["seen"]), tuple(points["missed"]),
    )  # fmt: skip


def fork() -> int:
    """Fork, and return the child's id, or 0 in the child, which has a limited time and must end by `os._exit`."""
    with warnings.catch_warnings():
        # Python 3.12 warns of threads at a fork; the child starts none that the parent's could hold up.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
    return child


def _run_child(folder, words, pipes, fault, beforehand, limit) -> None:
    from privet.cli.app import main

    code = 1
    try:
        _speak_into(pipes)
        os.chdir(folder)
        os.environ["TMPDIR"] = str(folder / "elsewhere")
        os.environ["XDG_STATE_HOME"] = str(folder.resolve() / STATE)
        tempfile.tempdir = None
        points = Points(fault)
        beforehand(points)
        if limit is not None:
            largest_file, dies = limit
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if dies else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
        points.install(stdout_descriptor=1)
        sys.argv = ["privet", *words]
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        sys.stdout.flush()
        os.write(pipes[2], json.dumps({"seen": points.seen, "missed": points.missed}).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _speak_into(pipes: list[int]) -> None:
    for descriptor in (1, 2):
        os.dup2(pipes[descriptor - 1], descriptor)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
