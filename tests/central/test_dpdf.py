"""DPDF: greedy trees, what they ask, what they pay, and why the paper's own rule is not sound."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, DPDFClassifier, Ledger, Numeric, Schema, load
from privet.central.dpdf import _PAPER_SCORE
from privet.errors import BudgetExceeded, NoGuaranteeWarning, ParameterError
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace, NoNoise, PermuteAndFlip, Unproven
from privet.tree.criteria import GINI, GRID, entropy_score, gini_over_sensitivity
from privet.tree.forest import LEAF
from tests.central.plain import SCHEMA, coded, greedy, impurity, pruned, table, told
from tests.central.selection import exponential, given_away, probabilities


class Unreadable:
    """A table that nobody may look at."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was read although it is refused")

    __array__ = __iter__ = __len__ = None


def without_rows(schema=SCHEMA):
    return Schema(schema.attributes, classes=schema.classes)


def exact(**options):
    return DPDFClassifier(SCHEMA, **{"epsilon": math.inf, "n_trees": 1, "min_support": 1, **options})


def purer(node, children):
    """Equation 27: the children's impurity, weighted by their sizes, is less than the node's own."""
    own = impurity(node.counts) / max(1, sum(node.counts))
    return own > sum(impurity(c.counts) for c in children) / max(1, sum(sum(c.counts) for c in children))


@pytest.mark.parametrize(("height", "min_support"), [(1, 1), (2, 1), (3, 60), (4, 20), (9, 20)])
def test_without_noise_it_is_the_plain_greedy_tree_pruned(height, min_support):
    X, y = table()
    model = exact(height=height, min_support=min_support).fit(X, y)
    plain = greedy(coded(X, y), [0, 1, 2, 3], height, measure=impurity, least=min_support)
    assert told(model) == pruned(plain, purer)
    assert model.guarantee_.mode == "not private"


def test_without_noise_trees_have_different_roots_and_each_is_greedy_among_what_is_left():
    X, y = table()
    model = exact(n_trees=4, height=1).fit(X, y)
    rows, left = coded(X, y), [0, 1, 2, 3]
    for tree in range(4):
        # Among the attributes that earlier roots have not taken.
        plain = greedy(rows, left, 1, measure=impurity, least=1)
        assert told(model, tree) == pruned(plain, purer)
        left.remove(plain.attribute)
    again = exact(n_trees=6, height=1).fit(X, y)
    assert sorted(again.forest_.attribute[:4]) == [0, 1, 2, 3]
    assert_array_equal(again.forest_.attribute[4:6], again.forest_.attribute[:2])


@pytest.mark.parametrize(("criterion", "root"), [("gini", "a"), ("entropy", "a"), ("max_class", "b")])
def test_criteria_choose_by_what_they_measure(criterion, root):
    # Majorities of a get 10 + 15 rows right and those of b 17 + 9; but a leaves 15 rows impure (30 bits) and b 17.3
    # (36 bits).
    X = pd.DataFrame(
        {"a": ["u"] * 10 + ["v"] * 15 + ["v"] * 15, "b": ["p"] * 17 + ["q"] * 8 + ["p"] * 6 + ["q"] * 9}
    )  # fmt: skip
    schema = Schema([Categorical("a", ["u", "v"]), Categorical("b", ["p", "q"])], classes=["no", "yes"], rows=40)
    model = DPDFClassifier(schema, epsilon=math.inf, n_trees=1, height=1, min_support=1, criterion=criterion)
    model.fit(X, ["no"] * 25 + ["yes"] * 15)
    assert schema.names[model.forest_.attribute[0]] == root


def test_empty_and_pure_nodes_are_not_split_however_high_trees_may_grow():
    split = []

    class Listening(DPDFClassifier):
        """Tells what its nodes hold before pruning hides it."""

        def _choose_attributes(self, nodes, asked):
            split.append(nodes.noisy)
            return super()._choose_attributes(nodes, asked)

    X, y = table(40)
    model = Listening(SCHEMA, epsilon=math.inf, n_trees=1, height=64, min_support=0)
    model.fit(X, y)
    counts = np.concatenate(split)
    assert len(counts) > 5
    assert ((counts > 0).sum(axis=1) > 1).all()
    assert model.fit(X[:0], y[:0]).forest_.n_nodes == 1


