"""A forest of parties who hold different rows: the sum of their releases. The argument is in horizontal.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import CountForestClassifier
from privet.central.receipts import is_count
from privet.central.released_classifier import ReleasedClassifier
from privet.errors import ParameterError, PartyError
from privet.model_file import MAX_COUNT
from privet.partitioned.release import Release, check_releases
from privet.partitioned.structure import Counts, Structure
from privet.privacy.events import Event, Parallel
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.unit import Unit
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.signing.keys import checked_name
from privet.signing.roster import MAX_PARTIES, Roster
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest
from privet.tree.vote import SummedCounts, Vote


class PartyModel(ReleasedClassifier):
    """What all models of parties share. They are combined from what parties released, never fitted to rows.

    The constructor takes what a model file stores. `combine` of a subclass makes a model.
    """

    trust: ClassVar[str] = "each party with its own rows, nobody with those of another"
    file_parameters: ClassVar[tuple[str, ...]] = ("parties",)

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        parties: Any = (),
        epsilon: float = 1.0,
        class_weight: ClassWeight = None,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        self.schema = schema
        self.parties = parties
        self.epsilon = epsilon
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's interface
        """Refuse: nobody has all rows."""
        raise ParameterError(
            "a forest of parties is not fitted to rows: each party releases counts of its own, and combine adds them up"
        )

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, and return epsilon."""
        check_names(self.party_names)
        return super().check_parameters()

    @property
    def party_names(self) -> list[Any]:
        """The parties whose counts are in the model."""
        if not isinstance(self.parties, (Sequence, dict)) or isinstance(self.parties, str):
            raise ParameterError("parties must list the parties by name; combine their releases again")
        return list(self.parties)


class PartyForest(PartyModel, CountForestClassifier):
    """The base of the forests of parties that hold leaf counts."""

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        return SummedCounts.of_counts(nodes, schema.attributes)

    @classmethod
    def _shape_parameters(cls, forest: Forest) -> dict[str, Any]:  # noqa: ARG003 - no parameter follows from the trees
        return {}

    @classmethod
    def _of_structure(cls, structure: Structure, parties: list[str], counts: NDArray[np.int64], event: Event) -> Self:
        """Return the model of what ``parties`` have counted together on one structure."""
        model = cls(
            structure.schema, parties=parties, epsilon=structure.epsilon, unit=structure.unit.name,
            max_rows=structure.unit.max_rows,
        )  # fmt: skip
        return model._set_combined(structure.forest, counts, event)

    def _set_combined(self, forest: Forest, counts: NDArray[np.int64], event: Event) -> Self:
        assert isinstance(self.schema, Schema)  # noqa: S101 - comes from a structure
        encoder = Encoder(self.schema, self._unit().column)
        self._set_fitted(encoder, forest, counts, self._guarantee(self.schema, event))
        return self


class HorizontalForest(PartyForest):
    """Random trees counted by parties who hold different rows: the sum of their noisy counts.

    Make one with `combine`, or `load` its file. The guarantee for the rows of a party is that of its own release,
    whoever else takes part. The noise of the sum is the sum of the noises; `noise_growth_` shows it.

    Attributes
    ----------
    parties : list of str
        The parties whose counts are included.
    guarantee_, forest_, noisy_counts_, classes_, schema_
        As in `PrivateRDTClassifier`.
    """

    method = "horizontal-forest"

    @classmethod
    def combine(cls, structure: Structure, roster: Roster, releases: Iterable[Release]) -> Self:
        """Return the forest of those parties of ``roster`` that have released ``structure``.

        Every release is checked: its signature, round, schema, structure, noise and counts.
        """
        counts_of = check_releases([structure], roster, releases)
        event = event_of_parties(structure, len(counts_of))
        return cls._of_structure(structure, list(counts_of), sum_of(list(counts_of.values())), event)

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a count after each party is added."""
        check_is_fitted(self)
        return _growth(self.guarantee_.event)

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        return CountedForest.of_leaves(forest, noisy_counts, float(_growth(event)[-1]) ** 2)

    def _assumptions(self, event: Event) -> list[str]:
        return [one_party_each(self._unit())] if isinstance(event, Parallel) else []

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:  # noqa: ARG002 - some methods look
        parts, n_parties = _parts(event), len(self.party_names)
        moves = forest.n_trees * self._unit().max_rows
        return (
            len(parts) == n_parties
            and isinstance(event, Parallel) == (n_parties > 1)
            and (not isinstance(event, Parallel) or event.because == one_party_each(self._unit()))
            and all(is_count(part, sensitivity=moves) for part in parts)
        )


def one_party_each(unit: Unit) -> str:
    """Return the assumption of parallel composition over parties."""
    return f"no {unit.name if unit.column is None else repr(unit.name)} is with more than one party"


def sum_of(counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the sum of the parties' counts, or refuse one that is too large for a model file."""
    total: NDArray[np.int64] = np.sum(counts, axis=0, dtype=np.int64)
    if np.abs(total).max(initial=0) > MAX_COUNT:
        raise PartyError("the parties' counts add up to more than any table has; find out who sent such numbers")
    return total


def event_of_parties(structure: Counts, n_parties: int) -> Event:
    """Return the receipt of the releases of ``n_parties``."""
    receipt = structure.receipt
    return receipt if n_parties == 1 else Parallel((receipt,) * n_parties, one_party_each(structure.unit))


def _parts(event: Event) -> tuple[Event, ...]:
    return event.parts if isinstance(event, Parallel) else (event,)


def _growth(event: Event) -> NDArray[np.float64]:
    growth: NDArray[np.float64] = np.sqrt(np.cumsum(np.square([standard_deviation(part) for part in _parts(event)])))
    return growth


def check_names(names: Sequence[Any]) -> None:
    """Refuse names of parties that are none, or listed twice."""
    if not 1 <= len(names) <= MAX_PARTIES or len(set(map(checked_name, names))) != len(names):
        raise ParameterError("parties must list each party once, by name; combine their releases again")
