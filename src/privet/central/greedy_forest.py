"""Forests grown greedily: every level asks what its nodes hold and what to split them on, with noise."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.count_forest import MAX_HEIGHT, CountForestClassifier
from privet.central.released_classifier import CuratorClassifier, FitCall
from privet.counting.rows import Rows
from privet.counting.tables import TableLayout, exact_tables
from privet.errors import ModelFileError, NoGuaranteeWarning, ParameterError
from privet.plan import Plan, Step, epsilon_needed, laplace_step
from privet.privacy.events import Event, Sequential
from privet.privacy.guarantee import Guarantee
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip_each
from privet.privacy.mechanisms.rational import MIN_EPSILON, equal_share, multiple
from privet.privacy.unit import Unit
from privet.rng import NoiseSource, public_generator
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.criteria import Score
from privet.tree.forest import LEAF, Forest
from privet.tree.greedy import Growth

PAPER = "paper"
# Numbers in the tables of one level; nodes with less support stay leaves beyond it.
_MAX_NUMBERS = 2**24
# Of epsilon for one query, with room for what quantiles take.
_LEAST_QUERY_EPSILON = 2 * MIN_EPSILON
# Numeric attributes that declare neither bins nor edges are cut into so many cells.
DEFAULT_BINS = 5


@dataclass
class BudgetedQueries:
    """Asks about the nodes of a level, for a share of epsilon each; keeps receipts and what was released.

    A row is in one node of each tree's level. So the nodes of a tree compose in parallel, and trees in sequence.
    """

    schema: Schema
    epsilon: float
    n_trees: int
    n_levels: int
    unit: Unit
    noise: NoiseSource
    receipts: list[Event] = field(default_factory=list)
    released: list[NDArray[np.int64]] = field(default_factory=list)
    exact_levels: list[NDArray[np.int64]] = field(default_factory=list)

    def release_counts(
        self, exact_counts: NDArray[np.int64], what: str, *, epsilon: float, moves: int = 1
    ) -> tuple[NDArray[np.int64], Event]:
        """Release counts of all trees' nodes, at ``epsilon`` a tree; a row moves ``moves`` of a tree's counts by 1."""
        return discrete_laplace(
            exact_counts,
            epsilon=multiple(epsilon, self.n_trees),
            sensitivity=self.n_trees * moves * self.unit.max_rows,
            what=what,
            noise=self.noise,
        )

    def choose(
        self, exact_scores: NDArray[np.int64], allowed: NDArray[np.bool_], what: str, *, epsilon: float, score: Score
    ) -> tuple[NDArray[np.int64], Event]:
        """Choose an attribute for every node; the receipt is for the nodes of one tree."""
        return permute_and_flip_each(
            exact_scores,
            allowed,
            epsilon=epsilon,
            sensitivity=score.sensitivity * self.unit.max_rows,
            monotone=score.monotone,
            what=what,
            noise=self.noise,
        )


@dataclass(frozen=True)
class OpenNodes:
    """Nodes of a level that may be split: their tables, what is released of them, and the attributes that are left."""

    level: int
    layout: TableLayout
    exact_tables: NDArray[np.int64]
    noisy: NDArray[np.int64]
    allowed: NDArray[np.bool_]

    @property
    def exact_of_attributes(self) -> list[NDArray[np.int64]]:
        """The tables of each attribute: nodes x codes x classes."""
        return [self.layout.of_attribute(self.exact_tables, a) for a in range(len(self.layout.n_codes))]


class GreedyForestClassifier(CountForestClassifier, CuratorClassifier):
    """Trees whose splits are chosen by what the rows say; subclasses make the queries."""

    height: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None

    @abstractmethod
    def _release_level(self, counts: NDArray[np.int64], level: int, queries: BudgetedQueries) -> NDArray[np.int64]:
        """Release what the nodes of a level hold, given their class counts; one line a node."""

    @abstractmethod
    def _worth_splitting(self, noisy: NDArray[np.int64], queries: BudgetedQueries) -> NDArray[np.bool_]:
        """Return which nodes to split, by what is released of them."""

    @abstractmethod
    def _choose_attributes(
        self, nodes: OpenNodes, queries: BudgetedQueries
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Event]]:
        """Choose an attribute for every node; return the tables that children's counts are read off, and receipts."""

    @abstractmethod
    def _release_last(self, counts: NDArray[np.int64], forest: Forest, queries: BudgetedQueries) -> None:
        """Release what is left to release when the trees are grown."""

    @abstractmethod
    def _prune(self, forest: Forest, queries: BudgetedQueries) -> tuple[Forest, NDArray[np.int64]]:
        """Prune; return the trees that are left, with the released counts that the file holds."""

    @abstractmethod
    def _steps(self, schema: Schema, epsilon: float) -> tuple[Step, ...]:
        """Return what a fit at this epsilon would release."""

    def _fit(self, call: FitCall) -> Self:
        epsilon = self.check_parameters()
        self._warn()
        public_rng = public_generator(self.random_state)
        # Refuses here, before any data are read.
        with call.reservation or self._reserve(epsilon, "fit") as reservation:
            noise = self._noise(public_rng, reservation)
            encoder, rows = self._open(call, reservation)
            rows.require_rereadable()  # every level is a pass
            self._check_query_epsilon(encoder.schema, epsilon)
            encoder, rows, left, bought = self._prepare(encoder, rows, epsilon, noise)
            growth = Growth.roots(encoder.schema.attributes, self._n_trees())
            n_levels = self._n_levels(encoder.schema)
            queries = BudgetedQueries(encoder.schema, left, growth.n_trees, n_levels, self._unit(), noise, bought)
            self._grow(growth, rows, queries)
            forest, noisy_counts = self._prune(growth.forest, queries)
            event = Sequential(tuple(queries.receipts))
            return self._set_released(encoder, forest, noisy_counts, event, reservation, call)

    def _prepare(
        self,
        encoder: Encoder,
        rows: Rows,
        epsilon: float,
        noise: NoiseSource,  # noqa: ARG002 - some methods spend
    ) -> tuple[Encoder, Rows, float, list[Event]]:
        """Return encoder and rows as the method needs them, what is left of epsilon, and receipts."""
        return encoder, rows, epsilon, []

    def _grow(self, growth: Growth, rows: Rows, queries: BudgetedQueries) -> None:
        """Grow level by level; the class counts of children are read off their parents' tables."""
        layout = TableLayout.of(queries.schema)
        # All roots hold all rows, so one table serves them.
        (root_table,) = [tables for _, tables in exact_tables(growth.forest, np.array([0]), rows, layout)]
        counts = np.repeat(layout.classes(root_table), growth.n_trees, axis=0)
        for level in range(queries.n_levels):
            noisy = self._release_level(counts, level, queries)
            worth = self._worth_splitting(noisy, queries) & growth.available.any(axis=1)
            nodes = _within_memory(worth, noisy.sum(axis=1), layout.size)
            parts = _parts(growth, nodes, rows, layout, root_table)
            chosen, counts = self._split(parts, noisy, level, growth, layout, queries)
            growth.split(chosen)
            self._say(f"level {level} grown")
        self._release_last(counts, growth.forest, queries)

    def _split(
        self,
        parts: Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]],
        noisy: NDArray[np.int64],
        level: int,
        growth: Growth,
        layout: TableLayout,
        queries: BudgetedQueries,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the attribute that every node of the level is split on, and the class counts of all children."""
        chosen = np.full(len(noisy), LEAF)
        children = [np.empty((0, layout.n_classes), dtype=np.int64)]
        for nodes, tables in parts:
            opened = OpenNodes(level, layout, tables, noisy[nodes], growth.available[nodes])
            chosen[nodes], tables, receipts = self._choose_attributes(opened, queries)
            children += [
                layout.of_attribute(tables[i : i + 1], int(a))[0] for i, a in enumerate(chosen[nodes]) if a != LEAF
            ]
        # Parts hold different nodes, so different rows: all together cost what one does.
        queries.receipts += receipts
        return chosen, np.concatenate(children)

    def plan(self, n_rows: int | None = None) -> Plan:
        """Say what a fit would do with the budget at about ``n_rows`` rows, by default the schema's; costs nothing.

        The trees are not known yet: they are taken to grow evenly, on attributes of mean size, while it is worth it.
        """
        return self._planned(self._declared_schema(), n_rows, self.check_parameters())

    def epsilon_needed(self, n_rows: int | None = None, reliability: float = 0.95) -> float:
        """Return the least epsilon at which votes are as reliable as asked (see `Plan`); it reads no row."""
        self.check_parameters()
        schema = self._declared_schema()
        least = _LEAST_QUERY_EPSILON * self._n_queries(schema)
        return epsilon_needed(lambda epsilon: self._planned(schema, n_rows, epsilon), reliability, least=least)

    def _planned(self, schema: Schema, n_rows: int | None, epsilon: float) -> Plan:
        self._check_query_epsilon(schema, epsilon)
        n_rows, n_levels, depth = self._checked_rows(n_rows, schema), self._n_levels(schema), 0
        branches, least = float(np.mean([a.n_values for a in schema.attributes])), self._least_support(schema, epsilon)
        while depth < n_levels and n_rows / branches**depth >= max(least, 1.0):
            depth += 1
        leaves = branches**depth
        return Plan(
            self.method, epsilon, self._unit(), n_rows, self._n_trees(), depth, leaves, n_rows / leaves,
            self._steps(schema, epsilon), {"rows worth a split": f"{least:,.3g}"},
        )  # fmt: skip

    @abstractmethod
    def _least_support(self, schema: Schema, epsilon: float) -> float:
        """Return how many rows a node must seem to hold to be split."""

    @abstractmethod
    def _n_queries(self, schema: Schema) -> int:
        """Return how many queries share epsilon."""

    def _query_epsilon(self, schema: Schema, epsilon: float) -> float:
        """Return the epsilon of one query."""
        return equal_share(epsilon, self._n_queries(schema))

    def _check_query_epsilon(self, schema: Schema, epsilon: float) -> None:
        """Refuse what a mechanism would refuse, before any noise is drawn."""
        try:
            self._steps(schema, epsilon)
        except ParameterError as error:
            raise ParameterError(
                f"epsilon={epsilon!r} is too little for {self._n_queries(schema):,} queries; lower height, n_trees "
                "or max_rows, or raise it"
            ) from error

    def _deviation(self, epsilon: float) -> float:
        """Return the standard deviation of the noise in a count that is released at ``epsilon`` a tree."""
        return laplace_step("", epsilon, sensitivity=self._unit().max_rows, n_values=1).noise_std

    def _n_trees(self) -> int:
        return 1

    def _n_levels(self, schema: Schema) -> int:
        """Return the number of tests on the longest path."""
        most = min(len(schema.attributes), MAX_HEIGHT)
        return most if self.height is None else min(int(self.height), most)

    def _adapted(self, schema: Schema) -> Schema:
        return schema.with_bins(DEFAULT_BINS)

    def _warn(self) -> None:
        if not self._is_sound():
            warnings.warn(
                f'{type(self).__name__}(variant="paper") is for reproduction: no promise is proven for it',
                NoGuaranteeWarning, stacklevel=5,  # the caller of fit
            )  # fmt: skip

    def _check_guarantee(self, guarantee: Guarantee, schema: Schema, forest: Forest) -> None:
        if (forest.cut >= 0).any() or not _uses_up(forest, len(schema.attributes)):
            raise ModelFileError("a tree tests what no greedy tree tests; the file was changed")
        super()._check_guarantee(guarantee, schema, forest)

    @classmethod
    def _shape_parameters(cls, forest: Forest) -> dict[str, Any]:  # noqa: ARG003 - pruned trees tell nothing
        return {}


def _uses_up(forest: Forest, n_attributes: int) -> bool:
    """Return whether no path tests an attribute twice."""
    used = np.zeros((forest.n_trees, n_attributes + 1), dtype=bool)  # the last column is LEAF's
    for start, stop in zip(forest.level_start[:-1], forest.level_start[1:], strict=True):
        attribute, nodes = forest.attribute[start:stop], np.arange(stop - start)
        if (used[nodes, attribute] & (attribute != LEAF)).any():
            return False
        used[nodes, attribute] = True
        used = np.repeat(used, forest.n_children[start:stop], axis=0)
    return True


def _within_memory(worth: NDArray[np.bool_], support: NDArray[np.int64], numbers_each: int) -> NDArray[np.int64]:
    """Return the nodes that are worth a split, or where they are too many, those with the most support."""
    nodes = np.flatnonzero(worth)
    most = max(1, _MAX_NUMBERS // numbers_each)
    if len(nodes) <= most:
        return nodes
    return np.sort(nodes[np.argsort(-support[nodes], kind="stable")[:most]])


def _parts(
    growth: Growth, nodes: NDArray[np.int64], rows: Rows, layout: TableLayout, root_table: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield nodes of the last level, by their positions in it, with their tables; none at all as one part."""
    if len(growth.levels) == 1 or not len(nodes):
        yield nodes, np.repeat(root_table, len(nodes), axis=0)
        return
    level = growth.last_level
    for own, tables in exact_tables(growth.forest, level[nodes], rows, layout):
        yield own - level[0], tables
