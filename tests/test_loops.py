"""Loops over cases: every case runs, and a failure names its own."""

import inspect

import pytest

from tests.loops import loop_over


def test_every_combination_runs():
    seen = []

    @loop_over("seed", range(2))
    @loop_over(("low", "high"), [(0, 1), (5, 9)])
    def case(seed, low, high, fixture):
        seen.append((seed, low, high, fixture))

    case(fixture="f")
    assert seen == [(0, 0, 1, "f"), (0, 5, 9, "f"), (1, 0, 1, "f"), (1, 5, 9, "f")]
    assert list(inspect.signature(case).parameters) == ["fixture"]


def test_a_failure_names_its_case():
    @loop_over("seed", range(5))
    @loop_over("n_rows", [10])
    def case(seed, n_rows):
        assert seed < 3

    with pytest.raises(AssertionError) as failure:
        case()
    assert failure.value.__notes__ == ["case: n_rows=10", "case: seed=3"]


@loop_over("seed", range(3))
@pytest.mark.parametrize("n_rows", [1, 2])
def test_marks_and_fixtures_pass_through(seed, n_rows, tmp_path):
    assert n_rows in {1, 2}
    assert tmp_path.is_dir()
    (tmp_path / str(seed)).touch(exist_ok=False)
