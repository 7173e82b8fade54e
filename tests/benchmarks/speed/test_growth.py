import numpy as np
import pytest

from benchmarks.speed import harness, tables
from benchmarks.speed.growth import GROWTHS, Growth, curve_of


def test_every_size_is_warmed_up_and_then_timed_by_turns(monkeypatch):
    clock, called = [0.0], []

    def prepare(size):
        def work():
            called.append(size)
            clock[0] += size / 10  # as if each took a tenth of its size in seconds

        return work

    monkeypatch.setattr(harness.time, "process_time", lambda: clock[0])
    curve = curve_of(Growth("work", "size", "nothing else", (10, 20, 40), prepare))
    assert [size for size, _ in curve.points] == [10, 20, 40]
    assert [value for _, value in curve.points] == pytest.approx([1, 2, 4])
    assert curve.exponent.value == pytest.approx(1.0)
    assert called == [10, 10, 20, 20, 40, 40] + 4 * [10, 20, 40]


def test_the_best_turn_counts(monkeypatch):
    clock, turns = [0.0], iter([1, 1, 1, 1, 1, 1, 9, 2, 9, 1, 9, 4, 9, 9, 9, 9, 9, 9])

    def work():
        clock[0] += next(turns)

    monkeypatch.setattr(harness.time, "process_time", lambda: clock[0])
    curve = curve_of(Growth("work", "size", "nothing else", (1, 2, 4), lambda _: work))
    assert [value for _, value in curve.points] == [1, 2, 4]


def test_quick_leaves_out_the_larger_sizes():
    prepared = []
    curve_of(
        Growth("work", "size", "", (1, 2, 4, 8), lambda n: prepared.append(n) or (lambda: sum(range(99)))), quick=True
    )
    assert prepared == [1, 2, 4]


def test_sizes_rise_geometrically_enough_for_an_exponent():
    for growth in GROWTHS:
        assert len(growth.sizes) >= 3
        assert growth.sizes[-1] >= 4 * growth.sizes[0]
        assert list(growth.sizes) == sorted(growth.sizes)


def test_as_many_leaves_are_fitted_as_are_said(monkeypatch):
    fitted = []
    (leaves,) = [growth for growth in GROWTHS if growth.what == "fit Private-RDT" and growth.factor == "leaves"]
    original = tables.PrivateRDTClassifier.fit
    monkeypatch.setattr(tables.PrivateRDTClassifier, "fit", lambda *given: fitted.append(original(*given)))
    leaves.prepare(leaves.sizes[0])()
    assert len(fitted[0].forest_.leaves) == leaves.sizes[0]


def test_labels_in_more_classes_have_all_of_them():
    X, y = tables.numeric_table(2_000)
    assert set(y) == {0, 1}
    assert set(tables.in_classes(X, 5)) == set(range(5))
    assert np.array_equal(tables.in_classes(X, 5), tables.in_classes(X, 5))
