"""The opening of a page about disturbed records: what was done to each field, and what that promises."""

import math
from typing import Any

from privet.privacy.guarantee import NOT_PRIVATE, PAPER, SOUND, rounded_up
from privet.report.page.formats import listed, number, pairs, percent, sentence, table, text
from privet.report.page.odds import epsilon_up, of_hundred

_CONFIDENCES = ("50%", "95%", "99.9%")
_FIRST_NUMBER = 3
IN_WORDS = {
    "clear": "given as it is",
    "uniform": "uniform noise",
    "gaussian": "normal noise",
    "laplace": "Laplace noise",
    "intervals": "its interval",
    "randomized_response": "random answer",
    "record_complement": "bits, all flipped or none",
    "flipped_label": "flipped with the record",
}
# A channel stays this much below the epsilon that was asked for, which need not show.
_DIGITS = 10
_NO_MORE = (
    "The model was grown from answers that were disturbed before anyone saw them. It, and this page, give away no "
    "more than those answers did."
)
_ONLY_THE_ANSWERS = (
    "The model and this page give away no more than the answers that it was grown from; but nothing bounds what "
    "those give away. Treat both as you treat the answers."
)
_CLEAR = (
    "This page shows numbers of rows that nobody disturbed. Whoever may not see the rows may not see this page: do not "
    "publish it or pass it on."
)
_MEASURES = (
    "A local epsilon bounds what an answer can give away, whatever else somebody knows. The width of an interval "
    "does not: it says how far off an answer leaves a guesser who knows nothing else, on average over people, and "
    "other fields of the same person may narrow it down. The two are never added up."
)


def local_opening(facts: dict[str, Any]) -> str:
    """Return the title, a banner where one is due, the promise in one sentence, and the figures."""
    guarantee = facts["guarantee"]
    named = f" of {text(facts['file'])}" if facts["file"] else ""
    return (
        f"<h1>Privacy report{named}</h1>\n"
        f'<p class="soft">Method {text(facts["model"]["method"])} · model checksum (SHA-256) '
        f"<code>{facts['checksum']}</code></p>\n{_banner(guarantee)}"
        f'<p class="promise{"" if guarantee["mode"] == SOUND else " broken"}">{sentence(guarantee["sentence"])}</p>\n'
        f'{_figures(facts)}<p class="soft small">{_passing_on(guarantee)}</p>\n'
    )


def local_guarantee_section(facts: dict[str, Any]) -> str:
    """Return the guarantee in its parts."""
    guarantee = facts["guarantee"]
    mode = text(guarantee["mode"]) + (f": {text(guarantee['reason'], 400)}" if guarantee["reason"] else "")
    rows = [
        ("Given as they are", listed(guarantee["given_clear"], otherwise="nothing")),
        ("Local epsilon", _epsilon(guarantee)),
        ("Neighbours", text(guarantee["neighbours"], 400)),
        ("Trusted", text(guarantee["trust"], 400)),
        ("Mode", mode),
        ("Public beforehand", listed(guarantee["public"], otherwise="nothing")),
        ("Leaks", listed(guarantee["leaks"], otherwise="none recorded")),
        ("Assumptions", listed(guarantee["assumptions"], otherwise="none")),
        ("Made with", ", ".join(f"{text(name)} {text(version)}" for name, version in guarantee["versions"].items())),
    ]
    return f"<h2>The promise in its parts</h2>\n{pairs(rows)}\n"


def channel_section(facts: dict[str, Any]) -> str:
    """Return what happened to each field, every measure on its own scale."""
    guarantee = facts["guarantee"]
    rows = [_field(told) for told in all_fields(guarantee)]
    headings = ["field", "what happened", "how strongly", *(f"width at {c.replace('%', ' %')}" for c in _CONFIDENCES)]
    headings += ["of the range at 95 %", "local epsilon"]
    filled = [j for j in range(len(headings)) if any(row[j] for row in rows)]  # noise alone has widths
    cells = [[row[j] for j in filled] for row in rows]
    numbers = [place for place, j in enumerate(filled) if j >= _FIRST_NUMBER]
    drawn = table([headings[j] for j in filled], cells, kind="receipts", label="Fields", numbers=numbers)
    return f"<h2>What happened to each field</h2>\n<p>{_MEASURES}</p>\n{drawn}{_sum(guarantee)}"


