"""Decision-tree classifiers on tables about people that do not give the people away."""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from privet.attack import audit, audit_in_one_run, membership_inference
    from privet.central import (
        DiffPID3Classifier,
        DPDFClassifier,
        DPRFClassifier,
        PrivateForestClassifier,
        PrivateID3Classifier,
        PrivateRDTClassifier,
    )
    from privet.local import (
        Channel,
        Coding,
        GaussianNoise,
        Intervals,
        LaplaceNoise,
        RandomizedResponse,
        RandomResponseForestClassifier,
        ReconstructionTreeClassifier,
        RecordComplement,
        Secret,
        UniformNoise,
        perturb,
        reconstruct,
    )
    from privet.partitioned import HorizontalForest, Party, VerticalForest
    from privet.privacy.ledger import Ledger
    from privet.registry import load
    from privet.schema import Categorical, Numeric, Schema

# Imported on first use, so that `import privet` and `privet --help` stay quick.
_HOMES = {
    "Categorical": "privet.schema",
    "Channel": "privet.local",
    "Coding": "privet.local",
    "DPDFClassifier": "privet.central",
    "DPRFClassifier": "privet.central",
    "DiffPID3Classifier": "privet.central",
    "GaussianNoise": "privet.local",
    "HorizontalForest": "privet.partitioned",
    "Intervals": "privet.local",
    "LaplaceNoise": "privet.local",
    "Ledger": "privet.privacy.ledger",
    "Numeric": "privet.schema",
    "Party": "privet.partitioned",
    "PrivateForestClassifier": "privet.central",
    "PrivateID3Classifier": "privet.central",
    "PrivateRDTClassifier": "privet.central",
    "RandomResponseForestClassifier": "privet.local",
    "RandomizedResponse": "privet.local",
    "ReconstructionTreeClassifier": "privet.local",
    "RecordComplement": "privet.local",
    "Schema": "privet.schema",
    "Secret": "privet.local",
    "UniformNoise": "privet.local",
    "VerticalForest": "privet.partitioned",
    "audit": "privet.attack",
    "audit_in_one_run": "privet.attack",
    "load": "privet.registry",
    "membership_inference": "privet.attack",
    "perturb": "privet.local",
    "reconstruct": "privet.local",
}

__all__ = [
    "Categorical",
    "Channel",
    "Coding",
    "DPDFClassifier",
    "DPRFClassifier",
    "DiffPID3Classifier",
    "GaussianNoise",
    "HorizontalForest",
    "Intervals",
    "LaplaceNoise",
    "Ledger",
    "Numeric",
    "Party",
    "PrivateForestClassifier",
    "PrivateID3Classifier",
    "PrivateRDTClassifier",
    "RandomResponseForestClassifier",
    "RandomizedResponse",
    "ReconstructionTreeClassifier",
    "RecordComplement",
    "Schema",
    "Secret",
    "UniformNoise",
    "VerticalForest",
    "__version__",
    "audit",
    "audit_in_one_run",
    "load",
    "membership_inference",
    "perturb",
    "reconstruct",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
