"""Going through a draft: what an answer makes of an entry."""

from dataclasses import replace

import pytest

from privet.errors import ParameterError
from privet.schema import Categorical, Date, Numeric, Schema
from privet.schema.acceptance import Acceptance
from privet.schema.review import ACCEPTED, CHANGED, DROPPED, REPLACED, Review

ANN = Acceptance("Ann", "2026-11-19")


def reviewed(**few):
    schema = Schema(
        [
            Numeric("age", 18, 94, whole=True, inferred=True),
            Numeric("kids", 0, 4, whole=True, inferred=True),
            Categorical("job", ["cook", "nurse"], inferred=True),
            Categorical("grade", [1, 2], inferred=True),
            Numeric("known", 0, 1),
        ],
        classes=["no", "yes"],
        target="ill",
        rows=300,
        classes_inferred=True,
    )
    return Review(schema, ANN, few)


def test_what_is_marked_is_open_the_classes_last():
    assert reviewed().open == ("age", "kids", "job", "grade", "ill")


@pytest.mark.parametrize(
    ("name", "text", "attribute"),
    [
        ("age", "0 to 120", Numeric("age", 0, 120)),
        ("age", "-5 1e2", Numeric("age", -5, 100)),
        ("age", "0.5 to 9", Numeric("age", 0.5, 9)),
        ("age", "0 to 120 whole", Numeric("age", 0, 120, whole=True)),
        ("age", "0 120, Whole", Numeric("age", 0, 120, whole=True)),
        ("age", "0 to 120 fractions", Numeric("age", 0, 120)),
        ("grade", "0 to 9 whole", Numeric("grade", 0, 9, whole=True)),
        ("age", "categories 1, 2.5", Categorical("age", [1, 2.5])),
        ("job", 'Categories nurse, "cook, head", clerk', Categorical("job", ["nurse", "cook, head", "clerk"])),
        ("job", "categories 1, 2", Categorical("job", ["1", "2"])),
        ("grade", "categories 1, 2, 3", Categorical("grade", [1, 2, 3])),
        ("grade", "0 to 9", Numeric("grade", 0, 9)),
    ],
)
def test_a_typed_domain_takes_the_place_of_the_one_from_the_rows(name, text, attribute):
    review = reviewed()
    assert review.answer(name, text) == REPLACED
    assert review.attribute(name) == attribute
    assert name not in review.open
    assert review.schema.assumptions == ()


def test_with_other_bounds_numbers_are_whole_only_where_somebody_said_so():
    review = reviewed()
    assert review.answer("age", "whole") == CHANGED
    assert review.answer("age", "0 to 120") == REPLACED
    assert review.attribute("age") == Numeric("age", 0, 120, whole=True)


def test_the_bounds_of_the_rows_are_accepted_whether_numbers_are_said_to_be_whole_or_not():
    review = reviewed()
    assert review.answer("age", "18 to 94 fractions") == ACCEPTED
    assert review.attribute("age") == Numeric("age", 18, 94, accepted=ANN)
    assert review.answer("kids", "0 to 4 whole") == ACCEPTED
    assert review.attribute("kids") == Numeric("kids", 0, 4, whole=True, accepted=ANN)


def test_classes_are_replaced_and_accepted_like_categories():
    review = reviewed()
    assert review.answer("ill", "classes yes, no, unknown") == REPLACED
    assert (review.schema.classes, review.schema.classes_inferred) == (("no", "unknown", "yes"), False)
    again = reviewed()
    assert again.answer("ill", "accept") == ACCEPTED
    assert (again.schema.classes_inferred, again.schema.classes_accepted) == (False, ANN)


@pytest.mark.parametrize("text", ["accept", "a", " ACCEPT ", "18 to 94"])
def test_what_the_rows_say_is_accepted_even_where_it_is_typed(text):
    review = reviewed()
    assert review.answer("age", text) == ACCEPTED
    assert review.attribute("age") == Numeric("age", 18, 94, whole=True, accepted=ANN)
    assert review.schema.assumptions == (
        "bounds of 'age', read from the rows, were public before, as Ann declared on 2026-11-19",
    )


