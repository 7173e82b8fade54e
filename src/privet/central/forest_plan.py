"""What a fit of the recommended forest would do with its budget."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from privet.central.receipts import ROW_COUNT
from privet.central.weights.fitting import PublicFit
from privet.central.weights.objective_noise import ObjectiveNoise, Stages, choose_noise, choose_stages
from privet.central.weights.policy import Later, Policy
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
)
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.single_tree import pull_deviation
from privet.central.weights.trees import Trees, coarse_axes
from privet.checks import pluralize
from privet.errors import ParameterError
from privet.plan import Plan, Step, choice_step, laplace_step, three_digits_up
from privet.privacy.mechanisms.rational import MIN_EPSILON, equal_share, multiple, remaining
from privet.privacy.unit import Unit


class LossCurve(NamedTuple):
    """How much accuracy noise is expected to cost, a curve that falls with rows and epsilon.

    With x = rows epsilon / (attributes (classes - 1)**classes_power), the loss is
    most (1 - 1 / classes) / (1 + (x / half)**steepness). Measured losses of tables that had no part in the fit lie
    between ``low`` and ``high`` times that, 8 of 10.
    """

    most: float
    steepness: float
    half: float
    classes_power: float
    low: float
    high: float

    def mean(self, worth: float, n_attributes: int, n_classes: int) -> float:
        """Return the loss where rows times epsilon are ``worth`` so much."""
        if n_classes < 2 or math.isinf(worth):
            return 0.0
        x = worth / (n_attributes * math.pow(n_classes - 1, self.classes_power))
        return self.most * (1 - 1 / n_classes) / (1 + math.pow(x / self.half, self.steepness))

    def worth_needed(self, loss: float, n_attributes: int, n_classes: int) -> float:
        """Return what rows times epsilon must be worth for this loss."""
        over = max(self.most * (1 - 1 / n_classes) / loss - 1, 0.0)
        x = self.half * math.pow(over, 1 / self.steepness)
        return x * n_attributes * math.pow(n_classes - 1, self.classes_power)


# Fitted to parts of 300 to 240,000 rows of 32 public tables at epsilon 0.05 to 4, all parameters left open:
# `make expected-loss` writes them to benchmarks/advice/results/loss_curve.csv.
CURVE = LossCurve(most=0.757, steepness=0.434, half=0.191, classes_power=2.1, low=0.102, high=2.63)


class ExpectedLoss(NamedTuple):
    """The accuracy that noise is expected to cost against the same forest without noise, as shares of all rows.

    ``low`` and ``high`` are what 8 of 10 tables stayed between: how much there is to learn from a table, and so to
    lose, is not public.
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        mean, low, high = (f"{100 * each:.2g}" for each in self)
        points = "point" if mean == "1" else "points"
        return f"about {mean} {points} of accuracy ({low} to {high} on 8 of 10 tables)" if self.mean else "none"


_NO_LOSS = ExpectedLoss(0.0, 0.0, 0.0)


def expected_loss(n_rows: float, epsilon: float, n_attributes: int, n_classes: int) -> ExpectedLoss:
    """Return what noise is expected to cost a fit on ``n_rows`` rows; ``epsilon`` is what one row may cost."""
    mean = CURVE.mean(n_rows * epsilon, n_attributes, n_classes)
    return ExpectedLoss(mean, CURVE.low * mean, min(CURVE.high * mean, 1 - 1 / max(n_classes, 1)))


def epsilon_for_loss(loss: float, n_rows: int, unit: Unit, n_attributes: int, n_classes: int) -> float:
    """Return the least epsilon, to three digits and rounded up, at which the expected loss is at most ``loss``."""
    if isinstance(loss, bool) or not isinstance(loss, (int, float)) or not 0 < loss < 1:
        raise ParameterError(f"loss={loss!r} must be a share between 0 and 1; 0.02 is two points of accuracy")
    worth = CURVE.worth_needed(loss, n_attributes, n_classes)
    return three_digits_up(max(MIN_EPSILON, worth * unit.max_rows / n_rows))


