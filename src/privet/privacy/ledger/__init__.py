"""The ledger: what has been spent on a data set, in a file that its owner keeps."""

from privet.privacy.ledger.ledger import Ledger
from privet.privacy.ledger.reservation import NoReservation, Reservation
from privet.privacy.ledger.spending import Cost

__all__ = ["Cost", "Ledger", "NoReservation", "Reservation"]
