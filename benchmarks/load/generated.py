"""Rows that are made when they are asked for: the same ones every time, a batch at a time, in no file."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from privet import Categorical, Numeric, Schema

N_NUMERIC = 7
LEVELS = ("none", "primary", "secondary", "tertiary")
REGIONS = tuple(f"region {i}" for i in range(12))
BATCH = 65_536


def schema_of(n_rows: int) -> Schema:
    """Return what is public about ``n_rows`` generated rows: seven numbers, two categories, a flag, two classes."""
    return Schema(
        [
            *(Numeric(f"x{j}", 0.0, 1.0) for j in range(N_NUMERIC)),
            Categorical("region", REGIONS),
            Categorical("level", LEVELS),
            Categorical("member", [False, True]),
        ],
        classes=["no", "yes"],
        rows=n_rows,
    )


def batches_of(n_rows: int) -> Callable[[], Iterator[Any]]:
    """Return a function that opens the rows anew, as a fit takes it."""
    return lambda: (batch(start, min(BATCH, n_rows - start)) for start in range(0, n_rows, BATCH))


def batch(start: int, n_rows: int) -> Any:
    """Return the Arrow batch of ``n_rows`` rows from ``start`` on, labels among them."""
    rng = np.random.default_rng([7, start])
    numbers = rng.random((N_NUMERIC, n_rows), dtype=np.float32)
    region, level, member = (rng.integers(n, size=n_rows, dtype=np.int8) for n in (len(REGIONS), len(LEVELS), 2))
    score = numbers[0] + numbers[1] * numbers[2] - numbers[3] + 0.1 * level
    label = (score > 0.4) ^ (rng.random(n_rows, dtype=np.float32) < 0.1)
    columns = {
        **{f"x{j}": pa.array(column) for j, column in enumerate(numbers)},
        "region": _texts(region, REGIONS),
        "level": _texts(level, LEVELS),
        "member": pa.array(member.astype(bool)),
        "class": _texts(label.astype(np.int8), ("no", "yes")),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _texts(codes: Any, texts: tuple[str, ...]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts))
