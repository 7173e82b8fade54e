"""plot_shapes and plot_reliability."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.errors import ParameterError
from privet.report import plot_importances, plot_reliability, plot_shapes, plot_tree
from privet.report.page.effects import effects_of
from privet.report.plots import shapes
from tests.report.people import SCHEMA, fitted, people
from tests.report.weighty import exact_weights, grouped, hostile_weights, only_balance, weights


@pytest.fixture(autouse=True)
def _closed():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def drawn(ax):
    from matplotlib.text import Text

    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]


def test_there_is_a_picture_an_attribute_the_most_important_first_and_then_of_what_stands_out():
    axes = plot_shapes(weights())
    shown = [effect.title for effect in effects_of(weights()) if effect.is_shown]
    assert [ax.get_title().split(" (")[0] for ax in axes] == shown
    assert len(plot_shapes(weights(), n_shapes=1)) == 1
    drawn(axes[0])


def test_where_pictures_are_few_they_are_of_what_stands_out(monkeypatch):
    every = [effect for effect in effects_of(grouped(2)) if effect.is_shown]
    both = next(effect for effect in every if len(effect.names) == 2)
    # What two do together is the least of all that stands out; of the others none does.
    said = [replace(effect, stands_out=effect is both) for effect in every]
    monkeypatch.setattr(shapes, "effects_of", lambda *_: said)
    titles = [ax.get_title().split(" (")[0] for ax in plot_shapes(grouped(2), n_shapes=2)]
    assert titles == [every[0].title, both.title]


def test_a_curve_goes_through_the_values():
    (ax,) = plot_shapes(exact_weights(), n_shapes=1)
    effect = effects_of(exact_weights())[0].of_seen()
    dotted, line, *_ = ax.get_lines()
    known, seen = effect.values[:, 0], effect.seen
    assert_allclose(dotted.get_ydata(), known)
    assert_allclose(line.get_ydata()[seen], known[seen])
    assert np.isnan(line.get_ydata()[~seen]).all()
    assert "missing" not in drawn(ax)
    assert ax.get_ylabel() == "score of yes against no"


def test_missing_values_that_nobody_has_are_not_drawn_though_rounding_left_some():
    for ax in plot_shapes(exact_weights()):
        assert "missing" not in drawn(ax)


def test_steps_are_the_values_of_declared_cells():
    axes = plot_shapes(grouped(1))
    (price,) = [ax for ax in axes if ax.get_title().startswith("price (")]
    (effect,) = [each.of_seen() for each in effects_of(grouped(1)) if each.names == ("price",)]
    _, line = price.patches  # the band and the steps
    assert_allclose(line.get_data().values, effect.values[:, 0])


@pytest.mark.parametrize("group_size", [1, 2, 3])
@pytest.mark.parametrize("classes", [("no", "yes"), (5, 9, 7)])
def test_every_kind_of_tree_can_be_drawn(group_size, classes):
    for ax in plot_shapes(grouped(group_size, classes=classes)):
        assert drawn(ax)


def test_of_many_classes_the_most_frequent_are_named_once_in_colours_of_their_own():
    classes = [f"class {k}" for k in range(12)]
    y = np.array(classes)[np.minimum(np.arange(900) % 14, 11)]
    attributes = [Categorical("colour", ["red", "blue"]), Numeric("price", 0, 10)]
    X = pd.DataFrame({"colour": ["red", "blue"] * 450, "price": np.arange(900) % 11})
    schema = Schema(attributes, classes=classes, rows=900)
    axes = plot_shapes(PrivateForestClassifier(schema, epsilon=math.inf).fit(X, y))
    assert not any(ax.get_legend() for ax in axes)
    (legend,) = axes[0].get_figure().legends
    assert legend.get_title().get_text() == "10 most frequent of 12 classes"
    assert "class 11" in [text.get_text() for text in legend.get_texts()]
    assert (
        len({line.get_color() for line in legend.get_lines()} | {p.get_facecolor() for p in legend.get_patches()}) == 10
    )


def test_bars_are_hatched_where_noise_hides_rows():
    names = ["many", "none"]
    schema = Schema([Categorical("kind", names), Numeric("x", 0, 1)], classes=["no", "yes"], rows=5000)
    X = pd.DataFrame({"kind": ["many"] * 5000, "x": np.linspace(0, 1, 5000)})
    y = np.where(X["x"] > 0.5, "yes", "no")
    model = PrivateForestClassifier(schema, epsilon=math.inf).fit(X, y)
    (ax,) = [each for each in plot_shapes(model) if each.get_title().startswith("kind (")]
    hatches = dict(zip([t.get_text() for t in ax.get_yticklabels()], [p.get_hatch() for p in ax.patches], strict=True))
    assert hatches == {"many": None, "none": "///"}


def test_one_class_can_be_asked_for():
    (ax, *_) = plot_shapes(grouped(1, classes=("no", "yes", "maybe")), class_="maybe")
    assert "score of maybe" in drawn(ax)


def test_hostile_names_are_drawn_as_they_are():
    assert any("</script>" in text for text in drawn(plot_shapes(hostile_weights())[0]))


def test_models_without_shapes_are_refused_with_the_way_out():
    with pytest.raises(ParameterError, match="PrivateRDTClassifier releases no weights, .*; use plot_tree"):
        plot_shapes(fitted())
    with pytest.raises(ParameterError, match="its class balance alone, without a tree to draw; raise epsilon"):
        plot_shapes(only_balance())
    with pytest.raises(ParameterError, match="PrivateForestClassifier releases no counts, .* use plot_shapes"):
        plot_tree(weights())
    with pytest.raises(NotFittedError):
        plot_shapes(PrivateForestClassifier(SCHEMA))


def test_importances_that_may_be_noise_alone_are_pale():
    model = weights(epsilon=0.3)
    assert not model.told_apart_.all()
    ax = plot_importances(model)
    assert "importance in %, from released numbers; pale: may be noise alone" in drawn(ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    pale = {name for name, bar in zip(names, ax.patches, strict=True) if bar.get_alpha() < 1}
    assert pale == {name for name, told in zip(model.schema_.names, model.told_apart_, strict=True) if not told}
    assert "importance in %, from released numbers" in drawn(plot_importances(exact_weights()))


class Fixed:
    """A model of known chances."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        return np.column_stack([1 - np.asarray(X), np.asarray(X)])


