import pytest

from papers.agrawal2000.hiding import FINDINGS, SMOOTH, cells, measure


def test_every_smooth_attribute_has_a_line_of_shares():
    lines = measure(500, "uniform", 0.5)
    assert [line[0] for line in lines] == list(SMOOTH)
    for line in lines:
        found = dict(zip(FINDINGS, line, strict=True))
        assert found["interval"] == pytest.approx(0.5)
        assert 0 < found["unsure_after"] < found["unsure_before"] <= 1
        assert 0 < found["error_filtered"] <= found["error_without"]


def test_both_noises_are_measured_at_every_privacy():
    assert len(list(cells("quick"))) == 6
    assert set(cells("quick")) <= set(cells("full"))
