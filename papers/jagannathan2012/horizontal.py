"""Section 5.3: rows spread over 2 to 10 parties, at epsilon 0.5: release files, a secure sum, one curator.

Every party is a `Party` with a key and a store of its own; what it releases goes through a file, or through the two
messages of a secure sum.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.tables import TREES, Table
from privet import HorizontalForest, Party, PrivateRDTClassifier
from privet.partitioned import PrivateKey, Release, Roster, SecureSumForest, Structure, SumParty, Terms

EPSILON = 0.5
PARTIES = {"quick": (2, 10), "full": (2, 3, 4, 5, 6, 7, 8, 9, 10)}
CURATOR = "one curator"
FILES = "release files"
SUM = "secure sum, all but one honest"
SUM_OF_HONEST = "secure sum, all honest"
WAYS = (CURATOR, FILES, SUM, SUM_OF_HONEST)
Rows: TypeAlias = list[tuple[Any, Any]]


def by_curator(table: Table, X: Any, y: Any, *, n_trees: int, epsilon: float, seed: int) -> Any:
    """Return the forest of one curator who holds all rows."""
    model = PrivateRDTClassifier(table.schema, epsilon=epsilon, n_trees=n_trees, random_state=seed, n_jobs=1)
    return model.fit(X, y)


def by_parties(
    table: Table,
    X: Any,
    y: Any,
    *,
    n_trees: int,
    epsilon: float,
    seed: int,
    n_parties: int,
    combine: Callable[..., Any],
) -> Any:
    """Return the forest of parties among whom the rows are dealt out."""
    structure = Structure.draw(table.schema, epsilon=epsilon, n_trees=n_trees, random_state=seed)
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


COMBINE: dict[str, Callable[..., Any]] = {
    FILES: release_files,
    SUM: secure_sum,
    SUM_OF_HONEST: partial(secure_sum, all_honest=True),
}


def measure(name: str, n_trees: int, way: str, n_parties: int, epsilon: float, run: int) -> list[tuple[float]]:
    common: dict[str, Any] = {"n_trees": n_trees, "epsilon": epsilon, "seed": run}
    if way == CURATOR:
        return [(accuracy(name, run, partial(by_curator, **common)),)]
    train = partial(by_parties, **common, n_parties=n_parties, combine=COMBINE[way])
    return [(accuracy(name, run, train),)]


def cells(scale: Scale) -> Iterator[Cell]:
    points = [(name, TREES[name], CURATOR, 1, EPSILON) for name in TREES]
    points += [(name, TREES[name], way, m, EPSILON) for name in TREES for way in COMBINE for m in PARTIES[scale]]
    return over_runs(scale, points)


EXPERIMENT = Experiment(
    "horizontal", ("table", "trees", "way", "parties", "epsilon", "run"), ("accuracy",), cells, measure
)
