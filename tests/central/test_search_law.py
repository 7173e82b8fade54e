"""The choice has the law that is paid for, and the test sees it where it has not."""

import math

import numpy as np
import pyarrow as pa
import pytest

from privet import Categorical, PrivateSearch, Schema
from privet.central import private_search
from privet.central.private_search import RowParts
from privet.privacy import events
from privet.privacy.ledger import NoReservation
from privet.privacy.unit import EACH_ROW

SCHEMA = Schema([Categorical("colour", ["red"])], classes=[5, 9])
N, EPSILON, MAX_ROWS = 2_000, 1.0, 4
# Four people of one row each say 5; one more has four rows that say 9.
WITHOUT = pa.table({"colour": ["red"] * 4, "class": [5] * 4, "person": list("abcd")})
WITH = pa.concat_tables([WITHOUT, pa.table({"colour": ["red"] * 6, "class": [9] * 6, "person": ["e"] * 6})])


class Says:
    """A fitted candidate that says one class of all rows."""

    schema_ = SCHEMA
    guarantee_ = type("Guarantee", (), {"event": events.PermuteAndFlip("nothing", EPSILON, 1, 1, True, 1)})

    def __init__(self, place):
        self.place = place

    def _run(self, call):
        return self

    def predict_proba(self, rows):
        return np.eye(2)[[self.place] * rows.num_rows]


class HeldOut:
    """Parts of which the last one has all rows."""

    def __init__(self, table):
        self.table = table

    def part(self, number):
        return iter([self.table])


def share_of_nine(table):
    """Return how often the model that says 9 is chosen."""
    search = PrivateSearch(unit="person", max_rows=MAX_ROWS)
    models = {"five": Says(0), "nine": Says(1)}
    chosen = [search._trial(models, HeldOut(table), EPSILON, NoReservation())[0] for _ in range(N)]
    return chosen.count("nine") / N


def is_near(share, expected):
    return abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / N)


def test_one_person_moves_the_choice_by_a_factor_of_e_to_epsilon_and_no_more():
    # Four right guesses behind at a rate of epsilon / 4 a guess: a half of e^-1. With the person both have four.
    assert is_near(share_of_nine(WITHOUT), 0.5 * math.exp(-EPSILON))
    assert is_near(share_of_nine(WITH), 0.5)


def test_a_choice_with_the_sensitivity_of_one_row_is_seen(monkeypatch):
    real = private_search.permute_and_flip
    monkeypatch.setattr(
        private_search, "permute_and_flip", lambda scores, **given: real(scores, **{**given, "sensitivity": 1})
    )
    assert not is_near(share_of_nine(WITHOUT), 0.5 * math.exp(-EPSILON))


def test_a_choice_that_nothing_is_paid_for_is_seen(monkeypatch):
    monkeypatch.setattr(
        private_search, "permute_and_flip", lambda scores, **given: (int(np.argmax(scores)), events.NoNoise("free"))
    )
    assert share_of_nine(WITHOUT) == 0.0
    assert not is_near(share_of_nine(WITHOUT), 0.5 * math.exp(-EPSILON))


@pytest.mark.parametrize("n_parts", [2, 5])
def test_coins_put_rows_into_all_parts_alike_and_independently(n_parts):
    n = 4_000
    parts = RowParts(lambda: iter([pa.table({"row": range(n)})]), n_parts, EACH_ROW)
    drawn = np.zeros(n, dtype=int)
    for number in range(n_parts):
        drawn[next(parts.part(number))["row"].to_numpy()] = number
    pairs = np.bincount(drawn[:-1] * n_parts + drawn[1:], minlength=n_parts**2)
    expected = (n - 1) / n_parts**2
    chi_square = float(((pairs - expected) ** 2 / expected).sum())
    # Its mean is about the number of cells; five standard deviations above it.
    assert chi_square < n_parts**2 + 5 * math.sqrt(2 * n_parts**2)
    alternating = np.bincount((np.arange(n - 1) % n_parts) * n_parts + np.arange(1, n) % n_parts, minlength=n_parts**2)
    assert float(((alternating - expected) ** 2 / expected).sum()) > n_parts**2 + 5 * math.sqrt(2 * n_parts**2)