def test_a_leaf_without_rows_votes_as_its_nearest_ancestor_with_some():
    rows = [("u", "no")] * 6 + [("u", "yes")] * 2 + [("v", "yes")] * 4
    schema = Schema([Categorical("a", ["u", "v", "w"])], classes=["no", "yes"])
    model = DPDFClassifier(schema, epsilon=math.inf, n_trees=1, min_support=1)
    model.fit(pd.DataFrame({"a": [row[0] for row in rows]}), [row[1] for row in rows])
    new = pd.DataFrame({"a": ["u", "v", "w", None]})
    # The root has 6 of each class: the first one leads.
    assert_array_equal(model.predict(new), ["no", "yes", "no", "no"])
    assert_allclose(model.predict_proba(new), [[1, 0], [0, 1], [1, 0], [1, 0]])


def test_trees_vote_for_their_majority_weighted_by_its_confidence():
    X, y = table()
    model = exact(n_trees=2, height=1).fit(X, y)
    new = X[:50]
    votes = np.zeros((50, 2))
    for tree in range(2):
        node = told(model, tree)
        for i, row in enumerate(coded(new, y[:50])):
            counts = np.array(node.children[row[node.attribute]].counts if node.children else node.counts)
            votes[i, counts.argmax()] += counts.max() / counts.sum()
    assert_allclose(model.predict_proba(new), votes / votes.sum(axis=1, keepdims=True), atol=1e-8)


def test_rules_tell_a_nodes_own_released_counts_and_not_the_sum_of_its_children():
    X, y = table()
    model = DPDFClassifier(
        SCHEMA, epsilon=3.0, n_trees=1, height=2, min_support=1, random_state=3, unsafe_seeded_noise=True
    ).fit(X, y)
    inner = np.flatnonzero(model.forest_.attribute != LEAF)[1:]
    assert len(inner)
    rules = model.rules().set_index("node")
    for node in inner:
        assert tuple(rules.loc[node, ["n(no)", "n(yes)"]]) == tuple(model.noisy_counts_[node])
    first, n = model.forest_.first_child[inner], model.forest_.n_children[inner]
    sums = [model.noisy_counts_[start : start + many].sum(axis=0) for start, many in zip(first, n, strict=True)]
    assert not np.array_equal(np.array(sums), model.noisy_counts_[inner])
    assert_array_equal(model.nodes_.n_draws, 1)


@pytest.mark.parametrize(
    ("options", "score", "max_rows"),
    [
        ({}, GINI, 1),
        ({"n_trees": 1, "height": 1}, GINI, 1),
        ({"criterion": "entropy"}, entropy_score(1800), 1),
        ({"unit": "person", "max_rows": 3}, GINI, 3),
    ],
)
def test_a_path_has_one_histogram_more_than_choices_and_each_is_paid_in_every_tree(options, score, max_rows):
    X, y = table()
    X = X.assign(person=np.arange(len(X))) if "unit" in options else X
    model = DPDFClassifier(SCHEMA, epsilon=0.7, **options).fit(X, y)
    n_trees, height = options.get("n_trees", 1), options.get("height", 4)
    receipts = model.guarantee_.event.parts
    counts = [receipt for receipt in receipts if isinstance(receipt, DiscreteLaplace)]
    choices = [receipt for receipt in receipts if isinstance(receipt, PermuteAndFlip)]
    assert (len(counts), len(choices), len(receipts)) == (height + 1, n_trees * height, len(counts) + len(choices))
    assert {receipt.sensitivity for receipt in counts} == {n_trees * max_rows}
    assert {receipt.sensitivity for receipt in choices} == {score.sensitivity * max_rows}
    assert all(receipt.monotone for receipt in choices)
    price = 0.7 / (n_trees * (2 * height + 1))
    assert [receipt.epsilon for receipt in counts] == pytest.approx([n_trees * price] * len(counts))
    assert [receipt.epsilon for receipt in choices] == pytest.approx([price] * len(choices))
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in receipts) <= Fraction(0.7)