@pytest.mark.parametrize(
    ("name", "text"), [("job", "categories nurse, cook"), ("grade", "categories 2, 1"), ("ill", "classes yes, no")]
)
def test_another_order_is_no_other_domain(name, text):
    review = reviewed()
    assert review.answer(name, text) == ACCEPTED
    assert len(review.schema.assumptions) == 1


def priced():
    schema = Schema([Numeric("age", 0, 90)], target=Numeric("price", 900, 1_870, inferred=True), rows=300)
    return Review(schema, ANN)


def test_the_bounds_of_a_label_are_gone_through_like_others():
    review = priced()
    assert review.open == ("price",)
    assert review.answer("price", "0 to 5000") == REPLACED
    assert review.schema == Schema([Numeric("age", 0, 90)], target=Numeric("price", 0, 5_000), rows=300)
    for text in ("accept", "900 to 1870"):
        again = priced()
        assert again.answer("price", text) == ACCEPTED
        assert again.schema.leaks == ()
        assert again.schema.assumptions == (
            "bounds of 'price', read from the rows, were public before, as Ann declared on 2026-11-19",
        )
        assert Schema.from_json(again.schema.to_json()) == again.schema
    unseen = priced()
    assert unseen.accept_all() == ["price"]
    assert unseen.schema.leaks == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bins 10", "'price': a label that is a number has bounds only; write two, such as 0 to 120, or accept"),
        ("never missing", "'price': a label that is a number has bounds only"),
        ("classes 1, 2", "'price': the label is a number here; to learn classes, draft again without --number"),
        ("drop", "'price': the label cannot be dropped"),
    ],
)
def test_what_a_label_that_is_a_number_does_not_have_is_refused(text, sentence):
    review = priced()
    with pytest.raises(ParameterError, match=sentence):
        review.answer("price", text)
    assert review.open == ("price",)


@pytest.mark.parametrize("text", ["1", "0 to 100"])
def test_a_proposal_was_read_from_the_rows_too(text):
    review = reviewed()
    assert review.proposals("age") == [Numeric("age", 0, 100, whole=True, inferred=True)]
    assert review.answer("age", text) == ACCEPTED
    assert review.attribute("age") == Numeric("age", 0, 100, whole=True, accepted=ANN)


def test_few_whole_numbers_are_proposed_as_categories():
    assert reviewed().proposals("kids") == [Categorical("kids", [0, 1, 2, 3, 4], inferred=True)]
    review = reviewed(kids=[0, 2])
    assert review.answer("kids", "1") == ACCEPTED
    assert review.attribute("kids") == Categorical("kids", [0, 2], accepted=ANN)
    assert reviewed().proposals("job") == []


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("bins 10", {"bins": 10}),
        ("edges 30, 65", {"edges": (30, 65)}),
        ("fractions", {"whole": False}),
        ("Log scale", {"scale": "log"}),
        ("never missing", {"never_missing": True}),
    ],
)
def test_other_answers_change_an_entry_and_leave_the_mark(text, changes):
    review = reviewed()
    before = review.attribute("age")
    assert review.answer("age", text) == CHANGED
    assert review.attribute("age") == replace(before, **changes)
    assert "age" in review.open
    assert review.answer("age", "0 to 120") == REPLACED
    assert review.attribute("age") == replace(before, low=0, high=120, inferred=False, **{"whole": False, **changes})


def ordered(job):
    return Categorical("job", job, ordered=True)


def test_an_order_is_typed_and_kept_with_the_categories():
    review = reviewed()
    assert review.answer("job", "categories aide, nurse, head") == REPLACED
    assert review.answer("job", "ordered") == CHANGED
    assert review.attribute("job") == ordered(["aide", "nurse", "head"])
    assert review.answer("job", "categories aide, cook, nurse, head") == REPLACED
    assert review.attribute("job") == ordered(["aide", "cook", "nurse", "head"])
    assert review.answer("job", "unordered") == CHANGED
    assert review.attribute("job") == Categorical("job", ["aide", "cook", "nurse", "head"])


