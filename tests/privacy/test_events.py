import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ModelFileError
from privet.privacy import events

positive = st.floats(min_value=0, max_value=1e300, exclude_min=True)
whole = st.integers(min_value=1, max_value=2**63 - 1)
classes = st.integers(min_value=2, max_value=2**63 - 1)
ratio = st.fractions(min_value=Fraction(1, 2**40), max_value=2**40, max_denominator=2**40)
text = st.text(max_size=50)
leaves = st.one_of(
    st.builds(events.NoNoise, text),
    st.builds(events.DiscreteLaplace, text, positive, whole, ratio),
    st.builds(events.NoiseShares, text, positive, whole, ratio, whole, whole),
    st.builds(events.SurvivingNoiseShares, text, positive, whole, ratio, whole, whole, whole, whole),
    st.builds(events.DiscreteGaussian, text, positive, whole, ratio),
    st.builds(events.PermuteAndFlip, text, positive, whole, whole, st.booleans(), ratio),
    st.builds(events.ObjectivePerturbation, text, positive, positive, positive, classes, whole),
    st.builds(events.KNormObjective, text, positive, positive, positive, classes, whole),
    st.builds(events.GaussianObjective, text, positive, positive, ratio, positive, whole, classes, whole),
    st.builds(events.NormalObjective, text, ratio, positive, whole, classes, whole, whole),
)


def nested(inner):
    parts = st.lists(inner, min_size=1, max_size=4).map(tuple)
    whole = st.builds(events.Sequential, parts) | st.builds(events.Parallel, parts, text)
    whole |= st.builds(events.Jointly, parts, positive, positive)
    return whole | st.builds(events.Seeded, inner) | st.builds(events.Unproven, inner, text)


@given(st.recursive(leaves, nested, max_leaves=12))
def test_events_survive_a_journey_through_json(event):
    assert events.from_json(json.loads(json.dumps(events.to_json(event)))) == event


def laplace(**changes):
    receipt = {"event": "DiscreteLaplace", "what": "counts", "epsilon": 0.5, "sensitivity": 3, "scale": "6/1"}
    return receipt | changes


def selection(**changes):
    receipt = {"event": "PermuteAndFlip", "what": "split", "epsilon": 0.5, "sensitivity": 1, "candidates": 4}
    return receipt | {"monotone": False, "rate": "1/4"} | changes


def test_noise_that_trees_share_has_a_receipt_of_its_own():
    fields = {"what": "weights", "epsilon": 0.9, "linear": 0.5, "curvature": 0.1, "classes": 2, "rows": 1}
    shared, own = events.KNormObjective(**fields), events.ObjectivePerturbation(**fields)
    assert events.to_json(shared) == {"event": "KNormObjective", **fields}
    assert events.to_json(own) == {"event": "ObjectivePerturbation", **fields}
    assert (events.from_json(events.to_json(shared)), events.from_json(events.to_json(own))) == (shared, own)
    assert shared != own


def test_a_receipt_by_hand():
    assert events.from_json(laplace()) == events.DiscreteLaplace("counts", 0.5, 3, Fraction(6))
    assert events.to_json(events.DiscreteLaplace("counts", 0.5, 3, Fraction(6))) == laplace()


@pytest.mark.parametrize(
    "damaged", [None, [], "NoNoise", 5, {}, {"event": "Laplace"}, {"event": None}, laplace(event=7)]
)
def test_a_receipt_of_an_unknown_kind_is_refused(damaged):
    with pytest.raises(ModelFileError, match="receipt of an unknown kind; the file is damaged or of a later version"):
        events.from_json(damaged)


def test_a_receipt_with_a_field_missing_or_too_many_is_refused():
    short = laplace()
    del short["scale"]
    for damaged in (short, laplace(seed=5)):
        with pytest.raises(ModelFileError, match=r"a DiscreteLaplace receipt must hold \['epsilon', 'scale'"):
            events.from_json(damaged)


@pytest.mark.parametrize(
    ("field", "value"),
    [("epsilon", -0.5), ("epsilon", 0), ("epsilon", math.inf), ("epsilon", math.nan), ("epsilon", True),
     ("epsilon", "0.5"), ("epsilon", None), ("sensitivity", 0), ("sensitivity", -1), ("sensitivity", 1.0),
     ("sensitivity", True), ("sensitivity", 2**63), ("what", 5), ("what", None), ("what", "x" * 1001),
     ("scale", 6), ("scale", "6"), ("scale", "0/1"), ("scale", "6/0"), ("scale", "-6/1"), ("scale", "1.5/1"),
     ("scale", "1/1/1"), ("scale", "9" * 70 + "/1"), ("scale", "")],
)  # fmt: skip
def test_a_field_that_privet_would_not_write_is_refused_by_name(field, value):
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(laplace(**{field: value}))


@pytest.mark.parametrize(
    ("field", "value"), [("monotone", 1), ("monotone", None), ("candidates", False), ("rate", 0.25)]
)
def test_a_damaged_selection_is_refused_by_name(field, value):
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(selection(**{field: value}))


