"""What a model file cannot know: whose rows, for what, from when, whom to ask. Their owner writes it in about.toml."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any, Self

from privet.checks import look_alike
from privet.errors import ParameterError
from privet.files.documents import TooLarge, open_for_reading, read_bounded

# The registry's words; see registry_fields.py.
OWNER_KINDS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
MOST_BYTES, MOST_CHARACTERS = 2**16, 2_000
_REQUIRED = ("owner", "purpose", "period", "contact")
_CHOICES = {"owner_kind": OWNER_KINDS, "sector": SECTORS}
TEMPLATE = f"""\
# About the rows and the release, for `privet report --about about.toml`.
# The report, the model card and the registry's record quote it. It is not checked against anything.
owner = ""    # who answers for the rows: "City Hospital, Research Office"
purpose = ""  # what the model is for
period = ""   # when the rows are from: "January 2023 to June 2026"
contact = ""  # whom to ask: an address, a telephone number

# Take off the # of what you can answer. The registry needs the first five.
# name = ""          # what the model is called
# description = ""   # what it is, in a sentence or two
# owner_kind = ""    # {", ".join(OWNER_KINDS)}
# region = ""        # where the people live, or whose law applies
# published = 2026-12-31
# sector = ""        # {", ".join(SECTORS)}
# people = ""        # whom the rows are about, and how many rows one of them may have
# recipients = ""    # who gets the model, and what else they may know
# collection = ""    # how the rows were collected, moved and stored, and what the people were told
# access = ""        # who may read the rows, the logs of the fit and its errors, and for how long
# fairness = ""      # how it was looked after that groups are treated fairly
# preparation = ""   # what was done to the rows before the fit, how settings were chosen, and what that cost
# justification = "" # why this epsilon, this unit and this method
# further = ""       # whether further releases from these rows are planned
# authors = [""]     # who fills in the registry's record
"""


@dataclass(frozen=True)
class About:
    """What the owner states; None where nothing was said. The template says what each field is."""

    owner: str
    purpose: str
    period: str
    contact: str
    name: str | None = None
    description: str | None = None
    owner_kind: str | None = None
    region: str | None = None
    published: str | None = None
    sector: str | None = None
    people: str | None = None
    recipients: str | None = None
    collection: str | None = None
    access: str | None = None
    fairness: str | None = None
    preparation: str | None = None
    justification: str | None = None
    further: str | None = None
    authors: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the file, and refuse what is not in the template."""
        return cls.from_toml(_read(path), repr(str(path)))

    @classmethod
    def from_toml(cls, text: str, what: str = "about.toml") -> Self:
        """Read the text of such a file; errors call it ``what``."""
        try:
            stated = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            why = "it nests too deep" if isinstance(error, RecursionError) else str(error)
            raise ParameterError(
                f"{what} is not TOML: {why}; begin with `privet report --about-template > about.toml`"
            ) from None
        return cls._of(stated, what)

    @classmethod
    def from_pairs(cls, pairs: Sequence[str]) -> Self:
        """Read texts such as ``owner=City Hospital``, as a command line has them; authors may be repeated."""
        stated: dict[str, Any] = {}
        for pair in pairs:
            name, equals, text = pair.partition("=")
            if not equals:
                raise ParameterError(f"--state {pair[:80]!r} is not NAME=TEXT; write --state owner='City Hospital'")
            if name == "authors":
                stated.setdefault(name, []).append(text)
            elif name in stated:
                raise ParameterError(f"--state has {name[:80]!r} twice; leave one out")
            else:
                stated[name] = _written_day(text) if name == "published" else text
        return cls._of(stated, "--state")

    @classmethod
    def _of(cls, stated: dict[str, Any], what: str) -> Self:
        known = [field.name for field in fields(cls)]
        for name in stated:
            _check_known(name, known, what)
        missing = [name for name in _REQUIRED if not str(stated.get(name, "")).strip()]
        if missing:
            raise ParameterError(f"{what} does not state {' or '.join(missing)}; fill it in")
        return cls(**{name: _checked(name, value, what) for name, value in stated.items()})

    def to_json(self) -> dict[str, Any]:
        """Return what was stated, as plain values."""
        return {name: list(value) if name == "authors" else value for name, value in vars(self).items() if value}


def _read(path: str | Path) -> str:
    try:
        with open_for_reading(path) as file:
            return read_bounded(file, MOST_BYTES).decode("utf-8-sig")
    except TooLarge:
        raise ParameterError(f"{str(path)!r} is longer than {MOST_BYTES:,} bytes; shorten it") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{str(path)!r} is not text in UTF-8; save it as such") from None
    except OSError as error:
        raise ParameterError(
            f"cannot read {str(path)!r}: {error.strerror}; `privet report --about-template > about.toml` begins one"
        ) from error


def _check_known(name: str, known: list[str], what: str) -> None:
    if name not in known:
        meant = look_alike(name, known)
        hint = f"it is spelled {meant!r}" if meant else f"there are {', '.join(known)}"
        raise ParameterError(f"{what} has a field {name[:80]!r}, which no report shows; {hint}")


def _checked(name: str, value: object, what: str) -> Any:
    if name == "authors":
        if not isinstance(value, list) or not value:
            raise ParameterError(f"authors in {what} must be a list of names: authors = ['A. Officer']")
        return tuple(_text(name, each, what) for each in value)
    if name == "published":
        return _day(value, what)
    text = _text(name, value, what)
    if name in _CHOICES and text not in _CHOICES[name]:
        raise ParameterError(f"{name} in {what} is not one of {', '.join(_CHOICES[name])}; choose one, or leave it out")
    return text


def _text(name: str, value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{name} in {what} must be text in quotes; fill it in, or leave it out")
    if len(value) > MOST_CHARACTERS:
        raise ParameterError(f"{name} in {what} is longer than {MOST_CHARACTERS:,} characters; shorten it")
    return " ".join(value.split())


def _written_day(text: str) -> object:
    """Return a day that was typed, and any other text as it is, which is then refused."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _day(value: object, what: str) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    raise ParameterError(f"published in {what} must be a day without quotes, as 2026-12-31")
