"""What the page claims, and takes back where it does not hold."""

import math

import pytest

from privet.report.page.facts import facts
from privet.report.page.page import page
from tests.report.pages import Elements, page_of
from tests.report.people import HOSTILE, exact, fitted, leaking, of_batches, of_visits, paper


def test_a_model_that_is_not_private_wears_a_banner():
    read = Elements(page_of(exact()))
    assert "Do not publish it as if it were." in read.text
    assert "Do not publish it or pass it on" in read.text
    assert "costs no further privacy" not in read.text
    assert "Possibly everything" in read.text
    assert "of 100</strong>" not in page_of(exact())


def test_seeded_noise_is_not_private_either():
    assert "noise came from a seed" in Elements(page_of(fitted(unsafe_seeded_noise=True))).text


def test_leaks_wear_a_banner():
    read = Elements(page_of(leaking()))
    assert "This model leaks" in read.text
    assert "bounds of 'age'" in read.text


def test_a_sound_model_wears_none():
    assert 'class="banner"' not in page_of(fitted())


def test_both_banners_are_worn_where_both_are_due():
    assert page_of(leaking(epsilon=math.inf)).count('class="banner"') == 2


def test_a_mode_that_is_not_sound_wears_a_banner():
    told = facts(fitted(), model_checksum="0" * 64)
    told["guarantee"] |= {"mode": "of the moon", "reason": "as the moon has it"}
    assert "is not sound; its mode is of the moon. as the moon has it" in Elements(page(fitted(), told)).text


def test_a_paper_is_not_said_to_have_released_exact_counts():
    read = Elements(page_of(paper()))
    assert "Nothing is proven for this model." in read.text
    assert "None proven: split attributes are chosen" in read.text
    assert "Nobody has proven a bound, so assume that everything can be learned." in read.text
    assert "Nobody has proven how much it protects" in read.text
    assert "no noise protects" not in read.text
    assert "not private" not in read.text
    assert "of 100</strong>" not in page_of(paper())
    assert 'class="promise broken"' in page_of(paper())


@pytest.mark.parametrize(
    "claim",
    [
        "whatever else they know",
        "guesses about one row right",
        "Every released number and every choice",
        "costs no further privacy",
    ],
)
def test_leaks_take_back_what_only_holds_without_them(claim):
    assert claim in Elements(page_of(fitted())).text
    assert claim not in Elements(page_of(leaking())).text


def test_leaks_are_said_to_have_no_bound_and_no_receipt():
    source = page_of(leaking())
    read = Elements(source)
    assert "No bound holds for this model as a whole." in read.text
    assert "may give an outlier away with certainty" in read.text
    assert "If the leaks had been public before" in read.text
    assert "What was read from the rows without noise has no receipt" in read.text
    assert "<b>no bound</b><span>on right guesses about <bdi>one row</bdi>, since there are leaks</span>" in source
    assert 'class="pictures"' not in source
    assert 'id="prior"' not in source


def test_a_unit_of_several_rows_is_told():
    read = Elements(page_of(of_visits("patient <id>")))
    assert "all rows with the same value of patient <id>; at most 3 of them are used" in read.text
    assert "whether the rows of one 'patient <id>' were in the table" in read.text
    assert "guesses about one 'patient <id>' right, at most" in read.text
    assert "At most 3 rows of one 'patient <id>' were counted." in read.text


def test_a_unit_is_never_taken_for_a_person_and_says_who_is_protected_less():
    read = Elements(page_of(of_visits()))
    assert "person" not in read.text
    caveat = "Somebody with several values of 'visit_id' is protected less: with k of them at k times epsilon."
    assert read.text.count(caveat) == 3  # in the promise, to the attacker, to NIST
    assert Elements(page_of(fitted())).text.count("Somebody with several rows is protected less") == 3


def test_assumptions_stand_where_the_bound_stands():
    assert "provided that" not in Elements(page_of(fitted())).text
    read = Elements(page_of(of_batches(1.0, 1.0)))
    assert "guesses about one row right, at most, provided that no row is in more than one batch" in read.text
    assert "however they compute, provided that no row is in more than one batch." in read.text
    assert "For somebody who is in several batches, their epsilons add up" in read.text


def test_batches_show_how_noise_grew():
    assert "Noise over batches" not in page_of(fitted())
    told = Elements(page_of(fitted(batches=3))).text
    assert "added in 3 batches" in told
    assert "no row is in more than one batch" in told


@pytest.mark.parametrize(
    ("epsilons", "words"),
    [
        ((2.0, 2.0), "Epsilon stayed at 2, that of the first one, because no later one has a larger epsilon."),
        ((2.0, 0.5), "Epsilon stayed at 2, that of the first one, because no later one has a larger epsilon."),
        ((0.5, 2.0, 1.0), "Epsilon grew from 0.5 to 2, the largest epsilon of any of them."),
        ((0.5, math.inf), "Epsilon is infinite, because nothing bounds what at least one of them gives away."),
    ],
)
def test_the_batch_with_the_largest_epsilon_is_said_to_set_it(epsilons, words):
    assert words in Elements(page_of(of_batches(*epsilons))).text


def test_a_delta_leaves_out_what_holds_without_one_only():
    model = fitted(epsilon=2.0)
    told = facts(model, model_checksum="0" * 64)
    told["guarantee"] |= {"delta": 1e-6}
    source = page(model, {**told, "odds": {**told["odds"], "beliefs": [], "groups": []}})
    assert 'id="prior"' not in source
    assert "50 : 50" not in source


def test_an_epsilon_of_thousands_is_told_as_next_to_nothing():
    model = fitted(epsilon=5_000.0)
    assert math.isinf(facts(model, model_checksum="")["odds"]["factor"])
    assert "bounds next to nothing" in page_of(model)


def test_a_hostile_unit_is_inert():
    read = Elements(page_of(of_visits(HOSTILE)))
    assert "img" not in {tag for tag, _ in read.tags}
    assert "Somebody with several values of '</script>" in read.text
