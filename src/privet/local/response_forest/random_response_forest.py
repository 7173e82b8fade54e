"""A random forest on records that were disturbed before anyone saw them (Szűcs 2013).

What it promises, and why its estimates hold, is in random_response_forest.md.
"""

import math
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from privet.checks import Flag, OneOf, Whole, is_whole
from privet.errors import DataError, ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.guarantee import LocalGuarantee
from privet.local.response_forest.bit_forest import MAJORITY, MEAN, BitForestClassifier, check_channel
from privet.local.response_forest.bit_trees import MAX_DEPTH, Growth
from privet.local.response_forest.response_growth import ResponseGrowth
from privet.rng import public_generator
from privet.schema import Schema
from privet.schema.encoding import Encoder

MAX_TREES = 10_000
# The least rows of a node that is split: these at most, and of small tables these shares of all rows.
_MIN_ROWS, _MIN_ROWS_SHARE = 100, 50
# Below this chance of keeping a record, noise asks for nodes twice as large.
_WEAK_KEEP = 0.7
_FEWEST_ROWS = 2


class RandomResponseForestClassifier(BitForestClassifier):
    """A random forest grown from disturbed records, with class counts estimated through the channel.

    Records are coded in bits. Where whole records came flipped or not, a node counts those that take its path and
    those whose mirror images do. Where attributes were answered one by one by randomized response, a node sums every
    row with the chance-corrected weight of its path. Predict for clear rows: the model goes to the person.

    Parameters
    ----------
    schema : Schema or path, optional
        What is public about the table; may be left out where a channel is given.
    channel : Channel or path, optional
        Through which the rows came: `RecordComplement`'s, or one of randomized responses. None where they are clear: a
        plain random forest on the coded bits.
    n_trees : int
        How many trees, each grown on a bootstrap of the rows.
    max_features : {"sqrt", "log2"}, int, float or None
        How many bits are tried for a split: the root or logarithm of their number, so many, a share, or all.
    min_rows : int, optional
        A node that is thought to hold fewer rows stays a leaf: N_min of the paper. By default 1 of 50 rows and at most
        100, or where records are kept with a chance below .7, 1 of 25 and at most 200.
    min_leaf : int
        Both children must be thought to hold as many rows, and always two standard deviations of their noise.
    max_depth : int, optional
        The largest number of tests on a path, at most 64.
    bootstrap : bool
        Whether trees are grown on bootstraps, or each on all rows.
    vote : {"mean", "majority"}
        What the trees of a forest put together: their leaves' probabilities, or as in the paper their first choices.
    cautious : bool
        Whether a node votes as the one above does, as far as the channel may have made the difference; the paper's
        forest does not.
    random_state : int, Generator, RandomState or None
        Draws the bootstraps and the bits to try.
    n_jobs : int, optional
        Threads that grow trees and predict.
    verbose : int
        Whether to say on stderr what is being done.
    person : str, optional
        The column of the answers that tells people apart, where they kept one; who is in it twice is refused.

    Attributes
    ----------
    forest_ : Forest
        The trees, over the bits of ``coding_``.
    coding_ : Coding
        What every value is in bits.
    estimates_ : NodeEstimates
        Estimated rows of each class in every node, clipped and not.
    node_sd_ : float array
        Per node, the standard deviation of its estimated number of rows about the true one of those who answered: by
        the channel, and with bootstraps by the drawing of the bag.
    noise_only_ : bool array
        Per node, whether its leading class is ahead by no more than two such deviations of the lead.
    oob_error_, oob_auc_ : float
        The out-of-bag estimates of the share of wrong predictions and, for two classes, of the area under the ROC
        curve. NaN without bootstraps, after loading, and for randomized responses, of which no whole record is ever
        seen.
    guarantee_ : LocalGuarantee
        What the channel promises to those who answered.
    """

    method: ClassVar[str] = "random-response-forest"
    constraints: ClassVar = {
        "n_trees": Whole(1, MAX_TREES),
        "min_rows": Whole(1, 2**53, optional=True),
        "min_leaf": Whole(1, 2**53),
        "max_depth": Whole(1, MAX_DEPTH, optional=True),
        "bootstrap": Flag(),
        "cautious": Flag(),
        "vote": OneOf(MEAN, MAJORITY),
    }
    file_parameters: ClassVar[tuple[str, ...]] = (
        "n_trees", "max_features", "min_rows", "min_leaf", "max_depth", "bootstrap", "vote", "cautious",
    )  # fmt: skip

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        channel: Channel | str | Path | None = None,
        n_trees: int = 100,
        max_features: str | int | float | None = "sqrt",
        min_rows: int | None = None,
        min_leaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool = True,
        vote: str = MEAN,
        cautious: bool = True,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        person: str | None = None,
    ) -> None:
        self.schema = schema
        self.channel = channel
        self.n_trees = n_trees
        self.max_features = max_features
        self.min_rows = min_rows
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.vote = vote
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
            Rows as they came through the channel: for whole records one column a bit. Named columns are found by name,
            NumPy columns by position. A file also holds the labels, and is read whole.
        y : array of labels
            Each one of the schema's classes; left out for a file.
        """
        return self._take_over(self._snapshot()._fit(X, y))  # noqa: SLF001 - of its own class

    def _fit(self, X: Any, y: Any) -> Self:
        self.check_parameters()
        public_rng = public_generator(self.random_state)
        X, given = self._read(X, y)
        channel = self._channel(X, given)
        check_channel(channel)
        seen = channel.schema if channel.flips is None else channel.flips.coding.bit_schema
        table, labels = self._table(X, given, seen)
        if not len(labels):
            raise DataError("the table has no rows; nothing can be learnt from it")
        doubts = self._guarantee_of(channel, table, labels).doubts
        coding = channel.flips.coding if channel.flips else Coding.from_answers(table, channel, recut=False)
        if channel.flips is None:
            channel = channel.with_schema(coding.schema)
        codes = Encoder(seen if channel.flips else coding.schema).encode(table)
        if len(codes) != len(labels):
            raise DataError("the table and its labels have different lengths; pass one label per row")
        growth, by_majority = self._growth(channel, coding, len(labels)), self.vote == MAJORITY
        grower = ResponseGrowth(coding, channel, growth, by_majority, bool(self.cautious), self.n_jobs)
        forest, estimates, judged = grower.grow(codes, labels, public_rng)
        self._say(f"{forest.n_trees:,} trees with {forest.n_nodes:,} nodes were grown on {coding.n_bits} bits")
        return self._set_fitted(LocalGuarantee(channel, doubts=doubts), coding, forest, estimates, judged)

    def _growth(self, channel: Channel, coding: Coding, n_rows: int) -> Growth:
        weak = channel.flips is not None and channel.flips.keep < _WEAK_KEEP
        min_rows = self.min_rows
        if min_rows is None:
            share = (1 + weak) * math.ceil(n_rows / _MIN_ROWS_SHARE)
            min_rows = max(_FEWEST_ROWS, min((1 + weak) * _MIN_ROWS, share))
        most = min(MAX_DEPTH, coding.n_bits)
        return Growth(
            int(self.n_trees), n_tried(self.max_features, coding.n_bits), float(min_rows), float(self.min_leaf),
            most if self.max_depth is None else min(int(self.max_depth), most), bool(self.bootstrap),
        )  # fmt: skip

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read."""
        n_tried(self.max_features, 1)
        return super().check_parameters()


def n_tried(max_features: object, n_bits: int) -> int:
    """Return how many bits are tried for a split."""
    if max_features is None:
        return n_bits
    if max_features in ("sqrt", "log2"):
        return max(1, int(math.sqrt(n_bits) if max_features == "sqrt" else math.log2(n_bits)))
    if is_whole(max_features) and max_features >= 1:
        return min(int(max_features), n_bits)
    if isinstance(max_features, (float, np.floating)) and 0 < max_features <= 1:
        return max(1, int(max_features * n_bits))
    raise ParameterError(
        f'max_features={max_features!r} must be "sqrt", "log2", a whole number from 1, a share up to 1.0, or None'
    )
