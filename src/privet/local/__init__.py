"""Nobody is trusted: values are disturbed before they leave their owner, and trees are grown from what arrives."""

from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.channels.intervals import Intervals
from privet.local.channels.noise import GaussianNoise, LaplaceNoise, UniformNoise
from privet.local.channels.perturb import perturb
from privet.local.channels.randomized_response import RandomizedResponse
from privet.local.channels.record_complement import RecordComplement
from privet.local.channels.secret import Secret
from privet.local.measures.measures import measure
from privet.local.reconstruction.reconstruct import reconstruct
from privet.local.reconstruction.reconstruction_tree import ReconstructionTreeClassifier
from privet.local.response_forest.random_response_forest import RandomResponseForestClassifier

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
