"""The schema: everything about a table that its owner declares public before looking at a row."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from privet.checks import is_whole
from privet.errors import SchemaError
from privet.files.documents import TooLarge, read_json
from privet.files.whole_file import whole_file
from privet.schema.acceptance import Acceptance, assumptions_of
from privet.schema.attribute import Attribute, Categorical
from privet.schema.days import Date
from privet.schema.labels import Label, check_name, checked_labels
from privet.schema.numeric import Numeric

# An attribute's number takes 15 bits of a packed node.
MAX_ATTRIBUTES = 2**15 - 1
MAX_CLASSES = 2**16 - 1
# Over all attributes. A file that declares more would exhaust the memory.
MAX_CELLS = 2**23
# Keys in the files of public collections that describe a table beyond its schema. They are ignored.
DESCRIPTION = {"title", "source", "license", "notes", "class_counts", "missing_cells"}
# What an attribute can be besides its domain; written where it is true.
_FLAGS = ("inferred", "never_missing")
_CATEGORY_FLAGS = ("ordered",)
_NUMBER_FLAGS = ("whole",)
_NUMBER_KEYS = (*_NUMBER_FLAGS, "scale")
_KEYS = {"target", "classes", "rows", "attributes", "classes_inferred", "classes_accepted"}
_TARGET_KEYS = {"name", "bounds", "inferred", "accepted"}
_NOUNS = {"categorical": "categories", "continuous": "bounds", "date": "first and last date"}
# What is said where classes are needed and the target is a number, and the other way round.
CLASSES_NEEDED = (
    "the schema's target is a number, and this needs classes; use PrivateForestRegressor (--method "
    "private-forest-regressor), or declare classes"
)
BOUNDS_NEEDED = (
    "the schema's target has classes, and a regressor learns a number; declare its bounds, for example "
    'target=Numeric("price", 0, 500_000), and no classes'
)


@dataclass(frozen=True)
class Schema:
    """Attributes with their public domains, classes, and roughly how many rows there are.

    Parameters
    ----------
    attributes : sequence of Categorical and Numeric
        In the order of a NumPy table's columns; other tables are matched by name.
    classes : sequence of str, int, float or bool
        Every label that is publicly known to be possible, at least two. They are kept sorted, as scikit-learn's scorers
        expect. A target that is a number has none.
    target : str or Numeric
        The label's column in a file; for a regressor the number that it learns, with its public bounds.
    rows : int, optional
        Roughly how many rows there are, decided before looking at them. Without it, a method that needs the number
        spends a small share of epsilon on a noisy count.
    classes_inferred : bool
        The classes were read from the rows; a model that uses them says so.
    classes_accepted : Acceptance, optional
        The classes were read from the rows, and somebody declared that they were public before.
    number : Numeric, optional
        The target, where it is a number; it follows from ``target``, which is then its name.

    Examples
    --------
    >>> from privet import Categorical, Numeric, Schema
    >>> schema = Schema(
    ...     [Numeric("age", 16, 100), Categorical("sex", ["female", "male"])],
    ...     classes=["no", "yes"],
    ...     rows=50_000,
    ... )
    >>> schema.names
    ('age', 'sex')
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[Label, ...]
    target: str = "class"
    rows: int | None = None
    classes_inferred: bool = False
    classes_accepted: Acceptance | None = None
    number: Numeric | None = None

    def __init__(
        self,
        attributes: Iterable[Attribute],
        *,
        classes: Iterable[Label] | None = None,
        target: str | Numeric = "class",
        rows: int | None = None,
        classes_inferred: bool = False,
        classes_accepted: Acceptance | None = None,
        number: Numeric | None = None,
    ) -> None:
        number, target = (target, target.name) if isinstance(target, Numeric) else (number, target)
        for name, value in {
            "attributes": tuple(attributes),
            "classes": _checked_classes(classes, target, number),
            "target": target,
            "number": number,
            "rows": int(rows) if rows is not None and is_whole(rows) else rows,
            "classes_inferred": classes_inferred,
            "classes_accepted": classes_accepted,
        }.items():
            object.__setattr__(self, name, value)
        self._check_attributes()
        self._check_classes_and_rows()

    def __repr__(self) -> str:
        target = f"target={self.target!r}" if self.number is None else f"target={self.number!r}"
        classes = "" if self.number is not None else f"{len(self.classes)} classes, "
        return f"Schema({len(self.attributes)} attributes, {classes}{target})"

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def n_classes(self) -> int:
        """The number of classes; of a target that is a number two, the ends of its range."""
        return 2 if self.number is not None else len(self.classes)

    @property
    def ends(self) -> tuple[Label, ...]:
        """What scores stand for: the classes, or the lower and the upper bound of a number."""
        return self.classes if self.number is None else (self.number.low, self.number.high)

    def require_classes(self) -> None:
        """Refuse a target that is a number."""
        if self.number is not None:
            raise SchemaError(CLASSES_NEEDED)

    @property
    def mean_domain_size(self) -> Fraction:
        """The papers' b. Missing codes are not counted, and an attribute with a threshold counts as 2."""
        return Fraction(sum(attribute.domain_size for attribute in self.attributes), len(self.attributes))

    @property
    def never_missing(self) -> tuple[str, ...]:
        """The names of the attributes that every row has a value of."""
        return tuple(attribute.name for attribute in self.attributes if attribute.never_missing)

    @property
    def _with_number(self) -> tuple[Attribute, ...]:
        """All that has a domain but the classes: the attributes, and the target where it is a number."""
        return self.attributes if self.number is None else (*self.attributes, self.number)

    @property
    def leaks(self) -> tuple[str, ...]:
        """The parts of this schema that were read from the rows instead of declared."""
        found = [domain_of(a) for a in self._with_number if a.inferred]
        return (*found, f"classes of {self.target!r}") if self.classes_inferred else tuple(found)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee of a model takes on somebody's word: that what was read from the rows was public."""
        accepted = [(domain_of(a), a.accepted) for a in self._with_number]
        return assumptions_of([*accepted, (f"classes of {self.target!r}", self.classes_accepted)])

    def for_answers(self) -> Self:
        """Return the schema to ask people by who disturb their answers: all attributes are ordinary there.

        A channel cannot say who accepted a domain. So one that was accepted is marked as inferred again: it was read
        from rows, and a promise that did not say so would call it public.
        """
        plain = [
            replace(a, inferred=a.inferred or a.accepted is not None, accepted=None, **_as_plain(a))
            for a in self.attributes
        ]
        read = self.classes_inferred or self.classes_accepted is not None
        return replace(self, attributes=tuple(plain), classes_inferred=read, classes_accepted=None)

    def with_bins(self, n_bins: int) -> Self:
        """Return the schema with ``n_bins`` cells for every number that declares neither bins nor edges."""
        return self.with_attributes(
            replace(a, bins=n_bins) if isinstance(a, Numeric) and a.is_open else a for a in self.attributes
        )

    def with_attributes(self, attributes: Iterable[Attribute]) -> Self:
        """Return the schema with other attributes."""
        return replace(self, attributes=tuple(attributes))

    def with_numbered_classes(self) -> Self:
        """Return the schema with the classes 0, 1, ... in place of its own, in their order.

        Some of scikit-learn's wrappers, such as VotingClassifier, number the classes before they fit their members, and
        name them again afterwards. Their members need this schema.
        """
        return replace(self, classes=tuple(range(len(self.classes))))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a schema from a JSON file."""
        try:
            data = read_json(path)
        except OSError as error:
            raise SchemaError(f"cannot read the schema {str(path)!r}: {error.strerror}; check the path") from error
        except UnicodeDecodeError as error:
            raise SchemaError(f"the schema {str(path)!r} is not UTF-8 text; save it as JSON in UTF-8") from error
        except TooLarge as error:
            raise SchemaError(f"the schema {str(path)!r} is larger than any that privet reads; name another") from error
        except ValueError as error:
            raise SchemaError(
                f"the schema {str(path)!r} is not valid JSON, or nested too deep; check its commas and brackets, and "
                "that no key is there twice"
            ) from error
        return cls.from_json(data)

    def save(self, path: str | Path) -> None:
        """Write the schema to a JSON file."""
        with whole_file(path) as file:
            file.write(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read a schema from plain JSON values."""
        if not isinstance(data, Mapping):
            raise SchemaError("a schema is a JSON object with the keys target, classes and attributes")
        target = data.get("target", "class")
        is_number = isinstance(target, Mapping)
        required = {"attributes"} if is_number else {"classes", "attributes"}
        check_keys(data, _KEYS | DESCRIPTION | {"name"}, required=required, where="the schema")
        attributes = data["attributes"]
        if not isinstance(attributes, list):
            raise SchemaError("the schema's attributes must be a list; write them in [ ]")
        return cls(
            _attributes_from_json(attributes),
            classes=_json_list(data["classes"], "classes") if "classes" in data else None,
            target=_number_from_json(target) if is_number else target,
            rows=data.get("rows"),
            classes_inferred=data.get("classes_inferred", False),
            classes_accepted=Acceptance.from_json(data["classes_accepted"]) if "classes_accepted" in data else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        if self.number is None:
            data: dict[str, Any] = {"target": self.target, "classes": list(self.classes)}
        else:
            data = {"target": _number_to_json(self.number)}
        if self.rows is not None:
            data["rows"] = self.rows
        if self.classes_inferred:
            data["classes_inferred"] = True
        if self.classes_accepted is not None:
            data["classes_accepted"] = self.classes_accepted.to_json()
        return {**data, "attributes": [_attribute_to_json(attribute) for attribute in self.attributes]}

    def _check_attributes(self) -> None:
        if not self.attributes or not all(isinstance(a, (Categorical, Numeric)) for a in self.attributes):
            raise SchemaError("a schema needs attributes: a list of at least one Categorical or Numeric")
        if len(self.attributes) > MAX_ATTRIBUTES:
            raise SchemaError(f"a schema holds at most {MAX_ATTRIBUTES:,} attributes; leave some columns out")
        _check_cells(sum(attribute.n_values for attribute in self.attributes))
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise SchemaError(f"attribute {name!r} is listed twice; give each column one entry")
            seen.add(name)
        if not isinstance(self.target, str) or not self.target or self.target in seen:
            raise SchemaError("the target must be a column name that no attribute has; rename one of the two")
        check_name(self.target)

    def _check_classes_and_rows(self) -> None:
        where = f"target {self.target!r}"
        if self.number is None and len(self.classes) < 2:
            raise SchemaError(
                f"{where} has one class, so there is nothing to learn; list every possible label in classes"
            )
        if len(self.classes) > MAX_CLASSES:
            raise SchemaError(f"{where} has more than {MAX_CLASSES:,} classes; merge rare ones into a group")
        for flag in (self.classes_inferred, *(declared.inferred for declared in self._with_number)):
            if not isinstance(flag, bool):
                raise SchemaError("inferred must be true or false; remove it once the domain is publicly known")
        accepted = [(domain_of(a), a.inferred, a.accepted) for a in self._with_number]
        for what, is_inferred, acceptance in (*accepted, ("classes", self.classes_inferred, self.classes_accepted)):
            if acceptance is not None and (is_inferred or not isinstance(acceptance, Acceptance)):
                raise SchemaError(f"{what}: accepted, an Acceptance, takes the place of inferred; remove one of both")
        for attribute in self.attributes:
            if not isinstance(attribute.never_missing, bool):
                raise SchemaError(
                    f"attribute {attribute.name!r}: never_missing must be true or false; write true, or leave it out"
                )
        if self.rows is not None and not (is_whole(self.rows) and 1 <= self.rows <= 2**53):
            raise SchemaError("rows must be a whole number of at least 1, roughly the table's size; or leave it out")


def _checked_classes(classes: Iterable[Label] | None, target: str, number: Numeric | None) -> tuple[Label, ...]:
    """Return the classes, sorted; none where the target is a number."""
    if number is not None:
        if classes is not None and len(list(classes)):
            raise SchemaError(f"target {target!r} is a number and has no classes; leave classes out, or its bounds")
        plain = Numeric(number.name, number.low, number.high, inferred=number.inferred, accepted=number.accepted)
        if type(number) is not Numeric or number != plain:
            raise SchemaError(f"target {target!r} has a name and bounds, and nothing else; leave the rest out")
        return ()
    if classes is None:
        raise SchemaError(
            f"target {target!r} needs classes: list every possible label; or, to learn a number, declare its bounds"
        )
    labels = classes if isinstance(classes, (str, np.ndarray)) else list(classes)
    return tuple(sorted(checked_labels(labels, where=f"target {target!r}", noun="classes")))


def _number_from_json(data: Mapping[str, Any]) -> Numeric:
    check_keys(data, _TARGET_KEYS, required={"name", "bounds"}, where="the schema's target")
    low, high = _bounds_from_json(data["bounds"], "the schema's target")
    return Numeric(data["name"], low, high, inferred=data.get("inferred", False), **_accepted_in(data))


def _number_to_json(number: Numeric) -> dict[str, Any]:
    data = {"name": number.name, "bounds": [number.low, number.high]}
    return {**data, **({"inferred": True} if number.inferred else {}), **_accepted_to_json(number)}


def _bounds_from_json(bounds: object, where: str) -> tuple[Any, Any]:
    if not isinstance(bounds, list) or len(bounds) != 2:
        raise SchemaError(f"{where}: bounds must be [low, high]; write both")
    return bounds[0], bounds[1]


def domain_of(attribute: Attribute) -> str:
    """Return what an attribute's domain is called, such as "bounds of 'age'"."""
    return f"{_NOUNS[attribute.kind]} of {attribute.name!r}"


def _as_plain(attribute: Attribute) -> dict[str, Any]:
    """Return what makes an ordinary one of an attribute; a last whole number with a cell of its own loses that."""
    if isinstance(attribute, Categorical):
        return {"ordered": False}
    if attribute.kind != Numeric.kind:
        return {}
    edges = attribute.edges
    if attribute.whole and edges is not None:
        edges = tuple(edge for edge in edges if edge < attribute.high)
    return {"scale": "linear", "whole": False, "edges": edges}


def check_keys(data: Mapping[str, Any], known: set[str], *, required: set[str], where: str) -> None:
    """Refuse a JSON object that lacks a required key or has one that privet does not know."""
    missing = sorted(required - set(data))
    if missing:
        raise SchemaError(f"{where} lacks {missing[0]!r}; add it")
    unknown = sorted(set(data) - known)
    if unknown:
        names = ", ".join(sorted(known - DESCRIPTION))
        raise SchemaError(f"{where} has an unknown key {unknown[0]!r}; known keys are {names}")


def _json_list(value: object, noun: str) -> list[Any]:
    if not isinstance(value, list):
        raise SchemaError(f"the schema's {noun} must be a list; write them in [ ]")
    return value


def _check_cells(n_cells: int) -> None:
    if n_cells > MAX_CELLS:
        raise SchemaError(
            f"all attributes together have more than {MAX_CELLS:,} values; lower bins or merge categories"
        )


def _attributes_from_json(data: list[object]) -> list[Attribute]:
    """Read attributes one by one, and stop as soon as they have too many cells."""
    attributes: list[Attribute] = []
    n_cells = 0
    for item in data:
        attributes.append(_attribute_from_json(item))
        n_cells += attributes[-1].n_values
        _check_cells(n_cells)
    return attributes


def _attribute_from_json(data: object) -> Attribute:
    if not isinstance(data, Mapping):
        raise SchemaError("every attribute must be a JSON object with the keys name and type")
    where = f"attribute {data.get('name')!r}" if isinstance(data.get("name"), str) else "an attribute"
    if data.get("type") == "categorical":
        keys = {"name", "type", "categories", "accepted", *_FLAGS, *_CATEGORY_FLAGS}
        check_keys(data, keys, required={"name", "categories"}, where=where)
        options = {key: data[key] for key in (*_FLAGS, *_CATEGORY_FLAGS) if key in data}
        return Categorical(data["name"], data["categories"], **options, **_accepted_in(data))
    if data.get("type") not in (Numeric.kind, Date.kind):
        raise SchemaError(f'{where}: type must be "categorical", "continuous" or "date"')
    kind, flags = (Date, _FLAGS) if data["type"] == Date.kind else (Numeric, (*_FLAGS, *_NUMBER_KEYS))
    known = {"name", "type", "bounds", "bins", "edges", "accepted", *flags}
    check_keys(data, known, required={"name", "bounds"}, where=where)
    low, high = _bounds_from_json(data["bounds"], where)
    options = {key: data[key] for key in ("bins", "edges", *flags) if key in data}
    return kind(data["name"], low, high, **options, **_accepted_in(data))


def _accepted_in(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"accepted": Acceptance.from_json(data["accepted"])} if "accepted" in data else {}


def _attribute_to_json(attribute: Attribute) -> dict[str, Any]:
    data: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if isinstance(attribute, Categorical):
        data["categories"] = list(attribute.categories)
    else:
        data.update(attribute.domain_json())
    of_kind = {Categorical.kind: _CATEGORY_FLAGS, Numeric.kind: _NUMBER_FLAGS}.get(attribute.kind, ())
    flags = {key: True for key in (*_FLAGS, *of_kind) if getattr(attribute, key)}
    return {**data, **flags, **_accepted_to_json(attribute)}


def _accepted_to_json(attribute: Attribute) -> dict[str, Any]:
    return {} if attribute.accepted is None else {"accepted": attribute.accepted.to_json()}
