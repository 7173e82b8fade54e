"""Fit the curve of the expected loss to what was measured, and draw both: ``python -m benchmarks.advice.fit_loss``.

The curve of `privet.central.forest_plan` has four constants. They are fitted to square roots, so that neither large nor
small losses decide alone, each table counting alike. How far a table may lie off is told by tables that had no part in
the fit: each is predicted by the curve of all others. Results are in ``results``; constants go into the code by hand,
and a test says where they differ.
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from benchmarks.advice.measure_loss import EPSILONS, Measured, read
from benchmarks.advice.tables import UCI
from privet.central.forest_plan import LossCurve

RESULTS = Path(__file__).with_name("results")
CONSTANTS = RESULTS / "loss_curve.csv"
_SHOWN = (0.1, 0.5, 1.0, 2.0)
# The interval holds for 8 of 10 parts of tables.
_LOW, _HIGH = 0.1, 0.9
_START = (0.8, 0.5, 0.2, 2.0)

Floats = NDArray[np.float64]


def losses(lines: list[Measured]) -> Floats:
    """Return what noise cost, as shares of rows; below 0 where the noisy forest happened to be the better one."""
    return np.array([line.exact - line.noisy for line in lines])


def predicted(lines: list[Measured], constants: Floats) -> Floats:
    """Return what the curve with these constants says."""
    most, steepness, half, power = map(float, constants)
    curve = LossCurve(most, steepness, half, power, 0.0, 0.0)
    return np.array([curve.mean(line.rows * line.epsilon, line.attributes, line.classes) for line in lines])


def fitted(lines: list[Measured]) -> Floats:
    """Return the four constants that fit best."""
    names = [line.table for line in lines]
    weight = np.array([names.count(name) for name in names]) ** -0.5
    seen = np.sqrt(np.maximum(losses(lines), 0))

    def residuals(logs: Floats) -> Floats:
        return (np.sqrt(predicted(lines, np.exp(logs))) - seen) * weight

    constants: Floats = np.exp(least_squares(residuals, np.log(_START)).x)
    return constants


def held_out(lines: list[Measured]) -> Floats:
    """Return what each table is predicted by the curve of all others."""
    found = np.empty(len(lines))
    for table in dict.fromkeys(line.table for line in lines):
        own = np.array([line.table == table for line in lines])
        rest = [line for line, is_own in zip(lines, own, strict=True) if not is_own]
        found[own] = predicted([line for line in lines if line.table == table], fitted(rest))
    return found


def main() -> None:
    lines = read()
    others, seen = held_out(lines), losses(lines)
    low, high = np.quantile(seen / others, [_LOW, _HIGH])
    curve = LossCurve(*(float(f"{each:.3g}") for each in (*fitted(lines), max(low, 0.0), high)))
    with CONSTANTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(curve._fields)
        writer.writerow(curve)
    print(curve)
    for epsilon in EPSILONS:
        own = np.array([line.epsilon == epsilon for line in lines])
        within = np.mean((seen[own] >= low * others[own]) & (seen[own] <= high * others[own]))
        off = np.abs(seen - others)[own].mean()
        print(f"epsilon {epsilon:g}: off by {100 * off:.1f} points on average, {100 * within:.0f} % in the interval")
    draw(lines, others, curve)


def draw(lines: list[Measured], others: Floats, curve: LossCurve) -> None:
    """Draw the loss of the UCI tables, with all their rows, against what the curve of all other tables says."""
    from matplotlib.figure import Figure

    most = {line.table: max(each.rows for each in lines if each.table == line.table) for line in lines}
    figure = Figure(figsize=(9.5, 8.5), layout="constrained")
    for axis, epsilon in zip(figure.subplots(2, 2, sharex=True, sharey=True).ravel(), _SHOWN, strict=True):
        places = [
            i for i, each in enumerate(lines)
            if each.table in UCI and each.epsilon == epsilon and each.rows == most[each.table]
        ]  # fmt: skip
        shown, points = [lines[i] for i in places], 100 * others[places]
        measured = np.maximum(100 * losses(shown), 0.1)
        reach = np.array([(1 - curve.low) * points, (curve.high - 1) * points])
        axis.errorbar(points, measured, xerr=reach, fmt="o", color="#D55E00", ecolor="0.8", markersize=4)
        for each, x, y in zip(shown, points, measured, strict=True):
            axis.annotate(each.table, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7, color="0.3")
        axis.plot([0.05, 90], [0.05, 90], color="0.5", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlim=(0.05, 90), ylim=(0.05, 90), title=f"epsilon {epsilon:g}")
    figure.supxlabel("predicted from public quantities by the curve of all other tables, with the interval of 8 of 10")
    figure.supylabel("measured loss of accuracy in points; less than 0.1 is drawn as 0.1")
    figure.savefig(RESULTS / "losses.png", dpi=80)


if __name__ == "__main__":
    main()
