import numpy as np
import pandas as pd
import pytest

from benchmarks.utility import splits
from privet import Categorical, Numeric, Schema
from privet.datasets import Dataset


@pytest.fixture
def toy(monkeypatch):
    """Stand in for a UCI table: 50 rows, a number with a gap, a category with another, labels that follow both."""
    age = np.tile([20.0, 30.0, 40.0, 50.0, np.nan], 10)
    sex = np.repeat(["female", "male", None, "male", "female"], 10)
    y = np.where(np.nan_to_num(age) > 25, "yes", "no")
    schema = Schema([Numeric("age", 0, 100), Categorical("sex", ["female", "male"])], classes=["no", "yes"])
    data = Dataset(pd.DataFrame({"age": age, "sex": pd.Categorical(sex)}), y, schema, "toy")
    monkeypatch.setattr(splits, "loaded", lambda _: data)
    for kept in (splits.numbers_of, splits.class_numbers):
        kept.cache_clear()
    yield data
    for kept in (splits.numbers_of, splits.class_numbers):
        kept.cache_clear()
