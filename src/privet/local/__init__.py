"""Nobody is trusted: values are disturbed before they leave their owner, and trees are grown from what arrives."""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names
from privet.methods import homes_of

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel as Channel
    from privet.local.channels.coding import Coding as Coding
    from privet.local.channels.intervals import Intervals as Intervals
    from privet.local.channels.perturb import perturb as perturb
    from privet.local.channels.randomized_response import RandomizedResponse as RandomizedResponse
    from privet.local.channels.record_complement import RecordComplement as RecordComplement
    from privet.local.channels.sampling.field_sampling import FieldSampling as FieldSampling
    from privet.local.channels.secret import Secret as Secret
    from privet.local.channels.transformers import GaussianNoise as GaussianNoise
    from privet.local.channels.transformers import LaplaceNoise as LaplaceNoise
    from privet.local.channels.transformers import UniformNoise as UniformNoise
    from privet.local.measures.measures import measure as measure
    from privet.local.planning.answers_plan import plan_answers as plan_answers
    from privet.local.planning.simulation import simulate_answers as simulate_answers
    from privet.local.reconstruction.reconstruct import reconstruct as reconstruct
    from privet.local.reconstruction.reconstruction_tree import (
        ReconstructionTreeClassifier as ReconstructionTreeClassifier,
    )
    from privet.local.response_forest.random_response_forest import (
        RandomResponseForestClassifier as RandomResponseForestClassifier,
    )
    from privet.local.sampled_forest.sampled_forest import SampledForestClassifier as SampledForestClassifier
else:
    _HOMES = {
        "Channel": "privet.local.channels.channel",
        "Coding": "privet.local.channels.coding",
        "FieldSampling": "privet.local.channels.sampling.field_sampling",
        "GaussianNoise": "privet.local.channels.transformers",
        "Intervals": "privet.local.channels.intervals",
        "LaplaceNoise": "privet.local.channels.transformers",
        "RandomizedResponse": "privet.local.channels.randomized_response",
        "RecordComplement": "privet.local.channels.record_complement",
        "Secret": "privet.local.channels.secret",
        "UniformNoise": "privet.local.channels.transformers",
        "measure": "privet.local.measures.measures",
        "perturb": "privet.local.channels.perturb",
        "plan_answers": "privet.local.planning.answers_plan",
        "reconstruct": "privet.local.reconstruction.reconstruct",
        "simulate_answers": "privet.local.planning.simulation",
    }
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES | homes_of("local"))
