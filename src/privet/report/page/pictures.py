"""The page's small pictures, as inline SVG; colours come from its style sheet."""

from collections.abc import Sequence

from privet.report.page.counts import Bin
from privet.report.page.formats import number, percent
from privet.report.page.odds import belief, detection_rate, of_hundred, right_guesses

_SIDE, _LEFT, _TOP = 200, 34, 10
_GRID = 50


def hundred_guesses(epsilon: float, delta: float) -> str:
    """Return 100 dots, as many filled as guesses can be right at most; 50 are right without the model."""
    right = of_hundred(right_guesses(epsilon, delta))
    dots = []
    for i in range(100):
        kind = "noise" if i < 50 else "accent" if i < right else "track"
        dots.append(f'<circle class="{kind}" cx="{20 + 22 * (i % 10)}" cy="{20 + 22 * (i // 10)}" r="8"/>')
    return _svg(240, 240, f"{right} of 100 dots are filled, 50 of them grey.", "".join(dots))


def belief_band(epsilon: float) -> str:
    """Return how far a belief can move: priors to the right, what is possible afterwards upwards."""
    steps = [belief(i / _GRID, epsilon) for i in range(_GRID + 1)]
    upper, lower = [(b.prior, b.highest) for b in steps], [(b.prior, b.lowest) for b in steps]
    inside = (
        f'<polygon class="band" points="{_points([*upper, *reversed(lower)])}"/>'
        f'<polyline class="curve" points="{_points(upper)}"/><polyline class="curve" points="{_points(lower)}"/>'
        f'{_diagonal()}<g id="belief-mark"></g>'
    )
    return _axes("thought before", "can think after", inside, "How far the model can move a belief.")


def detection_curve(epsilon: float, delta: float) -> str:
    """Return the best detection rate for every rate of false alarms."""
    points = [(i / _GRID, detection_rate(i / _GRID, epsilon, delta)) for i in range(_GRID + 1)]
    # The corner where the two bounds meet is seldom on the grid.
    corner = 1 - right_guesses(epsilon, delta)
    points = sorted([*points, (corner, 1 - corner)])
    inside = (
        f'<polygon class="band" points="{_points([*points, (1.0, 1.0), (0.0, 0.0)])}"/>'
        f'<polyline class="curve" points="{_points(points)}"/>{_diagonal()}'
    )
    return _axes("false alarms", "members found", inside, "The best possible test for membership.")


def support_histogram(bins: Sequence[Bin], unit: str) -> str:
    """Return leaves by released support, those that noise could explain in grey."""
    total, step, height = max(1, sum(each.leaves for each in bins)), 90, 150
    largest = max(max((each.leaves for each in bins), default=1), 1)
    pieces = []
    for j, each in enumerate(bins):
        tall = height * each.leaves / largest
        x = 12 + j * step
        kind = "noise" if each.within_noise else "accent"
        pieces.append(
            f'<rect class="{kind}" x="{x}" y="{24 + height - tall:.1f}" width="{step - 14}" '
            f'height="{max(tall, 1):.1f}" rx="2"/>'
            f'<text class="strong" x="{x + (step - 14) / 2}" y="{18 + height - tall:.1f}" text-anchor="middle">'
            f"{number(each.leaves)}</text>"
            f'<text x="{x + (step - 14) / 2}" y="{height + 40}" text-anchor="middle">{each.label}</text>'
        )
    axis = f'<path class="axis" d="M8 {24 + height}H{step * len(bins) + 4}"/>'
    title = f'<text x="12" y="{height + 58}">{unit}</text>'
    above = sum(each.leaves for each in bins if not each.within_noise) / total
    label = f"Leaves by released support; {percent(above)} are in the coloured bars."
    return _svg(step * len(bins) + 12, height + 66, label, axis + "".join(pieces) + title)


def growth_curve(deviations: Sequence[float], added: str = "batch") -> str:
    """Return how the noise in a count grew with every batch, or what else was ``added``."""
    width, height, most = 720, 130, max(deviations)
    xs = [40 + (width - 80) * i / max(1, len(deviations) - 1) for i in range(len(deviations))]
    ys = [20 + (height - 20) * (1 - deviation / most) if most else height for deviation in deviations]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    few = len(deviations) <= 40
    dots = (
        "".join(f'<circle class="accent" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in zip(xs, ys, strict=True))
        if few
        else ""
    )
    ends = "".join(
        f'<text class="strong" x="{xs[i]:.1f}" y="{ys[i] - 9:.1f}" text-anchor="middle">{number(deviations[i])}</text>'
        f'<text x="{xs[i]:.1f}" y="{height + 18}" text-anchor="middle">{added} '
        f"{i + 1 if i >= 0 else len(deviations)}</text>"
        for i in (0, -1)
    )
    inside = f'<path class="axis" d="M30 {height}H{width - 30}"/><polyline class="curve" points="{line}"/>{dots}{ends}'
    return _svg(width, height + 26, f"Noise in a released count after each {added}.", inside)


def _axes(across: str, upwards: str, inside: str, label: str) -> str:
    right, bottom = _LEFT + _SIDE, _TOP + _SIDE
    frame = f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
    ticks = "".join(
        f'<text x="{_LEFT + _SIDE * at / 100}" y="{bottom + 14}" text-anchor="{anchor}">{at} %</text>'
        f'<text x="{_LEFT - 4}" y="{bottom - _SIDE * at / 100 + 4}" text-anchor="end">{at}</text>'
        for at, anchor in ((0, "middle"), (50, "middle"), (100, "end"))
    )
    names = (
        f'<text x="{_LEFT + _SIDE / 2}" y="{bottom + 29}" text-anchor="middle">{across}</text>'
        f'<text x="{_LEFT + 6}" y="{_TOP + 8}">{upwards}, %</text>'
    )
    return _svg(right + 16, bottom + 34, label, frame + inside + ticks + names)


def _points(pairs: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_LEFT + _SIDE * x:.1f},{_TOP + _SIDE * (1 - y):.1f}" for x, y in pairs)


def _diagonal() -> str:
    return f'<path class="even" d="M{_LEFT} {_TOP + _SIDE}L{_LEFT + _SIDE} {_TOP}"/>'


def _svg(width: int, height: int, label: str, inside: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{inside}</svg>'
