"""How time grows with rows, attributes, trees, height, leaves, classes and parties, one of them at a time.

Each size is called once untimed; then all sizes by turns, and the best CPU time of each counts. Models and tables are
those of the bars where nothing else is said. The memory of a fit to a file is the peak of a process of its own.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed import harness, tables
from benchmarks.speed.curve import Curve
from benchmarks.speed.forest import forest
from benchmarks.speed.masks import Round
from benchmarks.speed.memory import fit_peak
from privet import HorizontalForest, Party, PrivateForestClassifier
from privet.partitioned import PrivateKey, Roster, Structure

Work = Callable[[], object]

_REPEATS = 4
# A turn calls what is quick so often that it takes about this long: the clock is coarse.
_TURN_SECONDS = 0.05
_N_TREES = 10
_FLAT = 0.05


@dataclass(frozen=True)
class Growth:
    """What is measured over one factor: ``prepare(size)`` returns the call to be timed."""

    what: str
    factor: str
    fixed: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Work]
    expected: float = 1.0
    note: str = ""


def measure(options: harness.Options) -> list[Curve]:
    """Measure all of them; ``quick`` leaves out the larger sizes."""
    return [*(curve_of(growth, quick=options.quick) for growth in GROWTHS), memory(quick=options.quick)]


def curve_of(growth: Growth, *, quick: bool = False) -> Curve:
    """Measure one of them."""
    sizes = growth.sizes[:3] if quick else growth.sizes
    works = [growth.prepare(size) for size in sizes]
    calls = [_calls(work) for work in works]
    turns = [
        [harness.cpu_seconds(work, calls=n) for work, n in zip(works, calls, strict=True)]
        for _ in range(2 if quick else _REPEATS)
    ]
    best = [min(times) for times in zip(*turns, strict=True)]
    points = tuple(zip(map(float, sizes), best, strict=True))
    return Curve(growth.what, growth.factor, growth.fixed, points, growth.expected, note=growth.note)


def _calls(work: Work) -> int:
    """Warm up, and return how many calls fill a turn."""
    work()
    return max(1, min(1_000, int(_TURN_SECONDS / max(1e-6, harness.cpu_seconds(work)))))


def memory(*, quick: bool = False) -> Curve:
    """Measure the peak of a fit to a Parquet file over its rows."""
    points = tuple((1e6 * millions, fit_peak(millions)) for millions in ((1, 2, 4) if quick else (1, 2, 4, 8)))
    return Curve(
        "peak memory of a fit to a file", "rows", "10 trees, 14 attributes", points, 0.0, unit="MB", allowance=_FLAT
    )


def _fit(
    *, n_rows: int = 200_000, n_attributes: int = 14, n_classes: int = 2, n_trees: int = _N_TREES, height: int = 10
) -> Work:
    X, y = _rows(n_rows, n_attributes, n_classes)
    model = tables.ours(n_trees, height, tables.schema_of(n_attributes, n_classes))
    return lambda: model.fit(X, y)


def _rows(n_rows: int, n_attributes: int, n_classes: int) -> tuple[Any, Any]:
    X, y = tables.numeric_table(n_rows, n_attributes=n_attributes)
    return X, y if n_classes == 2 else tables.in_classes(X, n_classes)


def _leaves(n_leaves: int) -> Work:
    """Return a fit to so few rows that the leaves take all its time."""
    return _fit(n_rows=1_000, height=(n_leaves // _N_TREES).bit_length() - 1)


def _predict(*, n_rows: int = 200_000, n_attributes: int = 14, n_trees: int = _N_TREES, height: int = 10) -> Work:
    X, y = tables.numeric_table(n_rows, n_attributes=n_attributes)
    model = tables.ours(n_trees, height, tables.schema_of(n_attributes)).fit(X[:10_000], y[:10_000])
    return lambda: model.predict_proba(X)


def _forest_fit(*, n_rows: int = 100_000, n_attributes: int = 14, n_classes: int = 2, n_cells: int = 7) -> Work:
    """Return a fit of the recommended forest with a tree for every attribute; a leaf more is for missing values."""
    X, y = _rows(n_rows, n_attributes, n_classes)
    schema = tables.schema_of(n_attributes, n_classes, rows=n_rows, bins=n_cells)
    model = PrivateForestClassifier(
        schema, epsilon=1.0, n_attributes=n_attributes, group_size=1, random_state=7, n_jobs=1
    )
    return lambda: model.fit(X, y)


def _plain_forest_fit(n_rows: int) -> Work:
    X, y = tables.numeric_table(n_rows)
    model = forest(n_rows)
    return lambda: model.fit(X, y)


def _plain_forest_predict(n_rows: int) -> Work:
    X, y = tables.numeric_table(n_rows)
    model = forest(10_000).fit(X[:10_000], y[:10_000])
    return lambda: model.predict_proba(X)


def _structure() -> Structure:
    return Structure.draw(tables.SCHEMA, epsilon=1.0, n_trees=_N_TREES, height=8, random_state=7)


def _release(n_rows: int) -> Work:
    """Return one party's release; each goes to a new store, which has nothing to replay."""
    X, y = tables.numeric_table(n_rows)
    structure, key = _structure(), PrivateKey.generate("party")

    def release() -> None:
        with tempfile.TemporaryDirectory() as folder:
            Party(key, store=Path(folder, "store"), n_jobs=1).release(structure, X, y)

    return release


