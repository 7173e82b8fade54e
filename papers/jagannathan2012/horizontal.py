"""Section 5.3: rows spread over 2 to 10 parties, at epsilon 0.5: release files, a secure sum, one curator.

Every party is a `Party` with a key and a store of its own; what it releases goes through a file, or through the two
messages of a secure sum. Run ``python -m papers.jagannathan2012.horizontal``; the picture and the table go to
``results/``.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.jagannathan2012 import folds
from papers.jagannathan2012.tables import TREES, Table
from privet import HorizontalForest, Party, PrivateRDTClassifier
from privet.partitioned import PrivateKey, Release, Roster, SecureSumForest, Structure, SumParty, Terms

EPSILON = 0.5
PARTIES = (2, 3, 4, 5, 6, 7, 8, 9, 10)
TITLES = {"nursery": "Nursery", "mushroom": "Mushroom", "congressional-voting": "Congressional Voting"}
COLUMNS = ("table", "way", "parties", "accuracy", "sd", "majority")
Rows: TypeAlias = list[tuple[Any, Any]]


def by_curator(table: Table, X: Any, y: Any, *, n_trees: int) -> Any:
    """Return the forest of one curator who holds all rows."""
    return PrivateRDTClassifier(table.schema, epsilon=EPSILON, n_trees=n_trees).fit(X, y)


def by_parties(table: Table, X: Any, y: Any, *, n_parties: int, n_trees: int, combine: Callable[..., Any]) -> Any:
    """Return the forest of parties among whom the rows are dealt out."""
    structure = Structure.draw(table.schema, epsilon=EPSILON, n_trees=n_trees)
    shares = np.array_split(np.random.default_rng().permutation(len(X)), n_parties)
    rows = [(X.iloc[share], y[share]) for share in shares]
    with tempfile.TemporaryDirectory() as folder:
        keys = [PrivateKey.generate(f"party{i}") for i in range(n_parties)]
        parties = [Party(key, store=Path(folder) / key.name) for key in keys]
        return combine(structure, Roster(party.public for party in parties), parties, rows, Path(folder))


def release_files(structure: Structure, roster: Roster, parties: list[Party], rows: Rows, folder: Path) -> Any:
    """Each party writes its release to a file, and the files are combined."""
    for party, own in zip(parties, rows, strict=True):
        party.release(structure, *own).save(folder / f"{party.key.name}.json")
    sent = [Release.load(path) for path in sorted(folder.glob("*.json"))]
    return HorizontalForest.combine(structure, roster, sent)


def secure_sum(
    structure: Structure, roster: Roster, parties: list[Party], rows: Rows, _folder: Path, *, all_honest: bool = False
) -> Any:
    """Only the sum is opened; by default it carries enough noise where one party is not honest."""
    terms = Terms(structure, roster, len(parties) if all_honest else None)
    members = {party.key.name: SumParty(party, terms) for party in parties}
    for member, own in zip(members.values(), rows, strict=True):
        member.prepare(*own)
    keys = {name: member.key_message(1) for name, member in members.items()}
    masked = {name: member.masked_message(1, keys) for name, member in members.items()}
    return SecureSumForest.open(terms, 1, keys, masked)


WAYS: dict[str, Callable[..., Any]] = {
    "release files": release_files,
    "secure sum, all but one honest": secure_sum,
    "secure sum, all honest": partial(secure_sum, all_honest=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=folds.RESULTS)
    chosen = parser.parse_args()
    cells = [folds.Cell(table, "one curator", 1, partial(by_curator, n_trees=TREES[table])) for table in TITLES] + [
        folds.Cell(table, way, m, partial(by_parties, n_parties=m, n_trees=TREES[table], combine=combine))
        for table in TITLES
        for way, combine in WAYS.items()
        for m in PARTIES
    ]
    lines = folds.figure_lines(cells, folds.measure(cells, chosen.runs))
    folds.write_lines(chosen.output / "horizontal.csv", COLUMNS, lines)
    folds.draw(chosen.output / "horizontal.png", lines, x="parties, epsilon 0.5", titles=TITLES)


if __name__ == "__main__":
    main()
