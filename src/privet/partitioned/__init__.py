"""Several parties who keep their rows: only counts leave, with noise."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.partitioned.horizontal import HorizontalForest
    from privet.partitioned.keys import PrivateKey, PublicKey
    from privet.partitioned.party import Party
    from privet.partitioned.release import Release
    from privet.partitioned.roster import Roster
    from privet.partitioned.secure_sum.forest import SecureSumForest
    from privet.partitioned.secure_sum.round import SumParty
    from privet.partitioned.secure_sum.terms import Terms
    from privet.partitioned.split_structure import SplitStructure
    from privet.partitioned.structure import Structure
    from privet.partitioned.vertical import VerticalForest

# Imported on first use: keys and rosters need no scikit-learn, which takes a second or more.
_HOMES = {
    "HorizontalForest": "horizontal",
    "Party": "party",
    "PrivateKey": "keys",
    "PublicKey": "keys",
    "Release": "release",
    "Roster": "roster",
    "SecureSumForest": "secure_sum.forest",
    "SplitStructure": "split_structure",
    "Structure": "structure",
    "SumParty": "secure_sum.round",
    "Terms": "secure_sum.terms",
    "VerticalForest": "vertical",
}

__all__ = [
    "HorizontalForest",
    "Party",
    "PrivateKey",
    "PublicKey",
    "Release",
    "Roster",
    "SecureSumForest",
    "SplitStructure",
    "Structure",
    "SumParty",
    "Terms",
    "VerticalForest",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet.partitioned' has no attribute {name!r}")
    return getattr(importlib.import_module(f"privet.partitioned.{_HOMES[name]}"), name)
