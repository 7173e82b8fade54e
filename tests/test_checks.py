"""Names that look alike."""

import pytest

from privet.checks import look_alike


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
