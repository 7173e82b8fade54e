"""Several parties train one model, and each keeps its rows: only noisy counts leave a party.

`structure` and the roster of `privet.signing` are what the parties agree on; `party` and `release` make and check what
leaves; `own_forests`, `own_columns`, `horizontal` and `vertical` combine it. `secure_sum/` opens only the sum;
`transports/` carries its messages. `tables/` makes a model of class tables, in two rounds of either kind.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names
from privet.methods import homes_of

if TYPE_CHECKING:
    from privet.partitioned.horizontal import HorizontalForest as HorizontalForest
    from privet.partitioned.own_columns import ColumnForest as ColumnForest
    from privet.partitioned.own_forests import CombinedForest as CombinedForest
    from privet.partitioned.own_forests import ForestRound as ForestRound
    from privet.partitioned.party import Party as Party
    from privet.partitioned.release import Release as Release
    from privet.partitioned.secure_sum.forest import SecureSumForest as SecureSumForest
    from privet.partitioned.secure_sum.round import SumParty as SumParty
    from privet.partitioned.secure_sum.terms import Terms as Terms
    from privet.partitioned.split_structure import SplitStructure as SplitStructure
    from privet.partitioned.structure import Structure as Structure
    from privet.partitioned.tables.newton_round import NewtonRound as NewtonRound
    from privet.partitioned.tables.table_forest import TableForest as TableForest
    from privet.partitioned.tables.table_round import TableRound as TableRound
    from privet.partitioned.vertical import VerticalForest as VerticalForest
    from privet.signing.keys import PrivateKey as PrivateKey
    from privet.signing.keys import PublicKey as PublicKey
    from privet.signing.roster import Roster as Roster
else:
    _HOMES = {
        "ForestRound": "privet.partitioned.own_forests",
        "NewtonRound": "privet.partitioned.tables.newton_round",
        "Party": "privet.partitioned.party",
        "PrivateKey": "privet.signing.keys",
        "PublicKey": "privet.signing.keys",
        "Release": "privet.partitioned.release",
        "Roster": "privet.signing.roster",
        "SplitStructure": "privet.partitioned.split_structure",
        "Structure": "privet.partitioned.structure",
        "SumParty": "privet.partitioned.secure_sum.round",
        "TableRound": "privet.partitioned.tables.table_round",
        "Terms": "privet.partitioned.secure_sum.terms",
    }
    # Imported on first use: keys and rosters need no scikit-learn, which takes a second or more.
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES | homes_of("partitioned"))
