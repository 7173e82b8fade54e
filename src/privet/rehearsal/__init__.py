"""What accuracy to expect before anything is spent: fits to rows that are made up, or public already.

`populations` has the rows, `rehearsal` fits and scores. Nothing here reads a row of the owner.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names

if TYPE_CHECKING:
    from privet.rehearsal.rehearsal import Rehearsal as Rehearsal
    from privet.rehearsal.rehearsal import rehearse as rehearse
else:
    _HOMES = dict.fromkeys(("Rehearsal", "rehearse"), "privet.rehearsal.rehearsal")
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