@pytest.mark.parametrize("field", ["honest", "parties"])
def test_a_damaged_number_of_parties_is_refused_by_name(field):
    shares = laplace(event="NoiseShares", honest=3, parties=4)
    assert events.from_json(shares) == events.NoiseShares("counts", 0.5, 3, Fraction(6), 3, 4)
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(shares | {field: 0})


@pytest.mark.parametrize("field", ["honest", "parties", "roster", "dropouts"])
def test_a_damaged_number_of_parties_that_may_vanish_is_refused_by_name(field):
    shares = laplace(event="SurvivingNoiseShares", honest=6, parties=7, roster=10, dropouts=3)
    assert events.from_json(shares) == events.SurvivingNoiseShares("counts", 0.5, 3, Fraction(6), 6, 7, 10, 3)
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(shares | {field: 0})


def test_all_that_is_in_a_receipt_is_found():
    counts = events.DiscreteLaplace("counts", 0.5, 3, Fraction(6))
    unproven = events.Unproven(events.Seeded(counts), "nobody has shown it")
    assert list(events.releases(events.Sequential((counts, unproven)))) == [
        events.Sequential((counts, unproven)), counts, unproven, events.Seeded(counts), counts,
    ]  # fmt: skip


def joint(**changes):
    fit = {"event": "NormalObjective", "what": "leaf weights", "sigma": "42/1", "curvature": 0.5, "trees": 32}
    fit |= {"classes": 2, "numbers": 512, "rows": 1}
    return {"event": "Jointly", "parts": [laplace(), fit], "epsilon": 1.0, "delta": 1e-6} | changes


def test_a_joint_receipt_by_hand():
    event = events.Jointly(
        (
            events.DiscreteLaplace("counts", 0.5, 3, Fraction(6)),
            events.NormalObjective("leaf weights", Fraction(42), 0.5, 32, 2, 512, 1),
        ),
        1.0,
        1e-6,
    )
    assert events.from_json(joint()) == event
    assert events.to_json(event) == joint()
    assert list(events.releases(event)) == [event, *event.parts]


@pytest.mark.parametrize(
    ("field", "value"), [("epsilon", 0), ("epsilon", math.inf), ("delta", 0), ("delta", None), ("parts", [])]
)
def test_a_damaged_joint_receipt_is_refused_by_name(field, value):
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(joint(**{field: value}))


@pytest.mark.parametrize(
    ("field", "value"),
    [("sigma", "0/1"), ("curvature", 0), ("trees", 0), ("classes", 2.0), ("numbers", True), ("rows", 0)],
)
def test_a_damaged_fit_with_normal_noise_is_refused_by_name(field, value):
    damaged = joint()
    damaged["parts"][1][field] = value
    with pytest.raises(ModelFileError, match=f"a receipt's {field} is not what privet writes there"):
        events.from_json(damaged)


@pytest.mark.parametrize("because", [None, 5, "x" * 1001])
def test_an_unproven_receipt_needs_a_reason_in_words(because):
    with pytest.raises(ModelFileError, match="a receipt's because is not what privet writes there"):
        events.from_json({"event": "Unproven", "because": because, "part": laplace()})


def test_damage_inside_an_unproven_receipt_is_found():
    with pytest.raises(ModelFileError, match="a receipt's epsilon"):
        events.from_json({"event": "Unproven", "because": "x", "part": laplace(epsilon=-1)})
    with pytest.raises(ModelFileError, match="receipt of an unknown kind"):
        events.from_json({"event": "Unproven", "because": "x", "part": None})


@pytest.mark.parametrize("parts", [[], {}, None, "x"])
def test_a_composition_of_nothing_is_refused(parts):
    with pytest.raises(ModelFileError, match="a receipt's parts is not what privet writes there"):
        events.from_json({"event": "Sequential", "parts": parts})


def test_damage_deep_inside_is_found():
    outer = {"event": "Parallel", "because": "leaves share no row", "parts": [laplace(), laplace(epsilon=-1)]}
    with pytest.raises(ModelFileError, match="a receipt's epsilon"):
        events.from_json({"event": "Sequential", "parts": [laplace(), outer]})


def wrapped(depth):
    receipt = laplace()
    for _ in range(depth):
        receipt = {"event": "Sequential", "parts": [receipt]}
    return receipt


def test_receipts_nest_thirty_two_deep_and_no_deeper():
    assert isinstance(events.from_json(wrapped(32)), events.Sequential)
    for depth in (33, 500):
        with pytest.raises(ModelFileError, match="receipt of an unknown kind"):
            events.from_json(wrapped(depth))


@pytest.mark.parametrize("kind", ["ObjectivePerturbation", "KNormObjective"])
def test_a_fit_of_a_single_class_is_refused(kind):
    fit = {"event": kind, "what": "leaf weights", "epsilon": 0.5, "linear": 0.4, "curvature": 0.2, "rows": 1}
    assert events.from_json({**fit, "classes": 2}).classes == 2
    with pytest.raises(ModelFileError, match="a receipt's classes is not what privet writes there"):
        events.from_json({**fit, "classes": 1})
