"""A decision tree from disturbed values (Agrawal and Srikant 2000). What it promises is in reconstruction_tree.md."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from privet.checks import Flag, Number, OneOf, Whole
from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.errors import DataError, ModelFileError, ParameterError
from privet.local.channels.cells import intervals_for
from privet.local.channels.channel import Channel
from privet.local.classifier import LocalClassifier
from privet.local.guarantee import LocalGuarantee
from privet.local.reconstruction.hidden_columns import HiddenColumn, hidden_columns
from privet.local.reconstruction.interval_growth import GrowthLimits, IntervalGrowth, nodes_to_cut
from privet.local.response_forest.bit_kernels import SURE
from privet.local.response_forest.inverse_counts import by_true_class, chances_of
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.rng import public_generator
from privet.schema import Attribute, Numeric, Schema
from privet.schema.encoding import Encoder
from privet.schema.table import columns_of
from privet.tree.counted import CountedForest, gini_importances
from privet.tree.forest import LEAF, Forest
from privet.tree.pruning import cut_back
from privet.tree.rules import RulesMixin
from privet.tree.vote import SummedCounts, Vote, class_shares, nearest_nonempty, node_shares

MAX_HEIGHT = 64


BY_CLASS, LOCAL, GLOBAL, NONE = "by_class", "local", "global", "none"
# Of numbers that are taken as they are.
_CLEAR_BINS = 1_000
# At 100,000 rows and above the first; below, these shares of the rows, but no fewer than the last.
_MIN_ROWS, _MIN_ROWS_SHARE, _MIN_ROWS_LEAST = 500, 200, 5
_MIN_RECONSTRUCTED, _MIN_RECONSTRUCTED_SHARE, _MIN_RECONSTRUCTED_LEAST = 2_000, 50, 200
# Of the rows, each held out once, to see what a tree is worth.
_PARTS = 4

Floats = NDArray[np.float64]


class ReconstructionTreeClassifier(RulesMixin, LocalClassifier):
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
        Reconstruct once for every class, again for every class at every node, once for all rows, or not at all (the
        papers' "Randomized").
    min_rows : int, optional
        A node of fewer rows stays a leaf. By default 1 of 200 rows, at least 5 and at most 500.
    purity : float
        A node with at least this share of one class stays a leaf.
    min_gain : float
        A split must lower the node's Gini index by more than this.
    min_reconstructed : int, optional
        With ``strategy="local"``, the least number of rows in a node to reconstruct again. By default 1 of 50 rows, at
        least 200 and at most 2,000.
    height : int, optional
        The largest number of tests on a path, at most 64.
    cautious : bool
        Whether to keep the class balance alone unless trees that are grown on three quarters of the rows are right
        about the fourth more often, by its own reconstruction and beyond chance. The papers' tree is always kept.
    random_state : int, Generator, RandomState or None
        Decides the order of equal answers, and which rows of a randomized response go to which value.
    n_jobs : int, optional
        Threads that predict.
    verbose : int
        Whether to say on stderr what is being done.
    person : str, optional
        The column of the answers that tells people apart, where they kept one; who is in it twice is refused.

    Attributes
    ----------
    forest_ : Forest
        The tree.
    nodes_ : CountedForest
        The tree with the class counts of its nodes, as estimated.
    guarantee_ : LocalGuarantee
        What the channel promises to those who answered.
    """

    nodes_: CountedForest
    _vote: Vote
    method: ClassVar[str] = "reconstruction-tree"
    _has_intervals: ClassVar[bool] = False
    constraints: ClassVar = {
        "strategy": OneOf(BY_CLASS, LOCAL, GLOBAL, NONE),
        "min_rows": Whole(1, 2**53, optional=True),
        "min_reconstructed": Whole(1, 2**53, optional=True),
        "height": Whole(1, MAX_HEIGHT, optional=True),
        "purity": Number(0, 1),
        "min_gain": Number(0, 1),
        "cautious": Flag(),
    }
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
        person: str | None = None,
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
        self.person = person

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
        doubts = self._guarantee_of(channel, table, labels).doubts
        channel = self._with_cells(channel, len(labels))
        rows = MemoryRows(Encoder(channel.schema).encode(table), labels.astype(np.uint16))
        columns = columns_of(table, channel.schema.names, label=channel.schema.target)
        hidden = [] if self.strategy == NONE else hidden_columns(channel, columns, rows.codes, rng)
        answers = _Answers(rows, hidden, channel)
        with threadpool_limits(1, "blas"):  # the matrices are small: threads cost more than they bring
            forest, counts = self._grow(answers)
            self._say(f"reconstructed: {', '.join(channel.schema.names[c.position] for c in hidden) or 'nothing'}")
            if self.cautious and answers.are_disturbed and not self._is_confirmed(answers, rng):
                forest, counts = cut_back(forest, np.ones(forest.n_nodes, dtype=bool), channel.schema)[0], counts[:1]
                self._say("the tree is no better than the class balance by its own estimate, which is kept instead")
        self._say(f"a tree of {forest.n_nodes:,} nodes was kept")
        return self._set_fitted(LocalGuarantee(channel, doubts=doubts), forest, counts)

    def _grow(self, answers: "_Answers") -> tuple[Forest, NDArray[np.int64]]:
        """Return a tree, pruned, and each node's rows by true class, as estimated."""
        self._place(answers)
        schema, rows = answers.channel.schema, answers.rows
        limits = self._limits(len(rows.labels), chances_of(answers.channel.label))
        forest = IntervalGrowth.root(schema, rows, answers.hidden, limits).grow()
        counts = forest.sums_of_leaves(np.rint(np.maximum(answers.by_class(forest), 0.0)).astype(np.int64))
        pruned, nodes = cut_back(forest, nodes_to_cut(forest, counts), schema)
        return pruned, counts[nodes]

    def _is_confirmed(self, answers: "_Answers", rng: np.random.Generator) -> bool:
        """Return whether trees of some rows are right about others more often than the class balance, beyond chance.

        The other rows are reconstructed by themselves, so that the noise which grew a tree has no part in it.
        """
        part = rng.permutation(len(answers.rows.labels)) % _PARTS
        gains: list[float] = []
        for held_out in range(_PARTS):
            gains.append(self._gain(answers.only(part != held_out), answers.only(part == held_out)))
            if gains[-1] <= 0:
                return False
        return bool(np.mean(gains) > SURE * np.std(gains, ddof=1) / math.sqrt(_PARTS))

    def _gain(self, answers: "_Answers", others: "_Answers") -> float:
        """Return how many more of the ``others`` a tree of ``answers`` predicts rightly than its class balance does."""
        forest, counts = self._grow(answers)
        self._place(others)
        choice = counts[forest.leaves].argmax(axis=1)
        right = others.by_class(forest)
        return float(right[np.arange(len(right)), choice].sum() - right[:, counts[0].argmax()].sum())

    def _with_cells(self, channel: Channel, n_rows: int) -> Channel:
        """Return the channel with the cells that the tree cuts at, where the schema leaves them open."""
        cells: list[Attribute] = []
        for attribute, column in zip(channel.schema.attributes, channel.columns, strict=True):
            if isinstance(attribute, Numeric) and attribute.is_open and not column.has_own_cells:
                taken_as_is = column.is_clear or self.strategy == NONE
                cells.append(replace(attribute, bins=_CLEAR_BINS if taken_as_is else intervals_for(n_rows)))
            else:
                cells.append(attribute)
        return channel.with_schema(channel.schema.with_attributes(cells))

    def _place(self, answers: "_Answers") -> None:
        """Put all rows into the cells of what is reconstructed of all of them, or of each class."""
        labels = answers.rows.labels.astype(np.int64)
        group = np.zeros_like(labels) if self.strategy == GLOBAL else labels
        for column in answers.hidden:
            column.place(group, int(group.max(initial=0)) + 1, answers.rows.codes)

    def _limits(self, n_rows: int, label: tuple[float, float] = (1.0, 0.0)) -> GrowthLimits:
        min_rows = self.min_rows
        if min_rows is None:
            min_rows = min(_MIN_ROWS, max(_MIN_ROWS_LEAST, math.ceil(n_rows / _MIN_ROWS_SHARE)))
        least_rows = self.min_reconstructed
        if least_rows is None:
            share = math.ceil(n_rows / _MIN_RECONSTRUCTED_SHARE)
            least_rows = min(_MIN_RECONSTRUCTED, max(_MIN_RECONSTRUCTED_LEAST, share))
        # A share of answered labels is an affine function of that of true ones, so both rank splits alike.
        right, wrong = label
        return GrowthLimits(
            int(min_rows), wrong + (right - wrong) * float(self.purity),
            MAX_HEIGHT if self.height is None else int(self.height), (right - wrong) ** 2 * float(self.min_gain),
            int(least_rows) if self.strategy == LOCAL else None,
        )  # fmt: skip

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, by the estimated counts."""
        check_is_fitted(self)
        return gini_importances(self.nodes_, n_attributes=self.n_features_in_)

    def _set_fitted(self, guarantee: LocalGuarantee, forest: Forest, counts: NDArray[np.int64]) -> Self:
        """Set all that was fitted; ``counts`` has one line a node."""
        nodes = CountedForest(forest, counts, np.ones(forest.n_nodes, dtype=np.int64), 0.0)
        vote = _vote_of(nodes, guarantee.channel.schema)
        return self._set_local(guarantee, forest_=forest, nodes_=nodes, _vote=vote)

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self.forest_),
            "released": {"counts": counts_to_json(self.nodes_.counts[self.forest_.leaves])},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        forest = structure_from_json(document["structure"], schema.attributes)
        _check_tree(forest, schema)
        counts = _read_counts(document["released"], forest, n_classes=len(schema.classes))
        guarantee = cls._guarantee_from(document, schema)
        if guarantee.channel.record is not None:
            raise ModelFileError("no tree of this method is grown through such a channel; the file was changed")
        model = cls._unfitted(document["parameters"], guarantee.channel)
        return model._set_fitted(guarantee, forest, forest.sums_of_leaves(counts))  # noqa: SLF001 - of its own class


def _check_fields(channel: Channel) -> None:
    if channel.record is not None:
        raise ParameterError(
            f"the channel's answers are {channel.record.answers_in_words}, which have no columns to reconstruct; use "
            f"the method {channel.record.fitted_by[0]!r}"
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Rows as they were answered, with the columns whose cells have to be found."""

    rows: MemoryRows
    hidden: list[HiddenColumn]
    channel: Channel

    @property
    def are_disturbed(self) -> bool:
        return bool(self.hidden) or self.channel.label is not None

    def only(self, chosen: NDArray[np.bool_]) -> "_Answers":
        """Return some of the rows."""
        rows = MemoryRows(self.rows.codes[chosen], self.rows.labels[chosen])
        return _Answers(rows, [column.only(chosen) for column in self.hidden], self.channel)

    def by_class(self, forest: Forest) -> Floats:
        """Return unbiased estimates of each leaf's rows by true class, from counts by answered label."""
        counts = exact_leaf_counts(forest, self.rows, n_classes=len(self.channel.schema.classes))
        return by_true_class(counts, chances_of(self.channel.label))


