"""The page's small pictures."""

import math
import re
from xml.dom import minidom

import pytest

from privet.report.page import pictures
from privet.report.page.page import environment
from privet.report.page.pictures import Bin

LN_3 = math.log(3)
# Where the unit square of the two curves lies in its picture.
LEFT, TOP, SIDE = 34, 10, 200


def svg(picture):
    return str(environment().get_template("macros.html").module.picture(picture))


def hundred_guesses(*bounds):
    return svg(pictures.hundred_guesses(*bounds))


def belief_band(epsilon):
    return svg(pictures.belief_band(epsilon))


def detection_curve(*bounds):
    return svg(pictures.detection_curve(*bounds))


def growth_curve(deviations):
    return svg(pictures.growth_curve(deviations))


def support_histogram(bins, unit):
    return svg(pictures.support_histogram(bins, unit))


def points(picture, kind):
    """Return the points of the first shape of a class, as shares of the axes."""
    text = re.search(rf'class="{kind}" points="([^"]+)"', picture)[1]
    pairs = [tuple(map(float, pair.split(","))) for pair in text.split()]
    return [((x - LEFT) / SIDE, 1 - (y - TOP) / SIDE) for x, y in pairs]


@pytest.mark.parametrize(
    "picture",
    [
        hundred_guesses(1.0, 0.0), belief_band(1.0), detection_curve(1.0, 1e-6), growth_curve([1.0, 2.0]),
        support_histogram([Bin("0 to 1", 3, True), Bin("above 1", 1, False)], "rows"),
    ],
)  # fmt: skip
def test_every_picture_is_well_formed_and_says_what_it_shows(picture):
    root = minidom.parseString(picture).documentElement  # noqa: S318 - a picture of our own
    assert root.getAttribute("role") == "img"
    assert root.getAttribute("aria-label").endswith(".")


def test_dots_at_ln_3_are_fifty_by_chance_and_twenty_five_by_the_model():
    picture = hundred_guesses(LN_3, 0.0)
    assert [picture.count(f'class="{kind}"') for kind in ("noise", "accent", "track")] == [50, 25, 25]


def test_a_belief_of_one_half_moves_between_a_quarter_and_three_quarters_at_ln_3():
    upper = dict(points(belief_band(LN_3), "curve"))
    assert upper[0.5] == pytest.approx(0.75, abs=1e-3)
    band = [y for x, y in points(belief_band(LN_3), "band") if x == 0.5]
    assert band == pytest.approx([0.75, 0.25], abs=1e-3)


def test_the_detection_curve_passes_its_corner_and_never_falls():
    curve = points(detection_curve(LN_3, 0.0), "curve")
    # Both bounds meet where a quarter are false alarms and three quarters are found.
    assert any(x == pytest.approx(0.25, abs=1e-3) and y == pytest.approx(0.75, abs=1e-3) for x, y in curve)
    assert [y for _, y in curve] == sorted(y for _, y in curve)


def test_bars_are_as_tall_as_their_leaves_and_grey_where_noise_explains_them():
    picture = support_histogram([Bin("0 to 1", 30, True), Bin("above 1", 10, False)], "rows")
    bars = re.findall(r'<rect class="(\w+)" x="\d+" y="[\d.]+" width="\d+" height="([\d.]+)"', picture)
    assert bars == [("noise", "150.0"), ("accent", "50.0")]
    assert "25.0 % are in the coloured bars" in picture


def test_a_histogram_without_leaves_draws_no_bar():
    picture = support_histogram([Bin("0", 0, False)], "rows")
    assert 'height="1.0"' in picture


def test_noise_grows_to_the_right_and_many_batches_have_no_dots():
    few, many = growth_curve([1.0, 2.0, 4.0]), growth_curve([float(i) for i in range(1, 60)])
    heights = [float(pair.split(",")[1]) for pair in re.search(r'points="([^"]+)"', few)[1].split()]
    assert heights == [102.5, 75.0, 20.0]  # a quarter, a half and all of 110, from 130 upwards
    assert few.count("<circle") == 3
    assert many.count("<circle") == 0
    assert "batch 59" in many
