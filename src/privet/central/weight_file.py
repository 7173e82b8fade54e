"""What the file of a weight forest holds, and whether its receipts can be those of a fit."""

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import ROW_COUNT, in_sequence, is_count, unwrapped
from privet.central.weights.minimiser import MOST_WEIGHT
from privet.central.weights.objective_noise import laplace_factor
from privet.central.weights.policy import MARGIN, MOST_LEAVES
from privet.central.weights.released_weights import BALANCE, CELLS, CHOICES, DIGITS, WEIGHTS, ReleasedWeights
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.trees import checked_trees
from privet.errors import ModelFileError
from privet.model_file import LATER_VERSIONS, VERSION, integers
from privet.privacy.events import (
    DiscreteLaplace,
    Event,
    GaussianObjective,
    NoNoise,
    ObjectivePerturbation,
    PermuteAndFlip,
)
from privet.privacy.mechanisms.objective_perturbation import n_columns
from privet.schema import Schema

_EXPONENTS = range(-40, 13)
_NUMBERS = {"rows", "balance", "weights", "exponent"}
_PARTS = {"trees", "variances", "noise_std", "margin"}


def released_to_json(released: ReleasedWeights) -> dict[str, Any]:
    """Return the parts of a model document that hold what was released, and the version that knows them."""
    return {
        "version": _version_of(released.balance, released.cells is not None),
        "structure": {
            "trees": [list(own) for own in released.trees.attributes],
            "variances": released.variances.tolist(),
            "noise_std": released.noise_std.tolist(),
            "margin": MARGIN,
        },
        "released": {
            "rows": released.n_rows,
            "balance": released.balance.tolist(),
            "weights": released.weights.ravel().tolist(),
            "exponent": released.exponent,
            **({} if released.cells is None else {"cells": released.cells.tolist()}),
        },
    }


def _version_of(balance: NDArray[np.int64], has_cells: bool) -> int:
    """Return the file's version.

    Version 2 knows the counts of three classes or more, and of two classes only their difference. Version 3 also knows
    the counts of two classes, and version 4 the rows in each cell.
    """
    with_counts, with_cells = LATER_VERSIONS["private-forest"]
    return with_cells if has_cells else with_counts if len(balance) == 2 else VERSION


def released_from_json(document: Mapping[str, Any], schema: Schema) -> ReleasedWeights:
    """Read them back, checked in every part."""
    structure, data = document["structure"], document["released"]
    if not isinstance(structure, Mapping) or set(structure) != _PARTS:
        raise ModelFileError("the structure lacks a part or has one too many; the file is damaged")
    if structure["margin"] != MARGIN or type(structure["margin"]) is not float:
        raise ModelFileError("the model was fitted with a margin that this privet does not know; update privet")
    if not isinstance(data, Mapping) or set(data) - {"cells"} != _NUMBERS:
        raise ModelFileError("the released numbers are not those of this method; the file is damaged")
    columns = n_columns(len(schema.classes))
    trees = checked_trees(structure["trees"], schema, most_leaves=MOST_LEAVES)
    n_rows, exponent = integers([data["rows"], data["exponent"]], "released", limit=2**53).tolist()
    if n_rows < 1 or exponent not in _EXPONENTS:
        raise ModelFileError("the released rows or the grid are not what privet writes there; the file is damaged")
    balance = integers(data["balance"], "released.balance", limit=2**53)
    weights = integers(data["weights"], "released.weights", limit=int(MOST_WEIGHT * 2.0**-exponent))
    n_counts = columns if document["version"] == VERSION else len(schema.classes)
    # Up to here floats tell a count from the one below it, which the shares of cells depend on.
    cells = integers(data["cells"], "released.cells", limit=2**52) if "cells" in data else None
    n_cells = 0 if cells is None else sum(map(trees.n_cells, trees.kept))
    is_of_version = document["version"] == _version_of(balance, cells is not None)
    fits = len(balance) == n_counts and len(weights) == trees.n_leaves * columns
    if not (is_of_version and fits and (cells is None or 0 < len(cells) == n_cells)):
        raise ModelFileError("the released numbers do not fit the trees and classes; the file is damaged")
    variances, noise_std = (_one_a_tree(structure[name], trees.n_trees) for name in ("variances", "noise_std"))
    if not (variances > 0).all():
        raise ModelFileError("a prior variance is not above 0; the file is damaged")
    return ReleasedWeights(trees, n_rows, balance, weights.reshape(-1, columns), exponent, variances, noise_std, cells)


