"""Ranges of parameters, names that look alike, and the meaning of n_jobs."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from privet.checks import Flag, Number, OneOf, Whole, check_constraints, look_alike, n_threads, plain
from privet.errors import ParameterError


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("d", "D"),
        ("d", "\u0501"),  # Cyrillic komi de
        ("D", "\u0500"),
        ("visits", "v\u0456sits"),
        ("VISITS", "VISI\u0422S"),
        ("NAN", "\u039d\u0391\u039d"),  # all Greek
        ("2024", "\uff12\uff10\uff12\uff14"),
        ("a b", "a  b"),
        ("north-west", "north\u2013west"),
        ("\u00eb", "\u0451"),  # with an accent, Latin and Cyrillic
        ("\u0432\u0430\u0441\u044f", "\u0412\u0410\u0421\u042f"),  # one Cyrillic word in small and in capital letters
        ("stra\u00dfe", "STRASSE"),
    ],
    ids=ascii,
)
def test_names_that_a_reader_takes_for_one_look_alike(name, other):
    assert look_alike(name, ["something else", other]) == other
    assert look_alike(other, [name]) == name


@pytest.mark.parametrize(
    ("name", "other"), [("march", "may"), ("caf\u00e9", "cafe"), ("a-b", "a b"), ("1", "l"), ("d", "d")]
)
def test_names_that_a_reader_can_tell_apart_do_not(name, other):
    assert look_alike(name, [other]) is None


def test_n_jobs_counts_as_in_scikit_learn():
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) >= 1
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ParameterError, match="n_jobs=.* must be a whole number other than 0"):
            n_threads(wrong)


CONSTRAINTS = [
    (Whole(1, 9), [1, np.int8(9)], [0, 10, 2.0, True, None, "1", [1]], "must be a whole number from 1 to 9"),
    (Whole(0, 2000, optional=True), [0, None], [-1, math.nan], "must be a whole number from 0 to 2,000, or None"),
    (
        Number(0.01, 0.5),
        [0.01, 0.5, np.float32(0.25), Fraction(1, 3)],
        [0, 10**400, math.nan, math.inf, False, np.True_, None, "0.1", [0.1]],
        "must be a number from 0.01 to 0.5",
    ),
    (Number(0, 1, optional=True), [0, 1, None], [2, -1], "must be a number from 0 to 1, or None"),
    (
        OneOf("gini", "entropy"),
        ["gini", "entropy"],
        ["Gini", None, ["gini"], 5],
        "is not known; choose from gini, entropy",
    ),
    (Flag(), [True, False, np.False_], [0, 1, None, "yes"], "must be True or False"),
]


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused", "sentence"), CONSTRAINTS, ids=lambda value: str(value)[:40]
)
def test_a_constraint_allows_what_it_says_and_words_the_refusal(constraint, allowed, refused, sentence):
    for value in allowed:
        check_constraints(SimpleNamespace(x=value), {"x": constraint})
    for value in refused:
        with pytest.raises(ParameterError) as caught:
            check_constraints(SimpleNamespace(x=value), {"x": constraint})
        assert str(caught.value) == f"x={value!r} {sentence}"


def test_any_kind_of_number_becomes_a_plain_one():
    values = [np.int64(3), np.float32(0.5), Fraction(1, 2), np.True_, np.str_("sum"), True, None, "sum", [1]]
    made = [plain(value) for value in values]
    assert made == [3, 0.5, 0.5, True, "sum", True, None, "sum", [1]]
    assert [type(value) for value in made] == [int, float, float, bool, str, bool, type(None), str, list]
