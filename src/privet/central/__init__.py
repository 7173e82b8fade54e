"""Trusted curator: one party holds all rows and releases a differentially private model."""

from privet.central.private_rdt import PrivateRDTClassifier

__all__ = ["PrivateRDTClassifier"]
