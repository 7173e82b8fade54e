"""Trusted curator: one party holds all rows and releases a differentially private model."""

from privet.central.diffpid3 import DiffPID3Classifier
from privet.central.dp_rf import DPRFClassifier
from privet.central.dpdf import DPDFClassifier
from privet.central.private_forest import PrivateForestClassifier
from privet.central.private_id3 import PrivateID3Classifier
from privet.central.private_rdt import PrivateRDTClassifier

__all__ = [
    "DPDFClassifier",
    "DPRFClassifier",
    "DiffPID3Classifier",
    "PrivateForestClassifier",
    "PrivateID3Classifier",
    "PrivateRDTClassifier",
]
