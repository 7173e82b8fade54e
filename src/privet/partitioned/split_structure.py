"""The structures of a round in which parties hold different attributes of the same rows: one part for each party."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from privet.errors import ParameterError, PartyError
from privet.partitioned.structure import FORMAT as ONE_STRUCTURE
from privet.partitioned.structure import Round, Structure, round_name
from privet.privacy.accounting import check_delta
from privet.privacy.mechanisms.rational import check_epsilon, equal_share
from privet.privacy.unit import EACH_ROW, Unit
from privet.rng import public_generator
from privet.schema import Schema
from privet.signing.documents import check_document, check_pin, digest, read_canonical, write_canonical
from privet.signing.keys import checked_name

FORMAT, VERSION = "privet-split-structure", 1
VARIANTS = ("sound", "paper")
Kind = TypeVar("Kind", bound=Round)


@dataclass(frozen=True, eq=False)
class SplitStructure:
    """One part for each party, over its own attributes, in the order of the parties' names.

    All parts are of one kind: each a `ForestRound`, or each a `Structure` of random trees.
    """

    parts: tuple[Round, ...]

    def __post_init__(self) -> None:
        names = [part.party or "" for part in self.parts]
        if not all(names) or not names or names != sorted(set(names)):
            raise PartyError("a split structure needs one part for each party, in the order of their names")
        if len({_common(part) for part in self.parts}) > 1:
            raise PartyError(
                "the parts of a split structure must agree on method, round, epsilon, delta, unit, classes and trees"
            )
        columns = [name for part in self.parts for name in part.schema.names]
        if len(set(columns)) != len(columns):
            raise PartyError("two parties of the split structure have the same attribute; give it to one of them")

    @classmethod
    def draw(
        cls,
        schema: Schema,
        split: Mapping[str, Sequence[str]],
        *,
        method: str = "private-rdt",
        epsilon: float = 1.0,
        delta: float = 0.0,
        variant: str = "sound",
        n_trees: int | None = None,
        height: int | None = None,
        n_rows: int | None = None,
        unit: Unit = EACH_ROW,
        round_: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> Self:
        """Agree on a new round.

        Parameters
        ----------
        schema : Schema
            All attributes, and the classes, which every party knows.
        split : mapping of party to attributes
            Each attribute belongs to one party.
        method : "private-forest" or "private-rdt"
            Whether each party fits the recommended forest, for `ColumnForest`, or counts random trees, for
            `VerticalForest`.
        epsilon, delta : float
            What the whole round costs, divided equally. With ``variant="paper"`` each party spends this much, as in
            Jagannathan et al. (2012), and the round costs the sum. Random trees have no delta.
        n_trees, height, n_rows
            Of the random trees of each party, as `Structure.draw` has them; by default 10 trees.
        unit : Unit
        round_ : str, optional
            The round's name; by default a random one.
        random_state
            Fixes random trees; of forests, a whole number by which attributes are grouped. It is public.
        """
        if variant not in VARIANTS:
            raise ParameterError(f"variant={variant!r} is not known; choose from {', '.join(VARIANTS)}")
        _check_split(schema, split)
        _check_method(method, delta, (n_trees, height, n_rows))
        n = 1 if variant == "paper" else len(split)
        common: dict[str, Any] = {
            "epsilon": equal_share(check_epsilon(epsilon), n), "unit": unit, "round_": round_name(round_),
        }  # fmt: skip
        kind = _kinds()[method]
        if kind is Structure:
            common |= {
                "n_trees": 10 if n_trees is None else n_trees, "height": height, "n_rows": n_rows,
                "random_state": public_generator(random_state),
            }  # fmt: skip
        else:
            grouping = 0 if random_state is None else random_state
            common |= {"delta": equal_share(check_delta(delta), n), "grouping": grouping}
        parts = []
        for party in sorted(split, key=checked_name):
            attributes = tuple(attribute for attribute in schema.attributes if attribute.name in split[party])
            parts.append(kind.draw(replace(schema, attributes=attributes), party=party, **common))
        return cls(tuple(parts))

    @property
    def round(self) -> str:
        """The round's name."""
        return self.parts[0].round

    @cached_property
    def hash(self) -> str:
        """The hash that every party compares before it counts."""
        return digest(self.to_json())

    def parts_of_kind(self, kind: type[Kind], instead: str) -> list[Kind]:
        """Return the parts, or refuse those of another ``kind``, which ``instead`` combines."""
        found = [part for part in self.parts if isinstance(part, kind)]
        if len(found) != len(self.parts):
            raise PartyError(f"the parts of the structure are of the method {self.parts[0].method!r}; use {instead}")
        return found

    def part_of(self, party: str) -> Round:
        """Return the part that ``party`` counts."""
        for part in self.parts:
            if part.party == party:
                return part
        known = ", ".join(str(part.party) for part in self.parts)
        raise PartyError(f"the structure has no part for {party!r}; it names {known}")

    def to_json(self) -> dict[str, Any]:
        """Return the parts as plain JSON values."""
        return {"format": FORMAT, "version": VERSION, "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the structure") -> Self:
        """Read a split structure back, checked in every part."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys={"parts"})
        parts = document["parts"]
        if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
            raise PartyError(f"{what} lists no parts; fetch it again")
        return cls(tuple(_kind(part, what).from_json(part, f"a part of {what}") for part in parts))

    def save(self, path: str | Path) -> None:
        """Write all parts to a file for every party."""
        write_canonical(path, self.to_json())


def load_structure(path: str | Path, *, pin: str | None = None) -> Round | SplitStructure:
    """Read a structure of any kind. With ``pin``, its hash must be this one."""
    document, what = read_canonical(path, "structure"), f"the structure {str(path)!r}"
    if document.get("format") not in (FORMAT, ONE_STRUCTURE):
        raise PartyError(f"{what} is not a structure; pass the file that `privet party structure` wrote")
    structure: Round | SplitStructure
    if document["format"] == FORMAT:
        structure = SplitStructure.from_json(document, what)
    else:
        structure = _kind(document, what).from_json(document, what)
    check_pin(structure.hash, pin, what)
    return structure


def _kinds() -> dict[Any, Any]:
    from privet.partitioned.own_forests import ForestRound  # it takes a second to import scikit-learn
    from privet.partitioned.tables.newton_round import NewtonRound
    from privet.partitioned.tables.table_round import TableRound

    return {kind.method: kind for kind in (Structure, ForestRound, TableRound, NewtonRound)}


def _kind(document: Mapping[str, Any], what: str) -> type[Round]:
    kinds: dict[Any, type[Round]] = _kinds()
    method = document.get("method")
    if not isinstance(method, str) or method not in kinds:
        raise PartyError(f"{what} asks for releases that this privet does not know; update privet")
    return kinds[method]


def _common(part: Round) -> tuple[Any, ...]:
    schema, n_trees = part.schema, part.forest.n_trees if isinstance(part, Structure) else None
    return (
        part.method, part.round, part.epsilon, part.cost.delta, part.unit, n_trees, schema.target, schema.classes,
        tuple(map(type, schema.classes)), schema.rows, schema.classes_inferred,
        schema.classes_accepted,
    )  # fmt: skip


def _check_method(method: str, delta: float, of_random_trees: tuple[int | None, ...]) -> None:
    if method not in _kinds():
        raise ParameterError(f"method={method!r} is not one of parties; choose from {', '.join(_kinds())}")
    if method == Structure.method and delta:
        raise ParameterError("counts of random trees are released without delta; leave delta out")
    if method != Structure.method and any(value is not None for value in of_random_trees):
        raise ParameterError('n_trees, height and n_rows are for random trees; leave them out, or method="private-rdt"')


def _check_split(schema: Schema, split: Mapping[str, Sequence[str]]) -> None:
    if not isinstance(split, Mapping) or not split:
        raise ParameterError('split must say which attributes each party has, such as {"bank": ["income"], ...}')
    if any(isinstance(names, str) or not names for names in split.values()):
        raise ParameterError("every party of a split needs a list of at least one attribute")
    owner: dict[str, str] = {}
    for party, names in split.items():
        for name in names:
            if name not in schema.names:
                raise ParameterError(f"the split gives {party!r} the attribute {name!r}, which the schema lacks")
            if name in owner:
                raise ParameterError(f"the attribute {name!r} is listed twice in the split; give it to one party, once")
            owner[name] = party
    left = [name for name in schema.names if name not in owner]
    if left:
        raise ParameterError(
            f"no party of the split has the attribute {left[0]!r}; give it to one, or drop it from the schema"
        )
