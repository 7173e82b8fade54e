"""A seeded fit in a process of its own, the child of `memory`: prints its peak, its time, and what it released.

``python -m benchmarks.speed.fit_file ROWS SCHEMA`` fits ten trees of the default height. With ``file`` at the end it
fits 30 trees of height 10, and with ``memory`` the same trees to the table in memory, where the time is that of routing
alone: the rows are read and encoded before it starts.
"""

import hashlib
import json
import resource
import sys
import time
from pathlib import Path

from benchmarks.speed.tables import HEIGHT, N_TREES
from privet import PrivateRDTClassifier, Schema
from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.schema.encoding import Encoder


def peak_mb() -> float:
    """Return the most memory that this process has held.

    ``ru_maxrss`` would start at what the parent held when it started this process, so the system's own high-water mark
    is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in status.read_text(encoding="ascii").splitlines())
        return next(int(words[1]) / 1024 for words in lines if words[0] == "VmHWM:")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def seeded(schema: Schema, n_trees: int = N_TREES, height: int | None = HEIGHT) -> PrivateRDTClassifier:
    return PrivateRDTClassifier(
        schema, epsilon=1.0, n_trees=n_trees, height=height, random_state=7, n_jobs=1, unsafe_seeded_noise=True
    )


def from_file(rows: str, model: PrivateRDTClassifier) -> tuple[PrivateRDTClassifier, float]:
    """Return the fitted model, and the CPU seconds of the whole fit."""
    start = time.process_time()
    model.fit(rows)
    return model, time.process_time() - start


def in_memory(rows: str, schema: Schema) -> tuple[PrivateRDTClassifier, float]:
    """Return the fitted model, and the CPU seconds in which its encoded rows are routed again."""
    import pyarrow.parquet as pq

    table = pq.read_table(rows)
    attributes, labels = table.select(list(schema.names)), table.column(schema.target)
    model, encoder = seeded(schema).fit(attributes, labels), Encoder(schema)
    encoded = MemoryRows(encoder.encode(attributes), encoder.encode_labels(labels))
    start = time.process_time()
    exact_leaf_counts(model.forest_, encoded, n_classes=len(schema.classes), n_jobs=1)
    return model, time.process_time() - start


def main(rows: str, schema_file: str, where: str = "default") -> None:
    schema = Schema.load(schema_file)
    if where == "memory":
        model, seconds = in_memory(rows, schema)
    else:
        model, seconds = from_file(rows, seeded(schema) if where == "file" else seeded(schema, 10, None))
    digest = hashlib.sha256(model.noisy_counts_.tobytes()).hexdigest()
    print(json.dumps({"peak_mb": peak_mb(), "seconds": seconds, "released": digest}))


if __name__ == "__main__":
    main(*sys.argv[1:])
