import math

import pytest
from numpy.testing import assert_allclose

from papers.fletcher2015_dpdf.leak import (
    ONE_ROW,
    TWO_ROWS,
    chance_of_seeming,
    choice,
    given_away,
    impurity,
    paper_exponent,
    sound_exponent,
)


def test_impurity_by_hand():
    assert_allclose(impurity(ONE_ROW), [0, 0])
    # Two rows of two classes under one value: 2 - (1 + 1) / 2; told apart: nothing is left.
    assert_allclose(impurity(TWO_ROWS), [1, 0])


def test_the_papers_choice_by_hand():
    # At size 1 the sensitivity is 1 - 1/4 - 1/4, so that the exponent is the Gini index, 1/2 against 0.
    law = choice(TWO_ROWS, paper_exponent(1), 2.0)
    assert_allclose(law, [math.exp(-1) / (1 + math.exp(-1)), 1 / (1 + math.exp(-1))])
    assert_allclose(choice(ONE_ROW, paper_exponent(1), 2.0), [0.5, 0.5])


def test_at_the_noisy_size_a_choice_gives_away_fifty_times_its_price():
    worst, likelier = given_away(paper_exponent(1000), 0.003)
    assert worst == pytest.approx(0.205, abs=0.001)
    assert likelier == pytest.approx(0.170, abs=0.001)


def test_at_the_true_size_and_by_the_sound_score_it_does_not():
    assert given_away(paper_exponent(1), 0.003)[0] <= 0.003
    assert 0 < given_away(sound_exponent, 0.003)[0] <= 0.003


def test_the_chance_of_seeming_large_is_the_tail_of_two_laplace_noises():
    assert chance_of_seeming(1, 0.003) == 0.5
    # By the integral of one noise's density times the other's tail, at 3 scales: exp(-3) (2 + 3) / 4.
    assert chance_of_seeming(1001, 0.003) == pytest.approx(math.exp(-3) * 5 / 4)
