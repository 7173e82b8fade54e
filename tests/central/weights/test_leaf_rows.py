"""Rows as the fit sees them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Schema
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.trees import Axis, Trees
from privet.counting.rows import BatchRows, MemoryRows
from privet.counting.sources import Files
from privet.schema.encoding import Encoder
from tests.central.weights.problems import GROUPS, problem, random_weights, schema_of


def table(n_rows, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(-5, 105, n_rows),
            "job": rng.choice(["nurse", "clerk", "cook", "judge"], n_rows),
            "pay": rng.uniform(0, 10, n_rows),
            "night": rng.choice([False, True], n_rows),
        }
    )
    X.loc[::7, "pay"] = np.nan
    return X, rng.choice(["no", "yes"], n_rows)


def memory_rows(schema, X, y):
    encoder = Encoder(schema)
    return MemoryRows(encoder.encode(X), encoder.encode_labels(y))


def as_set(rows):
    """Return how many rows there are of each kind."""
    times = np.ones(rows.n_lines, dtype=int) if rows.weights is None else rows.weights
    counted = {}
    for cells, label, count in zip(rows.cells.tolist(), rows.labels.tolist(), times.tolist(), strict=True):
        counted[(*cells, label)] = counted.get((*cells, label), 0) + count
    return counted


@pytest.mark.parametrize("n_rows", [0, 1, 200, 5000])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_file_and_a_table_in_memory_have_the_same_rows(tmp_path, monkeypatch, n_rows, name):
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 150)
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 4_000)
    schema = schema_of()
    trees = Trees.of(GROUPS, schema)
    X, y = table(n_rows)
    frame, path = X.assign(**{"class": y}), tmp_path / name
    _ = frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    memory = LeafRows.of(memory_rows(schema, X, y), trees, n_labels=2)
    file = LeafRows.of(BatchRows(Files(path), Encoder(schema)), trees, n_labels=2)
    assert memory.exact_size == n_rows
    for name in ("cells", "labels", "weights", "scores"):
        assert_array_equal(getattr(memory, name), getattr(file, name))


@pytest.mark.parametrize("weights", [None, np.array([2, 1, 1, 5, 3])])
def test_classes_are_counted_in_blocks_as_they_are_at_once(monkeypatch, weights):
    rows = LeafRows(np.zeros((5, 1), np.uint8), np.array([1, 2, 1, 0, 2], np.uint8), weights)
    expected = [1, 2, 2, 0] if weights is None else [5, 3, 4, 0]
    assert rows.exact_classes(4).tolist() == expected
    monkeypatch.setattr("privet.central.weights.leaf_rows.BLOCK_LINES", 2)
    assert rows.exact_classes(4).tolist() == expected


def test_rows_are_merged_where_four_times_fewer_kinds_are_possible():
    schema = schema_of()
    trees = Trees.of(GROUPS, schema)  # 5 x 3 x 12 leaf tuples, 2 classes: 360
    for n_rows, merges in ((1439, False), (1440, True)):
        rows = LeafRows.of(memory_rows(schema, *table(n_rows)), trees, n_labels=2)
        assert (rows.weights is not None) == merges
        assert rows.exact_size == n_rows
        assert rows.n_lines <= 360 or not merges


def test_merged_rows_are_the_same_rows():
    schema, (X, y) = schema_of(), table(4000)
    trees = Trees.of(GROUPS, schema)
    codes = Encoder(schema).encode(X)
    merged = LeafRows.of(memory_rows(schema, X, y), trees, n_labels=2)
    single = LeafRows(trees.cells(codes), Encoder(schema).encode_labels(y).astype(np.uint8), None)
    assert merged.n_lines < 400
    assert as_set(merged) == as_set(single)
    assert (merged.cells.dtype, merged.labels.dtype) == (single.cells.dtype, single.labels.dtype)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_merged_rows_have_the_same_gradient(n_classes):
    objective = problem(2, n_rows=4000, n_classes=n_classes)
    merged = replace(objective, rows=objective.rows.merged(objective.trees, n_classes))
    assert merged.rows.weights is not None
    weights, direction = random_weights(objective), random_weights(objective, 3)
    assert_allclose(merged.gradient(weights), objective.gradient(weights), atol=1e-9)
    assert_allclose(merged.hessian_product(direction), objective.hessian_product(direction), rtol=1e-6, atol=1e-4)


def test_many_trees_do_not_wrap_around_to_a_small_domain():
    schema = Schema([Categorical(f"a{j}", range(15)) for j in range(16)], classes=[5, 9])  # 16**16 is 0 in 64 bits
    trees = Trees.of([[j] for j in range(16)], schema)
    rng = np.random.default_rng(0)
    rows = MemoryRows(rng.integers(0, 16, (1000, 16)).astype(np.uint8), rng.integers(0, 2, 1000).astype(np.uint16))
    assert LeafRows.of(rows, trees, n_labels=2).weights is None


@pytest.mark.parametrize(("n_classes", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_labels_take_a_byte_where_they_fit(n_classes, dtype):
    schema = Schema([Categorical("a", [1, 2])], classes=range(n_classes))
    rows = MemoryRows(np.zeros((2, 1), dtype=np.uint8), np.array([0, n_classes - 1], dtype=np.uint16))
    leaf_rows = LeafRows.of(rows, Trees.of([[0]], schema), n_labels=n_classes)
    assert leaf_rows.labels.dtype == dtype
    assert leaf_rows.labels.tolist() == [0, n_classes - 1]


def test_a_sample_is_evenly_spaced_and_counts_for_the_lines_it_stands_for():
    rows = LeafRows(np.zeros((9, 1), np.uint8), np.arange(9, dtype=np.uint8), np.arange(1, 10))
    sample = rows.every(3)
    assert sample.labels.tolist() == [0, 3, 6]
    assert sample.weights.tolist() == [3, 12, 21]
    assert rows.every(1) is rows
    known = replace(rows, scores=np.arange(9, dtype=np.float32)[:, None]).every(3)
    assert known.scores.tolist() == [[0], [3], [6]]


@pytest.mark.parametrize("n_rows", [0, 1, 200, 5000])
@pytest.mark.parametrize("groups", [GROUPS, [[0], [1], [2], [3]], [[0, 1, 2], [3]], [[3]]])
def test_the_cells_of_each_attribute_have_the_rows_that_a_plain_count_finds(monkeypatch, n_rows, groups):
    monkeypatch.setattr("privet.central.weights.leaf_rows.BLOCK_LINES", 300)
    schema = schema_of()
    trees, memory = Trees.of(groups, schema), memory_rows(schema, *table(n_rows))
    rows = LeafRows.of(memory, trees, n_labels=2)
    found = rows.exact_bins(trees)
    assert len(found) == len(trees.kept)
    axes = [axis for own in trees.axes for axis in own]
    for axis, counts in zip(axes, found, strict=True):
        codes = memory.codes[:, axis.attribute]
        assert counts.tolist() == [int((codes == code).sum()) for code in range(axis.n_leaves)]


@pytest.mark.parametrize("weights", [None, np.array([2, 1, 1, 5, 3, 1])])
def test_rows_between_knots_are_counted_at_the_nearest_leaf(weights):
    # Knots at the cells 0, 4 and 8, missing values at 9; halfway between two knots is nearer to the upper one.
    trees = Trees(((Axis(0, 9, "own", (0, 4, 8), 4),),))
    rows = LeafRows(np.array([[1], [2], [5], [6], [8], [9]], np.uint8), np.zeros(6, np.uint8), weights)
    (counts,) = rows.exact_bins(trees)
    assert counts.tolist() == ([1, 2, 2, 1] if weights is None else [2, 2, 8, 1])
