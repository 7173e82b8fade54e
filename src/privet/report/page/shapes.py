"""The section of the page that shows what each tree of weights adds to a score."""

import html
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, cast

from privet.checks import counted
from privet.report.page.effects import BAND, Effect, is_stretched, score_of
from privet.report.page.formats import class_key, number, percent, shown, table, text
from privet.report.page.shape_drawing import MOST_BARS, MOST_ON_A_SIDE, category_shape, number_shape, pair_map

if TYPE_CHECKING:
    from privet.schema import Numeric

MOST_SHAPES = 40
# As many colours as the page has.
_MOST_CLASSES = 10
_MOST_LINES = 200
_STRONGEST = 12


def shapes_section(model: Any, effects: Sequence[Effect]) -> str:
    """Return a picture a tree, those of the most important attributes first, each with its table."""
    classes = model.schema_.classes
    colours = _colours(model)
    figures = "".join(_figure(effect, i, colours, classes) for i, effect in enumerate(effects[:MOST_SHAPES]))
    left = len(effects) - MOST_SHAPES
    more = f"<p class='soft'>Left out: {counted(left, 'tree')} of less important attributes; --json has them.</p>\n"
    return (
        f"<h2>What each attribute does</h2>\n{_about(effects[0], classes)}{class_key(classes)}"
        f'{_control(classes, colours)}<div class="shapes">{figures}</div>\n{more if left > 0 else ""}'
    )


def _colours(model: Any) -> list[int]:
    """Return which classes are drawn: the second of two, and of more than there are colours the most frequent."""
    n_classes = len(model.schema_.classes)
    if n_classes == 2:
        return [1]
    most_frequent = sorted(range(n_classes), key=lambda k: -float(model.class_shares_[k]))[:_MOST_CLASSES]
    return sorted(most_frequent)


def _about(effect: Effect, classes: Sequence[Any]) -> str:
    adds = (
        f"adds to the {text(score_of(effect, tuple(classes)), 200)}: above zero it speaks for "
        f"{text(classes[1])}, below for {text(classes[0])}"
        if len(classes) == 2
        else "adds to the score of each class; the class with the highest sum is predicted"
    )
    drawn = (
        f" Drawn are the {_MOST_CLASSES} most frequent of {len(classes):,} classes." if len(classes) > _MOST_CLASSES
        else ""
    )  # fmt: skip
    return (
        f"<p>The model is a sum: every picture shows what one tree {adds}. The numbers are the released weights, which "
        "with the class balance are the whole model. What all cells of a tree share is left out, since other trees "
        "make up for it.</p>\n"
        f"<p><strong>How sure is it?</strong> Dark bands and whiskers reach {BAND:g} standard deviations of the noise "
        "to either side <em>if rows were spread evenly over the cells</em>. They never are: where many rows are, noise "
        "is smaller; in a cell that hardly a row reaches it is as large as each caption says, and its weight may be "
        "noise alone. How many rows a cell has was not released. And where two attributes say much the same, noise may "
        f"lift one and lower the other, beyond any band.{drawn}</p>\n"
    )


def _control(classes: Sequence[Any], colours: list[int]) -> str:
    if len(classes) == 2:
        return ""
    options = "".join(f'<option value="{k % 10}">{html.escape(shown(classes[k]))}</option>' for k in colours)
    return (
        '<div class="tools with-script"><label for="shape-class">Bring out</label> <select id="shape-class">'
        f'<option value="">all classes</option>{options}</select></div>\n'
    )


def _figure(effect: Effect, i: int, colours: list[int], classes: Sequence[Any]) -> str:
    drawn, wide = _drawn(effect, f"shape-{i}", colours)
    return (
        f'<figure{" class=broad" if wide else ""}><h3>{text(effect.title)} <span class="soft small">'
        f"{percent(effect.share)} of what matters</span></h3>{drawn}<figcaption>{_caption(effect)}</figcaption>"
        f"<details><summary>The same as a table</summary>{_table(effect, classes)}</details></figure>\n"
    )


