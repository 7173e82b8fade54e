"""A decision tree from disturbed values (Agrawal and Srikant 2000). What it promises is in reconstruction_tree.md."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from privet.checks import check_whole
from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.errors import DataError, ParameterError
from privet.local.channel import Channel
from privet.local.columns import AddedNoise, Clear
from privet.local.count_tree import MAX_HEIGHT, CountTreeClassifier
from privet.local.interval_codes import HiddenCategory, HiddenColumn, HiddenNumber, Ints
from privet.local.interval_growth import GrowthLimits, IntervalGrowth, leaves_of
from privet.local.inverse_counts import by_true_class, chances_of
from privet.local.mdl import worth_their_bits
from privet.local.number_checks import check_flag, is_number
from privet.local.promise import LocalGuarantee
from privet.local.random_answer import RandomAnswer
from privet.local.reconstruct import intervals_for
from privet.local.shrinkage import balance_of, shrunk_shares
from privet.rng import public_generator
from privet.schema import Attribute, Numeric, Schema
from privet.schema.encoding import Encoder, numbers_of
from privet.schema.table import columns_of
from privet.tree.forest import Forest
from privet.tree.pruning import cut_back
from privet.tree.threads import n_threads

BY_CLASS, LOCAL, GLOBAL, NONE = "by_class", "local", "global", "none"
# Of numbers that are taken as they are.
_CLEAR_BINS = 1_000
# At 100,000 rows and above the first; below, these shares of the rows, but no fewer than the last.
_MIN_ROWS, _MIN_ROWS_SHARE, _MIN_ROWS_LEAST = 500, 200, 5
_MIN_RECONSTRUCTED, _MIN_RECONSTRUCTED_SHARE, _MIN_RECONSTRUCTED_LEAST = 2_000, 50, 200
# As many estimates of the same numbers as tell how far noise takes them.
_PARTS = 10

Floats = NDArray[np.float64]


class ReconstructionTreeClassifier(CountTreeClassifier):
    """A decision tree grown from values that were disturbed before anyone saw them.

    The distribution of every disturbed attribute is reconstructed, rows are put into its cells by the order of their
    answers, and a tree is grown on the cells: binary at their borders for numbers, a child a value for categories, by
    the Gini index, and pruned by minimum description length. Predict for clear rows: the model goes to the person.

    Parameters
    ----------
    schema : Schema or path, optional
        What is public about the table; may be left out where a channel is given.
    channel : Channel or path, optional
        Through which the rows came. None where they are clear: the papers' "Original".
    strategy : {"by_class", "local", "global", "none"}
        Reconstruct once for every class, anew for every class at every node, once for all rows, or not at all (the
        papers' "Randomized").
    min_rows : int, optional
        A node of fewer rows stays a leaf. By default 1 of 200 rows, at least 5 and at most 500.
    purity : float
        A node with at least this share of one class stays a leaf.
    min_gain : float
        A split must lower the node's Gini index by more than this.
    min_reconstructed : int, optional
        With ``strategy="local"``, the least number of rows in a node to reconstruct anew. By default 1 of 50 rows, at
        least 200 and at most 2,000.
    height : int, optional
        The largest number of tests on a path, at most 64.
    cautious : bool
        Whether a node decides as the one above does, as far as noise may have made the difference; the papers' tree
        does not. Parts of the rows that are reconstructed each by itself tell how large the noise is.
    random_state : int, Generator, RandomState or None
        Decides the order of equal answers, and which rows of a randomized response go to which value.
    n_jobs : int, optional
        Threads that predict.
    verbose : int
        Whether to say on stderr what is being done.

    Attributes
    ----------
    forest_ : Forest
        The tree.
    nodes_ : CountedForest
        The tree with the class counts of its nodes, as estimated.
    guarantee_ : LocalGuarantee
        What the channel promises to those who answered.
    """

    method: ClassVar[str] = "reconstruction-tree"
    file_parameters: ClassVar[tuple[str, ...]] = (
        "strategy", "min_rows", "purity", "min_gain", "min_reconstructed", "height",
    )  # fmt: skip

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        channel: Channel | str | Path | None = None,
        strategy: str = BY_CLASS,
        min_rows: int | None = None,
        purity: float = 0.99,
        min_gain: float = 0.0,
        min_reconstructed: int | None = None,
        height: int | None = None,
        cautious: bool = True,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.schema = schema
        self.channel = channel
        self.strategy = strategy
        self.min_rows = min_rows
        self.purity = purity
        self.min_gain = min_gain
        self.min_reconstructed = min_reconstructed
        self.height = height
        self.cautious = cautious
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the answers in ``X`` and their labels ``y``, or to a Parquet or CSV file.

        Parameters
        ----------
        X : pandas, polars or Arrow table, NumPy array, or path
            Rows as they came through the channel. Named columns are found by name, NumPy columns by position. A file
            also holds the labels, and is read whole.
        y : array of labels
            Each one of the schema's classes; left out for a file.
        """
        return self._take_over(self._snapshot()._fit(X, y))  # noqa: SLF001 - of its own class

    def _fit(self, X: Any, y: Any) -> Self:
        self.check_parameters()
        rng = public_generator(self.random_state)
        X, given = self._read(X, y)
        channel = self._channel(X, given)
        _check_fields(channel)
        table, labels = self._table(X, given, channel.schema)
        if not len(labels):
            raise DataError("the table has no rows; nothing can be learnt from it")
        channel = self._with_cells(channel, len(labels))
        rows = MemoryRows(Encoder(channel.schema).encode(table), labels.astype(np.uint16))
        hidden = [] if self.strategy == NONE else _hidden_columns(channel, table, rows.codes, rng)
        together = np.zeros(len(labels), dtype=np.int64)
        with threadpool_limits(1, "blas"):  # the matrices are small: threads cost more than they bring
            self._place(hidden, rows, together, 1, rows.codes)
            self._say(f"reconstructed: {', '.join(channel.schema.names[c.position] for c in hidden) or 'nothing'}")
            limits = self._limits(len(labels), chances_of(channel.label))
            forest = IntervalGrowth.root(channel.schema, rows, hidden, limits).grow()
            counts = self._class_counts(forest, rows, hidden, channel, rng)
        pruned, nodes = cut_back(forest, worth_their_bits(forest, counts), channel.schema)
        self._say(f"a tree of {forest.n_nodes:,} nodes was grown, and {pruned.n_nodes:,} of them kept")
        return self._set_fitted(LocalGuarantee(channel), pruned, counts[nodes])

    def _class_counts(
        self, forest: Forest, rows: MemoryRows, hidden: list[HiddenColumn], channel: Channel, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return each node's rows by true class, as estimated: through the label's channel, and shrunk."""
        n_classes, label = len(channel.schema.classes), chances_of(channel.label)
        exact = exact_leaf_counts(forest, rows, n_classes=n_classes)
        if not hidden and channel.label is None:
            return forest.sums_of_leaves(exact)
        estimates = by_true_class(forest.sums_of_leaves(exact), label)
        if not self.cautious:
            return forest.sums_of_leaves(_whole(estimates[forest.leaves]))
        part = rng.permutation(len(rows.labels)) % _PARTS
        codes = rows.codes.copy()
        self._place(hidden, rows, part, _PARTS, codes)
        in_parts = by_true_class(_counts_in_parts(forest, codes, rows.labels, part, n_classes), label)

        def variance(nodes: slice, above: Floats) -> Floats:
            counts = in_parts[nodes]
            away = counts - above[:, None, :] * counts.sum(axis=2, keepdims=True)
            spread: Floats = _PARTS * away.var(axis=1, ddof=1)
            return spread

        shares = shrunk_shares(forest, estimates, balance_of(estimates[0]), variance)
        size = exact.sum(axis=1, keepdims=True)
        return forest.sums_of_leaves(_whole(size * shares[forest.leaves]))

    def _with_cells(self, channel: Channel, n_rows: int) -> Channel:
        """Return the channel with the cells that the tree cuts at, where the schema leaves them open."""
        cells: list[Attribute] = []
        for attribute, column in zip(channel.schema.attributes, channel.columns, strict=True):
            if isinstance(attribute, Numeric) and attribute.is_open and isinstance(column, (AddedNoise, Clear)):
                taken_as_is = isinstance(column, Clear) or self.strategy == NONE
                cells.append(replace(attribute, bins=_CLEAR_BINS if taken_as_is else intervals_for(n_rows)))
            else:
                cells.append(attribute)
        return channel.with_schema(channel.schema.with_attributes(cells))

    def _place(
        self, hidden: list[HiddenColumn], rows: MemoryRows, part: Ints, n_parts: int, codes: NDArray[Any]
    ) -> None:
        """Put the rows of each part into the cells of what is reconstructed of them, or of each class of them."""
        if self.strategy == GLOBAL:
            group, n_groups = part, n_parts
        else:
            n_classes = int(rows.labels.max()) + 1
            group, n_groups = part * n_classes + rows.labels, n_parts * n_classes
        for column in hidden:
            column.place(group, n_groups, codes)

    def _limits(self, n_rows: int, label: tuple[float, float]) -> GrowthLimits:
        min_rows = self.min_rows
        if min_rows is None:
            min_rows = min(_MIN_ROWS, max(_MIN_ROWS_LEAST, math.ceil(n_rows / _MIN_ROWS_SHARE)))
        anew = self.min_reconstructed
        if anew is None:
            share = math.ceil(n_rows / _MIN_RECONSTRUCTED_SHARE)
            anew = min(_MIN_RECONSTRUCTED, max(_MIN_RECONSTRUCTED_LEAST, share))
        # A share of answered labels is an affine function of that of true ones, so both rank splits alike.
        right, wrong = label
        return GrowthLimits(
            int(min_rows), wrong + (right - wrong) * float(self.purity),
            MAX_HEIGHT if self.height is None else int(self.height), (right - wrong) ** 2 * float(self.min_gain),
            int(anew) if self.strategy == LOCAL else None,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Refuse a parameter that is out of its range, before any data are read."""
        n_threads(self.n_jobs)
        if self.strategy not in (BY_CLASS, LOCAL, GLOBAL, NONE):
            raise ParameterError(
                f'strategy={self.strategy!r} is not known; choose "by_class", "local", "global" or "none"'
            )
        for name in ("min_rows", "min_reconstructed"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1, most=2**53)
        if self.height is not None:
            check_whole("height", self.height, least=1, most=MAX_HEIGHT)
        _check_share("purity", self.purity)
        _check_share("min_gain", self.min_gain)
        check_flag("cautious", self.cautious)


def _check_fields(channel: Channel) -> None:
    if channel.record is not None:
        raise ParameterError(
            "the channel flips whole records, which have no distributions to reconstruct; "
            "use RandomResponseForestClassifier"
        )


def _counts_in_parts(forest: Forest, codes: NDArray[Any], labels: NDArray[Any], part: Ints, n_classes: int) -> Ints:
    """Return how many rows of each part and label every node has: nodes x parts x classes."""
    place = leaves_of(forest, codes).astype(np.int64) * _PARTS + part
    counts = np.bincount(place * n_classes + labels, minlength=forest.n_nodes * _PARTS * n_classes)
    in_leaves = counts.reshape(forest.n_nodes, -1)[forest.leaves]
    return forest.sums_of_leaves(in_leaves).reshape(forest.n_nodes, _PARTS, n_classes)


def _whole(estimates: Floats) -> NDArray[np.int64]:
    return np.rint(np.maximum(estimates, 0.0)).astype(np.int64)


def _hidden_columns(channel: Channel, table: Any, codes: NDArray[Any], rng: np.random.Generator) -> list[HiddenColumn]:
    """Return what is to be reconstructed: numbers under noise, and randomized responses."""
    columns = columns_of(table, channel.schema.names, label=channel.schema.target)
    shuffled = rng.permutation(len(codes))
    hidden: list[HiddenColumn] = []
    for j, (column, attribute) in enumerate(zip(channel.columns, channel.schema.attributes, strict=True)):
        if isinstance(column, AddedNoise):
            numbers = np.asarray(numbers_of(columns[j], attribute.name), dtype=np.float64)
            hidden.append(HiddenNumber.of(j, numbers, column, shuffled))
        elif isinstance(column, RandomAnswer):
            hidden.append(HiddenCategory.of(j, codes[:, j], column, shuffled))
    return hidden


def _check_share(name: str, value: object) -> None:
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(f"{name}={value!r} must be a number from 0 to 1")
