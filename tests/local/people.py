"""People and channels of every kind, shared by the tests of the respondent's side."""

from dataclasses import replace

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, Schema
from privet.local import (
    Channel,
    FieldSampling,
    GaussianNoise,
    Intervals,
    LaplaceNoise,
    RandomizedResponse,
    RecordComplement,
    Secret,
    UniformNoise,
)

SCHEMA = Schema(
    [
        Numeric("age", 16, 100),
        Numeric("income", -5_000, 250_000, edges=[0, 10_000, 30_000.5]),
        Categorical("job", ["clerk", "cook", 'naïve \u2028 "x" \\ \x07']),
        Categorical("rooms", [1, 2, 3.5]),
        Categorical("owner", [False, True]),
    ],
    classes=["no", "yes"],
    target="smoker",
)
# `people` always tell their income.
NO_GAPS = SCHEMA.with_attributes(replace(a, never_missing=a.name == "income") for a in SCHEMA.attributes)
SECRET_KEY = bytes(range(32))


def same_secret() -> Secret:
    """Return a secret that is the same in every run."""
    return Secret.of_key(SECRET_KEY)


def channels() -> dict[str, Channel]:
    """Return a channel of every kind, and mixtures."""
    noise = UniformNoise(SCHEMA, privacy=0.5, columns=["age"]).channel
    return {
        "clear": Channel.clear(SCHEMA),
        "uniform": UniformNoise(SCHEMA, privacy=0.5).channel,
        # 10.3 steps of the grid: the eleventh is out of reach.
        "uniform, narrow": UniformNoise(SCHEMA, scale=10.3 * 84 / 4096, columns=["age"]).channel,
        "gaussian": GaussianNoise(SCHEMA, privacy=1.0).channel,
        "gaussian, wide": GaussianNoise(SCHEMA, privacy=40.0).channel,
        "laplace": LaplaceNoise(SCHEMA, epsilon=4).channel,
        "laplace, wide": LaplaceNoise(SCHEMA, epsilon=0.05).channel,
        "intervals": Intervals(SCHEMA, bins=7).channel,
        "randomized": RandomizedResponse(SCHEMA, epsilon=8, label=True).channel,
        "randomized, missing covered": RandomizedResponse(SCHEMA, keep=0.6, covers_missing=True).channel,
        "randomized, some never missing": RandomizedResponse(NO_GAPS, keep=0.6, covers_missing=True).channel,
        "records, some never missing": RecordComplement(NO_GAPS, theta=0.7).channel,
        "mixed": noise | RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"], label=True).channel,
        "records": RecordComplement(SCHEMA, theta=0.7).channel,
        "records with label": RecordComplement(
            SCHEMA, theta=0.6, label=True, frequencies={"job": {"clerk": 0.2, "cook": 0.7, None: 0.1}}
        ).channel,
        "sampled": FieldSampling(SCHEMA, epsilon=1).channel,
        "sampled, several and in pairs": FieldSampling(
            NO_GAPS, epsilon=4, ask=3, bins=40, pairs=[("job", "age"), ("income", "rooms")], epsilons={"income": 0.5}
        ).channel,
        "sampled, in a wave": FieldSampling(
            SCHEMA, epsilon=0.1, bins=90, pairs=[("age", "job")], wave="spring"
        ).channel,
    }


def people(n_rows: int, seed: int = 7) -> pd.DataFrame:
    """Return made-up people, each with a name; some values are missing, some numbers beyond their bounds."""
    rng = np.random.default_rng(seed)
    jobs = np.array([*SCHEMA.attributes[2].categories, None], dtype=object)
    table = pd.DataFrame(
        {
            "name": [f"person {i} é" for i in range(n_rows)],
            "age": np.where(rng.random(n_rows) < 0.05, np.nan, rng.uniform(10, 110, n_rows)),
            "income": np.round(rng.normal(30_000, 40_000, n_rows), 2),
            "job": rng.choice(jobs, n_rows),
            "rooms": rng.choice([1, 2, 3.5, np.nan], n_rows),
            "smoker": rng.choice(["no", "yes"], n_rows),
        }
    )
    table.insert(5, "owner", rng.choice(np.array([False, True, None], dtype=object), n_rows))
    return table
