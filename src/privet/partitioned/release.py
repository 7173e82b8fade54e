"""A release: what one party releases of a structure, signed. It may be published.

Everyone with the structure and the roster can check it, and only the party can have made it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from privet.errors import PartyError
from privet.files.whole_file import whole_bytes
from privet.partitioned.structure import Round
from privet.signing.documents import canonical, check_document, digest, read_canonical
from privet.signing.keys import MAX_NAME, PrivateKey
from privet.signing.roster import Roster

FORMAT, VERSION = "privet-release", 1
_TEXTS = ("party", "round", "structure", "schema", "signature")
# What a release holds is one of these, as the kind of structure says.
_CONTENTS = ({"counts", "event"}, {"model"})
_COMMON = {"format", "version", *_TEXTS}


@dataclass(frozen=True)
class Release:
    """A signed document. It may be used only after `check`.

    Attributes
    ----------
    document : dict
        The party, the round, the hashes of the structure and of its schema, what was released, and the signature. What
        was released is noisy counts and their receipt, or a model.
    """

    document: Mapping[str, Any]

    @classmethod
    def signed(cls, key: PrivateKey, structure: Round, released: Mapping[str, Any]) -> Self:
        """Return the release of the party that holds ``key``."""
        body = {
            "format": FORMAT,
            "version": VERSION,
            "party": key.name,
            "round": structure.round,
            "structure": structure.hash,
            "schema": digest(structure.schema.to_json()),
            **released,
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

    def check(self, structure: Round, roster: Roster) -> Any:
        """Return what was released, or refuse a release that does not fit ``structure`` and ``roster``."""
        self._check_signature(roster)
        self._check_round(structure)
        released = {name: self.document[name] for name in self.document if name not in _COMMON}
        return structure.read_release(released, f"the release of {self.party!r}")

    def _check_signature(self, roster: Roster) -> None:
        key = roster.key_of(self.party)
        body = {name: value for name, value in self.document.items() if name != "signature"}
        if not key.verifies(body, self.document["signature"]):
            raise PartyError(
                f"the signature of the release of {self.party!r} is not that of its key in the roster: it was changed, "
                "or somebody else made it; ask the party itself for the file"
            )

    def _check_round(self, structure: Round) -> None:
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

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the release") -> Self:
        """Read a release. `check` examines its contents."""
        contents = next((own for own in _CONTENTS if own <= set(document)), _CONTENTS[0])
        check_document(document, what, format_=FORMAT, version=VERSION, keys={*_TEXTS, *contents})
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


def check_releases(structures: Iterable[Round], roster: Roster, releases: Iterable[Release]) -> dict[str, Any]:
    """Check every release and return what each party released, in the roster's order of names.

    There is one structure for all parties, or one for each party, which it names.
    """
    structure_of = {structure.party: structure for structure in structures}
    found: dict[str, Any] = {}
    for release in releases:
        if release.party in found:
            raise PartyError(
                f"there are two releases of {release.party!r}, and its rows would count twice; leave one out"
            )
        structure = structure_of.get(None, structure_of.get(release.party))
        if structure is None:
            raise PartyError(f"the structure has no part for {release.party!r}; leave its release out")
        found[release.party] = release.check(structure, roster)
    if not found:
        raise PartyError("there is no release to combine; name the files that the parties sent")
    return {name: found[name] for name in roster.names if name in found}
