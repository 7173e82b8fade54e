import numpy as np
import pytest

from privet.schema import Categorical, Numeric, Schema
from privet.tree.conditions import Condition, Paths, joined, shown
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
    assert shown(label) == expected


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
