import numpy as np
import pytest

from privet.schema import Categorical, Numeric, Schema
from privet.tree.conditions import Condition, Paths, joined, quoted
from privet.tree.forest import Forest
from tests.tree.forests import by_hand


def chain(schema, tests):
    """Return a tree whose last child is tested again, as (attribute, cut) says, until the tests run out."""
    # In level order the inner node is the last of its siblings; the leaves before it stand on its level.
    levels = [[tests[0]]]
    for i, (number, _) in enumerate(tests):
        following = tests[i + 1] if i + 1 < len(tests) else (-1, -1)
        levels.append([(-1, -1)] * (schema.attributes[number].branches - 1) + [following])
    nodes = np.array([node for level in levels for node in level], dtype=np.int32)
    return Forest.from_nodes(nodes[:, 0].copy(), nodes[:, 1].copy(), 1, schema.attributes)


def texts(schema, forest, node, codes=None):
    return [condition.text for condition in Paths(forest, schema).conditions(node, codes)]


def test_paths_drawn_by_hand_read_as_expected():
    schema, forest = by_hand()
    found = [texts(schema, forest, node) for node in range(forest.n_nodes)]
    above = "x >= 2 or missing"
    assert found == [
        [], [], ["x < 2"], [above], [above, "c = a"], [above, "c = b"], [above, "c is missing"],
    ]  # fmt: skip


def test_the_last_condition_is_the_parents_answer_alone():
    schema, forest = by_hand()
    paths = Paths(forest, schema)
    assert paths.last_condition(5) == Condition("c", "c = b")
    assert paths.last_condition(5, (1, 2)) == Condition("c", "c = b or missing")
    assert paths.last_condition(0) is None


def test_cuts_of_one_attribute_become_one_interval():
    schema = Schema([Numeric("age", 16, 100, edges=[18, 30.5, 65])], classes=["no", "yes"])
    forest = chain(schema, [(0, 0), (0, 2)])
    assert texts(schema, forest, 3) == ["18 <= age < 65"]
    assert texts(schema, forest, 4) == ["age >= 65 or missing"]


def test_missing_values_have_words_of_their_own():
    schema = Schema([Numeric("age", 16, 100, edges=[18, 30.5])], classes=["no", "yes"])
    forest = chain(schema, [(0, 2)])  # all cells against the missing code
    assert [texts(schema, forest, node) for node in (1, 2)] == [["age is not missing"], ["age is missing"]]
    forest = chain(schema, [(0, 0), (0, 2)])
    assert texts(schema, forest, 3) == ["age >= 18"]


def test_a_contradiction_is_shown_as_an_empty_set():
    schema = Schema([Numeric("age", 16, 100, edges=[18, 30]), Categorical("sex", ["f", "m"])], classes=["no", "yes"])
    forest = chain(schema, [(0, 1), (0, 0)])
    assert texts(schema, forest, 3) == ["age in {}"]
    forest = chain(schema, [(1, -1), (1, -1)])
    assert texts(schema, forest, 4) == ["sex in {}"]
    assert texts(schema, forest, 6) == ["sex is missing"]


def test_several_categories_are_a_set_and_all_of_them_no_condition():
    schema, forest = by_hand()
    assert texts(schema, forest, 4, (0, 1))[1:] == ["c in {a, b}"]
    assert texts(schema, forest, 4, (0, 2))[1:] == ["c = a or missing"]
    assert texts(schema, forest, 4, (0, 1, 2))[1:] == []


@pytest.mark.parametrize(
    ("low", "high", "first_cut"),
    [(16, 100, "16.329"), (20_000, 150_000, "20510"), (0, 1, "0.00392"), (-255, 0, "-254"), (-1, 254, "0")],
)
def test_cuts_between_equal_cells_are_rounded_to_a_hundredth_of_a_cell(low, high, first_cut):
    schema = Schema([Numeric("x", low, high)], classes=["no", "yes"])
    assert texts(schema, chain(schema, [(0, 0)]), 1) == [f"x < {first_cut}"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Some-college", "Some-college"), ("married once", "married once"), ("Größe", "Größe"), (30, "30"),
        (2.5, "2.5"), (True, "True"), ("True", "'True'"), ("30", "'30'"), ("", "''"), ("a, b", "'a, b'"),
        (" a", "' a'"), ("rock and roll", "'rock and roll'"), ("x\x1b[2J", "'x\\x1b[2J'"), ("missing", "'missing'"),
        ("it's", '"it\'s"'),
    ],
)  # fmt: skip
def test_labels_that_could_be_taken_for_something_else_are_quoted(label, expected):
    assert quoted(label) == expected


