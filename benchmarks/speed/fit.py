"""Fitting: Private-RDT against scikit-learn's ExtraTrees and RandomForest, 30 trees of depth 10 each.

All three fit the same float32 matrix of 14 attributes and its labels, on one thread. Ours is timed end to end:
encoding, tree structure, counting, noise. ExtraTrees with ``max_features=1`` is the nearest of scikit-learn's forests,
since it draws attribute and threshold at random too; it and RandomForest are not private. float32 is what scikit-learn
computes in, so that it converts nothing. RandomForest takes minutes on a million rows and is timed once there.
"""

from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from benchmarks.speed import harness, tables

_SIZE: dict[str, Any] = {
    "n_estimators": tables.N_TREES,
    "max_depth": tables.HEIGHT,
    "n_jobs": 1,
    "random_state": 7,
}


def extra_trees() -> Any:
    return ExtraTreesClassifier(max_features=1, **_SIZE)


def random_forest() -> Any:
    return RandomForestClassifier(**_SIZE)


def measure(options: harness.Options) -> list[harness.Bar]:
    few, many = 100_000, 1_000_000
    bars = [
        _against("ExtraTrees(max_features=1)", extra_trees(), many, 25, repeats=3),
        _against("ExtraTrees(max_features=1)", extra_trees(), few, 13, repeats=5),
    ]
    if options.quick:
        bar = _against("RandomForest", random_forest(), few, None, repeats=1, note="the bar is for 1e6 rows")
    else:
        bar = _against("RandomForest", random_forest(), many, 120, repeats=1)
    return [*bars, bar]


def _against(name: str, theirs: Any, n_rows: int, target: float | None, *, repeats: int, note: str = "") -> harness.Bar:
    X, y = tables.numeric_table(n_rows)
    mine = tables.ours()
    for model in (mine, theirs):
        model.fit(X[:2_000], y[:2_000])
    times = harness.side_by_side(lambda: mine.fit(X, y), lambda: theirs.fit(X, y), repeats=repeats)
    return harness.faster(f"fit {n_rows:,} rows, {name}", times, target, note)


if __name__ == "__main__":
    harness.main(measure, __doc__)