@pytest.mark.parametrize(("name", "text"), [("job", "categories nurse, cook"), ("ill", "classes yes, no")])
def test_what_the_rows_say_is_accepted_in_any_order(name, text):
    # Another order of what was read from the rows does not make it public.
    review = reviewed()
    assert review.answer(name, text) == ACCEPTED
    assert review.attribute("job").categories == (("nurse", "cook") if name == "job" else ("cook", "nurse"))
    assert len(review.schema.assumptions) == 1


def test_a_column_can_be_dropped_but_not_the_label():
    review = reviewed()
    assert review.answer("age", "drop") == DROPPED
    assert not review.has("age")
    with pytest.raises(ParameterError, match="'ill': the label cannot be dropped; draft again with another --target"):
        review.answer("ill", "drop")


def test_all_that_is_left_is_accepted_as_one():
    review = reviewed()
    review.answer("age", "0 to 120")
    assert review.accept_all() == ["kids", "job", "grade", "ill"]
    assert review.open == ()
    assert review.schema.assumptions == (
        "the table's ranges, categories and classes, all read from its rows, were public before, as Ann declared on "
        "2026-11-19",
    )
    assert review.attribute("age").accepted is None
    assert review.schema.rows == 300


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("age", "5 to", "'age': the answer is not understood; write accept, skip, two bounds"),
        ("age", "120 to 0", "'age': attribute 'age': low must be below high"),
        ("age", "0.5 to 9 whole", "'age': attribute 'age' is whole, so its bounds must be whole numbers"),
        ("age", "7", "'age': there is no proposal 7; bounds are two numbers"),
        ("age", "bins ten", "'age': numbers are needed here"),
        ("age", "bins 10, 20", "'age': bins takes one whole number, such as bins 10"),
        ("age", "categories", "'age': the answer is not understood"),
        ("age", "categories a, b", "'age': numbers are needed here"),
        ("job", "whole", "'job': 'whole' is for numbers; answer accept, skip, or categories A, B, C"),
        ("job", "ordered", "'job': attribute 'job' is ordered, which takes at least 3 categories"),
        ("age", "ordered", "'age': 'ordered' is for categories of an attribute; answer accept, or skip"),
        ("ill", "ordered", "'ill': 'ordered' is for categories of an attribute; answer accept, or skip"),
        ("job", "categories a, a", "'job': attribute 'job': categories holds the same value twice"),
        ("ill", "0 to 1", "'ill': the answer is not understood"),
        ("ill", "classes no", "'ill': target 'ill' has one class"),
        ("job", "0 to 9", "'job': the rows have words here; accept, or write categories A, B, C"),
        ("job", "2020-01-01 to 2025-12-31", "'job': the rows have words here; accept, or write categories A, B, C"),
        ("age", "2020-01-01 to 2025-12-31", "'age': the rows have numbers here; accept, or write two bounds"),
    ],
)
def test_an_answer_that_is_none_changes_nothing(name, text, sentence):
    review = reviewed()
    with pytest.raises(ParameterError, match=sentence):
        review.answer(name, text)
    assert review.schema == reviewed().schema


def test_dates_are_not_taken_for_numbers_by_a_short_answer():
    seen = Schema([Date("seen", "2020-01-01", "2024-12-31", inferred=True)], classes=["no", "yes"], target="ill")
    review = Review(seen, ANN)
    with pytest.raises(ParameterError, match="'seen': the rows have dates here; accept, or write the first and the"):
        review.answer("seen", "2019 to 2025")
    assert review.schema == seen


def test_categories_that_are_written_as_dates_may_become_dates():
    days = Schema([Categorical("seen", ["2020-01-01", "2021-05-03"], inferred=True)], classes=["no", "yes"], target="x")
    review = Review(days, ANN)
    assert review.answer("seen", "2020-01-01 to 2025-12-31") == REPLACED
    assert review.attribute("seen") == Date("seen", "2020-01-01", "2025-12-31")
