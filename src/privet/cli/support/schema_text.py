"""Domains in words, for the verbs about schemas."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privet.schema import Attribute, Label, Numeric

SHOWN_CATEGORIES = 4


def domain_text(attribute: "Attribute", most: int = SHOWN_CATEGORIES) -> str:
    """Return an attribute's domain in words, with at most so many categories."""
    from privet.schema import Date, Numeric

    if not isinstance(attribute, Numeric):
        n = len(attribute.categories)
        noun = "ordered categories" if attribute.ordered else "category" if n == 1 else "categories"
        return f"{n} {noun}: {few_labels(attribute.categories, most)}"
    if isinstance(attribute, Date):
        low, high = attribute.written(attribute.low), attribute.written(attribute.high)
        return f"dates from {low} to {high} in {attribute.n_values:,} cells"
    width = "cells" if attribute.whole else "equal cells"
    width = "cells of its own edges" if attribute.edges is not None else width
    width = "cells on a log scale" if attribute.is_log and attribute.edges is None else width
    noun = "whole numbers from " if attribute.whole else ""
    return f"{noun}{bounds_text(attribute)} in {attribute.n_values:,} {width}"


def bounds_text(number: "Numeric") -> str:
    """Return a number's bounds; a label has no cells."""
    return f"{number.low:,.12g} to {number.high:,.12g}"


def few_labels(labels: "Sequence[Label]", most: int = SHOWN_CATEGORIES) -> str:
    """Return the first few labels."""
    shown = ", ".join(str(label) for label in labels[:most])
    return f"{shown}, ..." if len(labels) > most else shown
