"""The first round: class tables by hand, by a plain twin, and what one row moves at most."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights.trees import GRID
from privet.errors import ParameterError, PartyError
from privet.partitioned import Structure, TableRound
from privet.partitioned.split_structure import load_structure
from privet.partitioned.tables.table_round import CLASS_TABLES
from privet.privacy.events import DiscreteLaplace
from privet.privacy.unit import Unit
from privet.schema.encoding import Encoder
from tests.partitioned.tables.small import SCHEMA, structure, table


def test_tables_by_hand():
    schema = Schema(
        [Numeric("pay", 0, 10, bins=2), Categorical("job", ["nurse", "cook"])], classes=[5, 9], target="group", rows=4
    )
    X = pd.DataFrame({"pay": [1.0, 7.0, 8.0, None], "job": ["nurse", "cook", "cook", None]})
    counts = TableRound.draw(schema, epsilon=math.inf).exact_counts(X, np.array([5, 9, 9, 5]))
    # Low pay, high pay, unknown pay; nurse, cook, unknown job.
    assert (counts / GRID).tolist() == [[1, 0], [0, 2], [1, 0], [1, 0], [0, 2], [1, 0]]


def test_a_table_of_two_categories_by_hand():
    schema = Schema(
        [Categorical("job", ["nurse", "cook"], never_missing=True), Categorical("night", [False, True])],
        classes=["no", "yes"], target="smokes", rows=24,
    )  # fmt: skip
    X = pd.DataFrame({"job": ["nurse", "cook", "cook", "cook"], "night": [True, True, None, True]})
    agreed = TableRound.draw(schema, epsilon=1.0)
    counts = agreed.exact_counts(X, np.array(["no", "yes", "no", "yes"])) / GRID
    # A nurse by day, by night, unknown; a cook by day, by night, unknown.
    assert counts.tolist() == [[0, 0], [1, 0], [0, 0], [0, 0], [0, 2], [1, 0]]
    assert agreed.sensitivity == GRID


def groups(schema, n_rows, epsilon=1.0):
    return TableRound.draw(schema, epsilon=epsilon, n_rows=n_rows).trees.attributes


def category(name, size):
    return Categorical(name, [f"{name}{i}" for i in range(size)], never_missing=True)


def test_categories_that_follow_each_other_share_a_tree_of_as_many_leaves_as_rows_allow():
    attributes = [category("a", 4), category("b", 5), Numeric("n", 0, 1), category("c", 2), category("d", 3)]
    schema = Schema(attributes, classes=["no", "yes"])
    # Two rows times epsilon for each leaf and attribute: 2 x 5 x 40 for a, b and c.
    assert groups(schema, 400) == ((2,), (0, 1, 3), (4,))
    assert groups(schema, 399) == ((2,), (0, 1), (3, 4))
    assert groups(schema, 800, 0.5) == groups(schema, 400)
    assert groups(schema, 199) == ((2,), (0,), (1, 3), (4,))
    assert groups(schema, 59) == ((2,), (0,), (1,), (3,), (4,))


def test_the_order_of_the_schema_says_which_categories_share_a_tree():
    a, b, c, d = (category(name, 2) for name in "abcd")
    assert groups(Schema([a, b, c, d], classes=["no", "yes"]), 10**4) == ((0, 1, 2), (3,))
    shared = {
        frozenset(own.names[i] for i in tree)
        for own in [Schema([d, b, c, a], classes=["no", "yes"])]
        for tree in groups(own, 10**4)
    }
    assert shared == {frozenset("dbc"), frozenset("a")}


def test_groups_are_smaller_where_their_leaves_would_be_too_many():
    schema = Schema([category(f"c{i}-", 13) for i in range(30)], classes=["no", "yes"])
    trees = TableRound.draw(schema, n_rows=10**9).trees
    assert trees.attributes == tuple((2 * i, 2 * i + 1) for i in range(15))
    assert trees.n_leaves == 15 * 13**2


def test_a_number_between_two_knots_belongs_to_both():
    agreed = structure()
    (axis,) = agreed.trees.axes[0]
    X = pd.DataFrame({"age": [50.0], "job": ["cook"], "night": [True]})
    own = agreed.exact_counts(X, np.array(["yes"]))[: axis.n_leaves, 1]
    assert own.sum() == GRID
    assert 1 <= np.count_nonzero(own) <= 2
    assert own[len(axis.knots) :].sum() == 0


def test_tables_agree_with_a_plain_twin():
    agreed, (X, y) = structure(), table(400)
    X.loc[:20, "age"], X.loc[15:40, "job"] = None, None
    encoder = Encoder(agreed.schema)
    cells, labels = agreed.trees.cells(encoder.encode(X)), encoder.encode_labels(y)
    expected = np.zeros(agreed.shape, dtype=np.int64)
    for line, label in zip(cells, labels, strict=True):
        for t, cell in enumerate(line):
            shares = np.asarray(agreed.trees.whole_shares(t).toarray())[cell] * (GRID // agreed.trees.grids[t])
            start = agreed.trees.starts[t]
            expected[start : start + agreed.trees.sizes[t], label] += shares
    assert_array_equal(agreed.exact_counts(X, y), expected)


def test_one_more_row_moves_the_tables_by_exactly_the_sensitivity_and_never_less():
    agreed = structure()
    X, y = table(50)
    for i in range(50):
        exact = agreed.exact_counts(X[i : i + 1].reset_index(drop=True), y[i : i + 1])
        assert np.abs(exact).sum() == agreed.sensitivity == GRID * 2  # age; job and night


def test_a_person_moves_the_tables_by_all_rows_that_count():
    agreed = structure(unit=Unit("person", 2))
    X, y = table(5)
    exact = agreed.exact_counts(X.assign(person="anna"), y)
    assert np.abs(exact).sum() == agreed.sensitivity == 2 * GRID * 2


def test_both_rounds_add_up_to_epsilon_and_never_to_more():
    for epsilon in (0.01, 0.1, 1 / 3, 1.0, 7.0):
        agreed = structure(epsilon)
        assert agreed.epsilon + agreed.newton_epsilon == pytest.approx(epsilon, rel=1e-12)
        assert agreed.total_epsilon <= epsilon
        sensitivity = GRID * agreed.trees.n_trees
        assert agreed.receipt == DiscreteLaplace(CLASS_TABLES, agreed.epsilon, sensitivity, agreed.receipt.scale)


def test_more_rows_give_the_second_round_no_smaller_share():
    shares = [structure(1.0, n_rows=n).newton_epsilon for n in (100, 1_000, 10_000, 10**6)]
    assert shares == sorted(shares)
    assert shares[-1] <= 0.5


def test_a_structure_survives_its_file_and_is_known_by_its_method(tmp_path):
    agreed = structure(0.7)
    agreed.save(tmp_path / "s.json")
    read = load_structure(tmp_path / "s.json", pin=agreed.hash)
    assert isinstance(read, TableRound)
    assert (read.hash, read.trees, read.newton_epsilon) == (agreed.hash, agreed.trees, agreed.newton_epsilon)
    with pytest.raises(PartyError, match="is of the method 'table-forest', and 'private-rdt' is wanted"):
        Structure.from_json({**Structure.draw(SCHEMA).to_json(), "method": "table-forest"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trees": {}}, "its trees lack a part or have one too many"),
        ({"newton_epsilon": "much"}, "its epsilon is no fraction"),
        ({"newton_epsilon": "1/0"}, "its epsilon is no fraction"),
        ({"method": "private-rdt"}, "is of the method 'private-rdt', and 'table-forest' is wanted"),
    ],
)
def test_a_damaged_structure_is_refused(change, message):
    with pytest.raises(PartyError, match=message):
        TableRound.from_json({**structure(1.0).to_json(), **change})


def test_a_structure_that_leaves_an_attribute_out_is_refused():
    document = structure(1.0).to_json()
    trees = {**document["trees"], "trees": document["trees"]["trees"][1:], "knots": [[], [], []]}
    with pytest.raises(PartyError, match="its trees have not every attribute once and numbers apart"):
        TableRound.from_json({**document, "trees": trees})


def test_a_structure_that_asks_for_an_attribute_twice_is_refused():
    document = structure(1.0).to_json()
    trees = {**document["trees"], "trees": [*document["trees"]["trees"], [1]]}
    with pytest.raises(PartyError, match="the trees ask for attributes that are not there, or twice for one"):
        TableRound.from_json({**document, "trees": trees})


def test_a_structure_with_two_numbers_in_a_tree_is_refused():
    schema = Schema([Numeric("age", 0, 100), Numeric("pay", 0, 9)], classes=["no", "yes"], rows=9_000)
    document = TableRound.draw(schema).to_json()
    assert document["trees"]["trees"] == [[0], [1]]
    with pytest.raises(PartyError, match="its trees have not every attribute once and numbers apart"):
        TableRound.from_json({**document, "trees": {**document["trees"], "trees": [[0, 1]]}})


def test_a_structure_with_a_tree_for_each_attribute_opens_too():
    document = structure(1.0).to_json()
    alone = TableRound.from_json({**document, "trees": {**document["trees"], "trees": [[0], [1], [2]]}})
    X, y = table(30)
    assert np.abs(alone.exact_counts(X[:1], y[:1])).sum() == alone.sensitivity == GRID * 3


def test_the_number_of_rows_has_to_be_said():
    with pytest.raises(ParameterError, match="nobody may count them; give roughly how many"):
        TableRound.draw(replace(SCHEMA, rows=None))


def test_an_epsilon_too_small_for_two_rounds_is_refused():
    with pytest.raises(ParameterError, match="out of range"):
        TableRound.draw(SCHEMA, epsilon=2e-6)


def test_more_leaves_than_a_model_has_are_refused():
    schema = Schema(
        [Categorical(f"a{i}", [f"v{j}" for j in range(250)]) for i in range(20)], classes=["no", "yes"], rows=100
    )
    with pytest.raises(ParameterError, match="5,020 leaves together, more than 4,096; leave some out"):
        TableRound.draw(schema)
