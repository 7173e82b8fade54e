"""The terms of a secure sum: what is counted, by whom, and how many parties must be honest."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privet.checks import is_whole
from privet.errors import ParameterError, PartyError
from privet.partitioned.party_files import digest
from privet.partitioned.roster import Roster
from privet.partitioned.structure import Counts
from privet.privacy.events import Event, NoiseShares, NoNoise
from privet.privacy.mechanisms.noise_shares import MAX_PARTIES
from privet.privacy.mechanisms.rational import scale_at_least

FORMAT, VERSION = "privet-sum-terms", 1


@dataclass(frozen=True, eq=False)
class Terms:
    """What all parties of a secure sum must agree on exactly. Every message quotes the hash.

    Parameters
    ----------
    structure : Counts
        What each party counts, and the epsilon of the sum.
    roster : Roster
        The parties; all of them must take part.
    honest : int, optional
        How many shares of noise are enough for epsilon. By default all but one: a party knows its own share, so only
        the shares of the others protect their rows from it.
    """

    structure: Counts
    roster: Roster
    honest: int

    def __init__(self, structure: Counts, roster: Roster, honest: int | None = None) -> None:
        n = len(roster.members)
        if not 2 <= n <= MAX_PARTIES:
            raise PartyError(f"a sum hides its parts among 2 to {MAX_PARTIES:,} parties; make another roster")
        if structure.party is not None:
            raise PartyError(
                f"the structure is for {structure.party!r} alone and is not summed; use one for all parties"
            )
        honest = n - 1 if honest is None else honest
        if not (is_whole(honest) and 1 <= honest <= n):
            raise ParameterError(f"honest={honest!r} must be a whole number from 1 to {n}, the parties of the roster")
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "roster", roster)
        object.__setattr__(self, "honest", int(honest))

    @property
    def n_parties(self) -> int:
        """How many parties there are."""
        return len(self.roster.members)

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
        }

    @property
    def receipt(self) -> Event:
        """The receipt of the opened sum."""
        structure = self.structure
        if math.isinf(structure.epsilon):
            return NoNoise(structure.what)
        scale = scale_at_least(structure.sensitivity, structure.epsilon)
        return NoiseShares(structure.what, structure.epsilon, structure.sensitivity, scale, self.honest, self.n_parties)
