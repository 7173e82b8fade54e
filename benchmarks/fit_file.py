"""Fit to a Parquet file in a process of its own and print the peak of its memory in MB: the child of bench_memory."""

import resource
import sys
from pathlib import Path

from privet import PrivateRDTClassifier, Schema


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


def main(rows: str, schema: str) -> None:
    PrivateRDTClassifier(Schema.load(schema), epsilon=1.0, n_trees=10, n_jobs=1).fit(rows)
    print(peak_mb())


if __name__ == "__main__":
    main(*sys.argv[1:])
