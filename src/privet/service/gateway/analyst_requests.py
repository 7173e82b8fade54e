"""What an analyst may ask, checked in every part before anything is paid or read.

A fit of the owner's rows is asked for by a white list. Predictions of a released model for an analyst's own rows cost
nothing, and read none of the owner's.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from privet.central.class_weight import BALANCED, CLASS_WEIGHT
from privet.checks import Constraint, OneOf, is_number, plain
from privet.errors import PrivetError
from privet.methods import methods_of
from privet.privacy.ledger import Cost
from privet.privacy.unit import Unit
from privet.registry import METHODS, load
from privet.schema import Date, Numeric, Schema
from privet.service.requests import Refusal

OFFERED = tuple(method.name for method in methods_of("central", "classes"))
# For a variant nothing may be proven. All else that a constraint is declared for changes how a paid fit is made.
_WITHHELD = {"variant"}
# Weights for single classes can be applied to the probabilities of a model that was fitted without.
_CLASS_WEIGHT = {CLASS_WEIGHT: OneOf(BALANCED)}
# Bounds on work and memory, below those of the methods themselves.
_MOST = {"n_trees": 1_000, "height": 16}
_MOST_EPSILON = 1e6
# A plan needs a number of rows. Where none is public, this one is as good as any to find what cannot be made.
_NOMINAL_ROWS = 10_000
MOST_ROWS = 10_000
_LARGEST = 1e300
_KEPT_MODELS = 4


def offered_parameters(method: str) -> dict[str, Constraint]:
    """Return the parameters of a method that an analyst may choose, each with what it may be."""
    offered: dict[str, Constraint] = {**METHODS[method].constraints, **_CLASS_WEIGHT}
    return {name: each for name, each in offered.items() if name not in _WITHHELD}


@dataclass(frozen=True)
class FitRequest:
    """A fit that is asked for: plain values, all of them checked."""

    method: str
    epsilon: float
    delta: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "FitRequest":
        """Read a request, or refuse it."""
        known = cls.__dataclass_fields__
        if not set(document) <= set(known):
            raise _refusal("unknown_key", f"a fit is asked for by {', '.join(known)} alone; leave the rest out")
        method, parameters = document.get("method", OFFERED[0]), document.get("parameters", {})
        if not isinstance(method, str) or method not in OFFERED:
            raise _refusal("method", f"method is none that is offered; choose from {', '.join(OFFERED)}")
        if not isinstance(parameters, dict):
            raise _refusal("parameters", "parameters must be a JSON object; write {} for the method's own")
        _check_parameters(method, parameters)
        epsilon = _amount("epsilon", document.get("epsilon"), least=0.0, most=_MOST_EPSILON)
        delta = _amount("delta", document.get("delta", 0.0), least=0.0, most=1.0)
        if delta > 0 and "delta" not in METHODS[method]().get_params():
            raise _refusal("delta", f"{method} takes no delta; leave it out")
        return cls(method, epsilon, delta, parameters)

    @property
    def cost(self) -> Cost:
        """What it may cost."""
        return Cost(self.epsilon, self.delta)

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain values."""
        return asdict(self)

    def estimator(self, schema: Schema, unit: Unit) -> Any:
        """Return the unfitted model: schema and unit are the owner's, noise is never seeded."""
        delta = {"delta": self.delta} if self.delta else {}
        return METHODS[self.method](
            schema, epsilon=self.epsilon, unit=unit.name, max_rows=unit.max_rows, n_jobs=1, **delta, **self.parameters
        )

    def plan(self, schema: Schema, unit: Unit, n_rows: int | None = None) -> Any:
        """Return what the fit would do with its budget; refuse what no fit could do. It reads no row."""
        model = self.estimator(schema, unit)
        try:
            return model.plan(n_rows or schema.rows or _NOMINAL_ROWS)
        except PrivetError as error:
            raise _refusal("parameters", str(error)) from None


def _check_parameters(method: str, parameters: Mapping[str, Any]) -> None:
    offered = offered_parameters(method)
    for name, value in parameters.items():
        if name not in offered:
            names = ", ".join(offered)
            raise _refusal("parameters", f"{method} is offered with the parameters {names} alone; leave the rest out")
        if not offered[name].allows(value):
            raise _refusal("parameters", f"{name} {offered[name]}")
        if name in _MOST and is_number(value) and value > _MOST[name]:
            raise _refusal("parameters", f"{name} may be at most {_MOST[name]:,} here; lower it")


def _amount(name: str, value: object, *, least: float, most: float) -> float:
    # NaN is not at most anything, and True is no number.
    if not is_number(value) or not least <= value <= most:
        raise _refusal(name, f"{name} must be a number from {least:g} to {most:g}; {name} is a JSON number such as 0.5")
    return float(value)


def _refusal(code: str, message: str) -> Refusal:
    return Refusal(422, code, message)


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
