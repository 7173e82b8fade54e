import pytest

from benchmarks.speed.harness import FAILS, HOLDS, NO_BAR, Bar, faster, not_run, seconds, side_by_side, tally


@pytest.mark.parametrize(
    ("bar", "margin", "verdict"),
    [
        (Bar("fit", 50.0, 25.0), 2.0, HOLDS),
        (Bar("fit", 25.0, 25.0), 1.0, HOLDS),
        (Bar("fit", 12.5, 25.0), 0.5, FAILS),
        (Bar("memory", 200.0, 400.0, unit="MB", at_least=False), 2.0, HOLDS),
        (Bar("memory", 800.0, 400.0, unit="MB", at_least=False), 0.5, FAILS),
        (Bar("fit", 50.0, None), None, NO_BAR),
        (not_run("fit", 25.0, "not run: add --full"), None, "not run: add --full"),
    ],
)
def test_a_bar_holds_where_the_result_is_on_the_right_side_of_its_target(bar, margin, verdict):
    assert bar.margin == margin
    assert bar.verdict == verdict


def test_a_ratio_is_their_time_over_ours():
    bar = faster("fit", (0.002, 0.1), 25)
    assert bar.cells() == ("fit", "2 ms", "100 ms", "50 x", ">= 25 x", "holds")


def test_a_note_stands_beside_the_verdict():
    assert Bar("memory", 310.0, 400.0, unit="MB", at_least=False, note="30 trees").cells() == (
        "memory", "", "", "310 MB", "<= 400 MB", "holds (30 trees)",
    )  # fmt: skip


def test_bars_without_a_result_or_a_target_are_not_tallied():
    bars = [Bar("a", 2.0, 1.0), Bar("b", 1.0, 2.0), Bar("c", 1.0, None), not_run("d", 1.0, "not run")]
    assert tally(bars) == "1 of 2 bars hold"


def test_both_sides_are_called_by_turns_and_equally_often():
    called = []
    side_by_side(lambda: called.append("ours"), lambda: called.append("theirs"), repeats=3, calls=(2, 1))
    assert called == ["ours", "ours", "theirs"] * 3


@pytest.mark.parametrize(
    ("value", "text"), [(12.34, "12.3 s"), (0.5, "500 ms"), (2.5e-5, "25 us"), (2e-8, "20 ns"), (1.0, "1 s")]
)
def test_times_are_shown_in_a_unit_that_suits_them(value, text):
    assert seconds(value) == text