def _combine(n_parties: int) -> Work:
    X, y = tables.numeric_table(1_000)
    structure = _structure()
    with tempfile.TemporaryDirectory() as folder:
        parties = [Party(PrivateKey.generate(f"party{i}"), store=Path(folder, f"{i}")) for i in range(n_parties)]
        releases = [party.release(structure, X, y) for party in parties]
    roster = Roster(party.public for party in parties)
    return lambda: HorizontalForest.combine(structure, roster, releases)


_RDT, _RECOMMENDED = "fit Private-RDT", "fit the recommended forest"
_SHAPE = "10 trees of height 10"
_TWOFOLD = tuple(62_500 * 2**i for i in range(6))
_TWO_CLASSES = (
    "a pass over the rows is linear, but the fit also solves equations that couple every two classes of all leaves; "
    "beyond 4,096 weights it solves them a tree at a time, in more passes"
)

GROWTHS = (
    Growth(_RDT, "rows", f"{_SHAPE}, 14 attributes", _TWOFOLD, lambda n: _fit(n_rows=n)),
    Growth(_RDT, "attributes", f"200,000 rows, {_SHAPE}", (8, 16, 32, 64, 128), lambda n: _fit(n_attributes=n)),
    Growth(_RDT, "trees", "200,000 rows, height 10", (8, 16, 32, 64, 128), lambda n: _fit(n_trees=n)),
    Growth(_RDT, "height", "500,000 rows, 10 trees", (3, 4, 6, 8, 12), lambda n: _fit(n_rows=500_000, height=n)),
    Growth(_RDT, "leaves", "1,000 rows, 10 trees", tuple(10 * 2**h for h in range(10, 16)), _leaves),
    Growth(_RDT, "classes", f"200,000 rows, {_SHAPE}", (2, 4, 8, 16, 32), lambda n: _fit(n_classes=n)),
    Growth(_RECOMMENDED, "rows", "14 attributes, 2 classes", _TWOFOLD, _plain_forest_fit),
    Growth(
        _RECOMMENDED, "attributes", "100,000 rows, 8 leaves each", (8, 16, 32, 64),
        lambda n: _forest_fit(n_attributes=n),
    ),
    Growth(
        _RECOMMENDED, "leaves", "100,000 rows, 14 attributes", tuple(14 * own for own in (8, 16, 32, 64)),
        lambda n: _forest_fit(n_cells=n // 14 - 1),
    ),
    Growth(
        _RECOMMENDED, "classes", "100,000 rows, 14 attributes, 8 leaves each", (3, 6, 12, 24),
        lambda n: _forest_fit(n_classes=n), expected=2.0, note=_TWO_CLASSES,
    ),
    Growth("predict, Private-RDT", "rows", _SHAPE, _TWOFOLD, lambda n: _predict(n_rows=n)),
    Growth("predict, Private-RDT", "trees", "200,000 rows", (8, 16, 32, 64, 128), lambda n: _predict(n_trees=n)),
    Growth("predict, Private-RDT", "height", "200,000 rows", (3, 4, 6, 8, 12), lambda n: _predict(height=n)),
    Growth("predict, recommended forest", "rows", "14 attributes, 2 classes", _TWOFOLD, _plain_forest_predict),
    Growth("a party's release", "rows", "10 trees of height 8", _TWOFOLD, _release),
    Growth(
        "a party's masks", "other parties", "100,000 counters", (2, 4, 8, 16, 32),
        lambda n: Round.of(n + 1, 100_000).masked,
    ),
    Growth("combine releases", "parties", "10 trees of height 8", (4, 8, 16, 32, 64), _combine),
)  # fmt: skip
