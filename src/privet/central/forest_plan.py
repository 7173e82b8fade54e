"""What a fit of the recommended forest would do with its budget."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privet.joint.fitting import PublicFit
from privet.joint.policy import Policy
from privet.joint.released import BALANCE, CHOICES, DIGITS, ROW_COUNT, WEIGHTS
from privet.joint.selection import SENSITIVITY
from privet.joint.tilt import Tilt, chosen_tilt
from privet.joint.trees import Trees
from privet.plan import Plan, Step, choice_step, laplace_step
from privet.privacy.mechanisms.rational import equal_share, multiple, remaining
from privet.privacy.unit import Unit


@dataclass(frozen=True)
class ForestPlan(Plan):
    """What a fit of the recommended forest would do with its budget.

    Noise is in the pull of a leaf on its weight, which a row moves by at most one: in rows, as that of a count.
    """

    pull_noise: float = 0.0

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in the pull of a leaf, in rows."""
        return self.pull_noise

    def facts(self) -> dict[str, str]:
        """Return the plan's figures in words."""
        if self.n_trees == 0:
            return self.tuning
        return {
            **self.tuning,
            "trees": f"{self.n_trees}, with {_plain(self.leaves_per_tree)} leaves on average",
            "rows per leaf": f"{_plain(self.rows_per_leaf)}, if they spread evenly",
            "noise per leaf": f"standard deviation {_plain(self.noise_std)} rows",
            "reliable leaves": f"{100 * self.leaf_reliability:.1f} %",
        }

    @property
    def reliability(self) -> float:
        """The chance that noise does not overturn one leaf: each weight has noise of its own, none is a sum."""
        return self.leaf_reliability


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def planned_forest(
    method: str,
    epsilon: float,
    unit: Unit,
    policy: Policy,
    *,
    row_count: float,
    delta: float,
    coins: np.random.Generator,
) -> ForestPlan:
    """Return the plan; where attributes are chosen, as if the first ones were."""
    m = unit.max_rows
    first = [laplace_step(ROW_COUNT, row_count, sensitivity=m, n_values=1)] if row_count else []
    left = remaining(epsilon, row_count)
    if policy.only_balance:
        steps = [*first, laplace_step(BALANCE, left, sensitivity=m, n_values=policy.n_classes)]
        tuning = {"too few rows at this epsilon": "only the class balance is released, and guessed by"}
        return ForestPlan(
            method, epsilon, unit, policy.n_rows, 0, 0, 0.0, 0.0, tuple(steps), tuning, steps[-1].noise_std
        )
    trees = policy.trees(list(range(policy.n_attributes)), coins)
    law = chosen_tilt(policy, trees, delta=delta, rows=m)
    steps = [*first, *_steps(policy, trees, law, left, m)]
    per_tree = trees.n_leaves / trees.n_trees
    return ForestPlan(
        method, epsilon, unit, policy.n_rows, trees.n_trees, 1, per_tree, policy.n_rows / per_tree, tuple(steps),
        _tuning(policy, trees, law), float(law.noise_std.mean()),
    )  # fmt: skip


def _steps(policy: Policy, trees: Trees, law: Tilt, left: float, m: int) -> list[Step]:
    shares, n_weights = policy.shares, trees.n_leaves * policy.n_columns
    balance = multiple(shares.balance, m)
    steps = [laplace_step(BALANCE, balance, sensitivity=m, n_values=policy.n_classes)]
    left = remaining(left, balance) if math.isfinite(left) else left
    if policy.chooses:
        selection = multiple(shares.selection, m)
        each = equal_share(selection, policy.n_attributes)
        one = choice_step(CHOICES, each, sensitivity=SENSITIVITY * m)
        steps.append(replace(one, epsilon=selection, a_node=False))
        left = remaining(left, selection) if math.isfinite(left) else left
    fit = multiple(shares.fit, m)
    steps.append(Step(WEIGHTS, fit, m, float(law.noise_std.mean()), n_weights))
    left = remaining(left, fit) if math.isfinite(left) else left
    return [*steps, _last_digits(policy, trees, law, left)]


def _last_digits(policy: Policy, trees: Trees, law: Tilt, left: float) -> Step:
    """Return the last step; the class balance, which is not known yet, is taken as even."""
    even = np.full(policy.n_classes, 1 / policy.n_classes)
    grid = PublicFit.of(policy, trees, even, law.event(WEIGHTS, rows=1), left).grid
    n_weights = trees.n_leaves * policy.n_columns
    step = laplace_step(DIGITS, left, sensitivity=grid.sensitivity, n_values=n_weights)
    return replace(step, noise_std=step.noise_std * float(grid.step))


def _tuning(policy: Policy, trees: Trees, law: Tilt) -> dict[str, Any]:
    attributes = (
        "all of them"
        if not policy.chooses
        else f"{policy.n_attributes} of {len(policy.schema.attributes)}, chosen privately"
    )
    sizes = sorted({len(own) for own in trees.attributes})
    noise = "normal" if law.sigma is not None else "Laplace" if law.scales else "none"
    return {
        "attributes": attributes,
        "cells of a number": f"{policy.n_bins} of equal width, and finer ones near zero or the lower bound",
        "attributes a tree": " or ".join(map(str, sizes)),
        "noise in the objective": noise,
    }
