"""What a report has beside the model file: what its owner states, what was run on it, and who signed it.

What was run is attached: an audit, an attack, test scores. Each names its model.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from privet.errors import ParameterError
from privet.files.documents import TooLarge, open_for_reading, parse_json, read_bounded
from privet.report.about import About
from privet.signing import ModelSignature, Roster

# The key under which a document has the checksum of the model file that it is about.
MODEL = "model"
MOST_BYTES = 2**22
AUDIT, MEMBERSHIP, SCORES, OTHER = "audit", "membership attack", "test scores", "document"
# What an audit writes; it fits invented tables, and reads nobody's rows.
_OF_AUDIT = {
    MODEL, "subject", "claimed", "epsilon_shown", "could_show_at_most", "proven", "unit", "confidence", "releases",
    "contradicts", "sentence", "cases", "guesses", "right",
}  # fmt: skip
_OF_MEMBERSHIP = {"advantage", "auc"}
_OF_SCORES = {"accuracy", "balanced_accuracy", "auc", "log_loss", "recall", "r2", "by_group", "groups", "scores"}
_IN_WORDS = {"sentence", "notice"}
_MOST_FIGURES, _MOST_TEXT = 60, 200


@dataclass(frozen=True)
class Attachment:
    """A document that was read, and what the report shows of it.

    Attributes
    ----------
    name : str
        The file's name.
    sha256 : str
        Of the file's bytes.
    kind : str
    sentence : str
        What it found, in its own words; may be empty.
    is_exact : bool
        Whether figures may be computed from rows without noise, so that no promise covers them.
    contradicts : bool
        Whether it found more than the promise allows.
    figures : tuple of (str, value)
        Where in the document a value stands, and the value.
    n_more : int
        How many values are left out.
    """

    name: str
    sha256: str
    kind: str
    sentence: str
    is_exact: bool
    contradicts: bool
    figures: tuple[tuple[str, Any], ...]
    n_more: int

    @classmethod
    def load(cls, path: str | Path, checksum: str) -> Self:
        """Read a document about the model with this checksum, and refuse one about another or none."""
        data, what = _read(path), repr(str(path))
        try:
            document = parse_json(data)
        except TooLarge:
            raise _too_large(what) from None
        except ValueError:
            raise ParameterError(f"{what} is not JSON; attach what a command printed with --json") from None
        if not isinstance(document, dict):
            raise ParameterError(f"{what} is not one JSON object; attach what a command printed with --json")
        _check_model(document, checksum, what)
        return cls._of(document, Path(path).name, hashlib.sha256(data).hexdigest())

    @classmethod
    def _of(cls, document: Mapping[str, Any], name: str, sha256: str) -> Self:
        kind, figures = _kind(document), list(_figures({k: v for k, v in document.items() if k not in _IN_WORDS}))
        sentence = document.get("sentence", document.get("notice", ""))
        return cls(
            name, sha256, kind, sentence if isinstance(sentence, str) else "",
            is_exact=kind != AUDIT,
            contradicts=document.get("contradicts") is True,
            figures=tuple(figures[:_MOST_FIGURES]),
            n_more=max(0, len(figures) - _MOST_FIGURES),
        )  # fmt: skip

    @property
    def is_by_group(self) -> bool:
        """Whether it has test scores of groups."""
        return self.kind == SCORES and any(where.startswith("by_group, ") for where, _ in self.figures)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "figures": [list(each) for each in self.figures]}


def _read(path: str | Path) -> bytes:
    try:
        with open_for_reading(path) as file:
            return read_bounded(file, MOST_BYTES)
    except TooLarge:
        raise _too_large(repr(str(path))) from None
    except OSError as error:
        raise ParameterError(f"cannot read {str(path)!r}: {error.strerror}; check the path") from error


def _too_large(what: str) -> ParameterError:
    return ParameterError(f"{what} is larger than any document that a report shows; attach a shorter one")


def _check_model(document: Mapping[str, Any], checksum: str, what: str) -> None:
    about = document.get(MODEL)
    if not isinstance(about, str):
        raise ParameterError(
            f"{what} does not say which model it is about; make it with `privet audit --model` or `privet score`"
        )
    if about != checksum:
        raise ParameterError(f"{what} is about another model than this one; attach what was run on this file")


def _kind(document: Mapping[str, Any]) -> str:
    names = set(document)
    if "epsilon_shown" in names and names <= _OF_AUDIT:
        return AUDIT
    if names >= _OF_MEMBERSHIP:
        return MEMBERSHIP
    return SCORES if names & _OF_SCORES else OTHER


def _figures(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the single values of a document, each with the names that lead to it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if path or name != MODEL:
                yield from _figures(inner, (*path, str(name)))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _figures(inner, (*path, _named(inner, i)))
    elif value is not None:
        yield ", ".join(path), _plain(value)


def _named(entry: Any, position: int) -> str:
    """Return what an entry of a list is called: by its own name, else by its place."""
    own = entry.get("name") if isinstance(entry, Mapping) else None
    return own if isinstance(own, str) else str(position + 1)


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"{'-' if value < 0 else ''}more than 9,007,199,254,740,991"
    return str(value)[:_MOST_TEXT]


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
