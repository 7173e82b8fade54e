"""What the file of a weight forest holds, and whether its receipts can be those of a fit."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import ROW_COUNT, in_sequence, is_count, unwrapped
from privet.central.weights.minimiser import MOST_WEIGHT
from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.objective_noise import FitNoise
from privet.central.weights.policy import MARGIN, MOST_LEAVES
from privet.central.weights.released_weights import (
    BALANCE,
    CELLS,
    CHOICES,
    COUNTS,
    DIGITS,
    GROUPS,
    LATER_DIGITS,
    LATER_WEIGHTS,
    WEIGHTS,
    ReleasedWeights,
)
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.single_tree import pull_deviation
from privet.central.weights.trees import Trees, checked_trees, knots_to_json
from privet.errors import ModelFileError
from privet.model_file import LATER_VERSIONS, VERSION, integers
from privet.privacy.events import (
    DiscreteLaplace,
    Event,
    GaussianObjective,
    KNormObjective,
    NoNoise,
    NormalObjective,
    PermuteAndFlip,
)
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.linear_noise import laplace_factor
from privet.privacy.mechanisms.objective_perturbation import n_columns
from privet.schema import Schema

_EXPONENTS = range(-40, 13)
# The version of files with several fits, and how many there may be.
SEVERAL, MOST_FITS = LATER_VERSIONS["private-forest"][-1], 2**12
_NUMBERS = {"rows", "balance", "weights", "exponent"}
_PARTS, _SOFT_PARTS = {"trees", "variances", "noise_std", "margin"}, {"knots", "grid", "later", "later_knots"}


def released_to_json(released: ReleasedWeights, schema: Schema) -> dict[str, Any]:
    """Return the parts of a model document that hold what was released, and the version that knows them."""
    trees = released.trees
    soft = knots_to_json(trees, len(schema.attributes))
    return {
        "version": _version_of(trees, released.balance, released.cells is not None),
        "structure": {
            "trees": [list(own) for own in trees.attributes],
            **(soft if _is_soft(trees) else {}),
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


def releases_to_json(releases: Sequence[ReleasedWeights], schemas: Iterable[Schema]) -> dict[str, Any]:
    """Return the same of one fit; of several, what each of them released over its schema, with its version."""
    each = list(map(released_to_json, releases, schemas))
    if len(each) == 1:
        return each[0]
    return {
        "version": SEVERAL,
        "structure": {"fits": [{"version": own["version"], **own["structure"]} for own in each]},
        "released": {"fits": [own["released"] for own in each]},
    }


def releases_from_json(document: Mapping[str, Any], schemas: Iterable[Schema]) -> list[ReleasedWeights]:
    """Read what one or several fits released, each over its schema, checked in every part."""
    if document["version"] != SEVERAL:
        return [released_from_json(document, next(iter(schemas)))]
    structures, released = (_fits(document[name]) for name in ("structure", "released"))
    if len(structures) != len(released):
        raise ModelFileError("the fits of the model do not fit together; the file is damaged")
    found = []
    for structure, own, schema in zip(structures, released, schemas, strict=False):
        version = structure.get("version")
        if type(version) is not int or version not in {VERSION, *LATER_VERSIONS["private-forest"]} - {SEVERAL}:
            raise ModelFileError("a fit of the model has a version that this privet does not know; update privet")
        without = {name: value for name, value in structure.items() if name != "version"}
        found.append(released_from_json({"version": version, "structure": without, "released": own}, schema))
    if len(found) != len(structures):
        raise ModelFileError("there are more fits than parties; the file is damaged")
    return found


def _fits(data: object) -> list[Any]:
    fits = data.get("fits") if isinstance(data, Mapping) and len(data) == 1 else None
    if (
        not isinstance(fits, list)
        or not 2 <= len(fits) <= MOST_FITS
        or not all(isinstance(own, Mapping) for own in fits)
    ):
        raise ModelFileError("the model does not hold several fits, as its version says; the file is damaged")
    return fits


def _is_soft(trees: Trees) -> bool:
    """Return whether the file says more of the trees than which attributes each asks for."""
    return bool(trees.n_later) or any(axis.knots for own in trees.axes for axis in own)


def _version_of(trees: Trees, balance: NDArray[np.int64], has_cells: bool) -> int:
    """Return the file's version: the first that knows all of it, so that an older privet opens what it can.

    Version 2 knows the counts of three classes or more, and of two classes only their difference. Version 3 also knows
    the counts of two classes, version 4 the rows in each cell, and version 5 knots and a second stage.
    """
    with_counts, with_cells, soft, _ = LATER_VERSIONS["private-forest"]
    if _is_soft(trees):
        return soft
    return with_cells if has_cells else with_counts if len(balance) == 2 else VERSION


def released_from_json(document: Mapping[str, Any], schema: Schema) -> ReleasedWeights:
    """Read them back, checked in every part."""
    structure, data = document["structure"], document["released"]
    soft = document["version"] == LATER_VERSIONS["private-forest"][2]
    if not isinstance(structure, Mapping) or set(structure) != (_PARTS | _SOFT_PARTS if soft else _PARTS):
        raise ModelFileError("the structure lacks a part or has one too many; the file is damaged")
    if structure["margin"] != MARGIN or type(structure["margin"]) is not float:
        raise ModelFileError("the model was fitted with a margin that this privet does not know; update privet")
    if not isinstance(data, Mapping) or set(data) - {"cells"} != _NUMBERS:
        raise ModelFileError("the released numbers are not those of this method; the file is damaged")
    columns = n_columns(schema.n_classes)
    trees = checked_trees(structure, schema, most_leaves=MOST_LEAVES)
    n_rows, exponent = integers([data["rows"], data["exponent"]], "released", limit=2**53).tolist()
    if n_rows < 1 or exponent not in _EXPONENTS:
        raise ModelFileError("the released rows or the grid are not what privet writes there; the file is damaged")
    balance = integers(data["balance"], "released.balance", limit=2**53)
    weights = integers(data["weights"], "released.weights", limit=int(MOST_WEIGHT * 2.0**-exponent))
    n_counts = columns if document["version"] == VERSION else schema.n_classes
    # Up to here floats tell a count from the one below it, which the shares of cells depend on.
    cells = integers(data["cells"], "released.cells", limit=2**52) if "cells" in data else None
    n_cells = sum(axis.n_bins for own in trees.first.axes for axis in own)
    is_of_version = document["version"] == _version_of(trees, balance, cells is not None)
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


def are_receipts(event: Event, released: ReleasedWeights, schema: Schema, max_rows: int, *, buys_rows: bool) -> bool:
    """Return whether these are the receipts of such a fit, in their order and with the sensitivities it has.

    ``buys_rows`` says whether it bought a noisy number of rows.
    """
    receipts = list(in_sequence(event))
    found = [getattr(unwrapped(receipt), "what", "") for receipt in receipts]
    if COUNTS in found:
        return _are_of_one_tree(receipts, found, released, max_rows, buys_rows=buys_rows)
    names = _names(released, schema, buys_rows=buys_rows)
    if found != names:
        return False
    first, later = _stages(released)
    checks = {
        ROW_COUNT: lambda receipt: is_count(receipt, sensitivity=max_rows),
        BALANCE: lambda receipt: is_count(receipt, sensitivity=max_rows),
        CHOICES: lambda receipt: _is_choice(receipt, max_rows),
        CELLS: lambda receipt: is_count(receipt, sensitivity=len(released.trees.kept) * max_rows),
        WEIGHTS: lambda receipt: _is_fit(receipt, first, schema.n_classes, max_rows),
        DIGITS: lambda receipt: _hides(receipt, first.n_weights),
        GROUPS: lambda receipt: _is_choice(receipt, max_rows),
        LATER_WEIGHTS: lambda receipt: _is_fit(receipt, later, schema.n_classes, max_rows),
        LATER_DIGITS: lambda receipt: _hides(receipt, later.n_weights),
    }
    return all(checks[name](receipt) for name, receipt in zip(names, receipts, strict=True))


def _are_of_one_tree(
    receipts: list[Event], found: list[str], released: ReleasedWeights, max_rows: int, *, buys_rows: bool
) -> bool:
    """Return whether these are the receipts of a single tree, chosen by its accuracy, and of its leaves' counts.

    A class balance before them may have shown that there are too few rows for a fit.
    """
    bought, trees = [ROW_COUNT] * buys_rows, released.trees
    asked = [*bought, *[BALANCE] * (BALANCE in found), CHOICES, COUNTS]
    if found != asked or (trees.n_trees, len(trees.kept), trees.n_later) != (1, 1, 0):
        return False
    *rows, choice, counts = map(unwrapped, receipts)
    return (
        all(is_count(own, sensitivity=max_rows) for own in (*rows, counts))
        and isinstance(choice, PermuteAndFlip)
        and (choice.sensitivity, choice.monotone) == (max_rows, True)
        and released.cells is None
        and released.noise_std.tolist() == [pull_deviation(standard_deviation(counts))]
    )


def _names(released: ReleasedWeights, schema: Schema, *, buys_rows: bool) -> list[str]:
    """Return what a fit of these trees releases, in order. A budget too small for a row count takes one row for it."""
    trees = released.trees
    bought = buys_rows and not (released.n_rows == 1 and trees.n_trees == 0)
    n_kept = len(trees.kept)
    n_choices = n_kept if n_kept < len(schema.attributes) else 0
    counted = [CELLS] if released.cells is not None else []
    fitted = [*[CHOICES] * n_choices, *counted, WEIGHTS, DIGITS] if trees.n_trees else []
    # A group is chosen by its first two attributes, and then one further attribute after another.
    n_groups = sum(len(own) - 1 for own in trees.axes[len(trees.first.axes) :])
    later = [*[GROUPS] * n_groups, LATER_WEIGHTS, LATER_DIGITS] if trees.n_later else []
    return [*[ROW_COUNT] * bought, BALANCE, *fitted, *later]


@dataclass(frozen=True)
class _Stage:
    """What one fit released: how many weights, and of each tree its leaves, the prior's variance and the noise."""

    n_weights: int
    sizes: NDArray[np.int64]
    variances: NDArray[np.float64]
    noise_std: NDArray[np.float64]


