"""The opening of the page: what is promised, field by field, and how it was bought."""

import math
from typing import Any

from privet.privacy.guarantee import NOT_PRIVATE, PAPER, SOUND
from privet.privacy.unit import ROW
from privet.report.page import wording
from privet.report.page.formats import exact, listed, number, pairs, sentence, table, text
from privet.report.page.odds import epsilon_up, of_hundred
from privet.report.page.receipts import Receipt

_MOST_LINES = 40
_INDENTS = 3
_TIMES = "\N{MULTIPLICATION SIGN}"
_COSTS_NOTHING = (
    "Everything on this page is made from what the model file holds anyway: noisy numbers, the trees, the schema and "
    "the promise. Reading it, printing it or passing it on costs no further privacy."
)
_LEAKS = (
    "Everything on this page is made from what the model file holds anyway, and some of that was read from the rows "
    "without noise: whoever sees the page sees the leaks too."
)
_EXACT = (
    "This page shows numbers that no noise protects. Whoever may not see the rows may not see this page: do not "
    "publish it or pass it on."
)
_UNPROVEN = (
    "The numbers on this page carry noise, and nobody has proven how far it protects. Whoever may not see the rows may "
    "not see this page: do not publish it or pass it on."
)


def opening(facts: dict[str, Any]) -> str:
    """Return the title, a banner where one is due, and the promise in one sentence."""
    guarantee, model = facts["guarantee"], facts["model"]
    named = f" of {text(facts['file'])}" if facts["file"] else ""
    return (
        f"<h1>Privacy report{named}</h1>\n"
        f'<p class="soft">Method {text(model["method"])} · model checksum (SHA-256) '
        f"<code>{facts['checksum']}</code></p>\n"
        f"{_banner(guarantee)}"
        f'<p class="promise{"" if guarantee["mode"] == SOUND else " broken"}">{sentence(guarantee["sentence"])}</p>\n'
        f"{_figures(facts)}"
        f'<p class="soft small">{_passing_on(guarantee)}</p>\n'
    )


def guarantee_section(facts: dict[str, Any], receipts: list[tuple[int, Receipt]]) -> str:
    """Return the guarantee field by field, and the receipts."""
    guarantee = facts["guarantee"]
    rows = [
        ("Epsilon", _epsilon(guarantee)),
        ("Delta", _delta(guarantee)),
        ("Neighbours", text(guarantee["neighbours"], 400)),
        ("Unit of privacy", _unit(guarantee)),
        ("Trusted", text(guarantee["trust"], 400)),
        ("Mode", text(guarantee["mode"]) + (f": {text(guarantee['reason'], 400)}" if guarantee["reason"] else "")),
        ("Public beforehand", listed(guarantee["public"], otherwise="nothing")),
        ("Leaks", _leaks(guarantee["leaks"])),
        ("Assumptions", listed(guarantee["assumptions"], otherwise="none")),
        ("Made with", ", ".join(f"{text(name)} {text(version)}" for name, version in guarantee["versions"].items())),
    ]
    return (
        "<h2>The promise, field by field</h2>\n"
        f"{pairs(rows)}\n<h3>Receipts: how the promise was bought</h3>\n"
        f"<p>{_about_receipts(guarantee)}</p>\n{_receipt_table(receipts)}"
    )


def _banner(guarantee: dict[str, Any]) -> str:
    warnings = []
    if guarantee["mode"] == NOT_PRIVATE:
        title = "This model is not private. Do not publish it as if it were."
        warnings.append((title, text(guarantee["reason"], 400)))
    elif guarantee["mode"] == PAPER:
        title = "Nothing is proven for this model. It is for reproducing a paper, not for publishing."
        told = "Noise was added, but the price that the paper counts for it has no proof, and so it promises nothing."
        warnings.append((title, told))
    elif guarantee["mode"] != SOUND:
        title = f"The promise of this model is not sound; its mode is {text(guarantee['mode'])}."
        warnings.append((title, text(guarantee["reason"], 400)))
    if guarantee["leaks"]:
        title = "This model leaks: its promise does not cover what follows."
        leaks = listed(guarantee["leaks"], otherwise="")
        warnings.append((title, f"Read from the rows without noise:{leaks}"))
    return "".join(
        f'<div class="banner" role="alert"><strong>{title}</strong> {told}</div>\n' for title, told in warnings
    )


def _passing_on(guarantee: dict[str, Any]) -> str:
    if guarantee["mode"] != SOUND:
        return _UNPROVEN if guarantee["mode"] == PAPER else _EXACT
    return _LEAKS if guarantee["leaks"] else _COSTS_NOTHING


def _figures(facts: dict[str, Any]) -> str:
    model = facts["model"]
    if facts["released_values"] is None:
        return ""
    cells = [
        _epsilon_figure(facts["guarantee"]),
        _guesses_figure(facts["guarantee"], facts["odds"]),
        _trees_figure(model),
        (number(facts["released_values"]), "numbers released"),
        (number(facts["smallest_noise_standard_deviation"]), facts["noise"]["figure"]),
    ]
    inside = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in cells)
    return f'<div class="figures">{inside}</div>\n'


