"""Releases taken together: whoever has the structure and the roster may do it, with any of the parties."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from privet.errors import PartyError
from privet.partitioned.release import Release
from privet.partitioned.roster import Roster
from privet.partitioned.structure import Structure


def checked_releases(
    structures: Iterable[Structure], roster: Roster, releases: Iterable[Release]
) -> dict[str, NDArray[np.int64]]:
    """Return each party's noisy counts, in the roster's order of names; every release is checked first.

    There is one structure for all parties, or one for each that names its party.
    """
    structure_of = {structure.party: structure for structure in structures}
    counts: dict[str, NDArray[np.int64]] = {}
    for release in releases:
        if release.party in counts:
            raise PartyError(f"there are two releases of {release.party!r}; leave one out: a row is counted once")
        structure = structure_of.get(None, structure_of.get(release.party))
        if structure is None:
            raise PartyError(f"the structure has no part for {release.party!r}; leave its release out")
        counts[release.party] = release.check(structure, roster)
    if not counts:
        raise PartyError("there is no release to combine; name the files that the parties sent")
    return {name: counts[name] for name in roster.names if name in counts}
