"""A seed made hostile: damaged, knowing its format or not, and what a stranger can compute made to fit."""

import gzip
import json
from contextlib import suppress
from functools import cache
from typing import Any

import pyarrow as pa

from privet.errors import PrivetError
from privet.local.channels.channel import Channel
from privet.local.guarantee import LocalGuarantee
from privet.model_file import checksum
from privet.privacy import events
from privet.registry import LOCAL_METHODS, METHODS, PARTY_METHODS
from privet.schema import Schema
from tests.hostile.byte_damage import damaged_bytes
from tests.hostile.choices import Choices
from tests.hostile.json_damage import damaged_json, spelled
from tests.hostile.ledger_damage import damaged_ledger
from tests.hostile.seeds import Seed, files
from tests.hostile.table_damage import damaged_arrow, damaged_csv, damaged_packed_csv

_MODELS = ("model", "local model", "party model")
_SIGNED = ("release", "sum message", "signature")
# What comes of sealing a document that is too damaged to be sealed; it stays as it is.
_UNSPELLABLE = (ValueError, TypeError, RecursionError, OverflowError, KeyError, AttributeError)


def mutated(seed: Seed, choices: Choices) -> bytes:
    """Return a hostile file that once was ``seed``."""
    if choices.chance(0.15 if seed.kind != "ledger" else 0.4):
        return damaged_bytes(seed.content, _all_seeds(), choices)
    if seed.text is not None:
        return _damaged_document(seed, choices)
    if seed.kind == "ledger":
        return damaged_ledger(seed.content, files().seeds["schema"], choices)
    if seed.kind == "csv":
        return damaged_csv(seed.content, choices)
    if seed.kind == "packed csv":
        return damaged_packed_csv(seed.content, choices)
    return _damaged_table(seed, choices)


@cache
def _all_seeds() -> list[Seed]:
    return [seed for seeds in files().seeds.values() for seed in seeds]


@cache
def _documents() -> list[Seed]:
    return [seed for seed in _all_seeds() if seed.text is not None]


def _damaged_table(seed: Seed, choices: Choices) -> bytes:
    """Return a table with other columns, or with bytes changed where they say how it is to be read."""
    if seed.kind in ("parquet", "arrow") and choices.chance(0.4):
        try:
            return damaged_arrow(seed.content, seed.name, choices)
        except (pa.ArrowException, ValueError, TypeError):  # Arrow itself refuses to write it
            return seed.content
    at = choices.below(len(seed.content))
    tail = damaged_bytes(seed.content[at:], [seed], choices)
    return seed.content[:at] + tail


def _damaged_document(seed: Seed, choices: Choices) -> bytes:
    same_kind = files().seeds[seed.kind]
    others = [*same_kind, *same_kind, choices.pick(_documents())]
    text = spelled(damaged_json(seed.document, others, choices), choices)
    if seed.kind in (*_MODELS, *_SIGNED) and choices.chance(0.95):
        with suppress(*_UNSPELLABLE):
            text = json.dumps(_made_to_fit(seed.kind, json.loads(text), choices))
    content = text.encode("utf-8", "surrogatepass")
    return gzip.compress(content, 1, mtime=0) if seed.name.endswith(".gz") else content


def _made_to_fit(kind: str, document: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """Return the document with a checksum, a signature and, often, a promise that fit what it says now."""
    if kind in _SIGNED:
        body = {name: value for name, value in document.items() if name != "signature"}
        party = files().parties.get(str(body.get("party", body.get("signer"))), files().parties["bank"])
        return {**body, "signature": party.key.sign(body)}
    if choices.chance(0.5):
        with suppress(PrivetError, *_UNSPELLABLE):
            document |= {"guarantee": _promise(document)}
    body = {name: value for name, value in document.items() if name != "checksum"}
    return {**body, "checksum": checksum(body)}


def _promise(document: dict[str, Any]) -> dict[str, Any]:
    """Return the promise that a fit would have written into this document."""
    schema, told = Schema.from_json(document["schema"]), document["guarantee"]
    if document["method"] in LOCAL_METHODS:
        channel = {**told["channel"], "schema": document["schema"]}
        return LocalGuarantee(Channel.from_json(channel), told["versions"]).to_json()
    settings = {"unit": told["unit"], "max_rows": told["max_rows"]}
    model = {**METHODS, **PARTY_METHODS}[document["method"]](schema, **settings, **document.get("parameters", {}))
    return {**model._guarantee(schema, events.from_json(told["event"])).to_json(), "versions": told["versions"]}