def _trees_figure(model: dict[str, Any]) -> tuple[str, str]:
    if model["trees"] == 0:
        return "no", "tree: only the class balance was released"
    return number(model["trees"]), f"{'tree' if model['trees'] == 1 else 'trees'} of height {model['height']}"


def _epsilon_figure(guarantee: dict[str, Any]) -> tuple[str, str]:
    if guarantee["mode"] == PAPER:
        return "not proven", "epsilon"
    if guarantee["epsilon"] == "inf":
        return "infinite", "epsilon"
    return epsilon_up(guarantee["epsilon"]), "epsilon of the noisy numbers alone" if guarantee["leaks"] else "epsilon"


def _guesses_figure(guarantee: dict[str, Any], odds: dict[str, Any]) -> tuple[str, str]:
    one = text(wording.one(guarantee))
    if guarantee["mode"] == PAPER:
        return "not proven", f"a bound on right guesses about {one}"
    if guarantee["leaks"]:
        return "no bound", f"on right guesses about {one}, since there are leaks"
    given = sentence(wording.provided(guarantee))
    return f"{of_hundred(odds['right_guesses'])} of 100", f"guesses about {one} right, at most{given}"


def _epsilon(guarantee: dict[str, Any]) -> str:
    if guarantee["epsilon"] == "inf":
        return f"infinite: nothing is {'proven' if guarantee['mode'] == PAPER else 'promised'}"
    return exact(guarantee["epsilon"]) + (", of the noisy numbers alone" if guarantee["leaks"] else "")


def _delta(guarantee: dict[str, Any]) -> str:
    pure = guarantee["delta"] == 0 and guarantee["mode"] == SOUND
    apart = ", apart from the leaks" if guarantee["leaks"] else ""
    delta = epsilon_up(guarantee["delta"]) if guarantee["delta"] else "0"
    return f"{delta}{f' (pure differential privacy{apart})' if pure else ''}"


def _unit(guarantee: dict[str, Any]) -> str:
    told = "one row"
    if guarantee["unit"] != ROW:
        rows = guarantee["max_rows"]
        told = f"all rows with one value of {text(guarantee['unit'])}, of which at most {rows:,} are used"
    return told if guarantee["epsilon"] == "inf" else f"{told}. {text(wording.caveat(guarantee), 400)}"


def _leaks(leaks: list[str]) -> str:
    if not leaks:
        return "none recorded"
    return f"read from the rows without noise, covered by no promise: {listed(leaks, otherwise='')}"


def _about_receipts(guarantee: dict[str, Any]) -> str:
    if guarantee["leaks"]:
        return (
            "Every noisy number and every choice that left the room has a receipt, and the epsilon at the top is "
            "computed from them. What was read from the rows without noise has none: no price could be written on it, "
            "and the epsilon does not cover it."
        )
    return (
        "Every number and every choice that left the room has a receipt. The epsilon at the top is computed from "
        "them, never the other way round."
    )


def _receipt_table(receipts: list[tuple[int, Receipt]]) -> str:
    rows = [_receipt_row(times, receipt) for times, receipt in receipts[:_MOST_LINES]]
    if len(receipts) > _MOST_LINES:
        rows.append([f"… and {len(receipts) - _MOST_LINES:,} more, all in <code>--json</code>", *[""] * 5])
    headings = ["mechanism", "what", "sensitivity", "noise scale", "standard deviation", "epsilon"]
    caption = (
        "From the outside in: what stands indented is part of what is above. Equal ones stand on one line, and a long "
        "epsilon is rounded up; all are in full in <code>--json</code>."
    )
    if any(receipt.is_choice for _, receipt in receipts):
        caption += " Choices compare scores, and their sensitivity is in steps of the score."
    if any(receipt.is_fine for _, receipt in receipts):
        caption += " Last digits of weights are in steps of the grid that weights lie on."
    return table(headings, rows, kind="receipts", label="Receipts", caption=caption, numbers=[2, 3, 4, 5])


def _receipt_row(times: int, receipt: Receipt) -> list[str]:
    indent = f'<span class="indent-{min(receipt.depth, _INDENTS)}">{text(receipt.name)}</span>'
    spread = (receipt.scale, receipt.standard_deviation)
    figures = ["" if value is None else number(value) + _unit_of(receipt) for value in spread]
    often, each = (f"{times:,} {_TIMES} ", " each") if times > 1 else ("", "")
    return [indent, often + text(receipt.what, 400), _sensitivity(receipt), *figures, _cost(receipt) + each]


def _sensitivity(receipt: Receipt) -> str:
    if receipt.sensitivity is None:
        return ""
    return number(receipt.sensitivity) + (" steps" if receipt.is_choice else _unit_of(receipt))


def _unit_of(receipt: Receipt) -> str:
    return " steps" if receipt.is_fine else ""


def _cost(receipt: Receipt) -> str:
    if not math.isinf(receipt.epsilon):
        return epsilon_up(receipt.epsilon) + (f" at delta {epsilon_up(receipt.delta)}" if receipt.delta else "")
    if receipt.asked is None or math.isinf(receipt.asked):
        return "infinite"
    return f"infinite, asked for {epsilon_up(receipt.asked)}"
