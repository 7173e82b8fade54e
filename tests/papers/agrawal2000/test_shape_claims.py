import pandas as pd
import pytest

from papers.agrawal2000.shape_claims import comes_back, dip, distances, shape_claims, two_peaks

COLUMNS = ["values", "shape", "noise", "draw", "low", "original", "disturbed", "reconstructed"]
LOWS = [0.2, 0.25, 0.45, 0.5, 0.7, 0.75]


def table(shape, reconstructed, *, draw=0, values=1_000):
    original, disturbed = [0.2, 0.2, 0.1, 0.1, 0.2, 0.2], [0.1, 0.1, 0.3, 0.3, 0.1, 0.1]
    lines = zip(LOWS, original, disturbed, reconstructed, strict=True)
    return pd.DataFrame([(values, shape, "uniform", draw, *line) for line in lines], columns=COLUMNS)


def test_distances_are_means_over_draws():
    near, far = [0.2, 0.2, 0.1, 0.1, 0.1, 0.3], [0.1, 0.3, 0.1, 0.1, 0.1, 0.3]
    found = distances(pd.concat([table("plateau", near), table("plateau", far, draw=1)]))
    assert found == pytest.approx((0.8, 0.3))


def test_a_shape_has_come_back_where_half_of_the_distance_is_gone():
    claim = comes_back(table("plateau", [0.2, 0.2, 0.1, 0.1, 0.1, 0.3]), "plateau", "uniform")
    assert claim.holds
    assert claim.measured == "L1 distance from 0.80 to 0.20 with 1,000 values"
    assert claim.why == ""


def test_a_shape_has_not_come_back_where_one_size_fails():
    good, bad = (
        table("plateau", [0.2, 0.2, 0.1, 0.1, 0.2, 0.2]),
        table("plateau", [0.1, 0.1, 0.3, 0.3, 0.1, 0.1], values=50),
    )
    claim = comes_back(pd.concat([good, bad]), "plateau", "uniform")
    assert claim.holds is False
    assert "0.80 to 0.80 with 50 values, 0.80 to 0.00 with 1,000 values" in claim.measured
    assert claim.fault == "protocol"
    assert "0.5 of the distance is left" in claim.source


def test_a_dip_is_the_height_between_as_a_share_of_the_peaks():
    lines = table("triangles", [0.2, 0.2, 0.1, 0.1, 0.2, 0.2])
    assert dip(lines, "original") == pytest.approx(0.5)
    assert dip(lines, "disturbed") == pytest.approx(3)


def test_triangles_are_two_again_only_where_there_is_a_dip():
    assert two_peaks(table("triangles", [0.2, 0.2, 0.12, 0.12, 0.18, 0.18]), "uniform").holds
    flat = two_peaks(table("triangles", [0.15, 0.15, 0.2, 0.2, 0.15, 0.15]), "uniform")
    assert flat.holds is False
    assert flat.why.endswith("the peaks run together")


def test_every_shape_and_noise_has_its_row():
    lines = pd.concat([table(shape, [0.2, 0.2, 0.1, 0.1, 0.2, 0.2]) for shape in ("plateau", "triangles")])
    both = pd.concat([lines, lines.assign(noise="gaussian")])
    assert len(list(shape_claims(both))) == 6