AGE = Schema([Numeric("age", 0, 100, edges=[20, 40, 60]), Categorical("sex", ["f", "m"])], classes=["no", "yes"])


def test_every_cell_of_a_number_has_its_words():
    forest = Forest.from_nodes(
        np.array([0, *[-1] * 5], np.int32), np.full(6, -1, dtype=np.int32), 1, AGE.attributes
    )  # fmt: skip
    assert [texts(AGE, forest, node) for node in range(1, 6)] == [
        ["age < 20"], ["20 <= age < 40"], ["40 <= age < 60"], ["age >= 60"], ["age is missing"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((1, 2), ["20 <= age < 60"]),
        ((0, 1), ["age < 40"]),
        ((2, 3), ["age >= 40"]),
        ((2, 3, 4), ["age >= 40 or missing"]),
        ((0, 4), ["age < 20 or missing"]),
        ((0, 2), ["age < 20 or 40 <= age < 60"]),
        ((0, 2, 3, 4), ["age < 20 or age >= 40 or missing"]),
        ((0, 1, 2, 3), ["age is not missing"]),
        ((0, 1, 2, 3, 4), []),
    ],
)
def test_neighbouring_cells_are_one_interval_and_others_joined_by_or(codes, expected):
    forest = Forest.from_nodes(np.array([0, *[-1] * 5], np.int32), np.full(6, -1, dtype=np.int32), 1, AGE.attributes)
    assert texts(AGE, forest, codes[0] + 1, codes) == expected
    last = Paths(forest, AGE).last_condition(codes[0] + 1, codes)
    assert [last.text] == expected if expected else last is None


def test_a_cell_below_a_cut_is_narrowed_by_it_and_the_other_way_round():
    # The cut at 40 first, and then the cells of those below it; the cells first, and a cut in the last of them.
    attribute, cut = np.array([0, 0, *[-1] * 6], np.int32), np.array([1, *[-1] * 7], np.int32)
    cut_first = Forest.from_nodes(attribute, cut, 1, AGE.attributes)
    assert [texts(AGE, cut_first, node) for node in (3, 4, 5)] == [["age < 20"], ["20 <= age < 40"], ["age in {}"]]
    assert texts(AGE, cut_first, 3, (0, 1, 2)) == ["age < 40"]
    assert texts(AGE, cut_first, 3, (0, 4)) == ["age < 20"]
    attribute, cut = np.array([0, *[-1] * 3, 0, *[-1] * 3], np.int32), np.array([*[-1] * 4, 3, *[-1] * 3], np.int32)
    cells_first = Forest.from_nodes(attribute, cut, 1, AGE.attributes)
    assert [texts(AGE, cells_first, node) for node in (6, 7)] == [["age >= 60"], ["age in {}"]]


def test_or_between_intervals_reaches_no_further_than_its_brackets():
    age, sex = Condition("age", "age < 20 or 40 <= age < 60"), Condition("sex", "sex = f")
    assert joined((age, sex)) == "(age < 20 or 40 <= age < 60) and sex = f"


def test_or_missing_reaches_no_further_than_its_brackets():
    age, sex = Condition("age", "age >= 61 or missing"), Condition("sex", "sex = female")
    assert joined((age, sex)) == "(age >= 61 or missing) and sex = female"
    assert joined((age,)) == "age >= 61 or missing"


def test_a_merged_nodes_words_do_not_stick_to_it():
    schema, forest = by_hand()
    paths = Paths(forest, schema)
    before = paths.conditions(4)
    paths.conditions(4, (0, 1))
    assert paths.conditions(4) == before
