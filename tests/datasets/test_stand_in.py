"""Made-up people are as the schema and their owner say: as many, as strong, with values of their own cells."""

import numpy as np
import pytest

from privet import Categorical, Numeric, Schema
from privet.datasets.stand_in import StandIn, checked_shares, checked_strength, cohens_w
from privet.errors import ParameterError
from privet.schema import Date
from privet.schema.encoding import Encoder

SCHEMA = Schema(
    [Numeric("age", 16, 100, bins=6), Categorical("job", ["a", "b", "c"]), Categorical("sex", ["f", "m"])],
    classes=["no", "yes"], target="smoker",
)  # fmt: skip


def test_cohens_w_by_hand():
    # Three quarters against a quarter: every cell is 1/8 off 1/4, so chi-square over n is 4 (1/8)^2 / (1/4).
    assert cohens_w(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])) == pytest.approx(0.5)
    assert cohens_w(np.array([[0.4, 0.4], [0.6, 0.6]]), np.array([0.9, 0.1])) == pytest.approx(0.0)


@pytest.mark.parametrize("strength", [0.1, 0.3])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.1, 0.1)])
def test_attributes_go_with_the_class_as_strongly_as_asked_in_drawn_people_too(strength, shares):
    rng, shares = np.random.default_rng(5), np.array(shares)
    people = StandIn.draw(SCHEMA, shares, strength, rng)
    assert [cohens_w(own, shares) for own in people.values] == pytest.approx([strength] * 3)
    codes, labels = people.people(200_000, rng)
    counts = np.zeros((3, len(shares)))
    np.add.at(counts, (codes[:, 1], labels), 1)
    drawn = cohens_w(counts / counts.sum(axis=0), counts.sum(axis=0) / counts.sum())
    assert drawn == pytest.approx(strength, abs=0.02)
    chances = people.chances(codes)
    assert (chances.argmax(axis=1) == labels).mean() == pytest.approx(chances.max(axis=1).mean(), abs=0.01)


def test_their_rows_are_those_of_their_codes():
    people = StandIn.draw(SCHEMA, np.array([0.5, 0.5]), 0.2, np.random.default_rng(1))
    table = people.table(np.array([[0, 2, 1], [5, 0, 0]]))
    assert table.to_dict("list") == {"age": [23.0, 93.0], "job": ["c", "a"], "sex": ["m", "f"]}


def test_rows_of_every_kind_of_attribute_are_read_as_the_codes_they_were_made_of():
    schema = Schema(
        [
            Numeric("age", 16, 100, whole=True), Numeric("children", 0, 9, whole=True, bins=4),
            Numeric("income", 0, 1e6, scale="log"), Numeric("height", 100, 220),
            Date("born", "1900-01-01", "2020-12-31"), Date("seen", "2026-01-01", "2026-01-03"),
            Categorical("smokes", [True, False]), Categorical("rooms", [1, 2]),
        ],
        classes=["no", "yes"],
    )  # fmt: skip
    rng = np.random.default_rng(3)
    people = StandIn.draw(schema, np.array([0.5, 0.5]), 0.2, rng)
    codes = people.people(500, rng)[0]
    np.testing.assert_array_equal(Encoder(schema).encode(people.table(codes)), codes)


def test_each_attribute_may_have_a_strength_of_its_own():
    shares = np.array([0.7, 0.3])
    people = StandIn.draw(SCHEMA, shares, [0.1, 0.4, 0.05], np.random.default_rng(2))
    assert [cohens_w(own, shares) for own in people.values] == pytest.approx([0.1, 0.4, 0.05])


def test_classes_that_are_not_named_share_what_is_left():
    schema = Schema(SCHEMA.attributes, classes=[5, 7, 9])
    assert checked_shares(schema, None).tolist() == pytest.approx([1 / 3] * 3)
    assert checked_shares(schema, {7: 0.5}).tolist() == [0.25, 0.5, 0.25]
    assert checked_shares(SCHEMA, {"no": 0.9, "yes": 0.1}).tolist() == pytest.approx([0.9, 0.1])


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"maybe": 0.5}, "names 'maybe', which is no class; choose from"),
        ({"no": 1.0}, "each between 0 and 1"),
        ({"no": 0.5, "yes": 0.4}, "must add up to 1"),
    ],
)
def test_shares_that_cannot_be_are_refused(stated, message):
    with pytest.raises(ParameterError, match=message):
        checked_shares(SCHEMA, stated)


def test_strengths_are_words_or_numbers():
    assert [checked_strength(own) for own in ("weak", "medium", "strong", 0.3)] == [0.1, 0.2, 0.4, 0.3]
    for wrong in ("huge", 0, 1.0, True):
        with pytest.raises(ParameterError, match="must be weak, medium, strong"):
            checked_strength(wrong)
