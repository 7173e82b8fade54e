"""A tree of counts as text, with its branches; of a forest of weights an effect, point by point."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from sklearn.utils.validation import check_is_fitted

from privet.checks import check_whole
from privet.errors import ParameterError
from privet.report.page.effects import Effect, effects_of
from privet.report.page.trees import Box, Outline
from privet.schema import Schema
from privet.tree.conditions import quoted

_STEP = "|   "


def export_text(model: Any, tree: int = 0, max_depth: int | None = None) -> str:
    """Return one tree of a fitted forest as an indented text; of a forest of weights, one effect.

    Parameters
    ----------
    model : a fitted forest of counts or weights
    tree : int
        Which tree, from 0; of a forest of weights, which effect, in the order of `shapes`.
    max_depth : int, optional
        Cut the tree off below this many tests. Effects are never cut.

    Returns
    -------
    str
        For counts, one line a node: the answer that leads to it, its released class counts in the order of ``classes_``
        and, at a leaf, the class with the largest count, or Failure where it answers nothing. For weights, one line a
        point: the values of its attributes, and what a row there adds to the score of the second of two classes, or to
        the score of each of more.

    Privacy
    -------
    Only released numbers enter: post-processing, which costs nothing.

    Examples
    --------
    >>> import math
    >>> from privet import Numeric, PrivateRDTClassifier, Schema
    >>> from privet.report import export_text
    >>> schema = Schema([Numeric("age", 0, 100, edges=[50])], classes=["no", "yes"], rows=4)
    >>> model = PrivateRDTClassifier(schema, epsilon=math.inf, n_trees=1, height=1)
    >>> print(export_text(model.fit([[20], [30], [60], [70]], ["no", "no", "no", "yes"])))
    tree 0 of 1: released counts of no, yes; no noise in them
    |--- age < 50: no [2, 0]
    |--- age >= 50 or missing: no [1, 1]
    """
    check_is_fitted(model)
    if hasattr(model, "shapes"):
        return _weights_as_text(model, tree)
    outline = Outline(model)
    depth = None if max_depth is None else check_whole("max_depth", max_depth, least=1, most=2**31)
    root = outline.tree(tree, max_depth=depth)
    classes = [quoted(label) for label in model.schema_.classes]
    noise = "no noise in them"
    if root.reach:
        noise = f"each leaf's with noise of standard deviation {outline.leaf_noise(tree):.3g}"
    header = f"tree {tree} of {outline.n_trees}: released counts of {', '.join(classes)}; {noise}"
    # A tree that is a single leaf has no answer to show.
    body = [_line(root, classes)] if root.is_leaf else list(_lines(root, classes, 0))
    return "\n".join([header, *body])


def _weights_as_text(model: Any, tree: int) -> str:
    effects = {effect.position: effect for effect in effects_of(model)}
    if not effects:
        raise ParameterError("the model is its class balance alone, without a tree to show; raise epsilon")
    effect = effects[check_whole("tree", tree, least=0, most=len(effects) - 1)]
    schema, several = model.schema_, len(effect.classes) > 1
    scores = f"the scores of {', '.join(quoted(c) for c in schema.classes)}" if several else _score(schema)
    noise = "no noise in it"
    if effect.noise.max() > 0 and effect.rare_noise is not None:
        noise = (
            f"noise of standard deviation {effect.noise.max():.3g} if rows were spread evenly, "
            f"{effect.rare_noise.max():.3g} where hardly any row comes"
        )
    elif effect.noise.max() > 0:
        noise = f"noise of standard deviation {effect.noise.min():.3g} to {effect.noise.max():.3g}"
    unseen = "".join(f"; no missing values of {quoted(name)} seen" for name in effect.without_missing)
    header = f"effect {tree} of {len(effects)}: added to {scores}; {noise}{unseen}"
    cells = product(*(range(len(own)) for own in effect.cells))
    return "\n".join([header, *(_weight_line(effect, place) for place in cells)])


def _score(schema: Schema) -> str:
    if schema.number is not None:
        return f"the score of {quoted(schema.target)}"
    return f"the score of {quoted(schema.classes[1])} against {quoted(schema.classes[0])}"


def _weight_line(effect: Effect, place: tuple[int, ...]) -> str:
    named = zip(effect.names, effect.cells, place, strict=True)
    cells = ", ".join(f"{quoted(name)}: {_plain(own[i])}" for name, own, i in named)
    values = [f"{value:+.3f}" for value in effect.values[place]]
    listed = ", ".join(values)
    return f"|--- {cells}: {listed if len(values) == 1 else f'[{listed}]'}"


def _plain(cell: str) -> str:
    # A category could split a line or send control codes to a terminal.
    return cell if cell.isprintable() else repr(cell)


def _lines(box: Box, classes: list[str], level: int) -> Iterator[str]:
    for child in box.children:
        yield _STEP * level + _line(child, classes)
        yield from _lines(child, classes, level + 1)
        if child.n_below:
            yield f"{_STEP * (level + 1)}|--- … {child.n_below:,} more nodes"


def _line(box: Box, classes: list[str]) -> str:
    answer = box.text or "always"
    prediction = f": {'Failure' if box.fails else classes[box.predicted]}" if box.is_leaf else ""
    return f"|--- {answer}{prediction} [{', '.join(str(count) for count in box.counts.tolist())}]"