def _vote_of(nodes: CountedForest, schema: Schema) -> Vote:
    """Return how leaves decide; one without rows, such as that of a category nobody has, as the nearest node above."""
    stand_in = nearest_nonempty(nodes.forest, node_shares(nodes.counts))
    otherwise = class_shares(nodes.counts[:1])
    return SummedCounts.of_nodes(nodes.forest, nodes.counts[stand_in], otherwise, schema.attributes)


def _check_tree(forest: Forest, schema: Schema) -> None:
    is_number = np.array([*(isinstance(a, Numeric) for a in schema.attributes), False])  # the last entry is LEAF's
    if forest.n_trees != 1 or forest.depth > MAX_HEIGHT:
        raise ModelFileError(f"the model is one tree of at most {MAX_HEIGHT} tests a path; the file is damaged")
    if np.any((forest.cut == LEAF) & is_number[forest.attribute]):
        raise ModelFileError("a tree tests what no tree of this method tests; the file was changed")


def _read_counts(released: object, forest: Forest, *, n_classes: int) -> NDArray[np.int64]:
    if not isinstance(released, Mapping) or set(released) != {"counts"}:
        raise ModelFileError("this method keeps counts and nothing else; the file is damaged")
    counts = counts_from_json(released["counts"], n_leaves=len(forest.leaves), n_classes=n_classes)
    if counts.min(initial=0) < 0 or float(counts.sum(dtype=np.float64)) >= 2.0**53:
        raise ModelFileError("the counts are not those of rows; the file is damaged")
    return counts