def _drawn(effect: Effect, name: str, colours: list[int]) -> tuple[str, bool]:
    """Return the picture of an effect, and whether it needs the whole width."""
    shown_effect = _of_colours(effect, colours)
    keyed = [k % 10 for k in colours]
    if effect.is_number:
        return number_shape(shown_effect, name, keyed), False
    if len(effect.cells) == 1:
        return category_shape(shown_effect, name, keyed), False
    if len(effect.cells) == 2 and max(map(len, effect.cells)) <= MOST_ON_A_SIDE:
        return pair_map(shown_effect, name, keyed), True
    return _list_of_strongest(effect), True


def _of_colours(effect: Effect, colours: list[int]) -> Effect:
    if len(effect.classes) == len(colours):
        return effect
    kept = tuple(effect.classes[k] for k in colours)
    return replace(effect, classes=kept, values=effect.values[..., colours], levels=effect.levels[colours])


def _list_of_strongest(effect: Effect) -> str:
    """Return the strongest cells in words: more attributes, or longer lists, than a picture can hold."""
    lines = [_line(effect, cells, k) for cells, k in effect.strongest(_STRONGEST)]
    headings = [*(text(name) for name in effect.names), "class", "adds"]
    label = "Strongest cells"
    return table(headings, lines, label=label, caption="The strongest cells", numbers=[len(headings) - 1])


def _line(effect: Effect, cells: tuple[int, ...], k: int) -> list[str]:
    named = [text(own[i]) for own, i in zip(effect.cells, cells, strict=True)]
    return [*named, text(effect.classes[k]), number(float(effect.values[(*cells, k)]))]


def _caption(effect: Effect) -> str:
    told = []
    if effect.is_number and is_stretched(cast("Numeric", effect.attributes[0])):
        told.append("Narrow cells are drawn wider than they are; borders are written below.")
    elif len(effect.cells) == 1 and len(effect.cells[0]) > MOST_BARS:
        told.append(f"The {MOST_BARS} strongest of {len(effect.cells[0]):,} cells.")
    elif len(effect.cells) == 2 and max(map(len, effect.cells)) <= MOST_ON_A_SIDE:
        told.append(
            "The stronger the colour, the more it adds; grey is no more than noise, if rows were spread evenly."
        )
    if effect.noise.max() == 0:
        return " ".join([*told, "No noise is in these weights."])
    even, rare = float(effect.noise.max()), float(effect.rare_noise.max())
    told.append(
        f"Noise, {BAND:g} standard deviations: ± {number(BAND * even)} if rows were spread evenly, "
        f"± {number(BAND * rare)} where hardly a row comes."
    )
    return " ".join(told)


def _table(effect: Effect, classes: Sequence[Any]) -> str:
    several = len(effect.classes) > 1
    names = [f"adds, {text(label)}" for label in effect.classes] if several else ["adds"]
    headings = [*(text(name) for name in effect.names), *names, "noise, if spread evenly", "without rows"]
    all_cells = list(product(*(range(len(own)) for own in effect.cells)))
    rows = [_cells_row(effect, cells) for cells in all_cells[:_MOST_LINES]]
    left = len(all_cells) - len(rows)
    about = f"Of {text(classes[1])} against {text(classes[0])}. " if len(classes) == 2 else ""
    shared = ", ".join(number(float(level)) for level in effect.levels)
    about += f"All cells share {shared} beside this. "
    caption = f"{about}Noise as a standard deviation.{f' {left:,} more cells; --json has them.' if left else ''}"
    n_names = len(effect.names)
    numbers = range(n_names, len(headings))
    return table(headings, rows, label="Effect as a table", caption=caption, numbers=numbers)


def _cells_row(effect: Effect, cells: tuple[int, ...]) -> list[str]:
    named = [text(own[i]) for own, i in zip(effect.cells, cells, strict=True)]
    values = [number(float(value)) for value in effect.values[cells]]
    return [*named, *values, number(float(effect.noise[cells])), number(float(effect.rare_noise[cells]))]
