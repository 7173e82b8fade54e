"""The file of what is publicly known about how frequent values are: it decides the codes of a record.

    {"frequencies": {"sex": {"female": 0.51, "male": 0.49}}, "quartiles": {"age": [28, 41, 57]}}

The cells of a number are named "0", "1", ...; an empty name stands for a missing value.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from privet.errors import DataError
from privet.files.documents import read_json

if TYPE_CHECKING:
    from privet.schema import Attribute, Label, Schema

Frequencies: TypeAlias = "dict[str, dict[Label | None, float]]"
Quartiles: TypeAlias = dict[str, list[float]]
SHAPE = '{"frequencies": {"sex": {"female": 0.5, "male": 0.5}}, "quartiles": {"age": [28, 41, 57]}}'


def read_frequencies(path: Path, schema: "Schema") -> tuple[Frequencies, Quartiles]:
    """Return frequencies and quartiles by attribute; names of values become those values."""
    try:
        data = read_json(path)
    except OSError as error:
        raise DataError(f"cannot read the frequencies {str(path)!r}: {error.strerror}; check the path") from None
    except ValueError:
        raise DataError(f"{str(path)!r} is no JSON document; write {SHAPE}") from None
    if not isinstance(data, Mapping) or not data or set(data) - {"frequencies", "quartiles"}:
        raise DataError(f"{str(path)!r} does not hold frequencies and quartiles; write {SHAPE}")
    frequencies, quartiles = data.get("frequencies", {}), data.get("quartiles", {})
    _check(frequencies, quartiles, path)
    attributes = {a.name: a for a in schema.attributes}
    unknown = [name for name in (*frequencies, *quartiles) if name not in attributes]
    if unknown:
        raise DataError(f"{str(path)!r} speaks of {unknown[0]!r}, which is no attribute of the schema; correct it")
    return {name: _by_value(attributes[name], shares) for name, shares in frequencies.items()}, dict(quartiles)


def _check(frequencies: Any, quartiles: Any, path: Path) -> None:
    both = isinstance(frequencies, Mapping) and isinstance(quartiles, Mapping)
    shares = [share for own in frequencies.values() for share in _values(own)] if both else [None]
    cuts = [cut for own in quartiles.values() for cut in (own if isinstance(own, list) else [None])] if both else []
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in [*shares, *cuts]):
        raise DataError(f"{str(path)!r} has entries that are no numbers; write {SHAPE}")


def _values(own: Any) -> list[Any]:
    return list(own.values()) if isinstance(own, Mapping) else [None]


def _by_value(attribute: "Attribute", shares: Mapping[str, float]) -> "dict[Label | None, float]":
    """Return shares by category, or by the number of a cell; a name that fits none stays and is refused later."""
    from privet.schema import Numeric

    values = range(attribute.n_values) if isinstance(attribute, Numeric) else attribute.categories
    by_name: dict[str, Label | None] = {"": None, **{str(value): value for value in values}}
    by_name |= {str(value).lower(): value for value in values if isinstance(value, bool)}
    return {by_name.get(name, name): float(share) for name, share in shares.items()}
