"""Exact tables of nodes: where counts stand, and that neither memory nor files change them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet.counting import tables
from privet.counting.rows import BatchRows, MemoryRows
from privet.counting.sources import Files
from privet.counting.tables import TableLayout, exact_tables
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder
from privet.tree.greedy import Growth

SCHEMA = Schema(
    [Categorical("a", ["u", "v"]), Numeric("x", 0, 4, bins=4), Categorical("b", [1])], classes=["no", "yes"]
)  # fmt: skip


def table(n=400):
    rng = np.random.default_rng(6)
    columns = {"a": rng.choice(["u", "v", None], n), "x": rng.uniform(-1, 5, n), "b": rng.choice([1.0, np.nan], n)}
    return pd.DataFrame(columns), rng.choice(["no", "yes"], n)


def in_memory(X, y) -> MemoryRows:
    encoder = Encoder(SCHEMA)
    return MemoryRows(encoder.encode(X), encoder.encode_labels(y))


def grown() -> Growth:
    growth = Growth.roots(SCHEMA.attributes, 2)
    growth.split(np.array([0, 1]))
    return growth


def by_hand(rows: MemoryRows, attribute, code) -> list:
    """Return one node's counts of all attributes, a row at a time."""
    counts = [np.zeros((a.n_values + 1, 2), dtype=int) for a in SCHEMA.attributes]
    for codes, label in zip(rows.codes, rows.labels, strict=True):
        if codes[attribute] == code:
            for own, each in zip(counts, codes, strict=True):
                own[each, label] += 1
    return counts


def test_the_layout_has_a_place_for_every_code_and_class():
    layout = TableLayout.of(SCHEMA)
    assert_array_equal(layout.n_codes, [3, 5, 2])
    assert layout.offsets.tolist() == [0, 6, 16]
    assert layout.size == 20
    counts = np.arange(40).reshape(2, 20)
    assert_array_equal(layout.of_attribute(counts, 2), [[[16, 17], [18, 19]], [[36, 37], [38, 39]]])
    assert_array_equal(layout.classes(counts)[0], [0 + 2 + 4, 1 + 3 + 5])


def test_tables_of_a_level_are_what_counting_by_hand_gives():
    rows, growth, layout = in_memory(*table()), grown(), TableLayout.of(SCHEMA)
    nodes = growth.last_level  # three codes of a in the first tree, five of x in the second
    ((own, counts),) = exact_tables(growth.forest, nodes, rows, layout)
    assert_array_equal(own, nodes)
    for position, (attribute, code) in enumerate([(0, 0), (0, 1), (0, 2), *((1, code) for code in range(5))]):
        for number, expected in enumerate(by_hand(rows, attribute, code)):
            assert_array_equal(layout.of_attribute(counts, number)[position], expected)
    assert counts[:3].sum() == counts[3:].sum() == 3 * 400


def test_every_attribute_tells_the_same_class_counts():
    rows, growth, layout = in_memory(*table()), grown(), TableLayout.of(SCHEMA)
    ((_, counts),) = exact_tables(growth.forest, growth.last_level, rows, layout)
    for attribute in range(3):
        assert_array_equal(layout.of_attribute(counts, attribute).sum(axis=1), layout.classes(counts))


@pytest.mark.parametrize("at_once", [1, 3])
def test_nodes_that_do_not_fit_in_memory_together_are_counted_in_further_passes(monkeypatch, at_once):
    rows, growth, layout = in_memory(*table()), grown(), TableLayout.of(SCHEMA)
    nodes = growth.last_level[[0, 2, 3, 4, 7]]
    ((_, whole),) = exact_tables(growth.forest, nodes, rows, layout)
    monkeypatch.setattr(tables, "_MAX_NUMBERS", at_once * layout.size + 3)
    parts = list(exact_tables(growth.forest, nodes, rows, layout))
    assert len(parts) == -(-5 // at_once)
    assert_array_equal(np.concatenate([own for own, _ in parts]), nodes)
    assert_array_equal(np.concatenate([counts for _, counts in parts]), whole)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_tables_do_not_depend_on_where_the_rows_are(tmp_path, monkeypatch, name):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 1_000)
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 70)
    X, y = table()
    frame, growth, layout = X.assign(**{"class": y}), grown(), TableLayout.of(SCHEMA)
    _ = frame.to_parquet(tmp_path / name) if name.endswith("parquet") else frame.to_csv(tmp_path / name, index=False)
    file = BatchRows(Files(tmp_path / name), Encoder(SCHEMA))
    assert len(list(file.blocks())) > 3
    ((_, counts),) = exact_tables(growth.forest, growth.last_level, file, layout)
    ((_, expected),) = exact_tables(growth.forest, growth.last_level, in_memory(X, y), layout)
    assert_array_equal(counts, expected)


def test_no_nodes_and_no_rows_have_nothing_to_count():
    X, y = table()
    growth, layout = grown(), TableLayout.of(SCHEMA)
    assert list(exact_tables(growth.forest, growth.last_level[:0], in_memory(X, y), layout)) == []
    ((_, counts),) = exact_tables(growth.forest, growth.last_level, in_memory(X[:0], y[:0]), layout)
    assert not counts.any()
