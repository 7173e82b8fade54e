"""Fitting the recommended forest, against scikit-learn's gradient boosting and InterpretML's private one, DP-EBM.

All fit the same float64 matrix of 14 attributes and its labels, on one thread, the peers with their defaults. Ours is
timed end to end: encoding, choices, noise, the fit and its certificate; two classes, and five. Gradient boosting is not
private. DP-EBM knows two classes only and promises less, (1, 1e-5)-DP; bounds and types are declared to it. It runs in
the environment of `peer_environment`, so only with ``--full``. Beside the times stands the peak of a fit's memory, and
what the process held before the fit, interpreter, libraries and rows included.

With ``--full`` and the history of the repository, the last two bars compare with the forest before it had soft trees
and a second stage, on its own source: the rate of a first-stage gradient pass, and the bytes a row that a fit adds.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
# The last commit before soft trees and the second stage.
BEFORE = "645b63f"
# At a million rows and two classes; elsewhere the bars are lower.
_BOOSTING, _EBM, _PASSES, _BYTES = 8, 12, 0.7, 1.5
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
    return [*bars, *(_against_ebm(n_rows, options) for n_rows in _sizes(options)), _memory(), *_before(options)]


def _sizes(options: harness.Options) -> tuple[int, ...]:
    return (FEW,) if options.quick else (FEW, MANY)


def _against_boosting(n_rows: int, n_classes: int) -> harness.Bar:
    X, y = rows_of(n_rows, n_classes)
    mine, theirs = forest(n_rows, n_classes), HistGradientBoostingClassifier(random_state=7)
    for model in (mine, theirs):
        model.fit(X[:2_000], y[:2_000])
    repeats = 3 if n_rows == FEW else 1 if n_classes > 2 else 2
    times = harness.side_by_side(lambda: mine.fit(X, y), lambda: theirs.fit(X, y), repeats=repeats)
    target = _BOOSTING if (n_rows, n_classes) == (MANY, 2) else 5
    return harness.faster(f"fit the forest, {n_rows:,} rows, {n_classes} classes, HistGradientBoosting", times, target)


def _against_ebm(n_rows: int, options: harness.Options) -> harness.Bar:
    name = f"fit the forest, {n_rows:,} rows, 2 classes, DP-EBM"
    target = _EBM if n_rows == MANY else 10
    if not options.full:
        return harness.not_run(name, target, "not run: add --full")
    X, y = rows_of(n_rows)
    mine = forest(n_rows).fit(X[:2_000], y[:2_000])
    before, theirs, after = (
        harness.cpu_seconds(lambda: mine.fit(X, y)),
        _ebm(n_rows),
        harness.cpu_seconds(lambda: mine.fit(X, y)),
    )
    return harness.faster(name, (min(before, after), theirs), target)


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
    with _saved_rows() as folder:
        before, peak = _child("forest_fit", folder)
    name = f"fit the forest, {MANY:,} rows, peak memory"
    return harness.Bar(
        name, peak, None, unit="MB", at_least=False, ours=f"{peak:.0f} MB", theirs=f"{before:.0f} MB before"
    )


def _before(options: harness.Options) -> list[harness.Bar]:
    """Compare with the forest of the commit `BEFORE`, by turns, each in processes of its own."""
    names = (f"a first-stage pass over {MANY:,} rows, forest before", f"bytes a row of a fit, {MANY:,} rows, before")
    why = "" if options.full else "not run: add --full"
    with tempfile.TemporaryDirectory() as source:
        if not why and not _extracted(BEFORE, source):
            why = f"not run: commit {BEFORE} is not in the history here"
        if why:
            return [
                harness.not_run(names[0], _PASSES, why),
                harness.not_run(names[1], _BYTES, why, at_least=False),
            ]
        with _saved_rows() as folder:
            sources = (None, f"{source}/src")
            passes = [[_child("forest_pass", folder, source=each)[0] for each in sources] for _ in range(3)]
            peaks = [[_child("forest_fit", folder, source=each) for each in sources] for _ in range(2)]
    times = min(mine for mine, _ in passes), min(other for _, other in passes)
    bytes_a_row = [min(turn[i][1] - turn[i][0] for turn in peaks) * 2**20 / MANY for i in (0, 1)]
    return [
        harness.faster(names[0], times, _PASSES),
        harness.Bar(
            names[1], bytes_a_row[0] / bytes_a_row[1], _BYTES, at_least=False, ours=f"{bytes_a_row[0]:.0f} bytes",
            theirs=f"{bytes_a_row[1]:.0f} bytes",
        ),
    ]  # fmt: skip


def _extracted(commit: str, folder: str) -> bool:
    """Write the source of a commit to ``folder``; return False where the history does not have it."""
    git = shutil.which("git")
    if git is None:
        return False
    command = [git, "archive", "--format=tar", commit, "src"]
    archive = subprocess.run(command, cwd=_FOLDER.parents[1], capture_output=True, check=False)
    if archive.returncode != 0:
        return False
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return True


@contextmanager
def _saved_rows() -> Iterator[str]:
    X, y = rows_of(MANY)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        yield folder


def _child(module: str, folder: str, *, source: str | None = None) -> list[float]:
    """Run a child on saved rows, with privet from ``source`` if given; return the numbers that it prints."""
    command = [sys.executable, "-m", f"benchmarks.speed.{module}", folder]
    environment = {**os.environ, "PYTHONPATH": source} if source else None
    done = subprocess.run(
        command, cwd=_FOLDER.parents[1], stdout=subprocess.PIPE, check=True, text=True, env=environment
    )
    return [float(each) for each in done.stdout.split()]


if __name__ == "__main__":
    harness.main(measure, __doc__)
