"""The opening of the page: what is promised, field by field, and how it was bought."""

import math
from typing import Any

from privet.report.markup import exact, listed, number, pairs, sentence, table, text
from privet.report.odds import of_hundred
from privet.report.receipts import Receipt

_MOST_PARTS = 12
_INDENTS = 3
_COSTS_NOTHING = (
    "Everything on this page is made from what the model file releases anyway: noisy numbers, the public structure "
    "and schema, and the promise. Reading it, printing it or passing it on costs no further privacy."
)
_EXACT = (
    "This page shows numbers that no noise protects. Whoever may not see the rows may not see this page: do not "
    "publish it or pass it on."
)


def opening(facts: dict[str, Any]) -> str:
    """Return the title, a banner where one is due, and the promise in one sentence."""
    guarantee, model = facts["guarantee"], facts["model"]
    not_private = guarantee["mode"] == "not private"
    named = f" of {text(facts['file'])}" if facts["file"] else ""
    return (
        f"<h1>Privacy report{named}</h1>\n"
        f'<p class="soft">Method {text(model["method"])} · model checksum (SHA-256) '
        f"<code>{facts['checksum']}</code></p>\n"
        f"{_banner(guarantee)}"
        f'<p class="promise{" broken" if not_private else ""}">{sentence(guarantee["sentence"])}</p>\n'
        f"{_figures(facts)}"
        f'<p class="soft small">{_EXACT if not_private else _COSTS_NOTHING}</p>\n'
    )


def guarantee_section(facts: dict[str, Any], receipts: list[Receipt]) -> str:
    """Return the guarantee field by field, and the receipts."""
    guarantee = facts["guarantee"]
    rows = [
        ("Epsilon", "infinite: nothing is promised" if guarantee["epsilon"] == "inf" else exact(guarantee["epsilon"])),
        ("Delta", f"{guarantee['delta']:g}{' (pure differential privacy)' if _is_pure(guarantee) else ''}"),
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
        "<p>Every number that left the room has a receipt. The sum at the top is computed from them, never the other "
        f"way round.</p>\n{_receipt_table(receipts)}"
    )


def _banner(guarantee: dict[str, Any]) -> str:
    warnings = []
    if guarantee["mode"] == "not private":
        title = "This model is not private. Do not publish it as if it were."
        warnings.append((title, text(guarantee["reason"], 400)))
    elif guarantee["mode"] != "sound":
        title = f"The promise of this model is not sound; its mode is {text(guarantee['mode'])}."
        warnings.append((title, text(guarantee["reason"], 400)))
    if guarantee["leaks"]:
        title = "This model leaks: its promise does not cover what follows."
        leaks = listed(guarantee["leaks"], otherwise="")
        warnings.append((title, f"Read from the rows without noise:{leaks}"))
    return "".join(
        f'<div class="banner" role="alert"><strong>{title}</strong> {told}</div>\n' for title, told in warnings
    )


def _figures(facts: dict[str, Any]) -> str:
    guarantee, model, odds = facts["guarantee"], facts["model"], facts["odds"]
    if facts["released_values"] is None:
        return ""
    private = guarantee["epsilon"] != "inf"
    cells = [
        (exact(guarantee["epsilon"]) if private else "infinite", "epsilon"),
        (f"{of_hundred(odds['right_guesses'])} of 100", f"guesses about one {noun(guarantee)} right, at most"),
        (number(model["trees"]), f"trees of height {model['height']}"),
        (number(facts["released_values"]), "numbers released"),
        (number(facts["smallest_noise_standard_deviation"]), "smallest noise, standard deviation"),
    ]
    inside = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in cells)
    return f'<div class="figures">{inside}</div>\n'


def noun(guarantee: dict[str, Any]) -> str:
    """Return in a word whom the promise protects; other units are the rows that share a value, such as a person's."""
    return "row" if guarantee["unit"] == "row" else "person"


def _is_pure(guarantee: dict[str, Any]) -> bool:
    return bool(guarantee["delta"] == 0 and guarantee["mode"] != "not private")


def _unit(guarantee: dict[str, Any]) -> str:
    if guarantee["unit"] == "row":
        return "one row"
    rows = guarantee["max_rows"]
    return f"all rows with one value of {text(guarantee['unit'])}, of which at most {rows:,} are used"


def _leaks(leaks: list[str]) -> str:
    if not leaks:
        return "none recorded"
    return f"read from the rows without noise, covered by no promise: {listed(leaks, otherwise='')}"


def _receipt_table(receipts: list[Receipt]) -> str:
    rows = [_receipt_row(receipt) for receipt in receipts[:_MOST_PARTS]]
    if len(receipts) > _MOST_PARTS:
        rows.append([f"… and {len(receipts) - _MOST_PARTS:,} more, all in <code>--json</code>", *[""] * 5])
    headings = ["mechanism", "what", "sensitivity", "noise scale", "standard deviation", "epsilon"]
    caption = "From the outside in: what stands indented is part of what is above."
    return table(headings, rows, kind="receipts", label="Receipts", caption=caption, numbers=[2, 3, 4, 5])


def _receipt_row(receipt: Receipt) -> list[str]:
    indent = f'<span class="indent-{min(receipt.depth, _INDENTS)}">{text(receipt.name)}</span>'
    figures = [receipt.sensitivity, receipt.scale, receipt.standard_deviation]
    cost = "infinite" if math.isinf(receipt.epsilon) else exact(receipt.epsilon)
    return [indent, text(receipt.what, 400), *("" if value is None else number(value) for value in figures), cost]