def all_fields(guarantee: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every field of a guarantee with what happened to it, the label last, whatever happened to that.

    A number that is answered at random comes with its ``intervals``, one of which is the answer.
    """
    channel = guarantee["channel"]
    numbers = {a["name"]: part for a, part in _with_channels(channel) if "bounds" in a and "answers" in part}
    told = [{**own, **_intervals(numbers.get(own["field"]))} for own in guarantee["fields"]]
    label, record = channel["schema"]["target"], channel["record"]
    if label in guarantee["given_clear"]:
        told.append({"field": label, "channel": "clear"})
    elif record is not None and record["flips_label"]:
        told.append({"field": label, "channel": "flipped_label", "keep": record["keep"]})
    return told


def _with_channels(channel: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return list(zip(channel["schema"]["attributes"], channel["fields"], strict=True))


def _intervals(part: dict[str, Any] | None) -> dict[str, Any]:
    if part is None:
        return {}
    return {"intervals": part["answers"] - part["covers_missing"], "or_missing": part["covers_missing"]}


def _field(told: dict[str, Any]) -> list[str]:
    widths = [told.get(f"width_at_{c}") for c in _CONFIDENCES]
    share, channel = told.get("privacy_at_95%"), told["channel"]
    epsilon = told.get("local_epsilon")
    none = "" if channel == "clear" else "none"
    return [
        text(told["field"]),
        text(IN_WORDS.get(channel, channel)),
        strength(told),
        *("" if width is None else number(width) for width in widths),
        "" if share is None else percent(share),
        none if epsilon is None else epsilon_up(epsilon),
    ]


def strength(told: dict[str, Any]) -> str:
    """Return the parameter of a field's channel in words; some have none."""
    if "intervals" in told:
        missing = " or missing" if told["or_missing"] else ""
        return f"1 of {told['intervals']} intervals{missing}, kept with chance {told['keep']:.4g}"
    if "keep" in told:
        return f"kept, chance {told['keep']:.4g}"
    return f"scale {number(told['scale'])}" if "scale" in told else ""


def _sum(guarantee: dict[str, Any]) -> str:
    told = [field.get("local_epsilon") for field in guarantee["fields"] if field["channel"] != "clear"]
    bounded = [epsilon for epsilon in told if epsilon is not None]
    if not bounded:
        return ""
    if len(bounded) == len(told) and guarantee["local_epsilon"] is not None:
        return (
            f"<p>All answers of a person together: <strong>local epsilon {epsilon_up(guarantee['local_epsilon'])}"
            "</strong>, the sum.</p>\n"
        )
    if guarantee.get("doubts"):
        return "<p>That is what the channel does; these answers do not look as if they had come through it.</p>\n"
    return (
        f"<p>The fields with a local epsilon come to {epsilon_up(math.fsum(bounded))} together. That bounds those "
        "fields only: a record as a whole has none, since other fields of it have none.</p>\n"
    )


def _banner(guarantee: dict[str, Any]) -> str:
    warnings = []
    if guarantee["mode"] == NOT_PRIVATE:
        title = "This model is not private. Do not publish it as if it were."
        warnings.append((title, text(guarantee["reason"], 400)))
    elif guarantee.get("doubts"):
        title = "The answers do not look as if they had come through the channel."
        told = f"Nothing is promised about them: {text(guarantee['reason'], 400)}."
        warnings.append((title, told))
    elif guarantee["mode"] == PAPER:
        title = "No local epsilon is proven for these answers."
        told = (
            "They were disturbed as a paper has it, which hides values on the paper's own scale. What somebody "
            "learns who knows more than the paper reckons with, nothing bounds."
        )
        warnings.append((title, told))
    if guarantee["leaks"]:
        title = "The channel leaks: no promise covers what follows."
        warnings.append((title, f"Read from clear rows:{listed(guarantee['leaks'], otherwise='')}"))
    return "".join(
        f'<div class="banner" role="alert"><strong>{title}</strong> {told}</div>\n' for title, told in warnings
    )


def _passing_on(guarantee: dict[str, Any]) -> str:
    return {SOUND: _NO_MORE, PAPER: _ONLY_THE_ANSWERS}.get(guarantee["mode"], _CLEAR)


def _figures(facts: dict[str, Any]) -> str:
    guarantee, model = facts["guarantee"], facts["model"]
    disturbed = [told for told in guarantee["fields"] if told["channel"] != "clear"]
    n_fields = len(model["attributes"]) + 1
    n_disturbed = len(disturbed) + _flips_label(facts)
    epsilon = guarantee["local_epsilon"]
    cells = [
        ("none" if epsilon is None else epsilon_up(epsilon), "local epsilon of a record"),
        (f"{n_disturbed} of {n_fields}", "fields disturbed, the label counted"),
        (number(model["trees"]), f"{'tree' if model['trees'] == 1 else 'trees'} of height {model['height']}"),
    ]
    if facts["right_guesses"] is not None:
        cells.insert(1, (f"{of_hundred(facts['right_guesses'])} of 100", "guesses between two records right, at most"))
    if facts["binary_anonymity"] is not None:
        cells.insert(1, (f"{facts['binary_anonymity']['mean']:.2f}", "binary anonymity, between 0 and 1"))
    inside = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in cells)
    return f'<div class="figures">{inside}</div>\n'


def _flips_label(facts: dict[str, Any]) -> bool:
    record = facts["guarantee"]["channel"]["record"]
    return record is not None and bool(record["flips_label"])


def _epsilon(guarantee: dict[str, Any]) -> str:
    if guarantee["local_epsilon"] is not None:
        return f"{rounded_up(guarantee['local_epsilon'], _DIGITS)}, of all answers of a person together"
    return "none: nothing is promised" if guarantee["mode"] == NOT_PRIVATE else "none: nothing is proven"
