"""``python -m tests.hostile.fuzz``: hostile files by the million, in processes that may crash.

Cases are numbered, and the same seed makes the same cases; ``--case`` runs one of them again. A worker that dies is
begun again after the case that it died of, which counts as a violation. ``--coverage-guided`` lets atheris choose.
"""

import argparse
import faulthandler
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tests.hostile.campaign import Tally, case_of, outcomes
from tests.hostile.case import VIOLATION, WAITING_SECONDS, Outcome, hostile_room

_BATCH = 100
# The libraries' allocators keep some kilobytes a case; after so many a new process begins.
_BATCHES_A_WORKER = 50
# Longer than a case may take: where the clock's signal is not heard, in a loop outside of Python, the process ends.
_LAST_RESORT = 2 * WAITING_SECONDS


@dataclass
class Run:
    """A run of cases shared out over processes, and what has become of them so far."""

    n_cases: int
    seed: int
    jobs: int
    folder: Path
    tally: Tally = field(default_factory=Tally)
    culprits: Counter[str] = field(default_factory=Counter)
    begun: float = field(default_factory=time.monotonic)
    _lock: Any = field(default_factory=Lock)

    def all_of_it(self) -> None:
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self._share, range(self.jobs)))

    def _share(self, job: int) -> None:
        """See one process after another through every ``jobs``-th batch."""
        batches = iter(range(job * _BATCH, self.n_cases, self.jobs * _BATCH))
        todo = next(batches, None)
        skipped: list[int] = []
        while todo is not None:
            worker, alive = _Worker(self.seed), True
            while alive and todo is not None and worker.n_done < _BATCHES_A_WORKER:
                alive = worker.done(range(todo, min(todo + _BATCH, self.n_cases)), skipped, self.add)
                if alive:
                    todo, skipped = next(batches, None), []
            code = worker.end()
            if not alive:
                kind = case_of(self.seed, worker.last).kind
                told = f"the process ended with {code}"
                self.add([Outcome(kind, f"{self.seed}-{worker.last}", VIOLATION, told)])
                skipped.append(worker.last)

    def add(self, found: list[Outcome]) -> None:
        with self._lock:
            for outcome in found:
                self.tally.add(outcome)
                if outcome.what == VIOLATION:
                    self.culprits[outcome.culprit] += 1
                    self._keep(outcome)
            if self.tally.n_cases % 5_000 < len(found):
                rate = self.tally.n_cases / (time.monotonic() - self.begun)
                print(f"{self.tally.n_cases:,} cases, {rate:,.0f} a second", file=sys.stderr, flush=True)

    def _keep(self, outcome: Outcome) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        again = f"python -m tests.hostile.fuzz --seed {outcome.name.split('-')[0]} --case {outcome.name.split('-')[1]}"
        (self.folder / f"{outcome.name}.txt").write_text(f"{outcome.kind}\n{again}\n\n{outcome.told}")


class _Worker:
    """A process that runs batches of cases; before each case it says which one."""

    def __init__(self, seed: int) -> None:
        command = [sys.executable, "-m", "tests.hostile.fuzz", "--worker", "--seed", str(seed)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last, self.n_done = -1, 0

    def done(self, numbers: range, skipped: list[int], add: Any) -> bool:
        """Return whether a batch came through; where it did not, `last` is the case that the process died of."""
        assert self._process.stdin
        assert self._process.stdout
        self.last = numbers[0]
        try:
            self._process.stdin.write(json.dumps([n for n in numbers if n not in skipped]) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        for line in self._process.stdout:
            told = json.loads(line)
            if isinstance(told, list):
                add([Outcome(**outcome) for outcome in told])
                self.n_done += 1
                return True
            self.last = told
        return False

    def end(self) -> int:
        with suppress(BrokenPipeError):
            self._process.communicate()
        return self._process.wait()


def work(seed: int) -> None:
    """Run the batches that come in by stdin, a line of numbers each."""
    with hostile_room() as room:
        for line in sys.stdin:
            found = []
            for number in json.loads(line):
                print(number, flush=True)
                faulthandler.dump_traceback_later(_LAST_RESORT, exit=True)
                [outcome] = outcomes(seed, [number], room)
                told = outcome.told if outcome.what == VIOLATION else ""
                found.append({"kind": outcome.kind, "name": outcome.name, "what": outcome.what, "told": told})
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(found), flush=True)


def one(seed: int, number: int) -> Outcome:
    """Run one case, and leave its file where one can look at it."""
    with hostile_room() as room:
        [outcome] = outcomes(seed, [number], room)
    print(f"{outcome.kind}: {outcome.what}\n{outcome.told}")
    if outcome.content:
        path = Path(f"hostile-{outcome.name}")
        path.write_bytes(outcome.content)
        print(f"the file: {path}")
    return outcome


def report(run: Run) -> Iterator[str]:
    yield from run.tally.lines()
    minutes = (time.monotonic() - run.begun) / 60
    yield f"seed {run.seed}, {run.jobs} processes, {minutes:.1f} minutes"
    for culprit, count in run.culprits.most_common():
        yield f"{count:,} times {culprit}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run one case again")
    parser.add_argument("--failures", type=Path, default=Path("build/fuzz"), help="where violations are written")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--coverage-guided", action="store_true", help="let atheris choose the cases")
    parser.add_argument("--seconds", type=int, default=600, help="how long atheris may take")
    asked = parser.parse_args()
    if asked.worker:
        work(asked.seed)
        return 0
    if asked.case is not None:
        return int(one(asked.seed, asked.case).what == VIOLATION)
    if asked.coverage_guided:
        # In a process of its own: atheris has to be there before privet is imported.
        command = [sys.executable, "-m", "tests.hostile.guided", str(asked.seconds), str(asked.failures)]
        return subprocess.run(command, check=False).returncode
    run = Run(asked.cases, asked.seed, asked.jobs, asked.failures)
    run.all_of_it()
    print("\n".join(report(run)))
    return int(run.tally.of(VIOLATION) > 0)


if __name__ == "__main__":
    sys.exit(main())
