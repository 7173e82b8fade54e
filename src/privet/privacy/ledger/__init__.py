"""The ledger: what has been spent on a data set, in a file that its owner keeps.

`Ledger` is what callers use; the other modules are its file, its entries, and what they add up to. Whatever is changed
here changes ledger.md, which argues that the file never shows less than was released.
"""

from privet.privacy.ledger.ledger import Ledger
from privet.privacy.ledger.reservation import NoReservation, Reservation
from privet.privacy.ledger.spending import Cost

__all__ = ["Cost", "Ledger", "NoReservation", "Reservation"]
