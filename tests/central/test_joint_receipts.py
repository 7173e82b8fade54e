"""A fit that is accounted for jointly: how its receipts are put together, read back and checked."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, PrivateForestClassifier, Schema
from privet.central.receipts import asked_epsilon, composed, in_sequence, is_seeded
from privet.central.weight_file import are_receipts
from privet.errors import ModelFileError
from privet.privacy.events import DiscreteLaplace, Jointly, NormalObjective, Seeded, Sequential
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger.spending import Budget, Cost, Expense

ROWS = DiscreteLaplace("number of rows", 0.25, 1, Fraction(4))
BALANCE = DiscreteLaplace("class balance", 0.0625, 1, Fraction(16))
FIT = NormalObjective("leaf weights", Fraction(40), 0.5, 16, 2, 64, 1)
JOINT = Jointly((BALANCE, FIT), 0.75, 1e-6)


def test_a_fit_without_a_delta_is_a_sequence_and_with_one_it_is_joint():
    assert composed([BALANCE, FIT], 0.75, 1e-6) == JOINT
    assert composed([BALANCE], 0.75, 0.0) == Sequential((BALANCE,))
    assert composed([BALANCE], math.inf, 1e-6) == Sequential((BALANCE,))
    assert composed([BALANCE, FIT], 0.75, 1e-6, first=[ROWS]) == Sequential((ROWS, JOINT))
    assert composed([BALANCE], 0.75, 0.0, first=[ROWS]) == Sequential((ROWS, BALANCE))


def test_releases_are_found_in_their_order_however_they_are_composed():
    assert in_sequence(JOINT) == (BALANCE, FIT)
    assert in_sequence(Sequential((ROWS, JOINT))) == (ROWS, BALANCE, FIT)
    assert in_sequence(Sequential((ROWS, BALANCE))) == (ROWS, BALANCE)
    assert in_sequence(ROWS) == (ROWS,)


def test_what_a_seeded_fit_was_asked_for_is_still_known():
    seeded = Sequential((ROWS, Jointly((Seeded(BALANCE), Seeded(FIT)), 0.75, 1e-6)))
    assert (asked_epsilon(seeded), is_seeded(seeded)) == (1.0, True)
    guarantee = Guarantee.from_event(seeded, public=["the schema"])
    assert (guarantee.epsilon, guarantee.mode) == (math.inf, "not private")
    assert "its noise came from a seed" in guarantee.sentence


def test_the_guarantee_states_epsilon_and_delta_and_follows_from_its_receipts():
    guarantee = Guarantee.from_event(Sequential((ROWS, JOINT)), public=["the schema"])
    assert (guarantee.epsilon, guarantee.delta, guarantee.mode) == (1.0, 1e-6, "sound")
    assert "approximate differential privacy, epsilon = 1, delta = 1e-06" in guarantee.sentence
    data = json.loads(json.dumps(guarantee.to_json()))
    assert Guarantee.from_json(data) == guarantee
    data["event"]["parts"][1]["parts"][1]["sigma"] = "20/1"
    with pytest.raises(ModelFileError, match="the guarantee does not follow from its receipts"):
        Guarantee.from_json(data)


def test_a_ledger_books_epsilon_and_delta_of_a_joint_fit():
    cost = Cost.of(Sequential((ROWS, JOINT)), 1e-6)
    assert cost == Cost(1.0, 1e-6)
    budget = Budget(2.0, 4e-6)  # sums of deltas have half of it
    assert budget.allows([Expense(cost)] * 2, None)
    assert not budget.allows([Expense(cost)] * 3, None)
    assert not Budget(9.0, 0.0).allows([Expense(cost)], None)


@pytest.fixture(scope="module")
def fitted():
    X = pd.DataFrame({name: np.arange(400) % 2 for name in ("cup", "lid", "jar")})
    schema = Schema([Categorical(name, [0, 1]) for name in X], classes=["no", "yes"], rows=400)
    model = PrivateForestClassifier(schema, epsilon=1.0, group_size=1).fit(X, np.where(X["cup"] == 1, "yes", "no"))
    return model.released_, model.guarantee_.event.parts, model.schema_


def joint_of(fitted, **changes):
    """Return the release as if its noise were normal, and a joint receipt for it."""
    released, receipts, schema = fitted
    released = replace(released, noise_std=np.full(released.trees.n_trees, 40.0))
    right = {"trees": released.trees.n_trees, "classes": 2, "numbers": released.weights.size, "rows": 1}
    normal = NormalObjective("leaf weights", Fraction(40), **{"curvature": 2.0, **right, **changes})
    parts = tuple(normal if receipt.what == "leaf weights" else receipt for receipt in receipts)
    return Jointly(parts, 1.0, 1e-6), released, schema


def test_a_file_may_hold_a_joint_receipt_that_fits_its_forest(fitted):
    assert are_receipts(*joint_of(fitted), max_rows=1, buys_rows=False)
    # The counts are those of one row.
    assert are_receipts(*joint_of(fitted, rows=5)[:3], max_rows=5, buys_rows=False) is False


@pytest.mark.parametrize(
    "changes", [{"trees": 1}, {"numbers": 1}, {"rows": 2}, {"classes": 3}, {"curvature": 1e-6}], ids=str
)
def test_a_joint_receipt_of_another_forest_is_refused(fitted, changes):
    assert not are_receipts(*joint_of(fitted, **changes), max_rows=1, buys_rows=False)


def test_a_joint_receipt_of_other_noise_is_refused(fitted):
    event, released, schema = joint_of(fitted)
    assert not are_receipts(
        event, replace(released, noise_std=released.noise_std / 2), schema, max_rows=1, buys_rows=False
    )


def test_a_bought_number_of_rows_does_not_decide_what_is_promised():
    # With about 32 rows and epsilon 0.5, noise in their number decides whether there is a plan with normal noise.
    X = pd.DataFrame({name: np.arange(34) % 2 for name in ("cup", "lid", "jar")})
    schema = Schema([Categorical(name, [0, 1]) for name in X], classes=["no", "yes"])
    y = np.where(X["cup"] == 1, "yes", "no")
    models = [PrivateForestClassifier(schema, epsilon=0.5, delta=1e-6).fit(X, y) for _ in range(24)]
    assert {model.trees_.n_trees > 0 for model in models} == {False, True}
    assert {(model.guarantee_.epsilon, model.guarantee_.delta) for model in models} == {(0.5, 1e-6)}
    for model in models:
        assert PrivateForestClassifier.from_document(model.to_document(), model.schema_).guarantee_.delta == 1e-6
