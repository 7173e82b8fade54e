import numpy as np
import pytest

from benchmarks.utility.splits import TABLES, Split, bounds_of, category_sizes
from privet import Schema
from privet.datasets import uci_folder


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
    schema = Schema.load(uci_folder() / f"{table}.json")
    assert TABLES[table] == (schema.rows, len(schema.attributes), len(schema.classes))
