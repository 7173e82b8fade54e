"""A tree as text."""

from collections.abc import Iterator
from typing import Any

from privet.checks import check_whole
from privet.report.outline import Box, Outline
from privet.tree.conditions import quoted

_STEP = "|   "


def export_text(model: Any, tree: int = 0, max_depth: int | None = None) -> str:
    """Return one tree of a fitted forest as an indented text.

    Parameters
    ----------
    model : a fitted forest of counts
    tree : int
        Which tree, from 0.
    max_depth : int, optional
        Cut the tree off below this many tests.

    Returns
    -------
    str
        One line a node: the answer that leads to it, its released class counts in the order of ``classes_`` and, at a
        leaf, the class with the largest.

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
    outline = Outline(model)
    depth = None if max_depth is None else check_whole("max_depth", max_depth, least=1, most=2**31)
    root = outline.tree(tree, max_depth=depth)
    classes = [quoted(label) for label in model.schema_.classes]
    noise = f"each leaf's with noise of standard deviation {model.noise_std_:.3g}" if root.reach else "no noise in them"
    header = f"tree {tree} of {outline.n_trees}: released counts of {', '.join(classes)}; {noise}"
    # A tree that is a single leaf has no answer to show.
    body = [_line(root, classes)] if root.is_leaf else list(_lines(root, classes, 0))
    return "\n".join([header, *body])


def _lines(box: Box, classes: list[str], level: int) -> Iterator[str]:
    for child in box.children:
        yield _STEP * level + _line(child, classes)
        yield from _lines(child, classes, level + 1)
        if child.n_below:
            yield f"{_STEP * (level + 1)}|--- … {child.n_below:,} more nodes"


def _line(box: Box, classes: list[str]) -> str:
    answer = box.text or "always"
    prediction = f": {classes[box.predicted]}" if box.is_leaf else ""
    return f"|--- {answer}{prediction} [{', '.join(str(count) for count in box.counts.tolist())}]"
