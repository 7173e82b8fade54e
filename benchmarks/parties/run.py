"""Measure what is missing: ``python -m benchmarks.parties.run``, about an hour of one core; then the page.

The training rows of each split are dealt out to parties at random, in equal parts. Each party says how many rows it
has. Releases go through the same files, signatures and checks as those of users. Every line is added to the results
when it is done, so a run can be broken off at any time and resumed.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.parties import page
from benchmarks.parties.secure import secure_forest
from benchmarks.utility.scores import Predictions, scores_of
from benchmarks.utility.splits import Split
from benchmarks.utility.store import Cell, Store
from privet import CombinedForest, HorizontalForest, Party, PrivateForestClassifier
from privet.estimator import PrivateClassifier
from privet.partitioned import ForestRound, PrivateKey, Release, Roster, Structure
from privet.partitioned.structure import Round

RESULTS = Path(__file__).with_name("results")
FITS = RESULTS / "fits.jsonl"
TABLES = ("compas", "mushroom", "nursery", "bank-marketing", "adult", "connect-4")
EPSILONS, PARTIES, REPEATS = (0.1, 0.5, 1.0), (3, 10, 30), range(5)
CURATOR, COMBINED, SECURE, ALONE, BEST, RANDOM = (
    "curator", "combined", "secure", "one party, mean", "one party, best", "random trees",
)  # fmt: skip


def cells(repeats: range) -> Iterator[Cell]:
    """Return all fits: the number of parties is part of a method's name, except for the curator's."""
    for table in TABLES:
        for repeat in repeats:
            for epsilon in EPSILONS:
                yield Cell(CURATOR, table, epsilon, repeat)
                for n in PARTIES:
                    for method in (COMBINED, SECURE, ALONE, BEST, RANDOM):
                        yield Cell(f"{method}, {n} parties", table, epsilon, repeat)


class Dealt:
    """A split whose training rows are dealt out to parties."""

    def __init__(self, table: str, repeat: int, n_parties: int) -> None:
        self.split = Split(table, repeat)
        X, self.X_test = self.split.frames()
        self.X, self.y = X.reset_index(drop=True), self.split.labels
        order = np.random.default_rng([repeat, n_parties]).permutation(len(self.y))
        self.parts: list[NDArray[np.intp]] = np.array_split(order, n_parties)

    def releases(self, structure: Round, folder: Path, *, says_rows: bool) -> tuple[Roster, list[Release]]:
        """Return every party's release."""
        parties = [Party(PrivateKey.generate(f"party-{i:02}"), store=folder / str(i)) for i in range(len(self.parts))]
        sent = [
            party.release(
                structure, self.X.iloc[part].reset_index(drop=True), self.y[part],
                n_rows=len(part) if says_rows else None,
            )
            for party, part in zip(parties, self.parts, strict=True)
        ]  # fmt: skip
        return Roster([party.public for party in parties]), sent


def measure(store: Store, dealt: Dealt, epsilon: float, wanted: set[str]) -> None:
    """Fit all that is wanted of one split, number of parties and epsilon, and add the lines."""
    split, n = dealt.split, len(dealt.parts)

    def add(method: str, chances: NDArray[np.float64]) -> None:
        said = Predictions(chances.argmax(axis=1), chances, 0.0)
        store.add(Cell(method, split.table, epsilon, split.repeat), scores_of(split.truth, said))

    def chances_of(model: PrivateClassifier) -> NDArray[np.float64]:
        return model.predict_proba(dealt.X_test)

    with tempfile.TemporaryDirectory() as folder:
        if CURATOR in wanted:
            add(CURATOR, chances_of(PrivateForestClassifier(split.schema, epsilon=epsilon).fit(dealt.X, dealt.y)))
        if f"{COMBINED}, {n} parties" in wanted:
            agreed = ForestRound.draw(split.schema, epsilon=epsilon)
            roster, sent = dealt.releases(agreed, Path(folder) / "forests", says_rows=True)
            add(f"{COMBINED}, {n} parties", chances_of(CombinedForest.combine(agreed, roster, sent)))
            alone = [chances_of(release.check(agreed, roster)) for release in sent]
            right = [float((own.argmax(axis=1) == split.truth).mean()) for own in alone]
            add(f"{ALONE}, {n} parties", alone[int(np.argsort(right)[len(right) // 2])])
            add(f"{BEST}, {n} parties", alone[int(np.argmax(right))])
        if f"{SECURE}, {n} parties" in wanted:
            add(f"{SECURE}, {n} parties", chances_of(secure_forest(dealt, epsilon)))
        if f"{RANDOM}, {n} parties" in wanted:
            trees = Structure.draw(split.schema, epsilon=epsilon, n_rows=len(dealt.y))
            roster, sent = dealt.releases(trees, Path(folder) / "counts", says_rows=False)
            add(f"{RANDOM}, {n} parties", chances_of(HorizontalForest.combine(trees, roster, sent)))


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=len(REPEATS), help="splits of each table")
    parser.add_argument("--out", type=Path, default=FITS)
    options = parser.parse_args()
    store = Store(options.out)
    missing = store.missing(cells(range(options.repeats)))
    start = time.monotonic()
    groups = list(dict.fromkeys((cell.table, cell.repeat) for cell in missing))
    for done, (table, repeat) in enumerate(groups, start=1):
        for n in PARTIES:
            dealt = Dealt(table, repeat, n)
            for epsilon in EPSILONS:
                own = {c.method for c in missing if (c.table, c.repeat, c.epsilon) == (table, repeat, epsilon)}
                own -= {CURATOR} if n != PARTIES[0] else set()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # classes with few rows, advice on budgets
                    measure(store, dealt, epsilon, own)
        left = (time.monotonic() - start) / done * (len(groups) - done) / 60
        print(f"{done}/{len(groups)}  {table}, split {repeat}; about {left:.0f} min left", file=sys.stderr, flush=True)
    page.write(options.out)


if __name__ == "__main__":
    main()