def test_reliability_shows_mean_chance_share_and_rows_of_each_bin():
    ax = plot_reliability(Fixed(), [0.1, 0.3, 0.9, 0.9, 1.0], ["no", "yes", "yes", "no", "yes"], n_bins=2)
    (_, line) = ax.get_lines()
    assert_allclose(line.get_xdata(), [0.2, 2.8 / 3])
    assert_allclose(line.get_ydata(), [0.5, 2 / 3])
    assert [text.get_text() for text in ax.texts] == ["2", "3"]
    assert ax.get_xlabel() == "probability of yes, mean of a bin"


def test_reliability_of_more_classes_is_that_of_the_predicted_one():
    model = grouped(1, classes=("no", "yes", "maybe"))
    X = pd.DataFrame({name: [None, None] for name in model.schema_.names})
    assert "the predicted class" in plot_reliability(model, X, ["no", "yes"]).get_xlabel()
    assert "probability of maybe" in plot_reliability(model, X, ["no", "yes"], class_="maybe").get_xlabel()


def test_a_forest_of_weights_keeps_its_word_about_new_rows():
    X, y = people()
    _, line = plot_reliability(exact_weights(), X, y, n_bins=3).get_lines()
    assert (np.diff(line.get_ydata()) >= 0).all()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="class_='maybe' is none of the classes"):
        plot_reliability(Fixed(), [0.1], ["no"], class_="maybe")
    with pytest.raises(ParameterError, match="one row and one label for each test row"):
        plot_reliability(Fixed(), [0.1], ["no", "yes"])
    with pytest.raises(ParameterError, match="n_bins"):
        plot_reliability(Fixed(), [0.1], ["no"], n_bins=1)
