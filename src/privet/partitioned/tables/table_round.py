"""The first round: how many rows of each class every leaf of every tree has."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import MOST_LEAVES, MOST_WEIGHTS, Overrides, Policy
from privet.central.weights.trees import GRID, Trees, checked_trees, knots_to_json
from privet.checks import check_whole
from privet.counting.engines.parts import Block
from privet.counting.rows import Rows
from privet.errors import ModelFileError, ParameterError
from privet.partitioned.structure import (
    Counts,
    epsilon_from_json,
    epsilon_to_json,
    round_name,
)
from privet.partitioned.tables.newton_kernel import STEPS
from privet.privacy.mechanisms.rational import check_epsilon, float_above, remaining, scale_at_least
from privet.privacy.unit import EACH_ROW, Unit
from privet.schema import Categorical, Schema

CLASS_TABLES = "class tables of attributes"
# Of epsilon, what the tables have: less where rows times epsilon a tree are many, since noise is small there.
_MOST_SHARE, _LEAST_SHARE, _FULL_AT = 0.85, 0.7, 300.0
# Up to so many categories share a tree, which has at most one leaf for so many rows times epsilon of an attribute.
_MOST_GROUPED, _ROWS_OF_LEAF = 3, 2.0


@dataclass(frozen=True, eq=False)
class TableRound(Counts):
    """Trees that every attribute is in one of; every party counts its rows of each class in the leaves.

    Categories that follow each other in the schema share a tree, so that it shows what they do together. A number is
    soft, so counts are in units of 1/32 row: a row between two knots belongs to both in whole units.

    Attributes
    ----------
    schema : Schema
        With the cells of numbers.
    epsilon : float
        What this round costs.
    newton_epsilon : float
        What the second round costs.
    trees : Trees
        Groups and leaves follow from the schema and the numbers that were agreed on.
    unit, round, party
        As `Round` has them.
    """

    newton_epsilon: float = field(kw_only=True)
    trees: Trees = field(kw_only=True)
    method: ClassVar[str] = "table-forest"
    own_keys: ClassVar[frozenset[str]] = frozenset({"trees", "newton_epsilon"})
    what: ClassVar[str] = CLASS_TABLES

    @classmethod
    def draw(
        cls,
        schema: Schema,
        *,
        epsilon: float = 1.0,
        n_rows: int | None = None,
        unit: Unit = EACH_ROW,
        round_: str | None = None,
    ) -> Self:
        """Return a new structure. Nothing in it is random but its name.

        Parameters
        ----------
        schema : Schema
            What is public about the rows of all parties.
        epsilon : float
            What both rounds cost together.
        n_rows : int, optional
            Roughly how many rows all parties have together, by default the schema's number. Trees and the shares of
            epsilon depend on it.
        unit : Unit
        round_ : str, optional
            The round's name; by default a random one.
        """
        epsilon = check_epsilon(epsilon)
        schema = schema if n_rows is None else replace(schema, rows=check_whole("n_rows", n_rows, least=1, most=2**53))
        if schema.rows is None:
            raise ParameterError(
                "how fine tables are depends on the number of rows, and nobody may count them; give roughly how many "
                "all parties have together (--rows)"
            )
        policy = Policy(schema, epsilon, schema.rows, Overrides(n_attributes=len(schema.attributes)))
        trees = _trees(policy)
        if trees.n_leaves > MOST_LEAVES:
            raise ParameterError(
                f"the attributes have {trees.n_leaves:,} leaves together, more than {MOST_LEAVES:,}; leave some out of "
                "the schema, or merge their values"
            )
        tables, newton = _shares(epsilon, schema.rows * epsilon / trees.n_trees)
        structure = cls(policy.cells, tables, unit, round_name(round_), newton_epsilon=newton, trees=trees)
        structure.check()
        return structure

    @property
    def total_epsilon(self) -> float:
        """What both rounds cost."""
        if math.isinf(self.epsilon):
            return self.epsilon
        return float_above(Fraction(self.epsilon) + Fraction(self.newton_epsilon))

    def check(self) -> None:
        """Refuse an epsilon beyond the sampler's limits, in either round."""
        super().check()
        check_epsilon(self.newton_epsilon)
        if math.isinf(self.epsilon) != math.isinf(self.newton_epsilon):
            raise ParameterError("one of its rounds has noise and the other has none")
        if math.isfinite(self.newton_epsilon):
            scale_at_least(2 * STEPS * self.unit.max_rows, self.newton_epsilon)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the counts: leaves, classes."""
        return self.trees.n_leaves, self.n_classes

    @property
    def sensitivity(self) -> int:
        """How far one more unit moves all counts together: each of its rows adds 32 units to every tree."""
        return GRID * self.trees.n_trees * self.unit.max_rows

    def _exact_sum(self, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
        """Return how many rows of each class each leaf has, in units of 1/32."""
        return self._leaves_of(rows.exact_sum(CellCount(self.trees, self.n_classes), n_jobs))

    def _leaves_of(self, exact_cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what leaves have of counts of cells. The shares of a cell are whole numbers that add up to 32."""
        parts = np.split(exact_cells, self.trees.cell_starts[1:])
        leaves = [
            self.trees.whole_shares(t).T @ part * (GRID // int(self.trees.grids[t])) for t, part in enumerate(parts)
        ]
        return np.concatenate(leaves).astype(np.int64)

    @cached_property
    def rows(self) -> int:
        """About how many rows all parties have together."""
        return self.schema.rows or 1

    def _own_to_json(self) -> dict[str, Any]:
        trees = {
            "trees": [list(own) for own in self.trees.attributes],
            **knots_to_json(self.trees, len(self.schema.attributes)),
        }
        return {"trees": trees, "newton_epsilon": epsilon_to_json(self.newton_epsilon)}

    @classmethod
    def _own_from_json(cls, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        data = document["trees"]
        if not isinstance(data, Mapping) or set(data) != {"trees", "knots", "grid", "later", "later_knots"}:
            raise ModelFileError("its trees lack a part or have one too many")
        trees = checked_trees(data, schema, most_leaves=MOST_LEAVES)
        is_whole = sorted(trees.kept) == list(range(len(schema.attributes))) and int(trees.grids.max()) <= GRID
        if trees.n_later or not is_whole or schema.rows is None:
            raise ModelFileError(
                "its trees have not every attribute once and numbers apart, or it has no number of rows; it is damaged"
            )
        return {"trees": trees, "newton_epsilon": epsilon_from_json(document["newton_epsilon"])}


@dataclass(frozen=True)
class CellCount:
    """Counts the rows of each class in each cell of every tree. It holds the trees and nothing else."""

    trees: Trees
    n_classes: int

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:  # noqa: ARG002
        """Return cells x classes."""
        counts = np.zeros((int(self.trees.cell_sizes.sum()), self.n_classes), dtype=np.int64)
        for codes, labels in blocks:
            cells = self.trees.cells(codes)
            for t, start in enumerate(self.trees.cell_starts):
                size = int(self.trees.cell_sizes[t])
                pairs = cells[:, t].astype(np.int64) * self.n_classes + labels
                found = np.bincount(pairs, minlength=size * self.n_classes)
                counts[start : start + size] += found.reshape(size, self.n_classes)
        return counts


def _trees(policy: Policy) -> Trees:
    """Return the trees: one for each number; categories that follow each other in the schema share one.

    Whoever writes a schema puts next to each other what belongs together. Groups are as large as noise allows, and as a
    model's number of leaves does.
    """
    knots = policy.public_knots(policy.n_bins, soft=True)
    most_leaves = policy.n_rows * policy.epsilon / (_ROWS_OF_LEAF * len(policy.schema.attributes))
    for size in range(_MOST_GROUPED, 0, -1):
        trees = Trees.of(_groups(policy.schema, size, most_leaves), policy.cells, knots)
        if trees.n_leaves <= min(MOST_LEAVES, MOST_WEIGHTS // policy.n_columns):
            break
    return trees


def _groups(schema: Schema, size: int, most_leaves: float) -> list[list[int]]:
    numbers: list[list[int]] = []
    groups: list[list[int]] = []
    n_leaves = 1
    for a, own in enumerate(schema.attributes):
        if not isinstance(own, Categorical):
            numbers.append([a])
        elif groups and len(groups[-1]) < size and n_leaves * own.n_codes <= most_leaves:
            groups[-1].append(a)
            n_leaves *= own.n_codes
        else:
            groups.append([a])
            n_leaves = own.n_codes
    return numbers + groups


def _shares(epsilon: float, worth: float) -> tuple[float, float]:
    """Return what tables and Newton sums cost, by rows times epsilon for each tree.

    They add up to epsilon and not to more, as the numbers that they are and as the decimals that a ledger adds up.
    """
    if math.isinf(epsilon):
        return epsilon, epsilon
    share = _MOST_SHARE - (_MOST_SHARE - _LEAST_SHARE) * min(1.0, worth / _FULL_AT)
    tables = float(f"{epsilon * share:.6g}")
    newton = remaining(epsilon, tables)
    while Fraction(repr(tables)) + Fraction(repr(newton)) > Fraction(repr(epsilon)):
        newton = math.nextafter(newton, 0.0)
    return tables, newton
