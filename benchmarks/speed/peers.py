"""Peers: the time per row and tree of a fit, Private-RDT against diffprivlib's RandomForestClassifier.

diffprivlib 0.6.6 is a pure-Python forest of random trees whose leaves are labelled by permute-and-flip; like ours its
structure does not depend on the rows. It needs an older scikit-learn, so it runs in an environment of its own (see
`peer_environment`). Both fit 20,000 rows of 14 numeric attributes with 10 trees of depth 10, bounds and classes
declared, on one thread. Ours is also timed on a million rows: a fit has costs that do not grow with the rows, and those
weigh less there.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peer_environment import DIFFPRIVLIB, python_with
from benchmarks.speed import harness, tables

_ROWS, _TREES = 20_000, 10
_NAMES = ("fit per row-tree at 1e6 rows, diffprivlib 0.6.6 at 2e4", "fit per row-tree at 2e4 rows, diffprivlib 0.6.6")


def measure(options: harness.Options) -> list[harness.Bar]:
    if not options.full:
        return [harness.not_run(_NAMES[0], 400, "not run: add --full")]
    python = python_with("diffprivlib", DIFFPRIVLIB)
    few_before, theirs, few_after = _ours(_ROWS), _diffprivlib(python), _ours(_ROWS)
    many = _ours(1_000_000)
    return [
        harness.faster(_NAMES[0], (many, theirs), 400),
        harness.faster(_NAMES[1], (min(few_before, few_after), theirs), None),
    ]


def _ours(n_rows: int) -> float:
    """Return privet's best CPU seconds per row and tree."""
    X, y = tables.numeric_table(n_rows)
    model = tables.ours(_TREES).fit(X[:100], y[:100])
    return min(harness.cpu_seconds(lambda: model.fit(X, y)) for _ in range(3)) / (n_rows * _TREES)


def _diffprivlib(python: Path) -> float:
    """Return diffprivlib's best CPU seconds per row and tree."""
    X, y = tables.numeric_table(_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.npz")
        np.savez(rows, X=X.astype(np.float64), y=y)
        script = str(Path(__file__).with_name("diffprivlib_fit.py"))
        # -P: what lies beside the script is not importable there.
        command = [str(python), "-P", script, str(rows), str(_TREES), str(tables.HEIGHT)]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
    return float(done.stdout) / (_ROWS * _TREES)


if __name__ == "__main__":
    harness.main(measure, __doc__)
