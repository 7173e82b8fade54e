import gzip
import json

import numpy as np
import pytest

from benchmarks.utility import splits
from benchmarks.utility.splits import TABLES, Split, bounds_of, category_sizes, described
from privet import Schema
from privet.errors import DatasetUnavailable


def test_a_fifth_of_each_class_is_held_out(toy):
    split = Split("toy", 0)
    assert sorted([*split.train, *split.test]) == list(range(50))
    assert (toy.y[split.test] == "yes").sum() == 6
    assert (len(split.test), split.schema.rows) == (10, 40)
    assert split.truth.tolist() == [int(label == "yes") for label in toy.y[split.test]]


def test_a_repeat_is_a_cut_of_its_own_and_always_the_same(toy):
    assert Split("toy", 3).train.tolist() == Split("toy", 3).train.tolist()
    assert Split("toy", 3).train.tolist() != Split("toy", 4).train.tolist()


def test_numbers_keep_their_gaps_and_a_missing_category_comes_last(toy):
    train, test = Split("toy", 0).numbers()
    both = np.vstack([train, test])
    assert np.isnan(both[:, 0]).sum() == 10
    assert [int((both[:, 1] == code).sum()) for code in range(3)] == [20, 20, 10]
    assert category_sizes(toy.schema) == [0, 3]
    assert bounds_of(toy.schema).tolist() == [[0, 100], [0, 2]]


@pytest.mark.real_data
@pytest.mark.parametrize("table", TABLES)
def test_tables_are_as_large_as_it_is_said(table):
    description = described(table)
    if description is None:
        pytest.skip("the folder of more tables is not beside that of the UCI tables")
    schema = Schema.load(description)
    assert TABLES[table] == (schema.rows, len(schema.attributes), len(schema.classes))


def test_a_table_of_the_second_group_lies_in_a_folder_beside_the_first(tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path / "tables"))
    splits.loaded.cache_clear()
    assert splits.described("cmc") is None
    with pytest.raises(DatasetUnavailable, match=r"cmc.json is not in the folder of more tables"):
        splits.loaded("cmc")
    more = tmp_path / "tables-more"
    more.mkdir()
    attributes = [{"name": "age", "type": "continuous", "bounds": [0, 100]}]
    attributes += [{"name": "city", "type": "categorical", "categories": ["NA", "007"]}]
    domains = {"title": "Three people", "rows": 3, "attributes": attributes, "classes": ["yes", "no"]}
    (more / "cmc.json").write_text(json.dumps(domains))
    (more / "cmc.csv.gz").write_bytes(gzip.compress(b"age,city,class\n41,NA,yes\n,,no\n17.5,007,no\n"))
    data = splits.loaded("cmc")
    splits.loaded.cache_clear()
    assert data.X["age"].tolist() == pytest.approx([41, np.nan, 17.5], nan_ok=True)
    assert data.X["city"].astype(object).where(data.X["city"].notna(), None).tolist() == ["NA", None, "007"]
    assert data.y.tolist() == ["yes", "no", "no"]
