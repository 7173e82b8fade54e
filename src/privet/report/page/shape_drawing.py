"""Pictures of effects as inline SVG: steps for a number, bars for categories, a map for two attributes together."""

import html
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privet.report.page.effects import BAND, Effect, borders, places
from privet.report.page.formats import number, shown
from privet.schema import Numeric

Floats = NDArray[np.float64]
MOST_BARS = 24
MOST_ON_A_SIDE = 60
_WIDTH, _LEFT, _TOP, _RIGHT, _HEIGHT = 440, 40, 10, 372, 170
_LABEL, _ROW = 132, 19
# The width of a letter, and the room between two names.
_LETTER, _BETWEEN = 6.6, 8.0
_MAP_LEFT, _MAP_ROOM = 150, 560
_MOST_TEXT, _MOST_TURNED = 22, 15
# Of all values, those above this quantile have the full colour: a few cells that are noise must not bleach the rest.
_FULL = 0.9


class Scale:
    """Where values stand between two ends of a picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        room = 0.06 * (high - low) or 1.0
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def __call__(self, value: float) -> float:
        """Return where a value stands; one beyond the picture, at its edge."""
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return a few round values."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= next(m for m in (1, 2, 5, 10) if (self.high - self.low) / (m * step) <= 5)
        return [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def number_shape(effect: Effect, name: str, colours: Sequence[int]) -> str:
    """Return the effect of a number: a step a cell and the band of its noise, and the missing value beside."""
    (attribute,) = effect.attributes
    assert isinstance(attribute, Numeric)  # noqa: S101 - the caller has asked
    xs = _LEFT + (_RIGHT - _LEFT) * places(attribute)
    y = _value_scale(effect, _HEIGHT + _TOP, _TOP)
    alone = len(colours) == 1
    pieces = [_steps_band(effect, 0, xs, y, effect.rare_noise, "rare")] if alone else []
    for k, colour in enumerate(colours):
        band = _steps_band(effect, k, xs, y, effect.noise, "band" if alone else f"faint class-{colour}")
        line = "curve" if alone else f"line-{colour}"
        pieces.append(f'<g data-class="{colour}">{band}{_steps(effect, k, xs, y, line)}</g>')
    frame = f'<path class="axis" d="M{_LEFT} {_TOP}V{_TOP + _HEIGHT}H{_RIGHT}"/>{_even_line(y)}'
    inside = frame + "".join(pieces) + _value_ticks(y) + _border_ticks(borders(attribute), xs)
    missing = f'<text x="{_RIGHT + 36}" y="{_TOP + _HEIGHT + 15}" text-anchor="middle">missing</text>'
    return _svg(_WIDTH, _TOP + _HEIGHT + 24, name, effect, inside + missing)


def category_shape(effect: Effect, name: str, colours: Sequence[int]) -> str:
    """Return the effect of categories: a line each, those that add most first; dots where there are several classes."""
    shown_cells = _strongest_cells(effect)
    x = _value_scale(effect, _LABEL, _WIDTH - 12)
    bottom = _TOP + _ROW * len(shown_cells)
    draw = _bar if len(colours) == 1 else _dots
    rows = [draw(effect, cell, _TOP + _ROW * i, x, colours) for i, cell in enumerate(shown_cells)]
    ticks = "".join(
        f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{number(tick)}</text>' for tick in x.ticks()
    )
    zero = f'<path class="even" d="M{x(0):.1f} {_TOP}V{bottom}"/>'
    return _svg(_WIDTH, bottom + 22, name, effect, "".join(rows) + zero + ticks)


def pair_map(effect: Effect, name: str, colours: Sequence[int]) -> str:
    """Return the effect of two attributes: a square a pair of cells, in the colour of the class that it speaks for."""
    values = effect.values if effect.values.shape[0] <= effect.values.shape[1] else effect.values.swapaxes(0, 1)
    turned = values is not effect.values
    noise, cells = (effect.noise.T, effect.cells[::-1]) if turned else (effect.noise, effect.cells)
    side, high = min(34.0, _MAP_ROOM / values.shape[1]), 19.0
    top = 16 + math.ceil(_LETTER * 0.82 * min(_MOST_TURNED, max(map(len, cells[1]))))
    winner, strength = _spoken_for(values, colours)
    full = float(np.quantile(strength, _FULL)) or 1.0
    squares = []
    for i, j in np.ndindex(values.shape[:2]):
        quiet = strength[i, j] <= BAND * noise[i, j]
        opacity = 0.35 if quiet else min(1.0, 0.15 + 0.85 * strength[i, j] / full)
        squares.append(
            f'<rect x="{_MAP_LEFT + side * j:.1f}" y="{top + high * i:.0f}" width="{side - 1:.1f}" '
            f'height="{high - 1:.0f}" class="{"noise" if quiet else f"class-{winner[i, j]}"}" '
            f'data-class="{winner[i, j]}" fill-opacity="{opacity:.2f}"/>'
        )
    down = "".join(
        f'<text x="{_MAP_LEFT - 6}" y="{top + high * i + 13:.0f}" text-anchor="end">{_short(cell)}</text>'
        for i, cell in enumerate(cells[0])
    )
    across = "".join(
        f'<text transform="translate({_MAP_LEFT + side * (j + 0.5) + 3:.1f} {top - 5}) rotate(-55)">'
        f"{_short(cell, _MOST_TURNED)}</text>"
        for j, cell in enumerate(cells[1])
    )
    # As wide as the widest, so that letters are as large in all of them.
    width = _MAP_LEFT + _MAP_ROOM + 60
    return _svg(width, int(top + high * values.shape[0] + 4), name, effect, "".join(squares) + down + across)


def _spoken_for(values: Floats, colours: Sequence[int]) -> tuple[NDArray[np.int64], Floats]:
    """Return for which class each cell speaks, as a colour, and how strongly."""
    if values.shape[-1] == 1:
        towards = np.where(values[..., 0] > 0, colours[0], 1 - colours[0])
        return towards, np.abs(values[..., 0])
    return np.array(colours)[values.argmax(axis=-1)], values.max(axis=-1)


def _strongest_cells(effect: Effect) -> list[int]:
    order = np.argsort(-np.abs(effect.values).max(axis=-1), kind="stable")[:MOST_BARS]
    return sorted(map(int, order), key=lambda cell: -float(effect.values[cell, 0]))


def _value_scale(effect: Effect, start: float, end: float) -> Scale:
    reach = BAND * effect.noise[..., None]
    low, high = float((effect.values - reach).min()), float((effect.values + reach).max())
    return Scale(min(low, 0.0), max(high, 0.0), start, end)


def _steps(effect: Effect, k: int, xs: Floats, y: Scale, kind: str) -> str:
    values = effect.of_class(k)
    path = "".join(f"V{y(v):.1f}H{x:.1f}" for v, x in zip(values[:-1], xs[1:], strict=True))
    missing = f"M{_RIGHT + 18} {y(values[-1]):.1f}h28"
    return f'<path class="{kind}" d="M{xs[0]:.1f} {y(values[0]):.1f}{path}{missing}"/>'


def _steps_band(effect: Effect, k: int, xs: Floats, y: Scale, noise: Floats, kind: str) -> str:
    values = effect.of_class(k)
    upper = [(values[i] + BAND * noise[i], xs[i], xs[i + 1]) for i in range(len(values) - 1)]
    lower = [(values[i] - BAND * noise[i], xs[i + 1], xs[i]) for i in range(len(values) - 2, -1, -1)]
    points = " ".join(f"{a:.1f},{y(v):.1f} {b:.1f},{y(v):.1f}" for v, a, b in [*upper, *lower])
    top, bottom = y(values[-1] + BAND * noise[-1]), y(values[-1] - BAND * noise[-1])
    missing = f'<rect class="{kind}" x="{_RIGHT + 18}" y="{top:.1f}" width="28" height="{bottom - top:.1f}"/>'
    return f'<polygon class="{kind}" points="{points}"/>{missing}'


def _bar(effect: Effect, cell: int, top: float, x: Scale, colours: Sequence[int]) -> str:
    value, far = float(effect.values[cell, 0]), BAND * float(effect.noise[cell])
    start, width = min(x(0), x(value)), abs(x(value) - x(0))
    colour = colours[0] if value > 0 else 1 - colours[0]
    return (
        f'{_row_label(effect, cell, top)}<rect class="class-{colour}" fill-opacity="0.75" x="{start:.1f}" '
        f'y="{top + 3:.0f}" width="{width:.1f}" height="{_ROW - 6}" rx="1"/>'
        f'<path class="mark" d="M{x(value - far):.1f} {top + _ROW / 2}H{x(value + far):.1f}"/>'
    )


def _dots(effect: Effect, cell: int, top: float, x: Scale, colours: Sequence[int]) -> str:
    middle = top + _ROW / 2
    dots = "".join(
        f'<circle class="class-{colour}" data-class="{colour}" cx="{x(float(effect.values[cell, k])):.1f}" '
        f'cy="{middle}" r="4"/>'
        for k, colour in enumerate(colours)
    )
    return f'{_row_label(effect, cell, top)}<path class="axis" d="M{_LABEL} {middle}H{_WIDTH - 12}"/>{dots}'


def _row_label(effect: Effect, cell: int, top: float) -> str:
    return f'<text x="{_LABEL - 8}" y="{top + 13}" text-anchor="end">{_short(effect.cells[0][cell])}</text>'


def _even_line(y: Scale) -> str:
    return f'<path class="even" d="M{_LEFT} {y(0):.1f}H{_RIGHT + 50}"/>'


def _value_ticks(y: Scale) -> str:
    return "".join(
        f'<text x="{_LEFT - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{number(tick)}</text>' for tick in y.ticks()
    )


def _border_ticks(values: Floats, xs: Floats) -> str:
    return "".join(
        f'<path class="axis" d="M{x:.1f} {_TOP + _HEIGHT}v4"/>'
        f'<text x="{x:.1f}" y="{_TOP + _HEIGHT + 15}" text-anchor="{"end" if x == xs[-1] else "middle"}">{name}</text>'
        for name, x in _apart([number(float(value)) for value in values], xs)
    )


def _apart(names: list[str], xs: Floats) -> Iterator[tuple[str, float]]:
    """Yield the first and the last border, and of those between as many as have room for their names."""
    halves = [_LETTER * len(name) / 2 for name in names]
    free, last = -math.inf, xs[-1] - 2 * halves[-1]
    for i, (name, x) in enumerate(zip(names, xs, strict=True)):
        if i in (0, len(xs) - 1) or (x - halves[i] >= free and x + halves[i] + _BETWEEN <= last):
            yield name, x
            free = x + halves[i] + _BETWEEN


def _short(name: str, most: int = _MOST_TEXT) -> str:
    return html.escape(shown(name, most))


def _svg(width: int, height: int, name: str, effect: Effect, inside: str) -> str:
    """Return a picture that says in words what it shows."""
    title = html.escape(shown(f"Effect of {effect.title}"))
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-told">'
        f'<title id="{name}-title">{title}</title><desc id="{name}-told">{_told(effect)}</desc>{inside}</svg>'
    )


def _told(effect: Effect) -> str:
    (high, _), (low, _) = (_extreme(effect, sign) for sign in (1, -1))
    ends = [f"{number(value)} at {cell}" for value, cell in (_extreme(effect, -1), _extreme(effect, 1))]
    flat = " The values are all alike." if high == low else ""
    return html.escape(shown(f"From {ends[0]} to {ends[1]}.{flat} The table below has all of them.", 400))


def _extreme(effect: Effect, sign: int) -> tuple[float, str]:
    place = np.unravel_index(int((sign * effect.values).argmax()), effect.values.shape)
    cells = ", ".join(own[i] for own, i in zip(effect.cells, place[:-1], strict=True))
    return float(effect.values[place]), cells
