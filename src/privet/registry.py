"""Which class a model file's method stands for, and loading it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet import central, local, partitioned
from privet.errors import ModelFileError
from privet.model_file import read_document, schema_from_json

if TYPE_CHECKING:
    from privet.central.released import ReleasedClassifier
    from privet.estimator import PrivateClassifier
    from privet.local.classifier import LocalClassifier
    from privet.partitioned.horizontal import PartyForest

# Of a trusted curator, who pays with epsilon.
METHODS: "dict[str, type[ReleasedClassifier]]" = {
    estimator.method: estimator for estimator in (getattr(central, name) for name in central.__all__)
}
# Of disturbed records, where nobody is trusted and nothing is paid.
LOCAL_METHODS: "dict[str, type[LocalClassifier]]" = {
    estimator.method: estimator
    for estimator in (getattr(local, name) for name in local.__all__)
    if hasattr(estimator, "from_document")
}

# Of several parties, combined from what they released.
PARTY_METHODS: "dict[str, type[PartyForest]]" = {
    estimator.method: estimator
    for estimator in (getattr(partitioned, name) for name in partitioned.__all__)
    if hasattr(estimator, "from_document")
}


def load(path: str | Path) -> "PrivateClassifier":
    """Return the model that the file at ``path`` holds, checked in every part.

    A model file is data: opening one from a stranger runs no code of theirs.
    """
    return model_of(read_document(path), path)


def model_of(document: dict[str, Any], path: str | Path) -> "PrivateClassifier":
    """Return the model that a document read from ``path`` holds, checked in every part."""
    known: dict[str, Any] = {**METHODS, **LOCAL_METHODS, **PARTY_METHODS}
    method = document["method"]
    if not isinstance(method, str) or method not in known:
        raise ModelFileError(f"{str(path)!r} holds a model of a method that this privet does not know; update privet")
    model: PrivateClassifier = known[method].from_document(document, schema_from_json(document["schema"]))
    return model
