"""Rows that are too much to be held: the same lines, the same sums, and memory that does not grow."""

import gc
import pickle
import tempfile
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.central.weights import leaf_rows as module
from privet.central.weights.certificate import bounded_gradient
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.trees import Trees
from privet.counting import spill
from privet.counting.spill import Room, SpillFile
from tests.central.weights.problems import GROUPS, problem, random_weights, schema_of

COLUMNS = ("cells", "labels", "weights", "scores")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Blocks of ten lines, of which a hundred bytes are held; and the folder for temporary files.

    Neither file nor room is another test's, whatever that still holds.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(SpillFile, "_current", None)
    monkeypatch.setattr(module, "ROOM", Room())
    monkeypatch.setattr(module, "BLOCK_LINES", 10)
    monkeypatch.setattr(spill, "HELD_BYTES", 100)
    return tmp_path


def codes_of(n_rows, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, a.n_codes, n_rows) for a in schema_of().attributes], axis=1)
    return codes.astype(np.uint8), rng.integers(0, 2, n_rows).astype(np.uint16)


def compressed(codes, labels, size):
    parts = [slice(start, start + size) for start in range(0, len(labels), size)]
    return LeafRows.compressed(((codes[own], labels[own]) for own in parts), Trees.of(GROUPS, schema_of()), n_labels=2)


def spilled_copy(rows):
    """Return the same lines, most of them in the file."""

    class Same:
        n_trees = rows.cells.shape[1]

        def __call__(self, block):
            return block

    return rows.derived(Same())


@pytest.mark.parametrize("n_rows", [0, 1, 9, 10, 25, 99, 300])
@pytest.mark.parametrize("size", [1, 7, 10, 64, 300])
def test_the_lines_are_those_of_rows_that_are_held(small, monkeypatch, n_rows, size):
    spilled = compressed(*codes_of(n_rows), size)
    assert bool(spilled.beyond) == (n_rows > 25)  # four bytes a line
    assert len(spilled.labels) <= 25
    monkeypatch.setattr(spill, "HELD_BYTES", 2**20)
    held = compressed(*codes_of(n_rows), size)
    assert not held.beyond
    assert (spilled.n_lines, spilled.exact_size) == (n_rows, n_rows)
    for whole in (spilled.lines(0, 1), pickle.loads(pickle.dumps(spilled))):
        assert not whole.beyond
        for name in COLUMNS:
            assert_array_equal(getattr(whole, name), getattr(held, name))
    for step in (2, 3, 50):
        for name in COLUMNS:
            assert_array_equal(getattr(spilled.every(step), name), getattr(held.every(step), name))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["hard", "soft", "later"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_sum_is_that_of_rows_that_are_held_bit_for_bit(small, n_classes, kind, n_threads):
    held = problem(3, n_rows=230, n_classes=n_classes, kind=kind)
    weights, direction = random_weights(held), random_weights(held, 2)
    spilled = replace(held, rows=spilled_copy(held.rows), n_threads=n_threads)
    assert spilled.rows.beyond
    for own in (held, spilled):
        own.gradient(weights + 1)  # second derivatives of other weights lie there
    assert_array_equal(spilled.gradient(weights), held.gradient(weights))
    for _ in range(2):
        assert_array_equal(spilled.hessian_product(direction), held.hessian_product(direction))
    certified, expected = (bounded_gradient(own, weights, 0 * weights) for own in (spilled, held))
    assert_array_equal(certified.values, expected.values)
    assert certified.error == expected.error
    assert_array_equal(spilled.rows.exact_classes(n_classes), held.rows.exact_classes(n_classes))
    for one, other in zip(spilled.rows.exact_bins(held.trees), held.rows.exact_bins(held.trees), strict=True):
        assert_array_equal(one, other)


def test_merged_rows_are_the_same_from_the_file(small, monkeypatch):
    codes, labels = codes_of(4000)
    trees = Trees.of(GROUPS, schema_of())
    merged = compressed(codes, labels, 64).merged(trees, 2)
    monkeypatch.setattr(spill, "HELD_BYTES", 2**20)
    held = compressed(codes, labels, 64).merged(trees, 2)
    for name in COLUMNS:
        assert_array_equal(getattr(merged, name), getattr(held, name))
    assert merged.exact_size == 4000


def test_a_planted_fault_in_the_file_shows(small):
    # Were the file not read, or read from elsewhere, nothing above would show it.
    held = problem(3, n_rows=230)
    spilled = replace(held, rows=spilled_copy(held.rows))
    weights = random_weights(held)
    right = spilled.gradient(weights)
    place = spilled.rows.beyond[3]
    cells, labels = place.read()
    place.overwrite(cells, 1 - labels)
    assert not np.array_equal(spilled.gradient(weights), right)
    place.overwrite(cells, labels)
    assert_array_equal(spilled.gradient(weights), right)


def test_room_is_given_back_and_nothing_stays_behind(small):
    rows = compressed(*codes_of(300), 10)
    assert 0 < module.ROOM._taken <= 100
    assert list(small.iterdir()) == []
    del rows
    gc.collect()
    assert module.ROOM._taken == 0


def test_rows_that_fail_on_the_way_give_their_room_back(small):
    def failing():
        yield codes_of(20)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LeafRows.compressed(failing(), Trees.of(GROUPS, schema_of()), n_labels=2)
    gc.collect()
    assert module.ROOM._taken == 0


def peak_of(n_rows):
    """Return the most that NumPy and Python held while rows were compressed and gone through."""
    codes, labels = codes_of(1000)
    objective = problem(3)
    weights = random_weights(objective)
    tracemalloc.start()
    try:
        blocks = ((codes, labels) for _ in range(n_rows // 1000))
        rows = LeafRows.compressed(blocks, objective.trees, n_labels=2)
        own = replace(objective, rows=rows)
        own.gradient(weights)
        own.hessian_product(weights)
        bounded_gradient(own, weights, 0 * weights)
        own.sampled(2000).gradient(weights)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(module, "ROOM", Room())
    monkeypatch.setattr(module, "BLOCK_LINES", 20_000)
    monkeypatch.setattr(spill, "HELD_BYTES", 400_000)
    peak_of(200_000)  # kernels are loaded
    few, many = peak_of(200_000), peak_of(1_000_000)
    assert many < 1.3 * few
    # Where all is held it does grow: the measure can tell.
    monkeypatch.setattr(spill, "HELD_BYTES", 2**30)
    assert peak_of(1_000_000) > 3 * few
