"""export_text on forests of weights."""

import pytest

from privet.errors import ParameterError
from privet.report import export_text
from privet.report.page.effects import effects_of
from tests.report.people import people
from tests.report.weighty import (
    exact_weights,
    grouped,
    hostile_weights,
    only_balance,
    weights,
    without_shares,
)


def test_a_point_is_a_line_and_says_what_explain_adds():
    X, _ = people()
    header, *lines = export_text(exact_weights(), tree=0).splitlines()
    assert header.startswith("effect 0 of 3: added to the score of yes against no; no noise in it")
    header = export_text(grouped(1), tree=0).splitlines()[0]
    assert header.endswith("no noise in it; no missing values of colour seen")
    (shape, *_) = exact_weights().shapes()
    assert len(lines) == len(shape.cells[0])
    added = exact_weights().explain(X.assign(age=float("nan")))["age"][0]
    assert lines[-1] == f"|--- age: missing: {added:+.3f}"


def test_noise_is_told_for_even_rows_and_for_none_or_as_rows_lie():
    model = weights(unsafe_seeded_noise=True)
    effect = next(each for each in effects_of(model) if each.position == 0)
    assert f"deviation {effect.noise.min():.3g} to {effect.noise.max():.3g}" in export_text(model).splitlines()[0]
    header = export_text(without_shares(model)).splitlines()[0]
    effect = next(each for each in effects_of(without_shares(model)) if each.position == 0)
    assert f"{effect.noise.max():.3g} if rows were spread evenly, {effect.rare_noise.max():.3g} where hardly" in header


def test_several_attributes_and_classes_stand_on_one_line():
    model = grouped(2, classes=("no", "yes", "maybe"))
    own = next(i for i, shape in enumerate(model.shapes()) if len(shape.names) == 2)
    header, first, *_ = export_text(model, tree=own).splitlines()
    assert "the scores of maybe, no, yes" in header
    assert first.count(": ") == 3
    assert first.endswith("]")
    assert first.count(", ") == 3


def test_names_cannot_split_a_line():
    for tree in range(len(hostile_weights().shapes())):
        text = export_text(hostile_weights(), tree=tree)
        assert all(line.startswith(("effect", "|---")) for line in text.splitlines())
        assert text.replace("\n", "").isprintable()


def test_what_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="tree=9"):
        export_text(exact_weights(), tree=9)
    with pytest.raises(ParameterError, match="its class balance alone, without a tree to show; raise epsilon"):
        export_text(only_balance())
