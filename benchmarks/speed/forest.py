"""Fitting the recommended forest, against scikit-learn's gradient boosting and InterpretML's private one, DP-EBM.

All fit the same float64 matrix of 14 attributes and its labels, on one thread, the peers with their defaults. Ours is
timed end to end: encoding, choices, noise, the fit and its certificate; two classes, and five. Gradient boosting is not
private. DP-EBM knows two classes only and promises less, (1, 1e-5)-DP; bounds and types are declared to it. It runs in
the environment of `peer_environment`, so only with ``--full``. Beside the times stands the peak of a fit's memory, and
what the process held before the fit, interpreter, libraries and rows included.
"""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

import privet
from benchmarks.peer_environment import INTERPRET, python_with
from benchmarks.speed import harness, tables

FEW, MANY = 100_000, 1_000_000
_FOLDER = Path(__file__).parent


def forest(n_rows: int, n_classes: int = 2) -> Any:
    return privet.PrivateForestClassifier(tables.schema_of(n_classes=n_classes, rows=n_rows), epsilon=1.0, n_jobs=1)


@cache
def rows_of(n_rows: int, n_classes: int = 2) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the table of the other benchmarks as float64."""
    X, y = tables.numeric_table(n_rows)
    return X.astype(np.float64), y if n_classes == 2 else tables.in_classes(X, n_classes)


def measure(options: harness.Options) -> list[harness.Bar]:
    bars = [_against_boosting(n_rows, n_classes) for n_classes in (2, 5) for n_rows in _sizes(options)]
    return [*bars, *(_against_ebm(n_rows, options) for n_rows in _sizes(options)), _memory()]


def _sizes(options: harness.Options) -> tuple[int, ...]:
    return (FEW,) if options.quick else (FEW, MANY)


def _against_boosting(n_rows: int, n_classes: int) -> harness.Bar:
    X, y = rows_of(n_rows, n_classes)
    mine, theirs = forest(n_rows, n_classes), HistGradientBoostingClassifier(random_state=7)
    for model in (mine, theirs):
        model.fit(X[:2_000], y[:2_000])
    repeats = 3 if n_rows == FEW else 1 if n_classes > 2 else 2
    times = harness.side_by_side(lambda: mine.fit(X, y), lambda: theirs.fit(X, y), repeats=repeats)
    return harness.faster(f"fit the forest, {n_rows:,} rows, {n_classes} classes, HistGradientBoosting", times, 5)


def _against_ebm(n_rows: int, options: harness.Options) -> harness.Bar:
    name = f"fit the forest, {n_rows:,} rows, 2 classes, DP-EBM"
    if not options.full:
        return harness.not_run(name, 10, "not run: add --full")
    X, y = rows_of(n_rows)
    mine = forest(n_rows).fit(X[:2_000], y[:2_000])
    before, theirs, after = (
        harness.cpu_seconds(lambda: mine.fit(X, y)),
        _ebm(n_rows),
        harness.cpu_seconds(lambda: mine.fit(X, y)),
    )
    return harness.faster(name, (min(before, after), theirs), 10)


def _ebm(n_rows: int) -> float:
    """Return DP-EBM's best CPU seconds."""
    python = python_with("interpret.privacy", [INTERPRET])
    X, y = rows_of(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.npz")
        np.savez(rows, X=X, y=y)
        command = [str(python), "-P", str(_FOLDER / "ebm_fit.py"), str(rows), "2"]
        return float(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def _memory() -> harness.Bar:
    X, y = rows_of(MANY)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        command = [sys.executable, "-m", "benchmarks.speed.forest_fit", folder]
        done = subprocess.run(command, cwd=_FOLDER.parents[1], stdout=subprocess.PIPE, check=True, text=True)
    before, peak = map(float, done.stdout.split())
    name = f"fit the forest, {MANY:,} rows, peak memory"
    return harness.Bar(
        name, peak, None, unit="MB", at_least=False, ours=f"{peak:.0f} MB", theirs=f"{before:.0f} MB before"
    )


if __name__ == "__main__":
    harness.main(measure, __doc__)
