"""export_text on forests of weights."""

import pytest

from privet.errors import ParameterError
from privet.report import export_text
from privet.report.page.effects import effects_of
from tests.report.people import people
from tests.report.weighty import exact_weights, grouped, hostile_weights, only_balance, weights


def test_a_leaf_is_a_line_and_says_what_explain_adds():
    X, _ = people()
    header, *lines = export_text(exact_weights(), tree=0).splitlines()
    assert header == "tree 0 of 2: added to the score of yes against no; no noise in it"
    (shape, *_) = exact_weights().shapes()
    assert len(lines) == len(shape.cells[0])
    added = exact_weights().explain(X.assign(age=float("nan")))["age"][0]
    assert lines[-1] == f"|--- age: missing: {added:+.3f}"


def test_noise_is_told_for_even_rows_and_for_none():
    header = export_text(weights(unsafe_seeded_noise=True)).splitlines()[0]
    effect = next(each for each in effects_of(weights(unsafe_seeded_noise=True)) if each.tree == 0)
    assert f"{effect.noise.max():.3g} if rows were spread evenly, {effect.rare_noise.max():.3g} where hardly" in header


def test_several_attributes_and_classes_stand_on_one_line():
    model = grouped(2, classes=("no", "yes", "maybe"))
    own = next(t for t, attributes in enumerate(model.trees_.attributes) if len(attributes) == 2)
    header, first, *_ = export_text(model, tree=own).splitlines()
    assert "the scores of maybe, no, yes" in header
    assert first.count(": ") == 3
    assert first.endswith("]")
    assert first.count(", ") == 3


def test_names_cannot_split_a_line():
    for tree in range(hostile_weights().trees_.n_trees):
        text = export_text(hostile_weights(), tree=tree)
        assert all(line.startswith(("tree", "|---")) for line in text.splitlines())
        assert text.replace("\n", "").isprintable()


def test_what_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="tree=9"):
        export_text(exact_weights(), tree=9)
    with pytest.raises(ParameterError, match="its class balance alone, without a tree to show; raise epsilon"):
        export_text(only_balance())
