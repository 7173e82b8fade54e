"""The structure: what the parties of a round count, and the epsilon that it costs. It is public.

It is made before anyone looks at a row. Counts of another structure are useless, so every message quotes the hash. The
round is part of the structure, so two rounds never have the same hash.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from privet.central.count_forest import MAX_HEIGHT, MAX_TREES
from privet.central.leaf_counts import LEAF_COUNTS
from privet.central.private_rdt import draw_trees
from privet.checks import check_whole
from privet.entropy import secure_bytes
from privet.errors import ModelFileError, ParameterError, PartyError, PrivetError
from privet.model_file import schema_from_json, structure_from_json, structure_to_json
from privet.partitioned.keys import checked_name
from privet.partitioned.party_files import check_document, check_pin, digest, read_canonical, write_canonical
from privet.privacy.events import DiscreteLaplace, Event, NoNoise
from privet.privacy.mechanisms.rational import check_epsilon, scale_at_least
from privet.privacy.unit import EACH_ROW, Unit
from privet.rng import public_generator
from privet.schema import Schema
from privet.tree.forest import Forest

FORMAT, VERSION, METHOD = "privet-structure", 1, "private-rdt"
_KEYS = {"method", "schema", "trees", "epsilon", "unit", "max_rows", "round", "party"}
_ROUND_BYTES = 16


@dataclass(frozen=True, eq=False)
class Structure:
    """Random trees; every party counts its own rows in their leaves.

    Attributes
    ----------
    schema : Schema
        The attributes that the trees test, and the classes.
    forest : Forest
        The trees, as `PrivateRDTClassifier` draws them.
    epsilon : float
        The epsilon that the counts of one party cost its own rows.
    unit : Unit
        The unit of privacy.
    round : str
        A unique name.
    party : str, optional
        The only party that counts it, where each party has its own attributes; None where all count the same.
    """

    schema: Schema
    forest: Forest
    epsilon: float
    unit: Unit
    round: str
    party: str | None = None

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
        name = secure_bytes(_ROUND_BYTES).hex() if round_ is None else checked_name(round_)
        structure = cls(schema, forest, check_epsilon(epsilon), unit, name, party and checked_name(party))
        structure.receipt  # noqa: B018 - refuses an epsilon beyond the sampler's limits
        return structure

    @property
    def n_classes(self) -> int:
        """How many classes are counted in every leaf."""
        return len(self.schema.classes)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the counts: leaves, classes."""
        return len(self.forest.leaves), self.n_classes

    @property
    def sensitivity(self) -> int:
        """How far one more unit moves all counts together: each of its rows reaches one leaf of every tree."""
        return self.forest.n_trees * self.unit.max_rows

    @property
    def receipt(self) -> Event:
        """The receipt of a party that adds the noise by itself."""
        if math.isinf(self.epsilon):
            return NoNoise(LEAF_COUNTS)
        scale = scale_at_least(self.sensitivity, self.epsilon)
        return DiscreteLaplace(LEAF_COUNTS, self.epsilon, self.sensitivity, scale)

    @cached_property
    def hash(self) -> str:
        """The hash that every party compares before it counts, and that every message quotes."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the structure as plain JSON values. Epsilon is the shortest decimal of the float, as a fraction."""
        epsilon = "inf" if math.isinf(self.epsilon) else str(Fraction(repr(self.epsilon)))
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": METHOD,
            "schema": self.schema.to_json(),
            "trees": structure_to_json(self.forest),
            "epsilon": epsilon,
            "unit": self.unit.name,
            "max_rows": self.unit.max_rows,
            "round": self.round,
            "party": self.party,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the structure") -> Self:
        """Read a structure back, checked in every part."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys=_KEYS)
        try:
            structure = cls._read(document)
        except PrivetError as error:
            raise PartyError(f"{what} is damaged: {error}") from error
        if structure.to_json() != document:
            raise PartyError(f"{what} is not as privet writes it, so it was changed; fetch it again")
        return structure

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        schema = schema_from_json(document["schema"])
        forest = structure_from_json(document["trees"], schema.attributes)
        if forest.n_trees > MAX_TREES or forest.depth > MAX_HEIGHT:
            raise ModelFileError("there are more trees, or taller ones, than privet grows")
        party, unit = document["party"], Unit(document["unit"], document["max_rows"])
        structure = cls(
            schema, forest, _epsilon_from_json(document["epsilon"]), unit, checked_name(document["round"]),
            None if party is None else checked_name(party),
        )  # fmt: skip
        structure.receipt  # noqa: B018 - refuses an epsilon beyond the sampler's limits
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


def _epsilon_from_json(text: object) -> float:
    top, _, bottom = text.partition("/") if isinstance(text, str) and len(text) < 700 else ("", "", "")
    if text == "inf":
        return math.inf
    if not (top.isdecimal() and (bottom or "1").isdecimal() and int(bottom or "1") > 0):
        raise ModelFileError("its epsilon is no fraction")
    try:
        return check_epsilon(float(Fraction(int(top), int(bottom or "1"))))
    except OverflowError:
        raise ModelFileError("its epsilon is larger than any number") from None
