"""The classes behind the names of methods, and loading a model file."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from privet.errors import ModelFileError
from privet.methods import Room, methods_of
from privet.model_file import read_document, schema_from_json

if TYPE_CHECKING:
    from privet.central.released_classifier import ReleasedClassifier
    from privet.estimator import PrivateClassifier
    from privet.local.classifier import LocalClassifier
    from privet.partitioned.horizontal import PartyModel

_Class = TypeVar("_Class")


class Classes(Mapping[str, _Class]):
    """The estimators of one room by the names of their methods, each imported when it is asked for."""

    def __init__(self, room: Room) -> None:
        self._methods = {method.name: method for method in methods_of(room)}

    def __getitem__(self, name: str) -> _Class:
        method = self._methods[name]
        found: _Class = getattr(importlib.import_module(method.home), method.class_name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


# A trusted curator's, which spend epsilon.
METHODS: "Classes[type[ReleasedClassifier]]" = Classes("central")
# Of disturbed records: nobody is trusted, and a fit spends nothing.
LOCAL_METHODS: "Classes[type[LocalClassifier]]" = Classes("local")
# Of several parties: models that are combined from what they released.
PARTY_METHODS: "Classes[type[PartyModel]]" = Classes("partitioned")


def load(path: str | Path) -> "PrivateClassifier":
    """Return the model that the file at ``path`` holds, checked in every part.

    A model file is data: opening one from a stranger runs no code of theirs.
    """
    return model_of(read_document(path), path)


def model_of(document: dict[str, Any], path: str | Path) -> "PrivateClassifier":
    """Return the model that a document read from ``path`` holds, checked in every part."""
    method = document["method"]
    rooms: tuple[Mapping[str, Any], ...] = (METHODS, LOCAL_METHODS, PARTY_METHODS)
    known = next((room for room in rooms if isinstance(method, str) and method in room), None)
    if known is None:
        raise ModelFileError(f"{str(path)!r} holds a model of a method that this privet does not know; update privet")
    model: PrivateClassifier = known[method].from_document(document, schema_from_json(document["schema"]))
    return model
