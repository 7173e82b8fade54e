"""Many cases in a row: which case is of which kind, and the sums of what became of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.hostile.case import OPENED, REFUSED, VIOLATION, Case, Outcome
from tests.hostile.choices import Choices

# Of a thousand cases, how many are of each kind: none below 20, and more of what is quickly tried.
SHARES = {
    "schema": 100, "model": 130, "local model": 90, "party model": 70, "structure": 60, "roster": 40, "key": 40,
    "release": 50, "sum message": 40, "sum store": 20, "channel": 80, "secret": 30, "ledger": 30, "csv": 60,
    "packed csv": 30, "parquet": 40, "arrow": 30, "signature": 20, "about": 20, "attachment": 20,
}  # fmt: skip
BLOCK = sum(SHARES.values())


@cache
def schedule() -> tuple[str, ...]:
    """Return the kinds of a block of cases, mixed, so that any part of a run has some of each."""
    places = [((place + 0.5) / share, kind) for kind, share in SHARES.items() for place in range(share)]
    return tuple(kind for _, kind in sorted(places))


def case_of(seed: int, number: int) -> Case:
    """Return a case by its number; the same one in every run with this seed."""
    return Case(schedule()[number % BLOCK], Choices.of_seed(seed, number))


def outcomes(seed: int, numbers: Iterable[int], room: Path) -> Iterator[Outcome]:
    """Run the cases called ``numbers``, one after the other."""
    for number in numbers:
        yield case_of(seed, number).run(room, f"{seed}-{number}")


@dataclass
class Tally:
    """How many cases of each kind were opened, refused, or neither."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.kind, outcome.what] += 1

    def of(self, what: str) -> int:
        return sum(count for (_, each), count in self.counts.items() if each == what)

    @property
    def n_cases(self) -> int:
        return self.counts.total()

    def lines(self) -> Iterator[str]:
        """Yield a table with one line a kind."""
        yield f"{'kind':<12} {'cases':>9} {OPENED:>9} {REFUSED:>9} {'violations':>10}"
        for kind in SHARES:
            each = [self.counts[kind, what] for what in (OPENED, REFUSED, VIOLATION)]
            yield f"{kind:<12} {sum(each):>9,} {each[0]:>9,} {each[1]:>9,} {each[2]:>10,}"
        every = [self.of(what) for what in (OPENED, REFUSED, VIOLATION)]
        yield f"{'all':<12} {self.n_cases:>9,} {every[0]:>9,} {every[1]:>9,} {every[2]:>10,}"
