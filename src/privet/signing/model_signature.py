"""Whose model a file is: a signature of its checksum, in a document beside it. Argued in model_signature.md."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from privet.checks import is_day, is_hex
from privet.errors import ParameterError, PartyError, SignatureError
from privet.files.whole_file import whole_bytes
from privet.model_file import read_document
from privet.signing.documents import DIGEST_CHARACTERS, canonical, check_document, read_canonical
from privet.signing.keys import PrivateKey, PublicKey, checked_name
from privet.signing.roster import Roster

FORMAT, VERSION = "privet-model-signature", 1
SUFFIX = ".sig"
_FIELDS = {"signer", "model", "signed", "until", "signature"}


@dataclass(frozen=True)
class ModelSignature:
    """A signature that was read. It says nothing before `check`.

    Attributes
    ----------
    signer : str
        In whose name it was made.
    model : str
        The checksum of the model file.
    signed : str
        The day, by the signer's clock.
    until : str or None
        The last day on which it is to be trusted.
    signature : str
        In hexadecimal digits.
    """

    signer: str
    model: str
    signed: str
    until: str | None
    signature: str

    @classmethod
    def make(cls, checksum: str, key: PrivateKey, *, until: date | None = None, today: date | None = None) -> Self:
        """Sign a checksum."""
        signed = today or utc_today()
        if until is not None and until < signed:
            raise ParameterError(f"a signature until {until} would have ended already; name a later day")
        unsigned = cls(key.name, checksum, signed.isoformat(), None if until is None else until.isoformat(), "")
        return cls(**{**asdict(unsigned), "signature": key.sign(unsigned.body)})

    @property
    def body(self) -> dict[str, Any]:
        """What is signed. Its format keeps it apart from all else that a key signs."""
        fields = {name: value for name, value in asdict(self).items() if name != "signature"}
        return {"format": FORMAT, "version": VERSION, **fields}

    @property
    def document(self) -> dict[str, Any]:
        """What the file holds."""
        return {**self.body, "signature": self.signature}

    def check(self, checksum: str, keys: Roster, *, today: date | None = None) -> PublicKey:
        """Return the key that signed the model with this checksum, or refuse."""
        try:
            key = keys.key_of(self.signer)
        except PartyError:
            raise SignatureError(
                f"the signature is in the name of {self.signer!r}, and you gave no key of that name; pass the key of "
                "whoever you take the model from"
            ) from None
        if not key.verifies(self.body, self.signature):
            raise SignatureError(
                f"the signature was not made by the key that you have of {self.signer!r}: it was changed, or somebody "
                "else made it; do not use the model as theirs, and ask them for the file"
            )
        if self.model != checksum:
            raise SignatureError(
                f"the signature of {self.signer!r} is for another model: this one was changed or exchanged; do not use "
                "it as theirs, and ask them for the file"
            )
        if self.until is not None and (today or utc_today()).isoformat() > self.until:
            raise SignatureError(
                f"the signature of {self.signer!r} was to be trusted until {self.until}; ask them for a new one"
            )
        return key

    def save(self, path: str | Path) -> None:
        """Write the document, whole or not at all."""
        with whole_bytes(path) as file:
            file.write(canonical(self.document) + b"\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a signature."""
        if not Path(path).exists():
            raise SignatureError(
                f"there is no signature {str(path)!r}, so nobody knows whose model this is; ask whoever made it to "
                "run `privet sign`, or pass the file that they sent"
            )
        return cls.from_json(read_canonical(path, "signature"), f"the signature {str(path)!r}")

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the signature") -> Self:
        """Read a signature; its parts are checked, not who made it."""
        check_document(document, what, format_=FORMAT, version=VERSION, keys=_FIELDS)
        fields = {name: document[name] for name in _FIELDS}
        days = [fields["signed"], *([] if fields["until"] is None else [fields["until"]])]
        if not (is_hex(fields["model"], DIGEST_CHARACTERS // 2) and all(map(is_day, days))):
            raise SignatureError(f"{what} is damaged: its checksum or a day is none; fetch it again")
        try:
            checked_name(fields["signer"])
        except ParameterError:
            raise SignatureError(f"{what} is damaged: its signer has no name; fetch it again") from None
        return cls(**fields)


def signature_file(model: str | Path) -> Path:
    """Return where the signature of a model file lies: beside it, with `.sig` at the end of its name."""
    return Path(f"{model}{SUFFIX}")


def sign_model(
    path: str | Path, key: PrivateKey, *, until: date | None = None, today: date | None = None
) -> ModelSignature:
    """Sign a model file, and write the signature beside it.

    Parameters
    ----------
    path : str or Path
        The model file. What is signed is its checksum, so packing it with gzip or unpacking it changes nothing.
    key : PrivateKey
        The signer's.
    until : date, optional
        The last day on which the signature is to be trusted.
    today : date, optional
        The day to put into the signature; by default that of the clock, in UTC.
    """
    made = ModelSignature.make(str(read_document(path)["checksum"]), key, until=until, today=today)
    made.save(signature_file(path))
    return made


def verify_model(
    path: str | Path, keys: Roster, *, signature: str | Path | None = None, today: date | None = None
) -> ModelSignature:
    """Return the signature of a model file, if one of ``keys`` made it; else raise SignatureError.

    Parameters
    ----------
    path : str or Path
        The model file.
    keys : Roster
        The public keys of those from whom the model may be.
    signature : path, optional
        By default beside the model.
    today : date, optional
        The day for which the signature must hold; by default that of the clock, in UTC.
    """
    checksum = str(read_document(path)["checksum"])
    found = ModelSignature.load(signature_file(path) if signature is None else signature)
    found.check(checksum, keys, today=today)
    return found


def utc_today() -> date:
    """Return the day by the clock, in UTC."""
    return datetime.now(UTC).date()


def read_day(text: str) -> date:
    """Return the day that ``text`` names as YYYY-MM-DD."""
    if not is_day(text):
        raise ParameterError(f"{text!r} is no day; write it as 2027-12-31")
    return date.fromisoformat(text)
