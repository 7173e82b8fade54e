"""The model file: one JSON document, safe to open.

It holds a format version, the method, the schema, the structure, the released integers and the guarantee: no pickle, no
code, no seed, no exact count. A checksum shows damage. A stranger can compute a checksum too, so every part is also
checked for what it says before a kernel runs on it.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ModelFileError, SchemaError
from privet.files.documents import TooLarge, open_for_reading, parse_json, read_bounded
from privet.files.whole_file import whole_file
from privet.privacy.unit import ROW
from privet.schema import Attribute, Schema
from privet.tree.forest import Forest

# Version 1 knew no unit of privacy other than the row, and no method with parameters.
FORMAT, VERSION = "privet-model", 2
# The versions of a method's files whose released numbers have a form that version 2 does not know.
LATER_VERSIONS = dict.fromkeys(
    ("private-forest", "private-forest-regressor", "combined-forest", "column-forest"), (3, 4, 5, 6)
)
# Sums over trees and batches stay exact in int64.
MAX_COUNT = 2**45
_KEYS = {"format", "version", "checksum", "method", "parameters", "schema", "structure", "released", "guarantee"}


def write_document(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write a model document; a file that is there is replaced whole or not at all."""
    with whole_file(path) as file:
        file.write(json.dumps(with_checksum(document), ensure_ascii=False, allow_nan=False))


def with_checksum(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model document as its file has it: with format, version and checksum. It may bring its own version."""
    body = {"format": FORMAT, "version": VERSION, **document}
    return {**body, "checksum": checksum(body)}


def checksum_of(document: Mapping[str, Any]) -> str:
    """Return the checksum that the file of a model document has."""
    return str(with_checksum(document)["checksum"])


def read_document(path: str | Path) -> dict[str, Any]:
    """Read a model document and check its format, version and checksum."""
    data = _read_bytes(Path(path))
    try:
        document = parse_json(data)
    except TooLarge as error:
        raise ModelFileError(
            f"{str(path)!r} holds more parts than any model privet writes; it is not opened"
        ) from error
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} is not a model file, or it is damaged; fetch it again") from error
    return checked_document(document, repr(str(path)))


def checked_document(document: object, what: str) -> dict[str, Any]:
    """Check a model document's format, version and checksum; errors call it ``what``."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{what} is not a privet model file; pass one that `save` or `privet fit` wrote")
    if type(document.get("version")) is not int or document["version"] not in _versions(document):
        raise ModelFileError(f"{what} has a format version that this privet does not know; update privet")
    body = {key: value for key, value in document.items() if key != "checksum"}
    known = _KEYS - {"parameters"} if document["version"] == 1 else _KEYS
    if set(document) != known or document["checksum"] != checksum(body):
        raise ModelFileError(f"{what} is damaged or was changed: its checksum does not fit; fetch it again")
    return _of_this_version(document)


def _versions(document: Mapping[str, Any]) -> set[int]:
    """Return the versions that a file of this method can have."""
    return {1, VERSION, *LATER_VERSIONS.get(str(document.get("method")), ())}


def _of_this_version(document: dict[str, Any]) -> dict[str, Any]:
    guarantee = document["guarantee"]
    if document["version"] == 1 and isinstance(guarantee, dict):
        if guarantee.get("unit") != ROW:
            raise ModelFileError("the unit of a file of version 1 is always the row; the file was changed")
        document |= {"parameters": {}, "guarantee": {**guarantee, "max_rows": 1}}
    return document


def checksum(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document without its checksum, in canonical JSON."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def structure_to_json(forest: Forest) -> dict[str, Any]:
    """Return a forest's nodes as plain JSON values."""
    return {"n_trees": forest.n_trees, "attribute": forest.attribute.tolist(), "cut": forest.cut.tolist()}


def structure_from_json(data: object, attributes: Sequence[Attribute]) -> Forest:
    """Read a forest back, checking that its nodes form one over ``attributes``."""
    if not isinstance(data, Mapping) or set(data) != {"n_trees", "attribute", "cut"}:
        raise ModelFileError("the structure lacks a part or has one too many; the file is damaged")
    attribute = integers(data["attribute"], "structure.attribute", limit=2**30).astype(np.int32)
    cut = integers(data["cut"], "structure.cut", limit=2**30).astype(np.int32)
    n_trees = integers([data["n_trees"]], "structure.n_trees", limit=2**30)
    return Forest.from_nodes(attribute, cut, int(n_trees[0]), attributes)


def counts_to_json(noisy_counts: NDArray[np.int64]) -> list[int]:
    """Return released counts as plain JSON values: leaf after leaf, class after class."""
    flat: list[int] = noisy_counts.ravel().tolist()
    return flat


def counts_from_json(data: object, *, n_leaves: int, n_classes: int) -> NDArray[np.int64]:
    """Read released counts back: one whole number a leaf and class."""
    flat = integers(data, "released.counts", limit=MAX_COUNT)
    if len(flat) != n_leaves * n_classes:
        raise ModelFileError("the released counts do not fit the trees and classes; the file is damaged")
    return flat.reshape(n_leaves, n_classes)


def schema_from_json(data: object) -> Schema:
    """Read the schema part; its errors become errors of the file."""
    try:
        schema = Schema.from_json(data)
    except SchemaError as error:
        raise ModelFileError(f"the model's schema is damaged: {error}") from error
    # Another spelling, such as classes in another order, would put the counts under other labels.
    if schema.to_json() != data:
        raise ModelFileError("the model's schema is not as privet writes it; the file was changed")
    return schema


def integers(data: object, name: str, *, limit: int) -> NDArray[np.int64]:
    """Read a list of whole numbers, each of magnitude at most ``limit``."""
    # Types first: a list of a bool and an int would become an array of ints without a word.
    if isinstance(data, list) and set(map(type, data)) <= {int} and _within(data, limit):
        return np.array(data, dtype=np.int64)
    raise ModelFileError(f"{name} must hold whole numbers; the file is damaged")


def _within(data: list[int], limit: int) -> bool:
    return not data or (-limit <= min(data) and max(data) <= limit)


def _read_bytes(path: Path) -> bytes:
    try:
        with open_for_reading(path) as file, _unpacked(file) as unpacked:
            return read_bounded(unpacked)
    except TooLarge as error:
        raise ModelFileError(f"{str(path)!r} is larger than any model privet writes; it is not opened") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ModelFileError(f"{str(path)!r} is damaged: it does not unpack; fetch it again") from error
    except OSError as error:
        raise ModelFileError(f"cannot read the model {str(path)!r}: {error.strerror}; check the path") from error


def _unpacked(file: Any) -> Any:
    return gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file
