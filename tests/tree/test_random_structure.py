import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from privet.errors import StructureTooLarge
from privet.schema import Categorical, Numeric, Schema
from privet.tree.forest import LEAF
from privet.tree.random_structure import Support, random_structure

SCHEMA = Schema(
    [Categorical("a", ["u", "v", "w"]), Categorical("b", ["p", "q"]), Numeric("x", 0, 8, bins=8), Numeric("y", 0, 1)],
    classes=["no", "yes"],
)  # fmt: skip


def grow(schema=SCHEMA, n_trees=50, height=4, seed=0, **options):
    return random_structure(schema, n_trees=n_trees, height=height, public_rng=np.random.default_rng(seed), **options)


def paths(forest):
    """Yield (node, list of (attribute, cut, branch) on its path) for every leaf."""
    for leaf in forest.leaves:
        node, path = leaf, []
        while (parent := forest.parent[node]) >= 0:
            path.append(
                (
                    int(forest.attribute[parent]),
                    int(forest.cut[parent]),
                    int(node - forest.first_child[parent]),
                )
            )
            node = parent
        yield leaf, path[::-1]


def test_a_categorical_attribute_is_tested_once_on_a_path_and_every_leaf_is_at_the_height():
    for _, path in paths(grow()):
        categorical = [attribute for attribute, cut, _ in path if cut < 0]
        assert len(categorical) == len(set(categorical))
        assert len(path) == 4


def test_every_cut_lies_inside_the_interval_that_its_path_leaves():
    for _, path in paths(grow(height=6)):
        for attribute in (2, 3):
            low, high = 0, SCHEMA.attributes[attribute].n_values - 1
            for tested, cut, branch in path:
                if tested == attribute:
                    assert low <= cut < high
                    low, high = (cut + 1, high) if branch else (low, cut)


def test_branches_are_one_per_category_and_one_for_missing_or_two_for_a_number():
    forest = grow()
    for attribute, branches in enumerate((len(SCHEMA.attributes[0].categories) + 1, 3, 2, 2)):
        assert_array_equal(np.unique(forest.n_children[forest.attribute == attribute]), [branches])


def test_a_path_ends_early_where_attributes_run_out():
    tiny = Schema([Categorical("a", ["u"]), Numeric("x", 0, 1, bins=2)], classes=[5, 9])
    forest = grow(tiny, height=9)
    assert forest.depth == 2
    stuck = Schema([Numeric("x", 0, 1, bins=1)], classes=[5, 9])
    assert_array_equal(grow(stuck, n_trees=3, height=2).attribute, [LEAF] * 3)


def test_the_same_coins_give_the_same_structure_and_others_another():
    assert_array_equal(grow(seed=7).words, grow(seed=7).words)
    assert not np.array_equal(grow(seed=7).attribute[:50], grow(seed=8).attribute[:50])


def test_roots_draw_attributes_and_cuts_uniformly_and_the_test_can_tell():
    forest = grow(n_trees=8000, height=1)
    roots = forest.attribute[:8000]
    counts = np.bincount(roots, minlength=4)
    assert chisquare(counts).pvalue > 1e-6
    assert chisquare(counts, f_exp=np.array([1.2, 0.8, 1, 1]) * 2000).pvalue < 1e-6
    cuts = np.bincount(forest.cut[:8000][roots == 2])
    assert len(cuts) == 7
    assert chisquare(cuts).pvalue > 1e-6


def test_below_a_root_the_attributes_that_are_left_are_drawn_uniformly():
    schema = Schema([Categorical(name, ["u", "v"]) for name in "abc"], classes=["no", "yes"])
    forest = grow(schema, n_trees=3000, height=2)
    below_a = forest.attribute[3000:12000][forest.attribute[forest.parent[3000:12000]] == 0]
    assert set(below_a) == {1, 2}
    assert chisquare(np.bincount(below_a)[1:]).pvalue > 1e-6


def test_a_forest_over_the_cap_is_refused_with_what_to_lower():
    wide = Schema([Categorical("zip", range(1000)), Categorical("b", ["p", "q"])], classes=["no", "yes"])
    with pytest.raises(
        StructureTooLarge,
        match="lower height or n_trees, or merge categories of 'zip', which branches most",
    ):
        grow(wide, n_trees=100, height=2, max_leaf_counts=10_000)


def test_a_hopelessly_large_forest_is_refused_before_it_takes_memory():
    wide = Schema([Categorical(f"zip{j}", range(60_000)) for j in range(9)], classes=["no", "yes"])
    with pytest.raises(StructureTooLarge, match="9 trees of height 5"):
        grow(wide, n_trees=9, height=5)


def test_where_attributes_are_binned_a_number_branches_on_all_its_cells_and_once_on_a_path():
    # x and y stand in cells: 8 and 255 of them, and one code for missing values.
    for _, path in paths(grow(n_trees=5, height=2, binned=True)):
        assert {cut for _, cut, _ in path} == {-1}
        assert len({attribute for attribute, _, _ in path}) == len(path) == 2
    forest = grow(n_trees=40, height=1, binned=True)
    for attribute, branches in enumerate((4, 3, 9, 256)):
        assert set(forest.n_children[forest.attribute == attribute]) == {branches}
    small = Schema([Categorical("a", ["u"]), Numeric("x", 0, 1, bins=1)], classes=[5, 9])
    assert grow(small, height=9, binned=True).depth == 2


def test_roots_that_are_given_are_used_and_only_there():
    roots = np.array([2, 0, 1, 2])
    forest = grow(n_trees=4, height=2, binned=True, roots=roots)
    assert_array_equal(forest.attribute[:4], roots)
    for _, path in paths(forest):
        assert len({attribute for attribute, _, _ in path}) == len(path)
    assert_array_equal(roots, [2, 0, 1, 2])


def test_a_node_is_split_while_it_can_be_expected_to_hold_enough_rows():
    # 24 rows over a, b, x with 3, 2, 8 values: a path ends where 24 / (its domains) is below 4.
    schema = SCHEMA.with_attributes(SCHEMA.attributes[:3])
    support = Support(np.full(30, 24.0), 4.0)
    forest = grow(schema, n_trees=30, height=9, binned=True, support=support)
    sizes, seen = (3, 2, 8), set()
    for _, path in paths(forest):
        domains = [sizes[attribute] for attribute, _, _ in path]
        # The last split was worth it, and one more would not be, or no attribute is left.
        assert 24 / np.prod(domains[:-1]) >= 4
        assert 24 / np.prod(domains) < 4 or len(domains) == 3
        seen.add(tuple(domains))
    assert {(8,), (3, 2, 8), (2, 3, 8), (2, 8), (3, 8)} == seen


def test_a_root_without_enough_rows_stays_a_leaf():
    support = Support(np.array([3.9, 4.0]), 4.0)
    forest = grow(n_trees=2, height=3, binned=True, roots=np.array([0, 1]), support=support)
    assert_array_equal(forest.attribute[:2], [LEAF, 1])
    assert forest.depth == 1
