"""A forest of parties who hold different rows, from sums of class tables and of Newton steps. See table_forest.md."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import unwrapped
from privet.central.weight_forest import WeightForestClassifier
from privet.central.weights.combining import Scales
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.policy import MARGIN
from privet.errors import ModelFileError, PrivetError
from privet.partitioned.horizontal import PartyModel, event_of_parties, one_party_each, sum_of
from privet.partitioned.release import Release, check_releases
from privet.partitioned.secure_sum.forest import honesty, opened_counts
from privet.partitioned.secure_sum.terms import Terms
from privet.partitioned.tables.attribute_weights import AttributeWeights, NewtonStep
from privet.partitioned.tables.newton_round import NewtonRound, OpenedSum
from privet.partitioned.tables.table_round import TableRound
from privet.privacy.events import Event, NoiseShares, Sequential, releases
from privet.privacy.guarantee import Guarantee
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.signing.roster import Roster

_SUMS = {"tables", "newton"}


class TableForest(PartyModel, WeightForestClassifier):
    """Trees with weights from class tables that parties have summed, and one Newton step for how much each tree counts.

    Make one with `two_sums.run`, or with `open` or `combine` round by round, or `load` its file.

    Attributes
    ----------
    parties : list of str
        The parties whose rows are included.
    tables_ : OpenedSum
        The class tables.
    newton_ : OpenedSum or None
        The Newton sums; None before the second round. The model then says what tables say.
    guarantee_, leaf_weights_, classes_, schema_
        As in `PrivateForestClassifier`.
    """

    method = "table-forest"
    tables_: OpenedSum
    newton_: OpenedSum | None
    _attribute_weights: AttributeWeights

    @classmethod
    def of_sum(cls, opened: OpenedSum) -> Self:
        """Return the model of an opened sum of the first round, or of the second with the first that it follows."""
        structure = opened.structure
        if isinstance(structure, NewtonRound):
            return cls._of_sums(structure.tables, opened)
        assert isinstance(structure, TableRound)  # noqa: S101 - no other round has tables
        return cls._of_sums(opened, None)

    @classmethod
    def open(cls, terms: Terms, attempt: int, *messages: Mapping[str, bytes]) -> Self:
        """Return the model of a secure sum of either round; ``messages`` are as `opened_counts` takes them."""
        counted, noisy = opened_counts(terms, attempt, *messages)
        return cls.of_sum(OpenedSum(terms.structure, tuple(counted), noisy, terms.receipt(len(counted))))

    @classmethod
    def combine(cls, structure: TableRound | NewtonRound, roster: Roster, sent: Iterable[Release]) -> Self:
        """Return the model of those parties of ``roster`` that have released ``structure``, of either round."""
        counts_of = check_releases([structure], roster, sent)
        event = event_of_parties(structure, len(counts_of))
        return cls.of_sum(OpenedSum(structure, tuple(counts_of), sum_of(list(counts_of.values())), event))

    @property
    def next_round(self) -> NewtonRound:
        """The second round, which follows from the tables; identical for all who have opened them."""
        return NewtonRound.after(self.tables_)

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a class count of the tables, in rows, after each party is added."""
        n = 1 if isinstance(self.tables_.event, NoiseShares) else len(self.tables_.parties)
        return self.noise_std_of_counts_ * np.sqrt(np.arange(1, n + 1) / n)

    @property
    def noise_std_of_counts_(self) -> float:
        """The standard deviation of the noise in a class count of the tables, in rows."""
        return float(np.sqrt(2) * self._attribute_weights.scale)

    @classmethod
    def _of_sums(cls, tables: OpenedSum, newton: OpenedSum | None) -> Self:
        first = tables.structure
        assert isinstance(first, TableRound)  # noqa: S101 - `of_sum` and files see to it
        model = cls(
            first.schema, parties=_names(tables, newton), unit=first.unit.name, max_rows=first.unit.max_rows,
            epsilon=first.total_epsilon if newton else first.epsilon,
        )  # fmt: skip
        guarantee = model._guarantee(first.schema, _event(tables, newton))
        model._set_sums(Encoder(first.schema, first.unit.column), tables, newton, guarantee)
        return model

    def _set_sums(self, encoder: Encoder, tables: OpenedSum, newton: OpenedSum | None, guarantee: Guarantee) -> None:
        """Compute the weights from what was released."""
        first = tables.structure
        assert isinstance(first, TableRound)  # noqa: S101 - `of_sum` and files see to it
        weights = AttributeWeights(first.trees, tables.noisy, tables.deviation)
        step = None if newton is None else NewtonStep.of(weights, newton.noisy.ravel(), newton.deviation)
        offsets = weights.offsets if step is None else step.offsets
        released = weights.released(first.rows, step)
        trees, with_missing = released.with_missing_leaves()
        unit = np.float64(2.0**released.exponent)
        self._set_all(
            encoder, _fitted_with=self._plain_parameters(), releases_=(released,), released_=released,
            guarantee_=guarantee, _scales=Scales(weights.balance_scale, weights.cell_scale),
            tables_=tables, newton_=newton, _attribute_weights=weights,
            leaf_weights_=LeafWeights(released.trees, offsets, released.weights * unit, MARGIN),
            _weights_with_missing=LeafWeights(trees, offsets, with_missing * unit, MARGIN),
        )  # fmt: skip

    def _assumptions(self, event: Event) -> list[str]:
        shared = [unwrapped(own) for own in releases(event)]
        honest = dict.fromkeys(honesty(own) for own in shared if isinstance(own, NoiseShares))
        return [*([one_party_each(self._unit())] if len(self.party_names) > 1 else []), *honest]

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds: what was released. Weights are computed from it."""
        structure = {name: own for name, own in self.tables_.structure.to_json().items() if name != "schema"}
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": structure,
            "released": {
                "tables": self.tables_.to_json(),
                "newton": None if self.newton_ is None else self.newton_.to_json(),
            },
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        structure, data = document["structure"], document["released"]
        if not isinstance(structure, Mapping) or not isinstance(data, Mapping) or set(data) != _SUMS:
            raise ModelFileError("the structure or the sums are not those of this method; the file is damaged")
        try:
            first = TableRound.from_json({**structure, "schema": document["schema"]})
            tables = OpenedSum.from_json(data["tables"], first)
            newton = None
            if data["newton"] is not None:
                newton = OpenedSum.from_json(data["newton"], NewtonRound.after(tables))
        except ModelFileError:
            raise
        except PrivetError as error:
            raise ModelFileError(f"the model is damaged: {error}") from error
        guarantee = Guarantee.from_json(document["guarantee"])
        model = cls._unfitted(document["parameters"], schema, guarantee)
        model._check_guarantee(guarantee, schema, (tables, newton))  # noqa: SLF001 - of its own class
        model._set_sums(model._encoder_of(schema), tables, newton, guarantee)  # noqa: SLF001
        return model

    def _is_receipt(self, event: Event, forest: Any, schema: Schema) -> bool:  # noqa: ARG002
        tables, newton = forest
        return (
            event == _event(tables, newton)
            and self.party_names == _names(tables, newton)
            and self._unit() == tables.structure.unit
        )


def _event(tables: OpenedSum, newton: OpenedSum | None) -> Event:
    """Return the receipt of both rounds: the second looks at the same rows again."""
    return tables.event if newton is None else Sequential((tables.event, newton.event))


def _names(tables: OpenedSum, newton: OpenedSum | None) -> list[str]:
    return list(dict.fromkeys((*tables.parties, *(newton.parties if newton else ()))))
