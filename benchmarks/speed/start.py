"""Starting up: the CPU seconds of a fresh interpreter that imports privet, and of verbs on a small table.

The interpreter's own start is part of the figure; the note gives the share of the import alone, as ``-X importtime``
has it. The best of five runs, with byte code and kernels already compiled. Every estimator needs scikit-learn's base
class, so its import is shown beside that of an estimator.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.speed import harness

_PRIVET = [sys.executable, "-m", "privet"]
_ROWS = 1000


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    python = [sys.executable, "-X", "importtime", "-c"]
    alone = _import_seconds([*python, "import privet"])
    return [
        _started("import privet", [*python, "import privet"], 0.5, note=f"{harness.seconds(alone)} besides Python"),
        _started("import sklearn.base", [*python, "import sklearn.base"], None),
        _started("import PrivateForestClassifier", [*python, "from privet import PrivateForestClassifier"], 1.2),
        _started("privet --help", [*_PRIVET, "--help"], None),
        *_verbs(),
    ]


def _started(name: str, command: list[str], target: float | None, note: str = "") -> harness.Bar:
    best = min(_cpu_seconds(command) for _ in range(5))
    return harness.Bar(name, best, target, unit="s", at_least=False, ours=harness.seconds(best), note=note)


def _verbs() -> list[harness.Bar]:
    """Return what checking a schema, fitting and predicting take on 1,000 rows."""
    from privet.datasets import agrawal

    data = agrawal(_ROWS, function=1, random_state=7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, schema, model = (str(folder / file) for file in ("rows.csv", "schema.json", "model.privet"))
        data.X.assign(**{data.schema.target: data.y}).to_csv(rows, index=False)
        data.schema.save(schema)
        fit = [*_PRIVET, "fit", rows, "--schema", schema, "--epsilon", "1", "--force", "-o", model]
        predict = [*_PRIVET, "predict", model, rows, "--force", "-o", str(folder / "out.csv")]
        return [
            _started("privet schema check", [*_PRIVET, "schema", "check", schema], 0.7),
            _started(f"privet fit, {_ROWS:,} rows", fit, 2.0),
            _started(f"privet predict, {_ROWS:,} rows", predict, 2.0),
        ]


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _import_seconds(command: list[str]) -> float:
    """Return the cumulative time of the last import, the one that was asked for."""
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stderr.splitlines()
    return int(lines[-1].split("|")[1]) / 1e6


if __name__ == "__main__":
    harness.main(measure, __doc__)
