"""What a model says of rows, and by which scores: classes have some, and a number others."""

from typing import TYPE_CHECKING, Any

from privet.cli.support.scoring.class_scores import HeldOutClasses
from privet.cli.support.scoring.held_out import HeldOut
from privet.cli.support.scoring.number_scores import HeldOutNumbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privet.schema import Schema


def held_out_of(schema: "Schema") -> type[HeldOut]:
    """Return the scores of the schema's target."""
    return HeldOutClasses if schema.number is None else HeldOutNumbers


def said_of(model: Any, X: Any) -> "NDArray[np.float64]":
    """Return what a model says of rows: how likely each class is, or a number."""
    said: NDArray[np.float64] = model.predict_proba(X) if model.schema_.number is None else model.predict(X)
    return said
