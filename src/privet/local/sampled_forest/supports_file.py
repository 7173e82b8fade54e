"""What a model file holds of answers: how many were asked each question, and how often each cell was sent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privet.checks import is_number
from privet.errors import ModelFileError
from privet.local.channels.sampled_fields import SampledFields
from privet.local.channels.sampled_question import Support
from privet.model_file import MAX_COUNT

_DAMAGED = "the numbers of sent cells are not what privet writes there; the file is damaged"


def supports_to_json(supports: Sequence[Support]) -> list[dict[str, Any]]:
    """Return what was sent as plain JSON values."""
    return [{"n": own.n, "counts": own.counts.tolist()} for own in supports]


def supports_from_json(data: object, record: SampledFields) -> list[Support]:
    """Read what was sent back: it fits the questions, and each of their subsets is of the stated size."""
    if not isinstance(data, list) or len(data) != len(record.questions):
        raise ModelFileError(_DAMAGED)
    found = []
    for part, question in zip(data, record.questions, strict=True):
        if not isinstance(part, Mapping) or set(part) != {"n", "counts"} or not isinstance(part["counts"], list):
            raise ModelFileError(_DAMAGED)
        numbers = [part["n"], *part["counts"]]
        if len(numbers) != question.selection.cells + 1 or not all(map(_is_count, numbers)):
            raise ModelFileError(_DAMAGED)
        n, counts = part["n"], np.array(part["counts"])
        # Every answer has as many cells; survey weights are no whole numbers, and their sums are rounded.
        if abs(float(counts.sum()) - n * question.selection.size) > 1e-6 * (1 + n) or (counts > n * (1 + 1e-9)).any():
            raise ModelFileError(_DAMAGED)
        found.append(Support(n, counts, question.chances))
    if not any(own.n > 0 for own in found):
        raise ModelFileError(_DAMAGED)
    return found


def _is_count(number: object) -> bool:
    return is_number(number) and 0 <= number <= MAX_COUNT
