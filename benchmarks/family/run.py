"""Measure what is missing, and make the page: ``python -m benchmarks.family.run``, some 20 minutes on two cores.

Every fit has fresh structure and fresh noise. What is found in the results is not measured again: a run can be broken
off at any time and resumed. ``--quick`` takes two minutes, with two small tables and few fits, and leaves everything in
``build/family-quick``.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from benchmarks.family.audits import ATTACKS, AUDITS, confidence_of
from benchmarks.family.members import MEMBERS, NO_EPSILON
from benchmarks.utility import splits
from benchmarks.utility.splits import Split
from papers.cross_validation import never_missing
from papers.experiment import Cell, Experiment, Scale
from papers.workers import Workers
from privet import Schema

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results")
QUICK = ROOT / "build" / "family-quick"
TABLES: dict[Scale, tuple[str, ...]] = {
    "quick": ("tic-tac-toe", "car-evaluation"),
    "full": ("tic-tac-toe", "car-evaluation", "mushroom", "nursery", "bank-marketing", "adult"),
}
WITH_NUMBERS = ("bank-marketing", "adult")
RUNS: dict[Scale, int] = {"quick": 2, "full": 10}
# Releases of each table in the quick form: too few to show much.
QUICK_RELEASES = 60


def _places(scale: Scale) -> Iterator[tuple[str, str]]:
    """Yield which member is fitted to which table."""
    for table in TABLES[scale]:
        yield from ((table, name) for name, own in MEMBERS.items() if table in WITH_NUMBERS or not own.needs_numbers)


def accuracy_cells(scale: Scale) -> Iterator[Cell]:
    """Yield the first split of all tables, then the second, and so on."""
    for run in range(RUNS[scale]):
        for table, name in _places(scale):
            yield from ((table, name, epsilon, run) for epsilon in MEMBERS[name].epsilons)


def accuracy(table: str, method: str, epsilon: float, run: int) -> list[tuple[float]]:
    """Return the accuracy on a fifth of the rows that the fit has not seen, in per cent."""
    split = _split(table, run)
    with warnings.catch_warnings():
        # What the paper's variants do not promise, advice on budgets, codes that were read from clear rows.
        warnings.simplefilter("ignore", UserWarning)
        said = MEMBERS[method].fit(split, None if epsilon == NO_EPSILON else epsilon)
    return [(round(100 * float(np.mean(said.classes == split.truth)), 3),)]


class CompleteSplit(Split):
    """A split whose schema declares what no row of the table lacks, as the papers' experiments do."""

    @property
    def schema(self) -> Schema:
        """The table's public domains, with the number of training rows declared."""
        return never_missing(super().schema, splits.loaded(self.table).X)


@lru_cache(maxsize=1)
def _split(table: str, run: int) -> Split:
    return CompleteSplit(table, run)


def audit_cells(scale: Scale) -> Iterator[Cell]:
    """Yield every attack at every epsilon of the members that it is on."""
    epsilons = {attack: MEMBERS[name].epsilons for name, attacks in AUDITS.items() for attack in attacks}
    for name, attack in ATTACKS.items():
        runs = attack.runs if scale == "full" else QUICK_RELEASES
        yield from ((name, epsilon, runs) for epsilon in epsilons[name])


def shown(attack: str, epsilon: float, runs: int) -> list[tuple[float, float, int]]:
    """Return the lower bound that an attack shows, the most that it could have shown, and the number of releases."""
    found = ATTACKS[attack].audit(epsilon, runs, confidence_of(attack))
    return [(round(found.epsilon_shown, 4), round(found.most, 4), found.runs)]


def recovery_cells(scale: Scale) -> Iterator[Cell]:
    """Yield the answers without an epsilon, one split of each table."""
    yield from ((table, name) for table, name in _places(scale) if MEMBERS[name].recover is not None)


def recovered(table: str, method: str) -> list[tuple[str, float, float, float]]:
    """Return what an attacker finds without the answers, by taking them as they are, and by the attack."""
    recover = MEMBERS[method].recover
    assert recover is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [recover(_split(table, 0))]


ACCURACY = Experiment("accuracy", ("table", "method", "epsilon", "run"), ("accuracy",), accuracy_cells, accuracy)
SHOWN = Experiment("audits", ("attack", "epsilon", "runs"), ("shown", "most", "releases"), audit_cells, shown)
RECOVERED = Experiment(
    "recovered", ("table", "method"), ("measure", "without", "answer", "attack"), recovery_cells, recovered
)


def measure(folder: Path, scale: Scale, jobs: int) -> None:
    """Measure everything that is missing in a folder."""
    with Workers(jobs) as workers:
        for experiment in (RECOVERED, ACCURACY, SHOWN):
            watch = partial(_tell, experiment.name, time.monotonic())
            experiment.run(folder, scale, workers=workers, watch=watch)
            experiment.settle(folder)


def _tell(name: str, start: float, done: int, total: int) -> None:
    minutes = (time.monotonic() - start) / 60
    print(f"{name}: {done}/{total}, {minutes:.1f} min", file=sys.stderr, flush=True)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two minutes, into build/family-quick")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    return parser.parse_args(words)


def main() -> None:
    from benchmarks.family import page

    given = options()
    scale: Scale = "quick" if given.quick else "full"
    folder = QUICK if given.quick else RESULTS
    measure(folder, scale, given.jobs)
    page.write(folder, scale, QUICK if given.quick else ROOT / "docs")


if __name__ == "__main__":
    main()
