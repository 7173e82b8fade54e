"""What a report has beside the model file: what its owner states, what was run on it, and who signed it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from privet.errors import ParameterError
from privet.report.about import About
from privet.report.attachments import Attachment
from privet.signing import ModelSignature, Roster


@dataclass(frozen=True)
class Signer:
    """Who signed the model, by a signature that was checked."""

    name: str
    fingerprint: str
    signed: str
    until: str | None

    @classmethod
    def of(cls, signature: ModelSignature, checksum: str, keys: Roster) -> Self:
        """Check a signature against the keys, and return whose it is."""
        key = signature.check(checksum, keys)
        return cls(key.name, key.hex, signature.signed, signature.until)


@dataclass(frozen=True)
class Evidence:
    """All of it; what was not given is None or empty."""

    about: About | None = None
    attachments: tuple[Attachment, ...] = ()
    signer: Signer | None = None

    @classmethod
    def gather(
        cls,
        checksum: str,
        *,
        about: str | Path | About | None = None,
        attach: Sequence[str | Path] = (),
        signature: ModelSignature | None = None,
        keys: Roster | None = None,
    ) -> Self:
        """Read what was given for the model with this checksum, and refuse what is about another."""
        if (signature is None) != (keys is None):
            raise ParameterError("a signature says nothing without the keys to check it; pass both, or neither")
        signer = None if signature is None or keys is None else Signer.of(signature, checksum, keys)
        attached = tuple(Attachment.load(path, checksum) for path in attach)
        stated = about if about is None or isinstance(about, About) else About.load(about)
        return cls(stated, attached, signer)

    @property
    def is_exact(self) -> bool:
        """Whether something attached may be computed from rows without noise."""
        return any(each.is_exact for each in self.attachments)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "about": None if self.about is None else self.about.to_json(),
            "attachments": [each.to_json() for each in self.attachments],
            "signer": None if self.signer is None else asdict(self.signer),
        }


NOTHING = Evidence()
