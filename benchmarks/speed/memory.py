"""Memory: the peak of a fit to a Parquet file of 20 million rows, and of predicting one of 5 million.

Beside them stand the peaks at 4 million and 1 million: both should be flat.

The files have eleven numeric and three categorical attributes and a label, in row groups of a million rows, and are
written piece by piece to a temporary folder (about 1 GB). Each fit, ten trees, and each `privet predict` runs in a
fresh process and says the most memory that it held, interpreter and libraries included. A fit of 30 trees of height 10
to 20 million rows is timed against routing the same rows where they are in memory and encoded, and with its seed must
release the same counts, to the last bit. So must predictions be the model's own in memory.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed import harness
from privet import Categorical, Numeric, PrivateRDTClassifier, Schema

_PIECE = 1_000_000
_N_NUMERIC = 11
_REGIONS = [f"region {i}" for i in range(12)]
_LEVELS = ["none", "primary", "secondary", "tertiary"]
SCHEMA = Schema(
    [
        *(Numeric(f"x{j}", -4.0, 4.0) for j in range(_N_NUMERIC)),
        Categorical("region", _REGIONS),
        Categorical("level", _LEVELS),
        Categorical("member", [False, True]),
    ],
    classes=["no", "yes"],
    rows=4_000_000,
)
_NAMES = (
    "Parquet 20M rows, peak memory",
    "Parquet 20M rows, peak memory against 4M",
    "Parquet 20M rows, speed against routing in memory",
    "predict, Parquet 5M rows, peak memory",
    "predict, Parquet 5M rows, peak memory against 1M",
)


def measure(options: harness.Options) -> list[harness.Bar]:
    limits: list[tuple[float, str]] = [(400, "MB"), (1.05, "x"), (0.55, "x"), (500, "MB"), (1.15, "x")]
    if not options.full:
        why = "not run: add --full"
        return [
            harness.not_run(name, limit, why, unit=unit, at_least=name == _NAMES[2])
            for name, (limit, unit) in zip(_NAMES, limits, strict=True)
        ]
    fits = _fit_bars(limits[:3])
    return fits + _bars(_NAMES[3:], limits[3:], _predict_peak(5), _predict_peak(1), "1M")


def _fit_bars(limits: Sequence[tuple[float, str]]) -> list[harness.Bar]:
    (few,) = _fits(4)
    many, file, memory = _fits(20, "file", "memory")
    assert file["released"] == memory["released"], "a file and the table in memory released different counts"
    mine, other = file["seconds"], memory["seconds"]
    speed = harness.Bar(
        _NAMES[2], other / mine, limits[2][0], ours=harness.seconds(mine), theirs=harness.seconds(other),
        note=f"{file['peak_mb']:.0f} MB with 30 trees; the same counts are released",
    )  # fmt: skip
    return [*_bars(_NAMES[:2], limits[:2], many["peak_mb"], few["peak_mb"], "4M"), speed]


def _bars(
    names: Sequence[str], limits: Sequence[tuple[float, str]], many: float, few: float, fewer: str
) -> list[harness.Bar]:
    """Return the line of the peak at many rows, and that of its ratio to the peak at few."""
    sizes = {"ours": f"{many:.0f} MB", "theirs": f"{few:.0f} MB at {fewer}"}
    return [
        harness.Bar(names[0], many, limits[0][0], unit="MB", at_least=False, ours=sizes["ours"]),
        harness.Bar(names[1], many / few, limits[1][0], unit="x", at_least=False, **sizes),
    ]


def _fits(millions: int, *others: str) -> list[dict[str, Any]]:
    """Return what a fit to a file of this many million rows says, and what ``others`` say of the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        rows, schema = Path(folder, "rows.parquet"), Path(folder, "schema.json")
        write_rows(rows, millions)
        SCHEMA.save(schema)
        return [json.loads(_child("benchmarks.speed.fit_file", rows, schema, where)) for where in ("default", *others)]


def fit_peak(millions: int) -> float:
    """Return the peak memory in MB of a fit to this many million rows."""
    (fit,) = _fits(millions)
    return float(fit["peak_mb"])


def _predict_peak(millions: int) -> float:
    """Return the peak memory in MB of predicting this many million rows; the predictions are checked."""
    with tempfile.TemporaryDirectory() as folder:
        rows, file, predictions = (Path(folder, name) for name in ("rows.parquet", "m.privet", "predictions.parquet"))
        write_rows(rows, millions)
        model = PrivateRDTClassifier(SCHEMA, epsilon=1.0, n_trees=10, n_jobs=1).fit(rows)
        model.save(file)
        peak = float(_child("benchmarks.speed.predict_file", file, rows, predictions))
        _check_predictions(model, rows, predictions)
        return peak


def _check_predictions(model: PrivateRDTClassifier, rows: Path, predictions: Path) -> None:
    expected = model.predict_proba(pq.read_table(rows, columns=list(SCHEMA.names)))
    table = pq.read_table(predictions)
    assert np.array_equal(np.stack([table.column(f"P({label})") for label in SCHEMA.classes], axis=1), expected)
    assert np.array_equal(table.column("prediction"), model.classes_[expected.argmax(axis=1)])


def _child(module: str, *arguments: Path | str) -> str:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True, text=True).stdout


def write_rows(path: Path, millions: int) -> None:
    """Write this many million rows to ``path``, a million at a time."""
    rng = np.random.default_rng(7)
    first = _piece(rng)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for _ in range(millions - 1):
            writer.write_table(_piece(rng))


def _piece(rng: np.random.Generator) -> Any:
    numbers = rng.standard_normal((_N_NUMERIC, _PIECE), dtype=np.float32)
    columns = {f"x{j}": numbers[j] for j in range(_N_NUMERIC)}
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
