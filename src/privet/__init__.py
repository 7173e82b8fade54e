"""Decision-tree classifiers on tables about people that do not give the people away."""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names
from privet.methods import METHODS

__version__ = "0.2.0"

if TYPE_CHECKING:
    from privet.attack import audit as audit
    from privet.attack import audit_in_one_run as audit_in_one_run
    from privet.attack import membership_inference as membership_inference
    from privet.central import *  # noqa: F403
    from privet.central.private_search import PrivateSearch as PrivateSearch
    from privet.local import Channel as Channel
    from privet.local import Coding as Coding
    from privet.local import FieldSampling as FieldSampling
    from privet.local import GaussianNoise as GaussianNoise
    from privet.local import Intervals as Intervals
    from privet.local import LaplaceNoise as LaplaceNoise
    from privet.local import RandomizedResponse as RandomizedResponse
    from privet.local import RandomResponseForestClassifier as RandomResponseForestClassifier
    from privet.local import ReconstructionTreeClassifier as ReconstructionTreeClassifier
    from privet.local import RecordComplement as RecordComplement
    from privet.local import SampledForestClassifier as SampledForestClassifier
    from privet.local import Secret as Secret
    from privet.local import UniformNoise as UniformNoise
    from privet.local import perturb as perturb
    from privet.local import reconstruct as reconstruct
    from privet.partitioned import ColumnForest as ColumnForest
    from privet.partitioned import CombinedForest as CombinedForest
    from privet.partitioned import HorizontalForest as HorizontalForest
    from privet.partitioned import Party as Party
    from privet.partitioned import VerticalForest as VerticalForest
    from privet.privacy.ledger import Ledger as Ledger
    from privet.registry import load as load
    from privet.rehearsal import rehearse as rehearse
    from privet.schema import Categorical as Categorical
    from privet.schema import Date as Date
    from privet.schema import Numeric as Numeric
    from privet.schema import Schema as Schema
else:
    # Imported on first use, so that `import privet` and `privet --help` stay quick.
    _ROOMS = {
        "privet.attack": ("audit", "audit_in_one_run", "membership_inference"),
        "privet.central.private_search": ("PrivateSearch",),
        "privet.local": (
            "Channel", "Coding", "FieldSampling", "GaussianNoise", "Intervals", "LaplaceNoise", "RandomizedResponse",
            "RecordComplement",
            "Secret", "UniformNoise", "perturb", "reconstruct",
        ),
        "privet.partitioned": ("Party",),
        "privet.privacy.ledger": ("Ledger",),
        "privet.registry": ("load",),
        "privet.rehearsal": ("rehearse",),
        "privet.schema": ("Categorical", "Date", "Numeric", "Schema"),
    }  # fmt: skip
    _HOMES = {name: room for room, names in _ROOMS.items() for name in names}
    _HOMES |= {method.class_name: method.home for method in METHODS if method.in_privet}
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, "__version__")
