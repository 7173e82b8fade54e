"""The structure: what the parties of a round release, and the epsilon that it costs. It is public.

It is made before anyone looks at a row. Releases of another structure are useless, so every message quotes the hash.
The round is part of the structure, so two rounds never have the same hash.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.central.count_forest import MAX_HEIGHT, MAX_TREES
from privet.central.leaf_counts import LEAF_COUNTS
from privet.central.private_rdt import draw_trees
from privet.central.updates.batches import BatchCheck
from privet.checks import check_whole
from privet.counting.inputs import check_files_exist, has_own_labels, open_table
from privet.counting.rows import MemoryRows, Rows, exact_leaf_counts
from privet.entropy import secure_bytes
from privet.errors import DataError, ModelFileError, ParameterError, PartyError, PrivetError
from privet.model_file import (
    MAX_COUNT,
    counts_from_json,
    counts_to_json,
    schema_from_json,
    structure_from_json,
    structure_to_json,
)
from privet.privacy import events
from privet.privacy.events import DiscreteLaplace, Event, NoNoise
from privet.privacy.ledger import Cost, NoReservation, Reservation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import check_epsilon, scale_at_least
from privet.privacy.unit import EACH_ROW, Unit
from privet.rng import SystemNoise, public_generator
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.signing.documents import check_document, check_pin, digest, read_canonical, write_canonical
from privet.signing.keys import checked_name
from privet.tree.forest import Forest

NO_RESERVATION = NoReservation()
# Stores what a party releases, and returns the hash of the release.
Keep: TypeAlias = Callable[[dict[str, Any]], str]

FORMAT, VERSION = "privet-structure", 1
_KEYS = {"method", "schema", "epsilon", "unit", "max_rows", "round", "party"}
_ROUND_BYTES = 16


@dataclass(frozen=True, eq=False)
class Round(ABC):
    """What each party of a round releases, and the epsilon that it costs; each kind of release has its own class.

    Attributes
    ----------
    schema : Schema
        The attributes and the classes.
    epsilon : float
        The epsilon that the release of one party costs its own rows.
    unit : Unit
        The unit of privacy.
    round : str
        A unique name.
    party : str, optional
        The only party that releases it, where each party has its own attributes; None where all release the same.
    """

    schema: Schema
    epsilon: float
    unit: Unit
    round: str
    party: str | None = None
    # What documents call this kind of release, and which further keys they have.
    method: ClassVar[str]
    own_keys: ClassVar[frozenset[str]]

    @property
    def cost(self) -> Cost:
        """The most that a release costs."""
        return Cost(self.epsilon)

    @property
    def total_epsilon(self) -> float:
        """What this round costs, and those that follow from it."""
        return self.epsilon

    @property
    def follows(self) -> str | None:
        """The hash of the structure that this one follows from, by what was opened of it; None where it is the first.

        A party takes part in one round that follows another, whatever it is shown as opened.
        """
        return None

    def check_rows(self, n_rows: int | None) -> None:
        """Refuse a number of rows that a party says it has, before anything is spent."""
        if n_rows is not None:
            raise ParameterError("sums depend on no party's number of rows; leave n_rows (--rows) out")

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.schema.classes)

    @cached_property
    def hash(self) -> str:
        """The hash that every party compares before it counts, and that every message quotes."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the structure as plain JSON values. Epsilon is the shortest decimal of the float, as a fraction."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "schema": self.schema.to_json(),
            **self._own_to_json(),
            "epsilon": epsilon_to_json(self.epsilon),
            "unit": self.unit.name,
            "max_rows": self.unit.max_rows,
            "round": self.round,
            "party": self.party,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the structure") -> Self:
        """Read a structure back, checked in every part."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys=_KEYS | cls.own_keys)
        if document["method"] != cls.method:
            raise PartyError(f"{what} is of the method {document['method']!r}, and {cls.method!r} is wanted")
        try:
            schema, party = schema_from_json(document["schema"]), document["party"]
            structure = cls(
                schema=schema,
                epsilon=epsilon_from_json(document["epsilon"]),
                unit=Unit(document["unit"], document["max_rows"]),
                round=checked_name(document["round"]),
                party=None if party is None else checked_name(party),
                **cls._own_from_json(document, schema),
            )
            structure.check()
        except PrivetError as error:
            raise PartyError(f"{what} is damaged: {error}") from error
        if structure.to_json() != document:
            raise PartyError(f"{what} is not as privet writes it, so it was changed; fetch it again")
        return structure

    def save(self, path: str | Path) -> None:
        """Write the structure to a file for every party."""
        write_canonical(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path, *, pin: str | None = None) -> Self:
        """Read a structure. With ``pin``, its hash must be this one."""
        structure = cls.from_json(read_canonical(path, "structure"), f"the structure {str(path)!r}")
        check_pin(structure.hash, pin, f"the structure {str(path)!r}")
        return structure

    def open(self, encoder: Encoder, X: Any, y: Any, reservation: Reservation | NoReservation) -> Rows:
        """Return a party's rows, from a table with labels ``y`` or from a file that has both."""
        if has_own_labels(X):
            if y is not None:
                raise ParameterError("leave y out for a file: the label is the schema's target column there")
            check_files_exist(X)
            reservation.mark_opened()
            return open_table(X, encoder, self.unit, None)
        if y is None:
            raise DataError("a table in memory needs its labels; pass y, one label per row")
        reservation.mark_opened()
        return MemoryRows(encoder.encode(X), encoder.encode_labels(y)).bounded(self.unit, X, y)

    @abstractmethod
    def check(self) -> None:
        """Refuse what no party could release."""

    @abstractmethod
    def release(
        self, X: Any, y: Any, reservation: Reservation | NoReservation, keep: Keep, *, n_jobs: int | None = None,
        n_rows: int | None = None, batch: BatchCheck | None = None,
    ) -> None:  # fmt: skip
        """Make a party's release within ``reservation``, ``keep`` it, and settle its cost.

        ``n_rows`` is about how many rows the party has, where it says so in public and a release depends on it;
        ``batch`` checks that no other part of the party's account has them.
        """

    @abstractmethod
    def read_release(self, document: Mapping[str, Any], who: str) -> Any:
        """Return what a release's ``document`` holds, or refuse one that a party would not have made."""

    @abstractmethod
    def _own_to_json(self) -> dict[str, Any]:
        """Return what this kind's documents hold beside the rest."""

    @classmethod
    @abstractmethod
    def _own_from_json(cls, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        """Read it back, as parameters of the class."""


def round_name(name: str | None) -> str:
    """Return a round's name, by default a random one."""
    return secure_bytes(_ROUND_BYTES).hex() if name is None else checked_name(name)


class Counts(Round):
    """A round in which parties release sums of whole numbers over their rows, with noise."""

    # What receipts call the numbers.
    what: ClassVar[str]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The shape of the numbers."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """How far one more unit moves all numbers together."""

    def exact_counts(
        self,
        X: Any,
        y: Any = None,
        reservation: Reservation | NoReservation = NO_RESERVATION,
        *,
        n_jobs: int | None = None,
    ) -> NDArray[np.int64]:
        """Return the sums over a party's rows. Exact: add noise before releasing them."""
        rows = self.open(Encoder(self.schema, self.unit.column), X, y, reservation)
        return self._exact_sum(rows, n_jobs)

    @abstractmethod
    def _exact_sum(self, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
        """Return the sums over coded rows, in their shape."""

    @property
    def receipt(self) -> Event:
        """The receipt of a party that adds the noise by itself."""
        if math.isinf(self.epsilon):
            return NoNoise(self.what)
        scale = scale_at_least(self.sensitivity, self.epsilon)
        return DiscreteLaplace(self.what, self.epsilon, self.sensitivity, scale)

    def check(self) -> None:
        """Refuse an epsilon beyond the sampler's limits."""
        self.receipt  # noqa: B018 - raises an error

    def release(
        self, X: Any, y: Any, reservation: Reservation | NoReservation, keep: Keep, *, n_jobs: int | None = None,
        n_rows: int | None = None, batch: BatchCheck | None = None,  # noqa: ARG002 - forests look
    ) -> None:  # fmt: skip
        """Count a party's rows, add noise, ``keep`` the release, and settle its cost."""
        with reservation:
            noisy, event = discrete_laplace(
                self.exact_counts(X, y, reservation, n_jobs=n_jobs), epsilon=self.epsilon,
                sensitivity=self.sensitivity, what=self.what, noise=reservation.watch(SystemNoise()),
            )  # fmt: skip
            digest_of = keep({"counts": counts_to_json(noisy), "event": events.to_json(event)})
            reservation.settle(event, lambda: {"model": digest_of, "leaks": list(self.schema.leaks)})

    def read_release(self, document: Mapping[str, Any], who: str) -> NDArray[np.int64]:
        """Return the noisy counts of a release, or refuse one with other noise or shape."""
        n_lines, n_columns = self.shape
        if set(document) != {"counts", "event"}:
            raise PartyError(f"{who} is of another kind than the structure; ask the party to release again")
        try:
            event = events.from_json(document["event"])
        except ModelFileError:
            event = None
        if event != self.receipt:
            raise PartyError(
                f"{who} does not have the noise that the structure requires; ask the party to release again"
            )
        try:
            return counts_from_json(document["counts"], n_leaves=n_lines, n_classes=n_columns)
        except ModelFileError:
            raise PartyError(
                f"the counts in {who} are damaged: each leaf and class needs one whole number between -{MAX_COUNT:,} "
                f"and {MAX_COUNT:,}; ask the party for the file again"
            ) from None


@dataclass(frozen=True, eq=False)
class Structure(Counts):
    """Random trees; every party counts its own rows in their leaves.

    Attributes
    ----------
    forest : Forest
        The trees, as `PrivateRDTClassifier` draws them.
    schema, epsilon, unit, round, party
        As `Round` has them.
    """

    forest: Forest = field(kw_only=True)
    method: ClassVar[str] = "private-rdt"
    own_keys: ClassVar[frozenset[str]] = frozenset({"trees"})
    what: ClassVar[str] = LEAF_COUNTS

    @classmethod
    def draw(
        cls,
        schema: Schema,
        *,
        epsilon: float = 1.0,
        n_trees: int = 10,
        height: int | None = None,
        n_rows: int | None = None,
        unit: Unit = EACH_ROW,
        round_: str | None = None,
        party: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> Self:
        """Draw the trees of a new round.

        Parameters
        ----------
        schema : Schema
            What is public about the rows of all parties.
        epsilon : float
            What each party spends.
        n_trees, height
            As `PrivateRDTClassifier` has them.
        n_rows : int, optional
            Roughly how many rows all parties have together, by default the schema's number. It determines the height.
        unit : Unit
        round_ : str, optional
            The round's name; by default a random one.
        party : str, optional
            The only party that counts these trees.
        random_state
            Fixes the trees, which are public.
        """
        schema.require_classes()
        n_trees = check_whole("n_trees", n_trees, least=1, most=MAX_TREES)
        schema = schema if n_rows is None else replace(schema, rows=check_whole("n_rows", n_rows, least=1, most=2**53))
        if height is not None:
            check_whole("height", height, least=1, most=MAX_HEIGHT)
        elif schema.rows is None:
            raise ParameterError(
                "the height of the trees depends on the number of rows, and nobody may count them; give roughly how "
                "many all parties have together (--rows), or the height (--height)"
            )
        public_rng = public_generator(random_state)
        forest = draw_trees(schema, n_trees=n_trees, height=height, n_rows=schema.rows or 1, public_rng=public_rng)
        structure = cls(
            schema, check_epsilon(epsilon), unit, round_name(round_), party and checked_name(party), forest=forest
        )
        structure.check()
        return structure

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the counts: leaves, classes."""
        return len(self.forest.leaves), self.n_classes

    @property
    def sensitivity(self) -> int:
        """How far one more unit moves all counts together: each of its rows reaches one leaf of every tree."""
        return self.forest.n_trees * self.unit.max_rows

    def _exact_sum(self, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
        """Return how many rows of each class reach each leaf."""
        return exact_leaf_counts(self.forest, rows, n_classes=self.n_classes, n_jobs=n_jobs)

    def _own_to_json(self) -> dict[str, Any]:
        return {"trees": structure_to_json(self.forest)}

    @classmethod
    def _own_from_json(cls, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        forest = structure_from_json(document["trees"], schema.attributes)
        if forest.n_trees > MAX_TREES or forest.depth > MAX_HEIGHT:
            raise ModelFileError("there are more trees, or taller ones, than privet grows")
        return {"forest": forest}


def epsilon_to_json(epsilon: float) -> str:
    """Return the shortest decimal of the float, as a fraction."""
    return "inf" if math.isinf(epsilon) else str(Fraction(repr(epsilon)))


def epsilon_from_json(text: object) -> float:
    """Read it back, or refuse what is no epsilon."""
    top, _, bottom = text.partition("/") if isinstance(text, str) and len(text) < 700 else ("", "", "")
    if text == "inf":
        return math.inf
    if not (top.isdecimal() and (bottom or "1").isdecimal() and int(bottom or "1") > 0):
        raise ModelFileError("its epsilon is no fraction")
    try:
        return check_epsilon(float(Fraction(int(top), int(bottom or "1"))))
    except OverflowError:
        raise ModelFileError("its epsilon is larger than any number") from None
