"""A release: one party's noisy counts of a structure, signed. It may be published.

Everyone with the structure and the roster can check it, and only the party can have made it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ModelFileError, PartyError
from privet.files.whole_file import whole_bytes
from privet.model_file import MAX_COUNT, counts_from_json, counts_to_json
from privet.partitioned.keys import MAX_NAME, PrivateKey
from privet.partitioned.party_files import canonical, check_document, digest, read_canonical
from privet.partitioned.roster import Roster
from privet.partitioned.structure import Structure
from privet.privacy import events

FORMAT, VERSION = "privet-release", 1
_TEXTS = ("party", "round", "structure", "schema", "signature")
_KEYS = {*_TEXTS, "counts", "event"}


@dataclass(frozen=True)
class Release:
    """A signed document. It may be used only after `check`.

    Attributes
    ----------
    document : dict
        The party, the round, the hashes of the structure and of its schema, the noisy counts leaf by leaf and class by
        class, the receipt, and the signature.
    """

    document: Mapping[str, Any]

    @classmethod
    def signed(
        cls, key: PrivateKey, structure: Structure, noisy_counts: NDArray[np.int64], event: events.Event
    ) -> Self:
        """Return the release of the party that holds ``key``."""
        body = {
            "format": FORMAT,
            "version": VERSION,
            "party": key.name,
            "round": structure.round,
            "structure": structure.hash,
            "schema": digest(structure.schema.to_json()),
            "counts": counts_to_json(noisy_counts),
            "event": events.to_json(event),
        }
        return cls({**body, "signature": key.sign(body)})

    @property
    def party(self) -> str:
        """The party that the release names."""
        return str(self.document["party"])

    @cached_property
    def bytes(self) -> bytes:
        """The bytes that are stored and sent."""
        return canonical(self.document) + b"\n"

    @cached_property
    def hash(self) -> str:
        """The hash that identifies this release."""
        return digest(self.document)

    def check(self, structure: Structure, roster: Roster) -> NDArray[np.int64]:
        """Return the noisy counts, or refuse a release that does not fit ``structure`` and ``roster``."""
        self._check_signature(roster)
        self._check_round(structure)
        self._check_receipt(structure)
        return self._counts(structure)

    def _check_signature(self, roster: Roster) -> None:
        key = roster.key_of(self.party)
        body = {name: value for name, value in self.document.items() if name != "signature"}
        if not key.verifies(body, self.document["signature"]):
            raise PartyError(
                f"the signature of the release of {self.party!r} is not that of its key in the roster: it was changed, "
                "or somebody else made it; ask the party itself for the file"
            )

    def _check_round(self, structure: Structure) -> None:
        who = f"the release of {self.party!r}"
        if self.document["round"] != structure.round:
            raise PartyError(f"{who} is from another round; ask the party for its release of round {structure.round}")
        if self.document["schema"] != digest(structure.schema.to_json()):
            raise PartyError(f"{who} was counted with another schema; send the party the structure and ask again")
        if self.document["structure"] != structure.hash:
            raise PartyError(
                f"{who} was counted on a structure with another hash; send the party the structure and ask again"
            )
        if structure.party not in (None, self.party):
            raise PartyError(f"{who} counts what {structure.party!r} alone should count; leave it out")

    def _check_receipt(self, structure: Structure) -> None:
        who = f"the release of {self.party!r}"
        try:
            event = events.from_json(self.document["event"])
        except ModelFileError:
            event = None
        if event != structure.receipt:
            raise PartyError(
                f"{who} does not have the noise that the structure requires; ask the party to release again"
            )

    def _counts(self, structure: Structure) -> NDArray[np.int64]:
        n_leaves, n_classes = structure.shape
        try:
            return counts_from_json(self.document["counts"], n_leaves=n_leaves, n_classes=n_classes)
        except ModelFileError:
            raise PartyError(
                f"the counts in the release of {self.party!r} are damaged: each leaf and class needs one whole number "
                f"between -{MAX_COUNT:,} and {MAX_COUNT:,}; ask the party for the file again"
            ) from None

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the release") -> Self:
        """Read a release. `check` examines its contents."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys=_KEYS)
        if not all(isinstance(document[name], str) for name in _TEXTS) or len(document["party"]) > MAX_NAME:
            raise PartyError(f"{what} is damaged: a name, a hash or the signature is invalid; fetch it again")
        return cls(document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a release."""
        return cls.from_json(read_canonical(path, "release"), f"the release {str(path)!r}")

    def save(self, path: str | Path) -> None:
        """Write the release to a file to send."""
        with whole_bytes(path) as file:
            file.write(self.bytes)


def check_releases(
    structures: Iterable[Structure], roster: Roster, releases: Iterable[Release]
) -> dict[str, NDArray[np.int64]]:
    """Check every release and return each party's noisy counts, in the roster's order of names.

    There is one structure for all parties, or one for each party, which it names.
    """
    structure_of = {structure.party: structure for structure in structures}
    counts: dict[str, NDArray[np.int64]] = {}
    for release in releases:
        if release.party in counts:
            raise PartyError(
                f"there are two releases of {release.party!r}, and its rows would count twice; leave one out"
            )
        structure = structure_of.get(None, structure_of.get(release.party))
        if structure is None:
            raise PartyError(f"the structure has no part for {release.party!r}; leave its release out")
        counts[release.party] = release.check(structure, roster)
    if not counts:
        raise PartyError("there is no release to combine; name the files that the parties sent")
    return {name: counts[name] for name in roster.names if name in counts}
