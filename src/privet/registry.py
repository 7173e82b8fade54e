"""Which class a model file's method stands for, and loading it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet import central
from privet.errors import ModelFileError
from privet.model_file import read_document, schema_from_json

if TYPE_CHECKING:
    from privet.central.released import ReleasedClassifier
    from privet.estimator import PrivateClassifier

METHODS: "dict[str, type[ReleasedClassifier]]" = {
    estimator.method: estimator for estimator in (getattr(central, name) for name in central.__all__)
}


def load(path: str | Path) -> "PrivateClassifier":
    """Return the model that the file at ``path`` holds, checked in every part.

    A model file is data: opening one from a stranger runs no code of theirs.
    """
    return model_of(read_document(path), path)


def model_of(document: dict[str, Any], path: str | Path) -> "PrivateClassifier":
    """Return the model that a document read from ``path`` holds, checked in every part."""
    method = document["method"]
    if not isinstance(method, str) or method not in METHODS:
        raise ModelFileError(f"{str(path)!r} holds a model of a method that this privet does not know; update privet")
    model: PrivateClassifier = METHODS[method].from_document(document, schema_from_json(document["schema"]))
    return model
