"""Which class a model file's method stands for, and loading it."""

from pathlib import Path
from typing import TYPE_CHECKING

from privet.central.private_rdt import PrivateRDTClassifier
from privet.errors import ModelFileError
from privet.model_file import read_document, schema_from_json

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier

METHODS = {"private-rdt": PrivateRDTClassifier}


def load(path: str | Path) -> "PrivateClassifier":
    """Return the model that the file at ``path`` holds, checked in every part.

    A model file is data: opening one from a stranger runs no code of theirs.
    """
    document = read_document(path)
    by_name = {estimator.__name__: estimator for estimator in METHODS.values()}
    estimator = by_name.get(document["method"]) if isinstance(document["method"], str) else None
    if estimator is None:
        raise ModelFileError(f"{str(path)!r} holds a model of a method that this privet does not know; update privet")
    return estimator.from_document(document, schema_from_json(document["schema"]))
