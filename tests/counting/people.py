"""A small table that every source of this folder's tests holds, and models that add no noise to it."""

import numpy as np
import pandas as pd
import pyarrow as pa

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema

SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("job", ["clerk", "nurse"]), Numeric("hours", 0, 80, bins=8)],
    classes=["no", "yes"],
    target="ill",
    rows=500,
)


def people(n=500) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.uniform(0, 100, n)
    jobs = rng.choice(["clerk", "nurse", None], n)
    hours = rng.uniform(0, 90, n)
    ill = np.where(age + hours > 90, "yes", "no")
    return pd.DataFrame({"id": np.arange(n), "age": age, "job": jobs, "hours": hours, "ill": ill})


def batches(n=500, size=100) -> list:
    return pa.Table.from_pandas(people(n), preserve_index=False).to_batches(max_chunksize=size)


def model(method=PrivateRDTClassifier, **parameters):
    """Return a model whose noise comes from its seed, so that two fits to the same rows are the same."""
    return method(**{"schema": SCHEMA, "epsilon": 1.0, "random_state": 3, "unsafe_seeded_noise": True, **parameters})


def released(fitted) -> dict:
    return {part: fitted.to_document()[part] for part in ("structure", "released") if part in fitted.to_document()}


def in_memory(method=PrivateRDTClassifier, **parameters) -> dict:
    table = people()
    return released(model(method, **parameters).fit(table[list(SCHEMA.names)], table["ill"]))
