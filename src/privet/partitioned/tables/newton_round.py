"""The second round: gradient and Hessian of the loss, for how much each tree counts. It follows from the first.

A row's part is in whole numbers and depends on that row and on released numbers alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import unwrapped
from privet.central.weights.policy import MARGIN
from privet.counting.engines.parts import Block
from privet.counting.rows import Rows
from privet.errors import ModelFileError
from privet.model_file import counts_from_json, counts_to_json
from privet.partitioned.secure_sum.forest import is_possible
from privet.partitioned.structure import Counts
from privet.partitioned.tables.attribute_weights import START, AttributeWeights, offset_range
from privet.partitioned.tables.newton_kernel import MOST_RANGE, STEPS, add_newton_sums
from privet.partitioned.tables.table_round import TableRound
from privet.privacy import events
from privet.privacy.events import DiscreteLaplace, Event, NoiseShares, NoNoise, Parallel
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.rational import scale_at_least
from privet.schema import Schema
from privet.signing.keys import checked_name
from privet.signing.roster import MAX_PARTIES

NEWTON_SUMS = "Newton sums of attributes"


@dataclass(frozen=True, eq=False)
class OpenedSum:
    """A sum that was opened: of which structure and parties, its noisy numbers, and the receipt.

    The receipt is that of a secure sum, or those of the parties' own releases.
    """

    structure: Counts
    parties: tuple[str, ...]
    noisy: NDArray[np.int64]
    event: Event

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in each number."""
        return float(np.sqrt(sum(standard_deviation(part) ** 2 for part in self._receipts)))

    @property
    def _receipts(self) -> tuple[Event, ...]:
        return self.event.parts if isinstance(self.event, Parallel) else (self.event,)

    @property
    def has_receipts(self) -> bool:
        """Whether parties who follow the structure would have written this receipt."""
        structure, released = self.structure, [unwrapped(own) for own in self._receipts]
        if any(isinstance(own, NoNoise) for own in released):
            return np.isinf(structure.epsilon) and all(own == NoNoise(structure.what) for own in released)
        scale = scale_at_least(structure.sensitivity, structure.epsilon)
        if isinstance(released[0], NoiseShares):
            own = released[0]
            wanted: Event = replace(
                own, what=structure.what, epsilon=structure.epsilon, sensitivity=structure.sensitivity, scale=scale,
                parties=len(self.parties),
            )  # fmt: skip
            return released == [wanted] and is_possible(own)
        wanted = DiscreteLaplace(structure.what, structure.epsilon, structure.sensitivity, scale)
        return len(released) == len(self.parties) and all(own == wanted for own in released)

    def to_json(self) -> dict[str, Any]:
        """Return the sum as plain JSON values, without its structure."""
        return {
            "parties": list(self.parties),
            "counts": counts_to_json(self.noisy),
            "event": events.to_json(self.event),
        }

    @classmethod
    def from_json(cls, document: object, structure: Counts) -> Self:
        """Read a sum of ``structure`` back, checked in every part."""
        if not isinstance(document, Mapping) or set(document) != {"parties", "counts", "event"}:
            raise ModelFileError("an opened sum lacks a part or has one too many; the file is damaged")
        parties, (n_lines, n_columns) = document["parties"], structure.shape
        if not isinstance(parties, list) or not 1 <= len(parties) <= MAX_PARTIES:
            raise ModelFileError("an opened sum lists no parties; the file is damaged")
        names = tuple(checked_name(name) for name in parties)
        noisy = counts_from_json(document["counts"], n_leaves=n_lines, n_classes=n_columns)
        opened = cls(structure, names, noisy, events.from_json(document["event"]))
        if len(set(names)) != len(names) or not opened.has_receipts:
            raise ModelFileError("the receipt of an opened sum is not that of its structure; the file was changed")
        return opened


@dataclass(frozen=True, eq=False)
class NewtonRound(Counts):
    """One Newton step from opened class tables; every party sums the parts of its own rows.

    Attributes
    ----------
    tables : OpenedSum
        What the first round has opened. The hash of this round commits to it.
    schema, epsilon, unit, round, party
        As `Round` has them; all follow from the first round.
    """

    tables: OpenedSum = field(kw_only=True)
    method: ClassVar[str] = "table-forest-newton"
    own_keys: ClassVar[frozenset[str]] = frozenset({"tables"})
    what: ClassVar[str] = NEWTON_SUMS

    @classmethod
    def after(cls, tables: OpenedSum) -> Self:
        """Return the round that follows from opened ``tables``."""
        first = tables.structure
        assert isinstance(first, TableRound)  # noqa: S101 - no other sum has tables
        return cls(first.schema, first.newton_epsilon, first.unit, first.round, tables=tables)

    @property
    def follows(self) -> str:
        """The hash of the first round's structure."""
        return self.first.hash

    @property
    def first(self) -> TableRound:
        """The first round."""
        assert isinstance(self.tables.structure, TableRound)  # noqa: S101 - checked when it was made
        return self.tables.structure

    @cached_property
    def weights(self) -> AttributeWeights:
        """The weights of the tables."""
        return AttributeWeights(self.first.trees, self.tables.noisy, self.tables.deviation)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the sums: a gradient and the upper triangle of a Hessian, in one column."""
        n = self.first.trees.n_trees + self.n_classes - 1
        return n + n * (n + 1) // 2, 1

    @property
    def sensitivity(self) -> int:
        """How far one more unit moves all sums together: each row's gradient and Hessian as far as `STEPS`."""
        return 2 * STEPS * self.unit.max_rows

    def _exact_sum(self, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
        return rows.exact_sum(NewtonCount(self.weights), n_jobs).reshape(self.shape)

    def _own_to_json(self) -> dict[str, Any]:
        return {"tables": {"structure": self.first.to_json(), **self.tables.to_json()}}

    @classmethod
    def _own_from_json(cls, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:  # noqa: ARG003
        data = document["tables"]
        if not isinstance(data, Mapping) or not isinstance(data.get("structure"), Mapping):
            raise ModelFileError("it does not say which tables it follows from")
        first = TableRound.from_json(data["structure"], "the structure of the first round")
        return {"tables": OpenedSum.from_json({k: own for k, own in data.items() if k != "structure"}, first)}

    def check(self) -> None:
        """Refuse a round that does not follow from its tables."""
        first = self.first
        follows = (first.newton_epsilon, first.unit, first.round, first.schema.to_json())
        if (self.epsilon, self.unit, self.round, self.schema.to_json()) != follows or self.party is not None:
            raise ModelFileError("it does not follow from its tables")
        super().check()


@dataclass(frozen=True)
class NewtonCount:
    """Sums gradients and Hessians. It holds what follows from the opened tables and nothing else."""

    weights: AttributeWeights

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the gradient, and then the upper triangle of the Hessian."""
        trees, weights = self.weights.trees, self.weights
        n = trees.n_trees + weights.n_classes - 1
        sums = np.zeros(n + n * (n + 1) // 2, dtype=np.int64)
        for codes, labels in blocks:
            add_newton_sums(
                trees.cells(codes).reshape(-1), trees.cell_starts, labels, weights.whole_scores, weights.offsets,
                START, MARGIN, MOST_RANGE, offset_range(weights.n_classes), sums,
            )  # fmt: skip
        return sums
