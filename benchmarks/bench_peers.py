"""Peers: the time per row and tree of a fit, Private-RDT against diffprivlib's RandomForestClassifier.

diffprivlib 0.6.6 is a pure-Python forest of random trees whose leaves are labelled by permute-and-flip; like ours its
structure does not depend on the rows. It needs scikit-learn below 1.9, so it runs in an environment of its own,
``.venv-peers``, which this script makes on its first run: ``pip install diffprivlib==0.6.6 "scikit-learn<1.9"``.
Both fit 20,000 rows of 14 numeric attributes with 10 trees of depth 10, bounds and classes declared, on one thread.
Ours is also timed on a million rows: a fit has costs that do not grow with the rows, and those weigh less there.
"""

import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import harness, tables

_ROOT = Path(__file__).parents[1]
_PYTHON = _ROOT / ".venv-peers" / "bin" / "python"
_INSTALL = ["diffprivlib==0.6.6", "scikit-learn<1.9"]
_ROWS, _TREES = 20_000, 10
_NAMES = ("fit per row-tree at 1e6 rows, diffprivlib 0.6.6 at 2e4", "fit per row-tree at 2e4 rows, diffprivlib 0.6.6")


def measure(options: harness.Options) -> list[harness.Bar]:
    if not options.full:
        return [harness.not_run(_NAMES[0], 400, "not run: add --full")]
    python_with("diffprivlib", _INSTALL)
    few_before, theirs, few_after = _ours(_ROWS), _diffprivlib(), _ours(_ROWS)
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


def _diffprivlib() -> float:
    """Return diffprivlib's best CPU seconds per row and tree."""
    X, y = tables.numeric_table(_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.npz")
        np.savez(rows, X=X.astype(np.float64), y=y)
        script = str(Path(__file__).with_name("diffprivlib_fit.py"))
        command = [str(_PYTHON), script, str(rows), str(_TREES), str(tables.HEIGHT)]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
    return float(done.stdout) / (_ROWS * _TREES)


def python_with(module: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of the peers' environment, where ``module`` is installed if it is not there."""
    if not _PYTHON.exists():
        venv.create(_PYTHON.parents[1], with_pip=True)
    installed = subprocess.run([str(_PYTHON), "-c", f"import {module}"], capture_output=True, check=False)
    if installed.returncode != 0:
        print(f"installing {' and '.join(requirements)} into {_PYTHON.parents[1].name}", file=sys.stderr)
        subprocess.run([str(_PYTHON), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return _PYTHON


if __name__ == "__main__":
    harness.main(measure, __doc__)