def _one_a_tree(data: object, n_trees: int) -> NDArray[np.float64]:
    if (
        not isinstance(data, list)
        or len(data) != n_trees
        or not all(type(each) is float and 0 <= each <= sys.float_info.max for each in data)
    ):
        raise ModelFileError("the prior or its noise is not what privet writes there; the file is damaged")
    return np.array(data, dtype=np.float64)


def are_receipts(event: Event, released: ReleasedWeights, schema: Schema, max_rows: int) -> bool:
    """Return whether these are the receipts of such a fit, in their order and with the sensitivities it has."""
    receipts, names = list(in_sequence(event)), _names(released, schema)
    if [getattr(unwrapped(receipt), "what", "") for receipt in receipts] != names:
        return False
    checks = {
        ROW_COUNT: lambda receipt: is_count(receipt, sensitivity=max_rows),
        BALANCE: lambda receipt: is_count(receipt, sensitivity=max_rows),
        CHOICES: lambda receipt: _is_choice(receipt, max_rows),
        CELLS: lambda receipt: is_count(receipt, sensitivity=len(released.trees.kept) * max_rows),
        WEIGHTS: lambda receipt: _is_fit(receipt, released, len(schema.classes), max_rows),
        DIGITS: lambda receipt: _hides(receipt, released.weights.size),
    }
    return all(checks[name](receipt) for name, receipt in zip(names, receipts, strict=True))


def _names(released: ReleasedWeights, schema: Schema) -> list[str]:
    """Return what a fit of these trees releases, in order. A budget too small for a row count takes one row for it."""
    bought = schema.rows is None and not (released.n_rows == 1 and released.trees.n_trees == 0)
    n_kept = len(released.trees.kept)
    n_choices = n_kept if n_kept < len(schema.attributes) else 0
    counted = [CELLS] if released.cells is not None else []
    fitted = [*[CHOICES] * n_choices, *counted, WEIGHTS, DIGITS] if released.trees.n_trees else []
    return [*[ROW_COUNT] * bought, BALANCE, *fitted]


def _is_choice(receipt: Event, max_rows: int) -> bool:
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (
        isinstance(release, PermuteAndFlip) and release.sensitivity == SENSITIVITY * max_rows and not release.monotone
    )


def _is_fit(receipt: Event, released: ReleasedWeights, n_classes: int, max_rows: int) -> bool:
    release, n_trees = unwrapped(receipt), released.trees.n_trees
    if isinstance(release, NoNoise):
        return not released.noise_std.any()
    if not isinstance(release, GaussianObjective | ObjectivePerturbation) or not _is_noise(release, released.noise_std):
        return False
    # A prior of more variance would cost more epsilon than the receipt states.
    if release.classes != n_classes or float(released.variances.sum()) > release.curvature * (1 + 1e-9):
        return False
    if isinstance(release, GaussianObjective):
        return (release.trees, release.numbers, max_rows) == (n_trees, released.weights.size, 1)
    return release.rows == max_rows


def _hides(receipt: Event, n_weights: int) -> bool:
    """Return whether the last digits of all weights have noise; how much follows from constants of its time."""
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (isinstance(release, DiscreteLaplace) and release.sensitivity > n_weights)


def _is_noise(release: GaussianObjective | ObjectivePerturbation, noise_std: NDArray[np.float64]) -> bool:
    """Return whether this is the noise of each tree; of Laplace noise one over each scale, summed up, was paid for."""
    if isinstance(release, GaussianObjective):
        return bool((noise_std == float(release.sigma)).all())
    with np.errstate(over="ignore"):  # a file may state a deviation next to nothing, which is no noise
        return bool((noise_std > 0).all()) and math.isclose(
            float((laplace_factor(release.classes) / noise_std).sum()), release.linear, rel_tol=1e-6
        )
