"""The words of the pages: a text file for each language, and the texts that a collector adds."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError
from privet.files.documents import read_json

if TYPE_CHECKING:
    from privet.schema import Schema

_FALLBACK = "en"
_OWN = {"title", "purpose", "fields", "values"}
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_GAP = re.compile(r"\{\w+\}")


@cache
def page_texts() -> dict[str, dict[str, str]]:
    """Return the texts that the pages have, by language, the one that stands in for others first."""
    folder = files("privet.service.collect").joinpath("pages", "texts")
    found = {entry.name.removesuffix(".json"): json.loads(entry.read_bytes()) for entry in folder.iterdir()}
    return {language: found[language] for language in sorted(found, key=lambda own: (own != _FALLBACK, own))}


def read_texts(path: Path, schema: "Schema") -> dict[str, dict[str, Any]]:
    """Return the collector's own texts, by language, from a file.

    ``{"en": {"title": ..., "purpose": ..., "fields": {"age": "How old are you?"}, "values": {"smoker": {"no": "I do
    not smoke"}}}}`` puts words over names. A language that the pages do not have has its ``name`` too, a ``dir``, and
    the keys of ``pages/texts/en.json``; what it lacks is taken from English.
    """
    try:
        document = read_json(path)
    except (OSError, ValueError):
        raise ParameterError(f"--texts: {str(path)!r} cannot be read as JSON; correct it") from None
    if not isinstance(document, Mapping) or not all(isinstance(own, Mapping) for own in document.values()):
        raise ParameterError('--texts: the file holds an object of texts for each language, such as {"en": {...}}')
    for language, own in document.items():
        _check_language(language, own)
        _check_own(language, own, schema)
    return {language: dict(own) for language, own in document.items()}


def _check_language(language: str, own: Mapping[str, Any]) -> None:
    """Refuse texts of the page that it has already, or that say other things than its English ones."""
    known = page_texts()
    if not _LANGUAGE.fullmatch(language):
        raise ParameterError(f"--texts: {language!r} is no language; use its short name, such as 'nl'")
    of_page = {key: text for key, text in own.items() if key not in _OWN}
    if language in known:
        if of_page:
            raise ParameterError(
                f"--texts: the pages have texts of their own for {language!r}; leave {next(iter(of_page))!r} out"
            )
        return
    if not isinstance(own.get("name"), str) or own.get("dir", "ltr") not in ("ltr", "rtl"):
        raise ParameterError(
            f'--texts: {language!r} is a new language; give its name as "name", and "ltr" or "rtl" as "dir"'
        )
    for key, text in of_page.items():
        if key not in known[_FALLBACK] or not isinstance(text, str):
            raise ParameterError(f"--texts: the pages have no text {key!r}; take the keys of the English file")
        if set(_GAP.findall(text)) != set(_GAP.findall(known[_FALLBACK][key])):
            raise ParameterError(f"--texts: {key!r} in {language!r} needs the gaps of the English text, and no other")


def _check_own(language: str, own: Mapping[str, Any], schema: "Schema") -> None:
    """Refuse names of fields and values that the schema does not have."""
    values = {a.name: getattr(a, "categories", ()) for a in schema.attributes} | {schema.target: schema.classes}
    fields, of_values = own.get("fields", {}), own.get("values", {})
    plain = [own.get("title", ""), own.get("purpose", "")]
    if not isinstance(fields, Mapping) or not isinstance(of_values, Mapping):
        raise ParameterError(f'--texts: "fields" and "values" in {language!r} are objects; correct them')
    for name in (*fields, *of_values):
        if name not in values:
            raise ParameterError(f"--texts: the channel has no field {name!r}; correct {language!r}")
    for name, told in of_values.items():
        known = {str(value) for value in values[name]}
        unknown = next((key for key in told if key not in known), None) if isinstance(told, Mapping) else name
        if unknown is not None:
            raise ParameterError(f"--texts: the field {name!r} has no value {unknown!r}; correct {language!r}")
        plain += told.values()
    if not all(isinstance(text, str) for text in [*plain, *fields.values()]):
        raise ParameterError(f"--texts: titles, fields and values in {language!r} are texts; correct them")
