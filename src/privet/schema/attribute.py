"""One attribute and its public domain: categories, or a number.

Values become small integer codes. The code of a category is its position, and the code of a number is the cell of its
public range. `missing_code` stands for a missing or unknown value. Where an attribute is declared never missing, no row
of a fit has that code, and no tree has a branch for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from privet.errors import SchemaError
from privet.schema.acceptance import Acceptance
from privet.schema.labels import Label, check_name, checked_labels
from privet.schema.numeric import MAX_VALUES, Numeric

# Two categories are neighbours in any order.
FEWEST_ORDERED = 3


@dataclass(frozen=True)
class Categorical:
    """An attribute with a fixed list of categories.

    Parameters
    ----------
    name : str
        The column's name.
    categories : sequence of str, int, float or bool
        Every value that is publicly known to be possible, whether or not it occurs. All text or all numbers.
    inferred : bool
        The categories were read from the rows; a model that uses them says so.
    never_missing : bool
        Every row has one of the categories. A fit refuses a row that has none, and no tree has a branch for missing
        values; a row that lacks the value at predict is answered by the node that asks for it.
    accepted : Acceptance, optional
        The categories were read from the rows, and somebody declared that they were public before.
    ordered : bool
        The categories have an order, in which they are listed, such as degrees or sizes; there are at least three. The
        recommended forest takes neighbours as alike, and can be told that a chance only rises with them.
    """

    name: str
    categories: Sequence[Label]
    inferred: bool = False
    never_missing: bool = False
    accepted: Acceptance | None = None
    ordered: bool = False

    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        check_name(self.name)
        where = f"attribute {self.name!r}"
        object.__setattr__(self, "categories", checked_labels(self.categories, where=where, noun="categories"))
        if len(self.categories) > MAX_VALUES:
            raise SchemaError(
                f"{where} has more than {MAX_VALUES:,} categories; merge rare ones into a group, or drop the column"
            )
        if not isinstance(self.ordered, bool):
            raise SchemaError(f"{where}: ordered must be true or false; write true, or leave it out")
        if self.ordered and len(self.categories) < FEWEST_ORDERED:
            raise SchemaError(
                f"{where} is ordered, which takes at least {FEWEST_ORDERED} categories, listed in their order; list "
                "them all, or take ordered out of the schema"
            )

    @property
    def n_values(self) -> int:
        """How many codes stand for values."""
        return len(self.categories)

    @property
    def missing_code(self) -> int:
        """The code of a missing value and of a value outside the domain."""
        return self.n_values

    @property
    def n_codes(self) -> int:
        """How many codes the rows of a fit can have."""
        return self.n_values + (not self.never_missing)

    @property
    def branches(self) -> int:
        """A node that tests this attribute has one child per category, and one for missing values if any."""
        return self.n_codes

    @property
    def domain_size(self) -> int:
        """The size that counts for the papers' mean domain size, without the missing code."""
        return self.n_values


Attribute: TypeAlias = Categorical | Numeric


def has_order(attribute: Attribute) -> bool:
    """Return whether an attribute's codes are in an order that says something: those of numbers and ordered ones."""
    return isinstance(attribute, Numeric) or attribute.ordered


def labels_of(attribute: Attribute) -> list[Label]:
    """Return what stands for each code in a table: the category, or the middle of the cell."""
    if isinstance(attribute, Categorical):
        return list(attribute.categories)
    return [float(middle) for middle in attribute.middles]
