"""Predictions of a released model for an analyst's own rows: they cost nothing, and read none of the owner's."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from privet.checks import is_number, plain
from privet.errors import PrivetError
from privet.registry import load
from privet.schema import Date, Numeric, Schema
from privet.service.requests import Refusal

MOST_ROWS = 10_000
_LARGEST = 1e300
_KEPT_MODELS = 4


def predictions(path: Path, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the classes, and each row's class and chances."""
    import pandas as pd

    rows = document.get("rows")
    if set(document) != {"rows"} or not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise Refusal(422, "rows", f'send {{"rows": [...]}} with 1 to {MOST_ROWS:,} rows, each a JSON object')
    for row in rows:
        _check_row(row, schema)
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in schema.names}
    model = _model(path)
    try:
        chances = model.predict_proba(pd.DataFrame(columns))
    except PrivetError as error:  # about the rows that were sent; it quotes none of their values
        raise Refusal(422, "rows", str(error)) from None
    best = chances.argmax(axis=1)
    classes = [plain(each) for each in model.classes_]
    return {"classes": classes, "predictions": [classes[i] for i in best], "probabilities": chances.tolist()}


def _check_row(row: object, schema: Schema) -> None:
    if not isinstance(row, dict) or set(row) != set(schema.names):
        raise Refusal(422, "rows", "each row is a JSON object with every column of the schema and no other")
    for attribute in schema.attributes:
        value = row[attribute.name]
        if isinstance(attribute, Date):
            fits = type(value) is str
        elif isinstance(attribute, Numeric):
            fits = is_number(value) and -_LARGEST <= value <= _LARGEST
        else:
            kind = type(attribute.categories[0])
            fits = is_number(value) and -_LARGEST <= value <= _LARGEST if kind in (int, float) else type(value) is kind
        if value is not None and not fits:
            raise Refusal(422, "rows", f"column {attribute.name!r} takes values of the schema's type, or null")


@lru_cache(_KEPT_MODELS)
def _model(path: Path) -> Any:
    return load(path)  # released models never change
