"""The page's pictures as data: marks that the templates write as inline SVG. Colours come from the style sheet."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.guarantee import of_hundred, right_guesses
from privet.report.page.effects import BAND, Effect, marked, places, round_numbers, shown_range, tick_names, ticks
from privet.report.page.formats import number, percent, shown
from privet.report.page.odds import belief, detection_rate

Floats = NDArray[np.float64]
MOST_BARS = 24
MOST_ON_A_SIDE = 60
# The square of the two curves of the attacker's section.
_SIDE, _CURVES_LEFT = 200, 34
_GRID = 50
# The plot of an attribute's effect.
_WIDTH, _LEFT, _TOP, _RIGHT, _HEIGHT = 440, 40, 10, 372, 170
_LABEL, _ROW = 156, 19
# The width of a letter, and the room between two names.
_LETTER, _BETWEEN = 6.6, 8.0
_MAP_LEFT, _MAP_ROOM = 150, 560
_MOST_TEXT, _MOST_TURNED, _TURNED_ROOM = 22, 15, 15.0
# Values above this quantile have the full colour: a few cells that are noise must not bleach the rest.
_FULL = 0.9


@dataclass(frozen=True)
class Mark:
    """One SVG element: its tag, its attributes, and the text or the marks inside it."""

    tag: str
    fields: dict[str, Any]
    text: str = ""
    inside: tuple["Mark", ...] = ()


@dataclass(frozen=True)
class Picture:
    """Marks in a frame, with a title for people who cannot see them.

    A picture with a ``description`` needs a ``name`` that no other picture of the page has.
    """

    width: int
    height: int
    title: str
    marks: tuple[Mark, ...]
    name: str = ""
    description: str = ""


@dataclass(frozen=True)
class Bin:
    """A range of released supports and how many leaves fall in it."""

    label: str
    leaves: int
    within_noise: bool


class Scale:
    """Where values stand between two ends of a picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        room = 0.06 * (high - low) or 1.0
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def __call__(self, value: float) -> float:
        """Return where a value stands; a value outside the picture stands at its edge."""
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return a few round values."""
        return round_numbers(self.low, self.high)


def hundred_guesses(epsilon: float, delta: float) -> Picture:
    """Return 100 dots, as many filled as guesses can be right at most; 50 are right without the model."""
    right = of_hundred(right_guesses(epsilon, delta))
    kinds = ["noise" if i < 50 else "accent" if i < right else "track" for i in range(100)]
    dots = tuple(
        _mark("circle", kind, cx=20 + 22 * (i % 10), cy=20 + 22 * (i // 10), r=8) for i, kind in enumerate(kinds)
    )
    return Picture(240, 240, f"{right} of 100 dots are filled, 50 of them grey.", dots)


def belief_band(epsilon: float) -> Picture:
    """Return how far a belief can move: the belief before to the right, the possible beliefs afterwards upwards."""
    steps = [belief(i / _GRID, epsilon) for i in range(_GRID + 1)]
    upper, lower = [(b.prior, b.highest) for b in steps], [(b.prior, b.lowest) for b in steps]
    marks = [
        _mark("polygon", "band", points=_points([*upper, *reversed(lower)])),
        _mark("polyline", "curve", points=_points(upper)),
        _mark("polyline", "curve", points=_points(lower)),
        _diagonal(),
        _mark("g", id="belief-mark"),
    ]
    return _unit_square("thought before", "can think after", marks, "How far the model can move a belief.")


def detection_curve(epsilon: float, delta: float) -> Picture:
    """Return the best detection rate for every rate of false alarms."""
    points = [(i / _GRID, detection_rate(i / _GRID, epsilon, delta)) for i in range(_GRID + 1)]
    # The corner where the two bounds meet is seldom on the grid.
    corner = 1 - right_guesses(epsilon, delta)
    points = sorted([*points, (corner, 1 - corner)])
    marks = [
        _mark("polygon", "band", points=_points([*points, (1.0, 1.0), (0.0, 0.0)])),
        _mark("polyline", "curve", points=_points(points)),
        _diagonal(),
    ]
    return _unit_square("false alarms", "members found", marks, "The best possible test for membership.")


def support_histogram(bins: Sequence[Bin], unit: str) -> Picture:
    """Return leaves by released support; bars that noise could explain are grey."""
    total, step, height = max(1, sum(each.leaves for each in bins)), 90, 150
    largest = max(max((each.leaves for each in bins), default=1), 1)
    marks = [_mark("path", "axis", d=f"M8 {24 + height}H{step * len(bins) + 4}")]
    for j, each in enumerate(bins):
        tall, x, kind = height * each.leaves / largest, 12 + j * step, "noise" if each.within_noise else "accent"
        top, tallest, middle = f"{24 + height - tall:.1f}", f"{max(tall, 1):.1f}", x + (step - 14) / 2
        marks += [
            _mark("rect", kind, x=x, y=top, width=step - 14, height=tallest, rx=2),
            _label(number(each.leaves), middle, f"{18 + height - tall:.1f}", kind="strong"),
            _label(each.label, middle, height + 40),
        ]
    marks.append(_label(unit, 12, height + 58, anchor=None))
    above = sum(each.leaves for each in bins if not each.within_noise) / total
    title = f"Leaves by released support; {percent(above)} are in the coloured bars."
    return Picture(step * len(bins) + 12, height + 66, title, tuple(marks))


def growth_curve(deviations: Sequence[float], added: str = "batch") -> Picture:
    """Return how the noise in a count grew with every batch or party; ``added`` says which."""
    width, height, most = 720, 130, max(deviations)
    xs = [40 + (width - 80) * i / max(1, len(deviations) - 1) for i in range(len(deviations))]
    ys = [20 + (height - 20) * (1 - deviation / most) if most else height for deviation in deviations]
    placed = [(f"{x:.1f}", f"{y:.1f}") for x, y in zip(xs, ys, strict=True)]
    marks = [
        _mark("path", "axis", d=f"M30 {height}H{width - 30}"),
        _mark("polyline", "curve", points=" ".join(f"{x},{y}" for x, y in placed)),
    ]
    marks += [_mark("circle", "accent", cx=x, cy=y, r=4) for x, y in placed if len(deviations) <= 40]
    for i, nth in ((0, 1), (-1, len(deviations))):
        marks += [
            _label(number(deviations[i]), placed[i][0], f"{ys[i] - 9:.1f}", kind="strong"),
            _label(f"{added} {nth}", placed[i][0], height + 18),
        ]
    return Picture(width, height + 26, f"Noise in a released count after each {added}.", tuple(marks))


def effect_of_number(effect: Effect, name: str, colours: Sequence[int]) -> Picture:
    """Return the effect of a number: a curve, or a step a cell, with the band of its noise; missing values beside."""
    xs = _LEFT + (_RIGHT - _LEFT) * places(effect)
    y, bottom = _value_scale(effect, _HEIGHT + _TOP, _TOP), _TOP + _HEIGHT
    alone = len(colours) == 1
    marks = [
        _mark("path", "axis", d=f"M{_LEFT} {_TOP}V{bottom}H{_RIGHT}"),
        _mark("path", "even", d=f"M{_LEFT} {y(0):.1f}H{_RIGHT + 50}"),
    ]
    if alone and effect.rare_noise is not None:
        marks += _band(effect, 0, xs, y, effect.rare_noise, "rare")
    for k, colour in enumerate(colours):
        band = _band(effect, k, xs, y, effect.noise, "band" if alone else f"faint class-{colour}")
        line = _line(effect, k, xs, y, "curve" if alone else f"line-{colour}")
        marks.append(_mark("g", inside=(*band, *line), data_class=colour))
    marks += [_label(number(tick), _LEFT - 5, f"{y(tick) + 4:.1f}", anchor="end") for tick in y.ticks()]
    written = ticks(effect)
    at = np.interp(written, marked(effect), xs)
    for value, x in _with_room(tick_names(effect), at):
        marks += [
            _mark("path", "axis", d=f"M{x:.1f} {bottom}v4"),
            _label(value, f"{x:.1f}", bottom + 15, anchor="end" if x == xs[-1] else "middle"),
        ]
    marks += [_label("missing", _RIGHT + 36, bottom + 15)] if effect.has_missing[0] else []
    return _of_effect(_WIDTH, bottom + 24, name, effect, marks)


def effect_of_categories(effect: Effect, name: str, colours: Sequence[int]) -> Picture:
    """Return the effect of categories: a line each, those that add most first; dots where there are several classes."""
    strength = np.where(effect.seen, np.abs(effect.values).max(axis=-1), -1.0)
    order = np.argsort(-strength, kind="stable")[:MOST_BARS]
    cells = sorted(map(int, order), key=lambda cell: -float(effect.values[cell, 0]))
    x = _value_scale(effect, _LABEL, _WIDTH - 12)
    bottom = _TOP + _ROW * len(cells)
    draw = _bar if len(colours) == 1 else _dots
    marks: list[Mark] = []
    for i, cell in enumerate(cells):
        top = _TOP + _ROW * i
        named = _label(shown(effect.cells[0][cell], _MOST_TEXT), _LABEL - 8, top + 13, anchor="end")
        marks += [named, *draw(effect, cell, top, x, colours)]
    marks.append(_mark("path", "even", d=f"M{x(0):.1f} {_TOP}V{bottom}"))
    marks += [_label(number(tick), f"{x(tick):.1f}", bottom + 14) for tick in x.ticks()]
    return _of_effect(_WIDTH, bottom + 22, name, effect, marks)


def effect_of_pair(effect: Effect, name: str, colours: Sequence[int]) -> Picture:
    """Return the effect of two attributes: a square a pair of cells, in the colour of the class that it speaks for.

    A square is empty and crossed out where no rows are for sure: one of its two values has none, as released.
    """
    values = effect.values if effect.values.shape[0] <= effect.values.shape[1] else effect.values.swapaxes(0, 1)
    turned = values is not effect.values
    noise, cells = (effect.noise.T, effect.cells[::-1]) if turned else (effect.noise, effect.cells)
    seen = effect.seen.T if turned else effect.seen
    side, high = min(34.0, _MAP_ROOM / values.shape[1]), 19.0
    top = 16 + math.ceil(_LETTER * 0.82 * min(_MOST_TURNED, max(map(len, cells[1]))))
    winner, strength = _spoken_for(values, colours)
    full = float(np.quantile(strength[seen], _FULL)) or 1.0
    marks = []
    for i, j in np.ndindex(values.shape[:2]):
        if not seen[i, j]:
            marks.append(_crossed_out(_MAP_LEFT + side * j, top + high * i, side - 1, high - 1))
            continue
        quiet = strength[i, j] <= BAND * noise[i, j]
        opacity = 0.35 if quiet else min(1.0, 0.15 + 0.85 * strength[i, j] / full)
        marks.append(
            _mark(
                "rect", "noise" if quiet else f"class-{winner[i, j]}", x=f"{_MAP_LEFT + side * j:.1f}",
                y=f"{top + high * i:.0f}", width=f"{side - 1:.1f}", height=f"{high - 1:.0f}",
                data_class=winner[i, j], fill_opacity=f"{opacity:.2f}",
            )
        )  # fmt: skip
    marks += [
        _label(shown(cell, _MOST_TEXT), _MAP_LEFT - 6, f"{top + high * i + 13:.0f}", anchor="end")
        for i, cell in enumerate(cells[0])
    ]
    for j, cell in _with_turned_room(cells[1], side):
        turn = f"translate({_MAP_LEFT + side * (j + 0.5) + 3:.1f} {top - 5}) rotate(-55)"
        marks.append(_mark("text", text=shown(cell, _MOST_TURNED), transform=turn))
    # As wide as the widest, so that letters are as large in all of them.
    width = _MAP_LEFT + _MAP_ROOM + 60
    return _of_effect(width, int(top + high * values.shape[0] + 4), name, effect, marks)


def _crossed_out(x: float, y: float, width: float, height: float) -> Mark:
    to = f"{width - 1:.1f} {height - 1:.0f}"
    return _mark(
        "path", "void", d=f"M{x + 0.5:.1f} {y + 0.5:.1f}h{width - 1:.1f}v{height - 1:.0f}h{1 - width:.1f}zl{to}"
    )


def _mark(tag: str, kind: str | None = None, *, text: str = "", inside: tuple[Mark, ...] = (), **fields: Any) -> Mark:
    own = {name.replace("_", "-"): value for name, value in fields.items()}
    return Mark(tag, {"class": kind, **own}, text, inside)


def _label(text: str, x: object, y: object, *, anchor: str | None = "middle", kind: str | None = None) -> Mark:
    return _mark("text", kind, text=text, x=x, y=y, text_anchor=anchor)


def _unit_square(across: str, upwards: str, marks: list[Mark], title: str) -> Picture:
    """Return ``marks`` with the axes of the unit square, in percent."""
    left, right, bottom = _CURVES_LEFT, _CURVES_LEFT + _SIDE, _TOP + _SIDE
    ticks = [
        label
        for at, anchor in ((0, "middle"), (50, "middle"), (100, "end"))
        for label in (
            _label(f"{at} %", left + _SIDE * at / 100, bottom + 14, anchor=anchor),
            _label(str(at), left - 4, bottom - _SIDE * at / 100 + 4, anchor="end"),
        )
    ]
    names = _label(across, left + _SIDE / 2, bottom + 29), _label(f"{upwards}, %", left + 6, _TOP + 8, anchor=None)
    frame = _mark("path", "axis", d=f"M{left} {_TOP}V{bottom}H{right}")
    return Picture(right + 16, bottom + 34, title, (frame, *marks, *ticks, *names))


def _points(pairs: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_CURVES_LEFT + _SIDE * x:.1f},{_TOP + _SIDE * (1 - y):.1f}" for x, y in pairs)


def _diagonal() -> Mark:
    return _mark("path", "even", d=f"M{_CURVES_LEFT} {_TOP + _SIDE}L{_CURVES_LEFT + _SIDE} {_TOP}")


def _spoken_for(values: Floats, colours: Sequence[int]) -> tuple[NDArray[np.int64], Floats]:
    """Return for which class each cell speaks, as a colour, and how strongly."""
    if values.shape[-1] == 1:
        towards = np.where(values[..., 0] > 0, colours[0], 1 - colours[0])
        return towards, np.abs(values[..., 0])
    return np.array(colours)[values.argmax(axis=-1)], values.max(axis=-1)


def _value_scale(effect: Effect, start: float, end: float) -> Scale:
    """Return a scale for values and bands where rows are for sure; others are cut off at its ends."""
    low, high = shown_range(effect)
    return Scale(low, high, start, end)


def _line(effect: Effect, k: int, xs: Floats, y: Scale, kind: str) -> list[Mark]:
    """Return steps, or a curve that is faint where no rows are for sure; missing values beside."""
    values = effect.of_class(k)
    known, missing = np.split(values, [len(values) - effect.has_missing[0]])
    beside = "".join(f"M{_RIGHT + 18} {y(v):.1f}h28" for v in missing)
    if effect.curve is None:
        path = f"M{xs[0]:.1f} {y(values[0]):.1f}"
        path += "".join(f"V{y(v):.1f}H{x:.1f}" for v, x in zip(known, xs[1:], strict=True))
        return [_mark("path", kind, d=path + beside)]
    at = [f"{x:.1f} {y(v):.1f}" for v, x in zip(known, xs, strict=True)]
    sure = "".join("M" + "L".join(at[run]) for run in effect.sure_runs)
    faint = [] if effect.seen.all() else [_mark("path", f"{kind} unsure", d="M" + "L".join(at))]
    return [*faint, *([_mark("path", kind, d=sure + beside)] if sure or beside else [])]


def _band(effect: Effect, k: int, xs: Floats, y: Scale, noise: Floats, kind: str) -> list[Mark]:
    values = effect.of_class(k)
    n_known = len(values) - effect.has_missing[0]
    upper, lower = values + BAND * noise, values - BAND * noise
    # A cell goes from one border to the next, and a point of a curve is at one place.
    ends = [(x, x) for x in xs] if effect.curve is not None else list(pairwise(xs))
    there = [f"{x:.1f},{y(upper[i]):.1f}" for i in range(n_known) for x in ends[i]]
    back = [f"{x:.1f},{y(lower[i]):.1f}" for i in reversed(range(n_known)) for x in reversed(ends[i])]
    marks = [_mark("polygon", kind, points=" ".join([*there, *back]))]
    if len(values) > n_known:
        top, bottom = y(upper[-1]), y(lower[-1])
        marks.append(_mark("rect", kind, x=_RIGHT + 18, y=f"{top:.1f}", width=28, height=f"{bottom - top:.1f}"))
    return marks


def _bar(effect: Effect, cell: int, top: float, x: Scale, colours: Sequence[int]) -> list[Mark]:
    value, far = float(effect.values[cell, 0]), BAND * float(effect.noise[cell])
    start, width = f"{min(x(0), x(value)):.1f}", f"{abs(x(value) - x(0)):.1f}"
    kind = f"class-{colours[0] if value > 0 else 1 - colours[0]}"
    whisker = f"M{x(value - far):.1f} {top + _ROW / 2}H{x(value + far):.1f}"
    return [
        _mark(
            "rect",
            kind,
            fill_opacity=0.75 if effect.seen[cell] else 0.25,
            x=start,
            y=f"{top + 3:.0f}",
            width=width,
            height=_ROW - 6,
            rx=1,
        ),
        _mark("path", "mark", d=whisker),
    ]


def _dots(effect: Effect, cell: int, top: float, x: Scale, colours: Sequence[int]) -> list[Mark]:
    middle = top + _ROW / 2
    xs = [f"{x(float(effect.values[cell, k])):.1f}" for k in range(len(colours))]
    dots = [
        _mark("circle", f"class-{colour}", data_class=colour, cx=at, cy=middle, r=4)
        for colour, at in zip(colours, xs, strict=True)
    ]
    return [_mark("path", "axis", d=f"M{_LABEL} {middle}H{_WIDTH - 12}"), *dots]


def _with_turned_room(names: Sequence[str], side: float) -> Iterator[tuple[int, str]]:
    """Yield as many names above a map as have room."""
    step = math.ceil(_TURNED_ROOM / side)
    yield from ((j, name) for j, name in enumerate(names) if j % step == 0)


def _with_room(names: list[str], xs: Floats) -> Iterator[tuple[str, float]]:
    """Yield the first and the last border, and those between that have room for their names."""
    halves = [_LETTER * len(name) / 2 for name in names]
    free, last = -math.inf, xs[-1] - 2 * halves[-1]
    for i, (name, x) in enumerate(zip(names, xs, strict=True)):
        if i in (0, len(xs) - 1) or (x - halves[i] >= free and x + halves[i] + _BETWEEN <= last):
            yield name, x
            free = x + halves[i] + _BETWEEN


def _of_effect(width: int, height: int, name: str, effect: Effect, marks: list[Mark]) -> Picture:
    """Return a picture that says in words what it shows."""
    (low, least), (high, most) = _extreme(effect, -1), _extreme(effect, 1)
    flat = " The values are all alike." if high == low else ""
    description = f"From {number(low)} at {least} to {number(high)} at {most}.{flat} The table below has all of them."
    return Picture(width, height, shown(f"Effect of {effect.title}"), tuple(marks), name, shown(description, 400))


def _extreme(effect: Effect, sign: int) -> tuple[float, str]:
    """Return the least or largest value where rows are for sure, and its place in words."""
    sought = np.where(effect.seen[..., None], sign * effect.values, -np.inf)
    place = np.unravel_index(int(sought.argmax()), effect.values.shape)
    cells = ", ".join(own[i] for own, i in zip(effect.cells, place[:-1], strict=True))
    return float(effect.values[place]), cells
