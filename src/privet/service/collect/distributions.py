"""How answers were spread before they were disturbed, with 95 % intervals where the channel has a formula for them."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import PrivetError
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.sampled_forest.class_tables import NORMAL_95, ClassTable, class_tables
from privet.schema import Numeric

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.local.reconstruction.reconstruct import Reconstruction
    from privet.service.collect.reports import Reports

_CELLS = 20


def distributions(channel: "Channel", reports: "Reports", kept: Iterable[str]) -> list[dict[str, Any]]:
    """Return the estimated distribution of every field, the label last; none where nothing is released."""
    import pandas as pd

    table = pd.DataFrame([json.loads(text) for text in kept], columns=reports.columns)
    if table.empty:
        return []
    if isinstance(channel.record, SampledFields):
        return _of_questions(channel.record, table)
    if channel.record is not None:
        return []
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
    margin = None if errors is None else NORMAL_95 * float(errors[j])
    return {**where, **_interval(float(found.estimate[j]), centre, margin)}


def _of_questions(record: SampledFields, table: Any) -> list[dict[str, Any]]:
    """Return each attribute's shares of the people, by class too, from all questions that it has a part in."""
    tables = zip(record.schema.attributes, class_tables(record, record.supports(table)), strict=True)
    return [_of_class_table(own, found, record.schema.classes) for own, found in tables if found is not None]


def _of_class_table(attribute: Any, table: ClassTable, classes: Sequence[Any]) -> dict[str, Any]:
    joint, margins = table.shares()
    # No two cells' counts go up together, so the sum of their variances is at least the variance of their sum.
    of_value = _shares(joint.sum(axis=1), np.sqrt((margins**2).sum(axis=1)))
    of_cell = [_shares(column, own) for column, own in zip(joint.T, margins.T, strict=True)]
    edges = attribute.borders.tolist() if isinstance(attribute, Numeric) else None
    values = []
    for j, shares in enumerate(of_value):
        by_class = [{"class": own, **column[j]} for own, column in zip(classes, of_cell, strict=True)]
        values.append({**_place(attribute, edges, j), **shares, "classes": by_class})
    return {"field": attribute.name, "values": values}


def _place(attribute: Any, edges: list[float] | None, j: int) -> dict[str, Any]:
    """Return what the j-th value is; the last is a missing one."""
    if j == attribute.n_values:
        return {"value": None}
    return {"value": attribute.categories[j]} if edges is None else {"low": edges[j], "high": edges[j + 1]}


def _shares(centres: Any, margins: Any) -> list[dict[str, float | None]]:
    within = np.clip(centres, 0.0, 1.0)
    return [_interval(*map(float, own)) for own in zip(within, centres, margins, strict=True)]


def _interval(share: float, centre: float, margin: float | None) -> dict[str, float | None]:
    if margin is None:
        return {"share": share, "low_share": None, "high_share": None}
    low, high = np.clip([centre - margin, centre + margin], 0.0, 1.0).tolist()
    return {"share": share, "low_share": low, "high_share": high}
