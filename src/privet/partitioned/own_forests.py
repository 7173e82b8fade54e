"""Each party fits the recommended forest to its own rows, and all of them make one. Argued in own_forests.md."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.class_weight import ClassWeight
from privet.central.private_forest import PrivateForestClassifier
from privet.central.receipts import ROW_COUNT, in_sequence, is_seeded, unwrapped
from privet.central.released_classifier import FitCall
from privet.central.updates.batches import BatchCheck
from privet.central.weight_file import are_receipts
from privet.central.weight_forest import WeightForestClassifier
from privet.central.weights.knots import with_cells
from privet.central.weights.policy import FINE_BINS
from privet.central.weights.released_weights import ReleasedWeights
from privet.checks import check_whole, pluralize
from privet.errors import ModelFileError, ParameterError, PartyError, PrivetError
from privet.model_file import checked_document, schema_from_json, with_checksum
from privet.partitioned.horizontal import PartyModel, one_party_each
from privet.partitioned.release import Release, check_releases
from privet.partitioned.structure import Keep, Round, round_name
from privet.privacy.accounting import check_delta, stated_epsilon
from privet.privacy.events import Event, Parallel
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import Cost, Ledger, NoReservation, Reservation
from privet.privacy.mechanisms.rational import check_epsilon
from privet.privacy.unit import EACH_ROW, Unit
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.signing.keys import checked_name
from privet.signing.roster import Roster

# What rounding may add to an epsilon that shares of it add up to.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ForestRound(Round):
    """A round in which each party fits the recommended forest to its own rows.

    Attributes
    ----------
    delta : float
        Of each release; 0 for pure differential privacy.
    grouping : int
        The public seed by which parties group attributes.
    schema, epsilon, unit, round, party
        As `Round` has them. Unless it is for one party of a split, the schema declares no number of rows: each party
        has its own.
    """

    delta: float = 0.0
    grouping: int = 0
    method: ClassVar[str] = "private-forest"
    own_keys: ClassVar[frozenset[str]] = frozenset({"delta", "grouping"})

    @classmethod
    def draw(
        cls,
        schema: Schema,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        unit: Unit = EACH_ROW,
        round_: str | None = None,
        party: str | None = None,
        grouping: int = 0,
    ) -> Self:
        """Agree on a new round.

        Parameters
        ----------
        schema : Schema
            What is public about the rows of all parties.
        epsilon, delta : float
            What each party spends.
        unit : Unit
        round_ : str, optional
            The round's name; by default a random one.
        party : str, optional
            The only party that fits these attributes. All parties then have the same rows, so the schema may say how
            many.
        grouping : int
            By which attributes are grouped; it is public.
        """
        own = replace(schema, rows=None) if party is None else schema
        name = party and checked_name(party)
        drawn = cls(own, check_epsilon(epsilon), unit, round_name(round_), name, check_delta(delta), grouping)
        drawn.check()
        return drawn

    @property
    def cost(self) -> Cost:
        """The most that a release costs."""
        return Cost(self.epsilon, self.delta)

    def check_rows(self, n_rows: int | None) -> None:
        """Refuse a number of rows that is none."""
        self._estimator(n_rows)

    def check(self) -> None:
        """Refuse what no forest can be fitted with."""
        check_whole("grouping", self.grouping, least=0, most=2**32 - 1)
        self._estimator(None).check_parameters()

    def release(
        self, X: Any, y: Any, reservation: Reservation | NoReservation, keep: Keep, *, n_jobs: int | None = None,
        n_rows: int | None = None, batch: BatchCheck | None = None,
    ) -> None:  # fmt: skip
        """Fit a party's rows, ``keep`` the model, and settle its cost.

        ``n_rows`` is about how many rows the party has, where it says so in public; else a noisy number is paid for.
        """
        model = self._estimator(n_rows)
        model.n_jobs = n_jobs

        def save(fitted: PrivateForestClassifier) -> None:
            keep({"model": with_checksum(fitted.to_document())})

        model._fit(FitCall(X, y, reservation=reservation, save=save, batch=batch))  # noqa: SLF001 - as an update does

    def _estimator(self, n_rows: int | None) -> PrivateForestClassifier:
        said = self.schema.rows if n_rows is None else check_whole("n_rows", n_rows, least=1, most=2**53)
        schema = replace(self.schema, rows=said)
        return PrivateForestClassifier(
            schema, epsilon=self.epsilon, delta=self.delta, unit=self.unit.name, max_rows=self.unit.max_rows,
            random_state=self.grouping,
        )  # fmt: skip

    def read_release(self, document: Mapping[str, Any], who: str) -> PrivateForestClassifier:
        """Return the model of a release, or refuse one that was not fitted as the structure says."""
        if set(document) != {"model"} or not isinstance(document["model"], Mapping):
            raise PartyError(f"{who} is of another kind than the structure; ask the party to release again")
        try:
            held = checked_document(document["model"], f"the model in {who}")
            if held["method"] != self.method:
                raise ModelFileError("it is of another method")
            model = PrivateForestClassifier.from_document(held, schema_from_json(held["schema"]))
        except PrivetError as error:
            raise PartyError(f"the model in {who} is damaged: {error}; ask the party for the file again") from error
        self._check_model(model, who)
        return model

    def _check_model(self, model: PrivateForestClassifier, who: str) -> None:
        """Refuse a model with another schema, unit, cost or setting than the structure's."""
        event, wanted = model.guarantee_.event, self._estimator(None)
        if with_cells(replace(self.schema, rows=None), FINE_BINS) != replace(model.schema_, rows=None):
            raise PartyError(f"{who} was fitted with another schema; send the party the structure and ask again")
        same = ("delta", *PrivateForestClassifier.file_parameters, "unit", "max_rows")
        is_dear = stated_epsilon(event) > self.epsilon * (1 + _ROUNDING) or is_seeded(event)
        if is_dear or any(getattr(model, name) != getattr(wanted, name) for name in same):
            raise PartyError(
                f"{who} was not fitted as the structure requires: with its epsilon, delta and unit, noise that nobody "
                "knows, and no setting of its own; ask the party to release again"
            )
        if len(model.releases_) != 1:
            raise PartyError(f"{who} holds several fits, whose rows nobody has compared; ask for one fit")

    def _own_to_json(self) -> dict[str, Any]:
        return {"delta": self.delta, "grouping": self.grouping}

    @classmethod
    def _own_from_json(cls, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        delta, grouping = document["delta"], document["grouping"]
        if type(delta) is not float or type(grouping) is not int:
            raise ModelFileError("its delta or grouping is no such number")
        if schema.rows is not None and document["party"] is None:
            raise ModelFileError("its schema declares a number of rows, and each party has its own")
        return {"delta": check_delta(delta), "grouping": grouping}


class OwnForests(PartyModel, WeightForestClassifier):
    """The base of forests that parties have fitted, each its own."""

    file_parameters: ClassVar[tuple[str, ...]] = ("parties", "delta")

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        parties: Any = (),
        epsilon: float = 1.0,
        delta: float = 0.0,
        class_weight: ClassWeight = None,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        super().__init__(
            schema, parties=parties, epsilon=epsilon, class_weight=class_weight, unit=unit, max_rows=max_rows,
            ledger=ledger, n_jobs=n_jobs, verbose=verbose, unsafe_seeded_noise=unsafe_seeded_noise,
        )  # fmt: skip
        self.delta = delta

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's interface
        """Refuse: nobody has all rows."""
        raise ParameterError(
            "a forest of parties is not fitted to rows: each party releases its own forest, and combine takes them all"
        )

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, and return epsilon."""
        check_delta(self.delta)
        return super().check_parameters()

    @property
    def party_names(self) -> list[Any]:
        """The parties whose forests are in the model."""
        if not isinstance(self.parties, Sequence) or isinstance(self.parties, str):
            raise ParameterError("parties must list the parties by name; combine their releases again")
        return list(self.parties)

    def _is_one_fit(self, batch: int, event: Event, released: ReleasedWeights, schema: Schema) -> bool:  # noqa: ARG002
        """Return whether one party's fit has these receipts; it said how many rows it has, or paid for the number."""
        return are_receipts(event, released, schema, self._unit().max_rows, buys_rows=_buys_rows(event))


def _buys_rows(event: Event) -> bool:
    """Return whether a party paid for a noisy number of its rows; else it said one."""
    return getattr(unwrapped(in_sequence(event)[0]), "what", "") == ROW_COUNT


class CombinedForest(OwnForests):
    """The recommended forest of parties who hold different rows: each has fitted its own, and they are combined.

    Make one with `combine`, or `load` its file. The guarantee for the rows of a party is that of its own release,
    whoever else takes part.

    Attributes
    ----------
    parties : list of str
        The parties whose forests are included.
    releases_ : tuple of ReleasedWeights
        What each party released, in the order of their names.
    guarantee_, released_, feature_importances_, classes_, schema_
        As in `PrivateForestClassifier`; ``released_`` is what all of them come to.
    """

    method = "combined-forest"

    @classmethod
    def combine(cls, structure: ForestRound, roster: Roster, releases: Iterable[Release]) -> Self:
        """Return the forest of those parties of ``roster`` that have released ``structure``.

        Every release is checked: its signature, round, schema, cost and model.
        """
        models = check_releases([structure], roster, releases)
        unit = structure.unit
        model = cls(
            structure.schema, parties=list(models), epsilon=structure.epsilon, delta=structure.delta, unit=unit.name,
            max_rows=unit.max_rows,
        )  # fmt: skip
        events = tuple(own.guarantee_.event for own in models.values())
        event = events[0] if len(events) == 1 else Parallel(events, one_party_each(unit))
        schema = with_cells(structure.schema, FINE_BINS)
        encoder = Encoder(schema, unit.column)
        model._set_fitted(encoder, [own.released_ for own in models.values()], model._guarantee(schema, event))
        return model

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in the pull of a leaf after each party is added."""
        check_is_fitted(self)
        stds = [float(own.noise_std.mean()) if own.trees.n_trees else 0.0 for own in self.releases_]
        growth: NDArray[np.float64] = np.sqrt(np.cumsum(np.square(stds)))
        return growth

    def _guarantee(self, schema: Schema, event: Event) -> Guarantee:
        """Return the guarantee; how many rows a party says that it has is declared public, and bought by the others."""
        own = super()._guarantee(schema, event)
        said = sum(not _buys_rows(each) for each in self._each_event(event))
        if schema.rows is not None or not said:
            return own
        how_many = f"about how many rows {said} of {pluralize(len(self.party_names), 'party', 'parties')} had"
        return replace(own, public=(*own.public, how_many))

    def _assumptions(self, event: Event) -> list[str]:
        return [one_party_each(self._unit())] if isinstance(event, Parallel) else []

    def _is_receipt(self, event: Event, forest: Sequence[ReleasedWeights], schema: Schema) -> bool:
        n_parties = len(self.party_names)
        return (
            len(forest) == n_parties
            and isinstance(event, Parallel) == (n_parties > 1)
            and (not isinstance(event, Parallel) or event.because == one_party_each(self._unit()))
            and super()._is_receipt(event, forest, schema)
        )
