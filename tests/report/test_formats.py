"""Names and numbers as the report writes them."""

import math

from privet.privacy.guarantee import of_hundred, right_guesses
from privet.report.page.formats import epsilon_up, number_up, percent_down, percent_up, shown


def test_marks_that_turn_the_writing_round_are_spelled_out():
    assert shown("a\u202eb\u2066c\n") == "a\\u202eb\\u2066c\\n"


def test_a_long_name_is_cut():
    assert shown("x" * 1_000) == "x" * 71 + "…"


def test_what_is_shown_never_looks_better_than_it_is():
    assert percent_up(0.7311) == "73.2 %"
    assert percent_up(0.5) == "50 %"
    assert percent_up(0.50000001) == "50.1 %"
    assert percent_down(0.2689) == "26.8 %"
    assert number_up(math.e) == "2.72"
    assert number_up(math.exp(10)) == "22,100"
    assert number_up(2 * 0.8) == "1.6"
    assert of_hundred(right_guesses(1.0)) == 74
    assert of_hundred(0.5) == 50
    assert (epsilon_up(1.0), epsilon_up(0.25), epsilon_up(1.9999999999999998)) == ("1", "0.25", "2")
    assert epsilon_up(0.01636363636363636) == "0.0164"