def test_a_node_is_split_where_its_released_support_exceeds_its_own_noise():
    X, y = table()
    # 36 questions at epsilon 0.036: noise of 1,414 in a count, and 2,000 in a support of some hundred rows.
    model = DPDFClassifier(
        SCHEMA, epsilon=0.036, n_trees=4, min_support=0, random_state=1, unsafe_seeded_noise=True
    ).fit(X, y)
    split = model.forest_.attribute != LEAF
    assert (model.noisy_counts_[split].sum(axis=1) >= 1_990).all()
    assert model.plan().tuning["rows worth a split"] == "2e+03"


# A node of one row, and the same node with another row: of the other class, told apart by the second attribute only.
ONE_ROW = {"a": [[1, 0], [0, 0]], "b": [[1, 0], [0, 0]]}
TWO_ROWS = {"a": [[1, 1], [0, 0]], "b": [[1, 0], [0, 1]]}
# At 0.003 a question the noise has a scale of 333 rows, so that a node of one row seems to hold a thousand or more
# once in forty times.
PRICE, SEEMS = 0.003, np.array([1000])


def test_the_papers_sensitivity_at_the_noisy_size_gives_away_fifty_times_what_it_pays():
    def steps(node):
        return [int(gini_over_sensitivity(np.array([node[name]]), SEEMS)[0]) for name in "ab"]

    assert steps(ONE_ROW) == [0, 0]
    assert steps(TWO_ROWS)[1] == 0
    for law, leak in ((exponential, 0.205), (probabilities, 0.376)):
        with_one, with_two = (law(steps(node), score=_PAPER_SCORE, epsilon=PRICE) for node in (ONE_ROW, TWO_ROWS))
        assert given_away(with_one, with_two) == pytest.approx(leak, abs=0.001)
        assert given_away(with_one, with_two) > 50 * PRICE
    # The likelier of the two choices alone: log(0.593 / 0.5).
    law = exponential(steps(TWO_ROWS), score=_PAPER_SCORE, epsilon=PRICE)
    assert math.log(law[1] / 0.5) == pytest.approx(0.170, abs=0.001)


def test_the_sound_score_gives_away_no_more_than_it_pays_in_the_same_case():
    def steps(node):
        return [int(GINI.of(np.array([node[name]]))[0]) for name in "ab"]

    assert steps(TWO_ROWS) == [-GRID, 0]
    for law in (exponential, probabilities):
        with_one, with_two = (law(steps(node), score=GINI, epsilon=PRICE) for node in (ONE_ROW, TWO_ROWS))
        assert 0 < given_away(with_one, with_two) <= PRICE


def test_at_the_true_size_the_papers_rule_would_cost_what_it_says():
    def steps(node, size):
        return [int(gini_over_sensitivity(np.array([node[name]]), np.array([size]))[0]) for name in "ab"]

    law = exponential(steps(ONE_ROW, 1), score=_PAPER_SCORE, epsilon=PRICE)
    assert given_away(law, exponential(steps(TWO_ROWS, 1), score=_PAPER_SCORE, epsilon=PRICE)) <= PRICE


def test_the_papers_variant_warns_and_promises_nothing(tmp_path):
    X, y = table()
    model = DPDFClassifier(SCHEMA, epsilon=5.0, n_trees=4, variant="paper")
    with pytest.warns(NoGuaranteeWarning, match=r'DPDFClassifier\(variant="paper"\) is for reproduction') as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    guarantee = model.guarantee_
    assert (guarantee.mode, guarantee.epsilon) == ("paper", math.inf)
    assert guarantee.sentence.startswith("None proven: split attributes are chosen with the sensitivity of the Gini")
    unproven = [receipt for receipt in guarantee.event.parts if isinstance(receipt, Unproven)]
    assert len(unproven) == 4 * 4
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == guarantee


