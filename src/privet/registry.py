"""Which class a model file's method stands for, and loading it."""

from pathlib import Path
from typing import TYPE_CHECKING

from privet.central.private_rdt import PrivateRDTClassifier
from privet.errors import ModelFileError
from privet.model_file import read_document, schema_from_json

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier

METHODS = {estimator.method: estimator for estimator in (PrivateRDTClassifier,)}


def load(path: str | Path) -> "PrivateClassifier":
    """Return the model that the file at ``path`` holds, checked in every part.

    A model file is data: opening one from a stranger runs no code of theirs.
    """
    document = read_document(path)
    method = document["method"]
    if not isinstance(method, str) or method not in METHODS:
        raise ModelFileError(f"{str(path)!r} holds a model of a method that this privet does not know; update privet")
    return METHODS[method].from_document(document, schema_from_json(document["schema"]))
