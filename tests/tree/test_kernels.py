"""The kernels agree with their plain twins, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.schema import Categorical, Numeric, Schema
from privet.tree import kernels, reference
from privet.tree.forest import Forest
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
    return [leaves, counts, shares]


def assert_twins_agree(schema: Schema, forest: Forest, codes: np.ndarray, seed: int) -> None:
    n_classes = len(schema.classes)
    labels = np.random.default_rng(seed).integers(0, n_classes, len(codes)).astype(np.uint16)
    for fast, plain in zip(
        all_results(kernels, forest, codes, labels, n_classes, seed),
        all_results(reference, forest, codes, labels, n_classes, seed),
        strict=True,
    ):
        assert_array_equal(fast, plain, strict=True)


@pytest.mark.parametrize("seed", range(200))
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
