"""Names that look alike, and the meaning of n_jobs."""

import pytest

from privet.checks import look_alike, n_threads
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
