"""Memory: the peak of a fit to a Parquet file of 20 million rows, and beside it that of 4 million.

The files have five numeric and three categorical attributes and a label, in row groups of a million rows, and are
written piece by piece to a temporary folder (about 1 GB). Each fit, ten trees, runs in a fresh process and says the
most memory that it held, interpreter and libraries included.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import harness
from privet import Categorical, Numeric, Schema

_PIECE = 1_000_000
_REGIONS = [f"region {i}" for i in range(12)]
_LEVELS = ["none", "primary", "secondary", "tertiary"]
SCHEMA = Schema(
    [
        *(Numeric(f"x{j}", -4.0, 4.0) for j in range(5)),
        Categorical("region", _REGIONS),
        Categorical("level", _LEVELS),
        Categorical("member", [False, True]),
    ],
    classes=["no", "yes"],
    rows=4_000_000,
)
_NAMES = ("Parquet 20M rows, peak memory", "Parquet 20M rows, peak memory against 4M")


def measure(options: harness.Options) -> list[harness.Bar]:
    limits: list[tuple[float, str]] = [(400, "MB"), (1.05, "x")]
    if not options.full:
        why = "not run: add --full"
        return [
            harness.not_run(name, limit, why, unit=unit, at_least=False)
            for name, (limit, unit) in zip(_NAMES, limits, strict=True)
        ]
    many, few = _peak(20), _peak(4)
    sizes = {"ours": f"{many:.0f} MB", "theirs": f"{few:.0f} MB at 4M"}
    return [
        harness.Bar(_NAMES[0], many, 400, unit="MB", at_least=False, ours=sizes["ours"]),
        harness.Bar(_NAMES[1], many / few, 1.05, unit="x", at_least=False, **sizes),
    ]


def _peak(millions: int) -> float:
    """Return the peak memory in MB of a fit to this many million rows."""
    with tempfile.TemporaryDirectory() as folder:
        rows, schema = Path(folder, "rows.parquet"), Path(folder, "schema.json")
        write_rows(rows, millions)
        SCHEMA.save(schema)
        command = [sys.executable, "-m", "benchmarks.fit_file", str(rows), str(schema)]
        root = Path(__file__).parents[1]
        return float(subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout)


def write_rows(path: Path, millions: int) -> None:
    """Write this many million rows to ``path``, a million at a time."""
    rng = np.random.default_rng(7)
    first = _piece(rng)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for _ in range(millions - 1):
            writer.write_table(_piece(rng))


def _piece(rng: np.random.Generator) -> Any:
    numbers = rng.standard_normal((5, _PIECE), dtype=np.float32)
    columns = {f"x{j}": numbers[j] for j in range(5)}
    region, level = rng.integers(len(_REGIONS), size=_PIECE), rng.integers(len(_LEVELS), size=_PIECE)
    return pa.table(
        {
            **columns,
            "region": np.array(_REGIONS)[region],
            "level": np.array(_LEVELS)[level],
            "member": rng.random(_PIECE) < 0.5,
            "class": np.where(numbers[0] + numbers[1] > 0, "yes", "no"),
        }
    )


if __name__ == "__main__":
    harness.main(measure, __doc__)
