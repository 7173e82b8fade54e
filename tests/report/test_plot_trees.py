import sys

import pytest

from privet.errors import ParameterError
from privet.report import plot_importances, plot_tree
from privet.report.plots.trees import MAX_CHILDREN
from tests.report.forests import one_tree, wide_forest


@pytest.fixture
def axes():
    """Make axes of a size, without pyplot."""

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def of_size(width, height):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        return figure.add_axes((0, 0, 1, 1))

    return of_size


def drawn(ax):
    """Return the places of all boxes, and the texts with theirs."""
    from matplotlib.patches import FancyBboxPatch

    ax.figure.draw_without_rendering()
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    return boxes, [(text.get_text(), text.get_window_extent()) for text in ax.texts]


def apart(one, other):
    return one.x1 < other.x0 or other.x1 < one.x0 or one.y1 < other.y0 or other.y1 < one.y0


@pytest.mark.parametrize(("size", "n_categories"), [((11, 20), 12), ((9, 6), 3), ((9, 6), 40), ((4, 3), 12)])
def test_texts_stay_in_their_boxes_and_boxes_apart(axes, size, n_categories):
    ax = plot_tree(wide_forest(n_categories), ax=axes(*size))
    boxes, texts = drawn(ax)
    assert len(boxes) == len(texts) > 3
    for box, (_, place) in zip(boxes, texts, strict=True):
        assert box.x0 <= place.x0 <= place.x1 <= box.x1
        assert box.y0 <= place.y0 <= place.y1 <= box.y1
    assert all(apart(one, other) for i, one in enumerate(boxes) for other in boxes[:i])
    legend = ax.get_legend().get_window_extent()
    assert all(apart(legend, box) for box in boxes)


def test_boxes_say_what_was_released(axes):
    ax = plot_tree(one_tree(), ax=axes(8, 3))
    texts = [text for text, _ in drawn(ax)[1]]
    assert texts == ["all rows\nno 4, yes 2", "age < 50\nno 3, yes 0", "age >= 50 or missing\nno 1, yes 2"]


def test_noise_stands_beside_the_counts(axes):
    model = wide_forest(epsilon=0.5, height=1)
    ax = plot_tree(model, ax=axes(8, 3))
    # ln(20) / sqrt(2) standard deviations, and one, in whole rows.
    reach = int(2.1183 * model.noise_std_ + 1)
    assert all(text.endswith(f"± {reach}") for text, _ in drawn(ax)[1][1:] if "…" not in text.split("\n")[0])


def test_more_siblings_than_fit_are_folded_into_one_box(axes):
    model = wide_forest(40, height=1)
    tree = next(t for t in range(6) if model.forest_.attribute[t] == 0)
    ax = plot_tree(model, tree, ax=axes(8, 20))
    texts = [text for text, _ in drawn(ax)[1]]
    assert len(texts) == 1 + MAX_CHILDREN
    assert texts[-1].startswith("… 30 more\n")  # 40 categories and the missing one, 11 of them shown


def test_the_colour_is_grey_where_noise_could_have_made_the_counts(axes):
    colours = {
        epsilon: [patch.get_facecolor()[:3] for patch in plot_tree(wide_forest(epsilon=epsilon), ax=axes(9, 9)).patches]
        for epsilon in (0.001, 1e6)
    }
    assert set(colours[0.001]) == {(0.92, 0.92, 0.92)}
    assert (0.92, 0.92, 0.92) not in colours[1e6][:1]


def test_a_tree_deeper_than_asked_for_says_what_lies_below(axes):
    ax = plot_tree(wide_forest(3), max_depth=1, ax=axes(9, 9))
    assert any("below)" in text for text, _ in drawn(ax)[1])


def test_importances_are_bars_with_the_largest_at_the_top(axes):
    model = wide_forest()
    ax = plot_importances(model, ax=axes(7, 3))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths, reverse=True)
    assert sum(widths) == pytest.approx(100)
    assert {label.get_text() for label in ax.get_yticklabels()} == set(model.schema_.names)
    ax.figure.canvas.draw()


def test_what_is_not_there_is_refused(axes):
    with pytest.raises(ParameterError, match="tree=6 must be a whole number from 0 to 5"):
        plot_tree(wide_forest(), 6, ax=axes(4, 3))
    with pytest.raises(ParameterError, match="max_depth=0 must be a whole number"):
        plot_tree(wide_forest(), max_depth=0, ax=axes(4, 3))


def test_without_axes_a_new_figure_is_made(monkeypatch):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    ax = plot_tree(wide_forest())
    assert plt.gcf() is ax.figure
    assert {round(text.get_size(), 6) for text in ax.texts} == {9.0}
    plt.close(ax.figure)
    assert plt.get_fignums() == []


def test_with_axes_pyplot_stays_out_of_it(axes, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it would fail
    plot_tree(one_tree(), ax=axes(4, 3))
    plot_importances(one_tree(), ax=axes(4, 3))
