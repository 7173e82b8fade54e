import dataclasses

import numpy as np
import pandas as pd
import pytest

from privet.datasets import Dataset
from privet.schema import Categorical, Numeric, Schema


@pytest.fixture
def two_people():
    schema = Schema([Categorical("answer", ["no", "yes"])], classes=["well", "ill"])
    return Dataset(pd.DataFrame({"answer": ["yes", "no"]}), np.array(["ill", "well"]), schema, "two-people")


def test_the_repr_shows_the_shape_and_no_value(two_people):
    assert repr(two_people) == "Dataset('two-people', 2 rows, 1 attributes, 2 classes)"


def test_parts_cannot_be_swapped(two_people):
    with pytest.raises(dataclasses.FrozenInstanceError):
        two_people.y = np.array(["well", "well"])


def test_comparing_gives_a_truth_value(two_people):
    assert two_people == two_people
    assert two_people != dataclasses.replace(two_people)


def test_text_becomes_categories_and_numbers_stay():
    schema = Schema([Numeric("age", 0, 100), Categorical("city", ["a", "b"])], classes=["ill", "well"])
    X = pd.DataFrame({"age": [30.0, 40.0], "city": ["a", None]})
    found = Dataset(X, np.array(["ill", "well"]), schema, "two").with_categories()
    assert [str(kind) for kind in found.X.dtypes] == ["float64", "category"]
    assert found.X["city"].isna().tolist() == [False, True]
    assert X["city"].dtype != "category"
