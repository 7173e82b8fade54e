"""The terms of a secure sum: what is counted, by whom, how many must be honest, and how many may vanish."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privet.checks import is_whole
from privet.errors import ParameterError, PartyError
from privet.partitioned.structure import Counts
from privet.privacy.events import Event, NoiseShares, NoNoise, SurvivingNoiseShares
from privet.privacy.mechanisms.noise_shares import MAX_PARTIES
from privet.privacy.mechanisms.rational import scale_at_least
from privet.signing.documents import digest
from privet.signing.roster import Roster

FORMAT, VERSION = "privet-sum-terms", 1
# Every party sends a share to every other one.
MAX_WITH_DROPOUTS = 256


@dataclass(frozen=True, eq=False)
class Terms:
    """What all parties of a secure sum must agree on exactly. Every message quotes the hash.

    Parameters
    ----------
    structure : Counts
        What each party counts, and the epsilon of the sum.
    roster : Roster
        The parties.
    honest : int, optional
        How many shares of noise are enough for epsilon. By default all but one of those that must stay: a party knows
        its own share, so only the shares of the others protect their rows from it.
    dropouts : int
        How many parties may vanish after they have sent their keys. By default none: all must stay.
    """

    structure: Counts
    roster: Roster
    honest: int
    dropouts: int

    def __init__(self, structure: Counts, roster: Roster, honest: int | None = None, dropouts: int = 0) -> None:
        n = len(roster.members)
        if not 2 <= n <= MAX_PARTIES:
            raise PartyError(f"a sum hides its parts among 2 to {MAX_PARTIES:,} parties; make another roster")
        if structure.party is not None:
            raise PartyError(
                f"the structure is for {structure.party!r} alone and is not summed; use one for all parties"
            )
        _check_dropouts(dropouts, n)
        honest = n - dropouts - 1 if honest is None else honest
        if dropouts:
            _check_honest_with_dropouts(honest, dropouts, n)
        elif not (is_whole(honest) and 1 <= honest <= n):
            raise ParameterError(f"honest={honest!r} must be a whole number from 1 to {n}, the parties of the roster")
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "roster", roster)
        object.__setattr__(self, "honest", int(honest))
        object.__setattr__(self, "dropouts", int(dropouts))

    @property
    def n_parties(self) -> int:
        """How many parties there are."""
        return len(self.roster.members)

    @property
    def threshold(self) -> int:
        """How many parties must stay: so many count in the sum, sign who is counted, and take the masks off."""
        return self.n_parties - self.dropouts

    @cached_property
    def hash(self) -> str:
        """The hash that identifies these terms."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the terms as plain JSON values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "structure": self.structure.hash,
            "roster": self.roster.hash,
            "honest": self.honest,
            **({"dropouts": self.dropouts} if self.dropouts else {}),  # other hashes stay as they were
        }

    def receipt(self, n_counted: int) -> Event:
        """Return the receipt of a sum in which so many parties are counted."""
        structure = self.structure
        if math.isinf(structure.epsilon):
            return NoNoise(structure.what)
        scale = scale_at_least(structure.sensitivity, structure.epsilon)
        noise = (structure.what, structure.epsilon, structure.sensitivity, scale, self.honest, n_counted)
        return SurvivingNoiseShares(*noise, self.n_parties, self.dropouts) if self.dropouts else NoiseShares(*noise)


def honest_range(dropouts: int, n: int) -> tuple[int, int]:
    """Return how many honest shares of noise there may be at least and at most, where parties may vanish.

    With fewer, a second sum could be opened; with more, no party could look at the sum: dropouts.md.
    """
    return dropouts + 1, n - dropouts - 1


def _check_dropouts(dropouts: object, n: int) -> None:
    if not (is_whole(dropouts) and dropouts >= 0):
        raise ParameterError(f"dropouts={dropouts!r} must be a whole number: how many parties may vanish, or 0")
    if dropouts and not 2 * dropouts + 2 <= n <= MAX_WITH_DROPOUTS:
        raise ParameterError(
            f"dropouts={dropouts} is not possible with {n} parties: fewer than half may vanish, so that two different "
            f"groups never open two sums, and one more must stay than are needed, because it looks; with at most "
            f"{MAX_WITH_DROPOUTS} parties, let up to {max(0, (min(n, MAX_WITH_DROPOUTS) - 2) // 2)} vanish"
        )


def _check_honest_with_dropouts(honest: object, dropouts: int, n: int) -> None:
    least, most = honest_range(dropouts, n)
    if not (is_whole(honest) and least <= honest <= most):
        raise ParameterError(
            f"honest={honest!r} must be a whole number from {least} to {most}, where {dropouts} of {n} parties may "
            "vanish: more than may vanish, so that no second sum can be opened, and one fewer than must stay"
        )
