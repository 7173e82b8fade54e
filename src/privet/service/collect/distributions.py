"""How answers were spread before they were disturbed, with 95 % intervals where the channel has a formula for them."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import PrivetError
from privet.schema import Numeric

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.local.reconstruction.reconstruct import Reconstruction
    from privet.service.collect.reports import Reports

_Z = 1.96
_CELLS = 20


def distributions(channel: "Channel", reports: "Reports", kept: Iterable[str]) -> list[dict[str, Any]]:
    """Return the estimated distribution of every field, the label last; none where nothing is released."""
    import pandas as pd

    table = pd.DataFrame([json.loads(text) for text in kept], columns=reports.columns)
    if table.empty:
        return []
    if channel.record is not None:
        return _of_questions(channel, table)
    fields = list(zip(channel.columns, channel.schema.attributes, strict=True))
    if channel.label is not None:
        fields.append((channel.label, channel.label_attribute))
    return [found for column, own in fields if (found := _of_field(table[own.name], column, own)) is not None]


def _of_field(values: Any, column: Any, attribute: Any) -> dict[str, Any] | None:
    from privet.local.reconstruction.reconstruct import reconstruct

    cells = _CELLS if isinstance(attribute, Numeric) and attribute.is_open else None
    method = "invert" if column.can_be_inverted else "iterate"
    try:
        found = reconstruct(values, column, cells, attribute=attribute, method=method)  # type: ignore[arg-type]
    except PrivetError:  # such as a field with nothing but missing answers
        return None
    return {"field": attribute.name, "values": [_share(found, j) for j in range(len(found.estimate))]}


def _share(found: "Reconstruction", j: int) -> dict[str, Any]:
    edges, errors = found.edges, found.standard_errors
    is_cell = edges is not None and j < len(edges) - 1
    where = {"low": float(edges[j]), "high": float(edges[j + 1])} if is_cell else {"value": found.categories[j]}  # type: ignore[index]
    centre = float(found.estimate[j] if found.unclipped is None else found.unclipped[j])
    return {**where, **_interval(float(found.estimate[j]), centre, None if errors is None else float(errors[j]))}


def _of_questions(channel: "Channel", table: Any) -> list[dict[str, Any]]:
    """Return each single attribute's shares, summed over the classes of its question."""
    supports = getattr(channel.record, "supports", None)
    if supports is None:
        return []
    found = []
    for question, support in zip(channel.record.questions, supports(table), strict=True):  # type: ignore[union-attr]
        if len(question.attributes) == 1 and support.n:
            found.append(_of_question(question, support))
    return found


def _of_question(question: Any, support: Any) -> dict[str, Any]:
    from privet.local.channels.cells import edges_of, labels_of

    (attribute,), (kept, other) = question.attributes, support.chances
    shape = question.shape
    shares = (support.estimated_counts / support.n).reshape(shape).sum(axis=1)
    # No two cells' counts go up together, so the sum of their variances is at least the variance of their sum.
    sent = support.counts / support.n
    variance = (sent * (1 - sent)).reshape(shape).sum(axis=1) / support.n / (kept - other) ** 2
    clipped = np.maximum(shares, 0.0)
    clipped = clipped / max(float(clipped.sum()), 1e-12)
    edges = edges_of(attribute) if isinstance(attribute, Numeric) else None
    names = [None] * shape[0] if edges is not None else [*labels_of(attribute), None]
    values = []
    for j in range(shape[0]):
        is_cell = edges is not None and j < len(edges) - 1
        where = {"low": float(edges[j]), "high": float(edges[j + 1])} if is_cell else {"value": names[j]}  # type: ignore[index]
        values.append({**where, **_interval(float(clipped[j]), float(shares[j]), float(np.sqrt(variance[j])))})
    return {"field": attribute.name, "values": values}


def _interval(share: float, centre: float, error: float | None) -> dict[str, float | None]:
    if error is None:
        return {"share": share, "low_share": None, "high_share": None}
    low, high = max(0.0, centre - _Z * error), min(1.0, max(0.0, centre + _Z * error))
    return {"share": share, "low_share": min(low, 1.0), "high_share": high}