def test_no_ledger_takes_the_papers_variant_and_nothing_is_read(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1e9)
    model = DPDFClassifier(SCHEMA, variant="paper", ledger=ledger)
    with pytest.warns(NoGuaranteeWarning), pytest.raises(BudgetExceeded, match="costs epsilon=inf"):
        model.fit(Unreadable(), Unreadable())
    assert ledger.account().spendings == ()


def test_the_papers_variant_without_noise_is_not_private_rather_than_unproven():
    with pytest.warns(NoGuaranteeWarning):
        model = exact(variant="paper").fit(*table())
    assert model.guarantee_.mode == "not private"
    assert {type(part.part) for part in model.guarantee_.event.parts if isinstance(part, Unproven)} == {NoNoise}


def test_entropy_needs_to_know_about_how_many_rows_there_are(tmp_path):
    X, y = table()
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1)
    with pytest.raises(ParameterError, match='criterion="entropy" needs to know roughly how many rows there are'):
        DPDFClassifier(without_rows(), criterion="entropy", ledger=ledger).fit(X, y)
    many = Schema(SCHEMA.attributes, classes=SCHEMA.classes, rows=10**12)
    with pytest.raises(ParameterError, match='is for tables of up to 10,000,000 rows; choose "gini" or "max_class"'):
        DPDFClassifier(many, criterion="entropy", ledger=ledger).fit(X, y)
    assert ({spending.state for spending in ledger.account().spendings}, ledger.spent) == ({"withdrawn"}, 0.0)


def test_a_table_of_any_size_is_taken_by_the_entropy(tmp_path):
    X, y = table(401)
    declared = Schema(SCHEMA.attributes, classes=SCHEMA.classes, rows=200)
    for n in (399, 400, 401):
        model = DPDFClassifier(declared, criterion="entropy").fit(X[:n], y[:n])
        assert model.guarantee_.mode == "sound"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_trees": 0}, "n_trees=0 must be a whole number from 1"),
        ({"height": 0}, "height=0 must be a whole number from 1 to 64"),
        ({"height": 2.0}, "height=2.0 must be a whole number"),
        ({"min_support": -1}, "min_support=-1 must be a whole number from 0"),
        ({"criterion": "best"}, "criterion='best' is not known; choose from gini, max_class, entropy"),
        ({"criterion": ["gini"]}, "is not known; choose from gini, max_class, entropy"),
        ({"numeric": "cells"}, "numeric='cells' is not known; choose from bins, quantiles"),
        ({"variant": "swift"}, "variant='swift' is not known; choose from sound, paper"),
        ({"epsilon": 0}, "epsilon=0 is out of range"),
        ({"epsilon": 1e-6}, "epsilon=1e-06 is too little for 9 queries; lower height, n_trees or max_rows"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
        ({"max_rows": 2}, "max_rows=2 bounds the rows of a person; name their column with unit"),
    ],
)
def test_a_parameter_out_of_range_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        DPDFClassifier(SCHEMA, **changes).fit(*table(50))


def test_numbers_without_bins_get_five_cells_and_those_with_bins_keep_them():
    schema = Schema([Numeric("x", 0, 10), Numeric("z", 0, 1, bins=7)], classes=["no", "yes"])
    model = DPDFClassifier(schema, epsilon=math.inf).fit(np.random.default_rng(0).random((300, 2)), ["no", "yes"] * 150)
    assert [attribute.n_values for attribute in model.schema_.attributes] == [5, 7]


def test_it_learns_what_decides():
    X, y = table(20_000)
    model = DPDFClassifier(SCHEMA, epsilon=2.0, n_trees=1).fit(X, y)
    assert model.score(*table(5_000, seed=9)) > 0.8  # one row of ten has the wrong class
