"""The roster: the parties that take part, and the public keys of their signatures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from privet.checks import looks_of
from privet.errors import PartyError
from privet.signing.documents import check_document, check_pin, digest, read_canonical, write_canonical
from privet.signing.keys import PublicKey

FORMAT, VERSION = "privet-roster", 1
MAX_PARTIES = 10_000


@dataclass(frozen=True)
class Roster:
    """Parties in the order of their names. No two have the same name or key.

    Examples
    --------
    >>> bank, clinic = PublicKey("bank", "a1" * 32), PublicKey("clinic", "b2" * 32)
    >>> Roster([clinic, bank]).names
    ('bank', 'clinic')
    """

    members: tuple[PublicKey, ...]

    def __init__(self, members: Iterable[PublicKey]) -> None:
        object.__setattr__(self, "members", tuple(sorted(members, key=lambda member: member.name)))
        if not 1 <= len(self.members) <= MAX_PARTIES:
            raise PartyError(f"a roster has from 1 to {MAX_PARTIES:,} parties; name their public keys")
        _check_distinct(self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names, in order."""
        return tuple(member.name for member in self.members)

    @cached_property
    def hash(self) -> str:
        """The hash that all parties compare before they trust the roster."""
        return digest(self.to_json())

    def key_of(self, name: object) -> PublicKey:
        """Return the public key of the party called ``name``."""
        for member in self.members:
            if member.name == name:
                return member
        raise PartyError(f"the party {name!r} is not in the roster; if it belongs, make a roster with its public key")

    def to_json(self) -> dict[str, Any]:
        """Return the roster as plain JSON values."""
        return {"format": FORMAT, "version": VERSION, "parties": {member.name: member.hex for member in self.members}}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the roster") -> Self:
        """Read a roster back."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys={"parties"})
        if not isinstance(document["parties"], Mapping):
            raise PartyError(f"{what} lists no parties; fetch it again")
        roster = cls(PublicKey(name, key) for name, key in document["parties"].items())
        if roster.to_json() != document:  # a name in another Unicode form
            raise PartyError(f"{what} is not as privet writes it; make it again with `privet party roster`")
        return roster

    @classmethod
    def gather(cls, paths: Iterable[str | Path]) -> Self:
        """Return all whose public keys are in the files; each holds one key, or a roster."""
        members: dict[str, PublicKey] = {}
        for path in paths:
            document = read_canonical(path, "public key or roster")
            what = f"the file {str(path)!r}"
            found = cls.from_json(document, what).members if document.get("format") == FORMAT else ()
            for key in found or [PublicKey.from_json(document, what)]:
                if members.setdefault(key.name, key) != key:
                    raise PartyError(f"the files have two keys of {key.name!r}; leave out the one that is not in use")
        return cls(members.values())

    def save(self, path: str | Path) -> None:
        """Write the roster to a file for every party."""
        write_canonical(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path, *, pin: str | None = None) -> Self:
        """Read a roster. With ``pin``, its hash must be this one."""
        roster = cls.from_json(read_canonical(path, "roster"), f"the roster {str(path)!r}")
        check_pin(roster.hash, pin, f"the roster {str(path)!r}")
        return roster


def _check_distinct(members: tuple[PublicKey, ...]) -> None:
    names: set[str] = set()
    holder_of: dict[str, str] = {}
    for member in members:
        looks = looks_of(member.name)
        if looks & names:
            raise PartyError(
                f"the name {member.name!r} is in the roster twice, perhaps in another case, width or script; rename one"
            )
        if member.hex in holder_of:
            raise PartyError(
                f"{holder_of[member.hex]!r} and {member.name!r} have the same key, so they are one party under two "
                "names; leave one out"
            )
        names |= looks
        holder_of[member.hex] = member.name
