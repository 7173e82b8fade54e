"""The kernels agree with their plain twins, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.schema import Categorical, Numeric, Schema
from privet.tree import kernels
from privet.tree.forest import Forest
from tests.loops import loop_over
from tests.tree import reference
from tests.tree.forests import by_hand, grown, random_codes, random_schema


def all_results(module, forest: Forest, codes: np.ndarray, labels: np.ndarray, n_classes: int, seed: int) -> list:
    rng = np.random.default_rng(seed)
    records, stride, n_rows = codes.reshape(-1), codes.shape[1], len(codes)
    roots = np.arange(forest.n_trees)
    leaves = np.zeros(n_rows, dtype=np.uint32)
    first = n_rows // 3
    module.route(forest.words, 0, forest.depth, forest.multiway, records, stride, first, n_rows - first, leaves)
    counts = rng.integers(0, 9, (forest.n_nodes, n_classes))
    module.count_classes(forest.words, roots, forest.depth, forest.multiway, records, stride, labels, counts)
    weights = rng.integers(0, 3, (forest.n_nodes, n_classes))
    otherwise, shares = rng.dirichlet(np.ones(n_classes)), np.empty((n_rows, n_classes))
    module.vote_shares(forest.words, roots, forest.depth, forest.multiway, records, stride, weights, otherwise, shares)
    return [
        leaves, counts, shares,
        *greedy_results(module, forest, roots, codes, labels, n_classes, rng),
    ]  # fmt: skip


def greedy_results(module, forest, roots, codes, labels, n_classes, rng) -> list:
    """Return tables of some nodes, others having none, and the votes of the most confident trees, with many ties."""
    walk = (forest.words, roots, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1])
    n_codes = codes.max(axis=0, initial=0).astype(np.int64) + 1
    offsets = ((np.cumsum(n_codes) - n_codes) * n_classes).astype(np.uint64)
    slots = rng.integers(-1, 3, forest.n_nodes)
    tables = np.zeros((3, int(n_codes.sum()) * n_classes), dtype=np.int64)
    module.count_tables(*walk, labels, slots, offsets, n_classes, tables)
    shares = rng.integers(0, 5, (forest.n_nodes, n_classes)) / 4
    out = np.empty((len(codes), n_classes))
    module.vote_most_confident(*walk, shares, 1e-13, out)
    return [tables, out]


def assert_twins_agree(schema: Schema, forest: Forest, codes: np.ndarray, seed: int) -> None:
    n_classes = len(schema.classes)
    labels = np.random.default_rng(seed).integers(0, n_classes, len(codes)).astype(np.uint16)
    for fast, plain in zip(
        all_results(kernels, forest, codes, labels, n_classes, seed),
        all_results(reference, forest, codes, labels, n_classes, seed),
        strict=True,
    ):
        assert_array_equal(fast, plain, strict=True)


@loop_over("seed", range(200))
def test_kernels_agree_with_their_twins_on_random_forests_tables_and_types(seed):
    rng = np.random.default_rng(seed)
    wide = seed % 4 == 3
    schema = random_schema(rng, n_attributes=int(rng.integers(1, 6)), wide=wide)
    forest = grown(rng, schema, height=int(rng.integers(1, 3 if wide else 5)), n_trees=int(rng.integers(1, 5)))
    dtype = np.uint16 if wide or seed % 2 else np.uint8
    n_rows = (0, 1, 7, 8, 9, 50)[seed % 6]
    assert_twins_agree(schema, forest, random_codes(rng, schema, n_rows, dtype), seed)


@pytest.mark.parametrize("n_rows", [0, 1, 9])
def test_kernels_agree_with_one_attribute_of_65534_categories(n_rows):
    rng = np.random.default_rng(n_rows)
    schema = Schema([Categorical("zip", range(65_534))], classes=["no", "yes"])
    forest = grown(rng, schema, height=1, n_trees=2)
    codes = random_codes(rng, schema, n_rows, np.uint16)
    codes[:1] = 65_534
    assert_twins_agree(schema, forest, codes, n_rows)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_kernels_agree_on_binary_trees_of_depth_20(dtype):
    rng = np.random.default_rng(5)
    schema = Schema([Numeric(f"x{j}", 0, 1) for j in range(30)], classes=[5, 9])
    forest = grown(rng, schema, height=20, n_trees=1)
    assert forest.depth == 20
    assert len(forest.leaves) > 2**19
    assert_twins_agree(schema, forest, random_codes(rng, schema, 60, dtype), 5)


def test_kernels_agree_across_block_borders():
    rng = np.random.default_rng(11)
    schema = random_schema(rng, n_attributes=3, wide=False)
    forest = grown(rng, schema, height=2, n_trees=2)
    assert_twins_agree(schema, forest, random_codes(rng, schema, kernels.BLOCK + 13, np.uint8), 11)


@pytest.mark.parametrize(
    ("record", "leaf"),
    [((0, 0), 2), ((1, 1), 2), ((2, 0), 4), ((3, 1), 5), ((2, 2), 6), ((4, 0), 4)],
)
@pytest.mark.parametrize("module", [kernels, reference])
def test_a_row_follows_the_tests_by_hand_and_a_missing_number_goes_above_every_cut(module, record, leaf):
    _, forest = by_hand()
    leaves = np.zeros(1, dtype=np.uint32)
    module.route(forest.words, 0, forest.depth, True, np.array(record, dtype=np.uint8), 2, 0, 1, leaves)
    assert leaves[0] == leaf
    module.route(forest.words, 1, forest.depth, True, np.array(record, dtype=np.uint8), 2, 0, 1, leaves)
    assert leaves[0] == 1


@pytest.mark.parametrize("module", [kernels, reference])
def test_tables_count_codes_with_classes_in_the_node_that_a_row_has_come_to(module):
    _, forest = by_hand()
    # Leaf x <= 1 has the first table, c = b the second; other leaves and the second tree have none.
    slots = np.full(forest.n_nodes, -1, dtype=np.int64)
    slots[[2, 5]] = [0, 1]
    codes = np.array([[0, 2], [1, 0], [3, 1], [3, 1], [3, 0], [4, 1]], dtype=np.uint8)
    labels = np.array([0, 1, 1, 1, 0, 0], dtype=np.uint16)
    tables, offsets = np.zeros((2, 16), dtype=np.int64), np.array([0, 10], dtype=np.uint64)  # 5 and 3 codes, 2 classes
    roots = np.arange(2)
    module.count_tables(
        forest.words, roots, forest.depth, True, codes.reshape(-1), 2, labels, slots, offsets, 2, tables
    )
    assert tables[0].tolist() == [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0]
    assert tables[1].tolist() == [0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1, 2, 0, 0]


@pytest.mark.parametrize("module", [kernels, reference])
def test_a_class_has_the_share_of_the_surest_tree_that_it_leads_and_a_little_of_all(module):
    _, forest = by_hand()
    shares = np.zeros((forest.n_nodes, 2))
    shares[[2, 1]] = [[0.7, 0.3], [0.4, 0.6]]  # where x <= 1, and the second tree
    out = np.empty((1, 2))
    module.vote_most_confident(
        forest.words, np.arange(2), forest.depth, True, np.zeros(2, dtype=np.uint8), 2, shares, 0.01, out
    )
    assert_array_equal(out, [[0.7 + 0.01 * (0.7 + 0.4), 0.6 + 0.01 * (0.3 + 0.6)]])
