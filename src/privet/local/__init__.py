"""Nobody is trusted: values are disturbed before they leave their owner, and trees are grown from what arrives."""

from privet.local.channel import Channel
from privet.local.coding import Coding
from privet.local.intervals import Intervals
from privet.local.measures import measure
from privet.local.noise import GaussianNoise, LaplaceNoise, UniformNoise
from privet.local.perturb import perturb
from privet.local.random_response_forest import RandomResponseForestClassifier
from privet.local.randomized_response import RandomizedResponse
from privet.local.reconstruct import reconstruct
from privet.local.reconstruction_tree import ReconstructionTreeClassifier
from privet.local.record_complement import RecordComplement
from privet.local.secret import Secret

__all__ = [
    "Channel",
    "Coding",
    "GaussianNoise",
    "Intervals",
    "LaplaceNoise",
    "RandomResponseForestClassifier",
    "RandomizedResponse",
    "ReconstructionTreeClassifier",
    "RecordComplement",
    "Secret",
    "UniformNoise",
    "measure",
    "perturb",
    "reconstruct",
]
