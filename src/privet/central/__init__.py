"""Trusted curator: one party holds all rows and releases a differentially private model.

One file a method, with its argument beside it. Forests of counts share `count_forest`, `leaf_counts` (public trees) and
`greedy_forest` (trees that follow the rows); `weights` and `updates` have their own folders.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names
from privet.methods import homes_of

if TYPE_CHECKING:
    from privet.central.diffpid3 import DiffPID3Classifier as DiffPID3Classifier
    from privet.central.dp_rf import DPRFClassifier as DPRFClassifier
    from privet.central.dpdf import DPDFClassifier as DPDFClassifier
    from privet.central.private_forest import PrivateForestClassifier as PrivateForestClassifier
    from privet.central.private_forest_regressor import PrivateForestRegressor as PrivateForestRegressor
    from privet.central.private_id3 import PrivateID3Classifier as PrivateID3Classifier
    from privet.central.private_rdt import PrivateRDTClassifier as PrivateRDTClassifier
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, homes_of("central"))