def _stages(released: ReleasedWeights) -> tuple[_Stage, _Stage]:
    """Return the first stage and the second, of which one or both may have no trees."""
    n_trees, n_weights = released.trees.first.n_trees, released.trees.first.n_leaves * released.weights.shape[1]
    sizes, variances, noise_std = released.trees.sizes, released.variances, released.noise_std
    return (
        _Stage(n_weights, sizes[:n_trees], variances[:n_trees], noise_std[:n_trees]),
        _Stage(released.weights.size - n_weights, sizes[n_trees:], variances[n_trees:], noise_std[n_trees:]),
    )


def _is_choice(receipt: Event, max_rows: int) -> bool:
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (
        isinstance(release, PermuteAndFlip) and release.sensitivity == SENSITIVITY * max_rows and not release.monotone
    )


def _is_fit(receipt: Event, stage: _Stage, n_classes: int, max_rows: int) -> bool:
    release = unwrapped(receipt)
    if isinstance(release, NoNoise):
        return not stage.noise_std.any()
    if not isinstance(release, FitNoise) or release.classes != n_classes or not _is_noise(release, stage):
        return False
    # A prior of more variance would cost more epsilon than the receipt states.
    if float(stage.variances.sum()) > release.curvature * (1 + 1e-9):
        return False
    if isinstance(release, GaussianObjective):
        return (release.trees, release.numbers, max_rows) == (len(stage.variances), stage.n_weights, 1)
    if isinstance(release, NormalObjective) and (release.trees, release.numbers) != (
        len(stage.variances),
        stage.n_weights,
    ):
        return False
    return release.rows == max_rows


def _hides(receipt: Event, n_weights: int) -> bool:
    """Return whether the last digits of all weights have noise; how much follows from constants of its time."""
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (isinstance(release, DiscreteLaplace) and release.sensitivity > n_weights)


def _is_noise(release: FitNoise, stage: _Stage) -> bool:
    """Return whether this is the noise of each tree.

    K-norm noise is that of its groups; of Laplace noise one over each scale, summed up, was paid for.
    """
    noise_std = stage.noise_std
    if isinstance(release, GaussianObjective | NormalObjective):
        return bool((noise_std == float(release.sigma)).all())
    with np.errstate(over="ignore", divide="ignore"):  # a file may state next to no deviation, or next to no price
        if not (noise_std > 0).all():
            return False
        if isinstance(release, KNormObjective):
            stated = NoiseGroups.of(stage.sizes, release.classes).deviations(release.linear)
            return bool(np.isclose(noise_std, stated, rtol=1e-5, atol=0).all())
        return math.isclose(float((laplace_factor(release.classes) / noise_std).sum()), release.linear, rel_tol=1e-6)