@dataclass(frozen=True)
class ForestPlan(Plan):
    """What a fit of the recommended forest would do with its budget.

    Noise is in the pull of a leaf on its weight, which a row moves by at most one: in rows, as that of a count.
    ``expected_loss`` is what it costs in accuracy; None where a number is learnt.
    """

    pull_noise: float = 0.0
    expected_loss: ExpectedLoss | None = _NO_LOSS

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in the pull of a leaf, in rows."""
        return self.pull_noise

    def facts(self) -> dict[str, str]:
        """Return the plan's figures in words."""
        loss = {} if self.expected_loss is None else {"expected loss against no noise": str(self.expected_loss)}
        if self.n_trees == 0:
            return {**self.tuning, **loss}
        return {
            **self.tuning,
            "trees": f"{self.n_trees}, with {_plain(self.leaves_per_tree)} leaves on average",
            "rows per leaf": f"{_plain(self.rows_per_leaf)}, if they spread evenly",
            "noise per leaf": f"standard deviation {_plain(self.noise_std)} rows",
            **loss,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values; the reliability of one leaf says little about the forest and is left out."""
        plan = {name: value for name, value in super().to_json().items() if not name.endswith("reliability")}
        return {**plan, "expected_loss": None if self.expected_loss is None else self.expected_loss._asdict()}

    @property
    def reliability(self) -> float:
        """The chance that noise does not overturn one leaf: each weight has noise of its own, none is a sum."""
        return self.leaf_reliability


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def planned_forest(
    method: str, epsilon: float, unit: Unit, policy: Policy, *, row_count: float, public_rng: np.random.Generator
) -> ForestPlan:
    """Return the plan; where attributes are chosen, as if the first ones were."""
    m = unit.max_rows
    first = [laplace_step(ROW_COUNT, row_count, sensitivity=m, n_values=1)] if row_count else []
    left = remaining(epsilon, row_count)
    loss = None
    if policy.schema.number is None:  # it is one of accuracy
        loss = expected_loss(policy.n_rows, epsilon / m, len(policy.schema.attributes), policy.n_classes)
    if policy.only_balance:
        steps = [*first, laplace_step(BALANCE, left, sensitivity=m, n_values=policy.n_classes)]
        tuning = {"too few rows at this epsilon": "only the class balance is released, and guessed by"}
        return ForestPlan(
            method, epsilon, unit, policy.n_rows, 0, 0, 0.0, 0.0, tuple(steps), tuning, steps[-1].noise_std, loss
        )
    if policy.has_one_tree:
        return _planned_tree(method, epsilon, unit, policy, first, left, loss)
    trees = policy.trees(list(range(policy.n_attributes)), public_rng)
    knots = policy.later_knots(None)
    axes = {a: coarse_axes([a], policy.cells, knots)[0] for a in trees.kept}
    even = np.full(policy.n_classes, 1 / policy.n_classes)
    stages = choose_stages(policy, trees, axes, even, policy.normal_plan)
    noise = choose_noise(policy, trees, stages.fit, stages.normal_of_first)
    steps = [*first, *_steps(policy, noise, stages, left, m)]
    per_tree = trees.n_leaves / trees.n_trees
    return ForestPlan(
        method, epsilon, unit, policy.n_rows, trees.n_trees, 1, per_tree, policy.n_rows / per_tree, tuple(steps),
        _tuning(policy, trees, noise, stages.later), float(noise.noise_std.mean()), loss,
    )  # fmt: skip


def _planned_tree(
    method: str, epsilon: float, unit: Unit, policy: Policy, first: list[Step], left: float, loss: ExpectedLoss | None
) -> ForestPlan:
    """Return the plan of a single tree with the counts of its leaves, as if the first attribute were chosen."""
    m, choice = unit.max_rows, multiple(policy.shares.selection, unit.max_rows)
    n_leaves = policy.tree_of_coding(0, 0).n_leaves
    counts = laplace_step(COUNTS, remaining(left, choice), sensitivity=m, n_values=n_leaves * policy.n_classes)
    steps = [*first, replace(choice_step(CHOICES, choice, sensitivity=m), a_node=False), counts]
    tuning = {"few rows at this epsilon": "one tree of one attribute, chosen privately, with the counts of its leaves"}
    return ForestPlan(
        method, epsilon, unit, policy.n_rows, 1, 1, float(n_leaves), policy.n_rows / n_leaves, tuple(steps), tuning,
        pull_deviation(counts.noise_std), loss,
    )  # fmt: skip


def _steps(policy: Policy, noise: ObjectiveNoise, stages: Stages, left: float, m: int) -> list[Step]:
    shares, trees, later = policy.shares, noise.trees, stages.later
    steps = [laplace_step(BALANCE, multiple(shares.balance, m), sensitivity=m, n_values=policy.n_classes)]
    if policy.chooses:
        selection = multiple(shares.selection, m)
        each = equal_share(selection, policy.n_attributes)
        one = choice_step(CHOICES, each, sensitivity=SENSITIVITY * m)
        steps.append(replace(one, epsilon=selection, a_node=False))
    if policy.counts_cells:
        n_cells = sum(axis.n_bins for own in trees.axes for axis in own)
        sensitivity = len(trees.kept) * m
        steps.append(laplace_step(CELLS, multiple(shares.histograms, m), sensitivity=sensitivity, n_values=n_cells))
    steps.append(_fit_step(WEIGHTS, policy, noise, stages.fit, m))
    digits = multiple(shares.release, m) if stages.has_share_of_digits else _left(left, steps)
    steps.append(_last_digits(DIGITS, policy, noise, digits))
    if later is None:
        return steps
    groups = multiple(later.groups, m)
    one = choice_step(GROUPS, equal_share(groups, later.n_choices), sensitivity=SENSITIVITY * m)
    steps.append(replace(one, epsilon=groups, a_node=False))
    digits = multiple(later.release, m)
    fit = equal_share(remaining(_left(left, steps), digits), m) if math.isfinite(left) else left
    # As if each group were the first two attributes; which they are, and how many leaves, the rows will say.
    group = Trees.later([trees.kept[:2]] * later.n_trees, policy.cells, policy.later_knots(None))
    second = choose_noise(policy, group, fit, stages.normal and stages.normal.later)
    steps.append(_fit_step(LATER_WEIGHTS, policy, second, fit, m))
    return [*steps, _last_digits(LATER_DIGITS, policy, second, digits)]


def _fit_step(what: str, policy: Policy, noise: ObjectiveNoise, fit: float, m: int) -> Step:
    n_weights = noise.trees.n_leaves * policy.n_columns
    return Step(what, multiple(fit, m), m, float(noise.noise_std.mean()), n_weights)


def _left(left: float, steps: list[Step]) -> float:
    """Return what all steps leave of the unit's epsilon."""
    for step in steps if math.isfinite(left) else ():
        left = remaining(left, step.epsilon)
    return left


def _last_digits(what: str, policy: Policy, noise: ObjectiveNoise, epsilon: float) -> Step:
    """Return the step that hides the last digits; the class balance, which is not known yet, is taken as even."""
    even, trees = np.full(policy.n_classes, 1 / policy.n_classes), noise.trees
    grid = PublicFit.of(policy, noise, even, epsilon).grid
    step = laplace_step(what, epsilon, sensitivity=grid.sensitivity, n_values=trees.n_leaves * policy.n_columns)
    return replace(step, noise_std=step.noise_std * float(grid.step))


def _tuning(policy: Policy, trees: Trees, noise: ObjectiveNoise, later: Later | None) -> dict[str, Any]:
    attributes = (
        "all of them"
        if not policy.chooses
        else f"{policy.n_attributes} of {len(policy.schema.attributes)}, chosen privately"
    )
    sizes = sorted({len(own) for own in trees.attributes})
    return {
        "attributes": attributes,
        "numbers": _numbers(policy),
        "attributes a tree": " or ".join(map(str, sizes)),
        **({"then": f"{pluralize(later.n_trees, 'tree')} of attributes that act together"} if later else {}),
        "noise in the objective": "normal" if noise.sigma is not None else "K-norm" if noise.scales else "none",
        **_if_lopsided(policy),
    }


def _if_lopsided(policy: Policy) -> dict[str, str]:
    """Return what the class balance, which is not known yet, may decide."""
    least, most = (100 * share for share in policy.lopsided)
    if not most:
        return {}
    shares = f"{least:.2g} to {most:.2g} %"
    return {"a lopsided balance": f"one tree of one attribute, if {shares} of rows are outside the largest class"}


def _numbers(policy: Policy) -> str:
    """Return what becomes of numbers in the first stage, in words."""
    if policy.counts_cells and policy.fixed.n_bins is None:
        return "linear between knots that part the rows evenly, as released counts tell"
    finer = "and finer ones near zero or the lower bound"
    if policy.is_soft:
        return f"linear between {policy.n_bins} knots of equal distance, {finer}"
    return f"{policy.n_bins} cells of equal width, {finer}"
