"""Decision-tree classifiers on tables about people that do not give the people away."""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from privet.central import (
        DiffPID3Classifier,
        DPDFClassifier,
        DPRFClassifier,
        PrivateForestClassifier,
        PrivateID3Classifier,
        PrivateRDTClassifier,
    )
    from privet.privacy.ledger import Ledger
    from privet.registry import load
    from privet.schema import Categorical, Numeric, Schema

# Imported on first use, so that `import privet` and `privet --help` stay quick.
_HOMES = {
    "Categorical": "privet.schema",
    "DPDFClassifier": "privet.central",
    "DPRFClassifier": "privet.central",
    "DiffPID3Classifier": "privet.central",
    "Ledger": "privet.privacy.ledger",
    "Numeric": "privet.schema",
    "PrivateForestClassifier": "privet.central",
    "PrivateID3Classifier": "privet.central",
    "PrivateRDTClassifier": "privet.central",
    "Schema": "privet.schema",
    "load": "privet.registry",
}

__all__ = [
    "Categorical",
    "DPDFClassifier",
    "DPRFClassifier",
    "DiffPID3Classifier",
    "Ledger",
    "Numeric",
    "PrivateForestClassifier",
    "PrivateID3Classifier",
    "PrivateRDTClassifier",
    "Schema",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
