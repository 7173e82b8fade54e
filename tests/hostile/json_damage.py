"""Damage to a JSON document that stays JSON: hostile values, parts that are lost, doubled, renamed, moved, nested."""

import json
import re
from copy import deepcopy
from typing import Any

from tests.hostile.choices import Choices
from tests.hostile.seeds import Seed

# Spelled as they stand: JSON's own writer would not write them, or not so.
_RAW = "\ue000raw:"
_MARKED = re.compile(r'"(?:\ue000|\\ue000)raw:(\d{1,6})"')
_RAW_VALUES = ("1e400", "-1e400", "NaN", "-Infinity", "1E-999", "1" * 5_000, "-0", '{"a":1,"a":2}', '"\\ud800"')
_DEEP = (300, 900, 2_000, 100_000)
SCALARS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 0.0, -0.0, 0.5, 1.0, 1e-320, 1e308, -1e308, 255, 65_534, 65_535, 2**31, 2**45,
    2**53,
    2**53 + 1, -(2**63), 2**63, 2**64, 10**12, 10**15, 10**30, "", " ", "\0", "\n", "x" * 10_000, "inf", "nan",
    "1/0", "1/3",
    "9" * 650, "²", "\ud800", "\u202e", "é", "e\u0301", "no", "age", "class", "row", [], {}, [[]], [None], {"": None},
)  # fmt: skip
_MOST_REPEATS = 3_000
_LABELS = {"format", "version", "checksum", "method", "signature"}


def damaged_json(document: Any, others: list[Seed], choices: Choices) -> Any:
    """Return ``document``, which is changed in place, with one to three parts changed, most often one."""
    box = [document]
    for _ in range(choices.pick([1, 1, 1, 2, 3])):
        holder, key = _place(box, choices)
        damage = choices.pick(_DAMAGES)
        damage(holder, key, choices, others)
        if not box:
            box = [None]
        if damage in _GROWING:
            break
    return box[0]


def spelled(document: Any, choices: Choices) -> str:
    """Return the document as text, with what JSON's writer does not write put in where it was marked."""
    text = json.dumps(document, ensure_ascii=choices.chance(0.5))
    return _MARKED.sub(lambda found: _spelling(int(found[1])), text)


def _spelling(mark: int) -> str:
    return _RAW_VALUES[mark] if mark < len(_RAW_VALUES) else _nested(mark)


def _nested(depth: int) -> str:
    return "[" * depth + "]" * depth if depth % 2 else '{"":' * depth + "0" + "}" * depth


def _place(box: list[Any], choices: Choices) -> tuple[Any, Any]:
    """Return a container and a key of it; branches are equally likely, so that long lists do not draw all attempts."""
    holder: Any = box
    key: Any = 0
    while isinstance(holder[key], (dict, list)) and holder[key] and (holder is box or choices.chance(0.75)):
        holder = holder[key]
        key = choices.pick(_keys(holder, choices)) if isinstance(holder, dict) else choices.below(len(holder))
    return holder, key


def _keys(holder: dict[str, Any], choices: Choices) -> list[str]:
    """Return an object's keys; those that only say what kind of file it is are seldom among them."""
    telling = [key for key in holder if key not in _LABELS]
    return telling if telling and not choices.chance(0.05) else list(holder)


def _scalar(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    holder[key] = deepcopy(choices.pick(SCALARS))  # what comes next may change it


def _nudged(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    value = holder[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _other_text(holder, key, choices)
        return
    moves = (value + 1, value - 1, -value, value * 2, value / 2, float(value), int(value), value * 10**6, str(value))
    holder[key] = choices.pick(moves)


def _other_text(holder: Any, key: Any, choices: Choices) -> None:
    if isinstance(holder[key], str):
        text = holder[key]
        holder[key] = choices.pick(
            [text[:-1], text + "x", text.upper(), text[::-1], text + "\0", text + "\ud800", [text]]
        )


def _removed(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    del holder[key]


def _doubled(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    if isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[choices.pick([f"{key} ", key + "\0", "x", "constructor", "__proto__"])] = holder[key]


def _renamed(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    if isinstance(holder, dict):
        names = [name for name in holder if name != key] or [""]
        holder[choices.pick([*names, "", "name", "\ud800"])] = holder.pop(key)


def _retyped(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    value = holder[key]
    inside = (
        next(iter(value.values() if isinstance(value, dict) else value), None) if value and _holds(value) else value
    )
    holder[key] = choices.pick([[value], {"x": value}, str(value)[:2_000], bool(value), inside])


def _moved(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    """Put a part of this or of another document here."""
    there, name = _place([choices.pick(others).document], choices)
    holder[key] = there[name]


def _exchanged(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    other = choices.pick(keys)
    holder[key], holder[other] = holder[other], holder[key]


def _turned(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    if isinstance(holder[key], list):
        holder[key] = holder[key][::-1]
    elif isinstance(holder[key], dict):
        holder[key] = dict(reversed(holder[key].items()))
    else:
        _nudged(holder, key, choices, others)


def _raw(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    holder[key] = f"{_RAW}{choices.below(len(_RAW_VALUES))}"


def _strange(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    choices.pick([_raw, _deepened])(holder, key, choices, others)


def _deepened(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    holder[key] = f"{_RAW}{choices.pick(_DEEP) + choices.below(2)}"


def _lengthened(holder: Any, key: Any, choices: Choices, others: list[Seed]) -> None:
    if isinstance(holder, list) and len(holder) < _MOST_REPEATS:
        holder[key : key + 1] = [holder[key]] * choices.below(_MOST_REPEATS)
    elif isinstance(holder[key], str):
        holder[key] = holder[key][:20] * choices.below(_MOST_REPEATS)


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list))


_DAMAGES = (
    _scalar, _scalar, _scalar, _nudged, _nudged, _nudged, _removed, _doubled, _renamed, _retyped, _moved, _moved,
    _exchanged,
    _turned, _strange, _lengthened,
)  # fmt: skip
# One inside another would multiply: files of many megabytes, which are for `bombs`, and not for thousands of cases.
_GROWING = (_strange, _lengthened)
