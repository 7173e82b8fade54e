"""What an attacker can gain, in plain words, pictures and tables; and what no epsilon covers."""

import math
from typing import Any

from privet.privacy.guarantee import PAPER
from privet.privacy.unit import ROW
from privet.report.page import wording
from privet.report.page.formats import sentence, table, text
from privet.report.page.odds import MEANINGLESS, number_up, of_hundred, percent_down, percent_up
from privet.report.page.pictures import belief_band, detection_curve, hundred_guesses

_TITLE = "What an attacker can gain"


def attacker_section(facts: dict[str, Any]) -> str:
    """Return what somebody can gain who sees the model and knows everything but whether one unit was in the table."""
    guarantee = facts["guarantee"]
    if guarantee["mode"] == PAPER:
        return _unproven(guarantee)
    if guarantee["epsilon"] == "inf":
        return (
            f'<h2>{_TITLE}</h2>\n<p class="lead">Possibly everything. The model bounds nothing: whoever knows all '
            "other rows may read off whether one more was among them, and which. Treat the file as you treat the "
            "rows.</p>\n"
        )
    return (_beside_leaks if guarantee["leaks"] else _bounded)(guarantee, facts["odds"])


def _unproven(guarantee: dict[str, Any]) -> str:
    return (
        f'<h2>{_TITLE}</h2>\n<p class="lead">Nobody has proven a bound, so reckon with everything. Noise was added, '
        f"and the paper counts a price for it; but {text(guarantee['reason'], 400)}. Treat the file as you treat "
        "the rows.</p>\n"
    )


def _beside_leaks(guarantee: dict[str, Any], odds: dict[str, Any]) -> str:
    """Return that nothing bounds the whole, and in one sentence what holds for the noisy numbers alone."""
    return (
        f'<h2>{_TITLE}</h2>\n<p class="lead"><strong>No bound holds for this model as a whole.</strong> The '
        "leaks were read from the rows without noise, and may give an outlier away with certainty: a bound shows the "
        "largest or smallest value of all, a list of categories or classes shows the rarest one.</p>\n"
        f"<p>Had they been public beforehand, somebody who knows all else and guesses whether "
        f"{text(wording.was_in(guarantee))} in the table would be right at most {of_hundred(odds['right_guesses'])} "
        f"times of 100 by the noisy numbers{sentence(wording.provided(guarantee))}. To have such a bound for "
        "the model, declare in a schema what is known from elsewhere, and fit again.</p>\n"
        f"{_not_covered(guarantee, odds)}"
    )


def _bounded(guarantee: dict[str, Any], odds: dict[str, Any]) -> str:
    epsilon, delta = float(guarantee["epsilon"]), float(guarantee["delta"])
    return (
        f"<h2>{_TITLE} at this epsilon</h2>\n{_in_plain_words(guarantee, odds, pure=delta == 0)}"
        f"{_pictures(epsilon, delta)}{_slider() if delta == 0 else ''}{_odds_tables(guarantee, odds)}"
        f"{_not_covered(guarantee, odds)}"
    )


def _in_plain_words(guarantee: dict[str, Any], odds: dict[str, Any], *, pure: bool) -> str:
    rows = "it" if guarantee["unit"] == ROW else "them"
    told = (
        '<p class="lead">Picture somebody who knows every other row and wants to find out whether '
        f"{text(wording.was_in(guarantee))} in the table. Somebody tosses a coin, puts {rows} in or leaves {rows} out, "
        "trains the model, and lets the other guess. Without the model they are right 50 times of 100. <strong>With "
        f"it, on average at most {of_hundred(odds['right_guesses'])} times of 100</strong>, whatever else they know "
        f"and however they compute{sentence(wording.provided(guarantee))}.</p>\n"
    )
    if not pure:
        return told
    if math.isinf(odds["factor"]):
        return f"{told}<p>An epsilon beyond {MEANINGLESS:g} bounds next to nothing.</p>\n"
    even = odds["beliefs"][-1]
    return (
        f"{told}<p>In odds: whoever thought it 50 : 50 can be at most {number_up(odds['factor'])} : 1 sure "
        f"afterwards, that is {percent_up(even['highest'])}. {_of_a_value(guarantee)}, is bounded at twice epsilon, "
        "since one has to be taken out and the other put in: at most "
        f"{of_hundred(odds['right_guesses_of_a_value'])} right guesses of 100.</p>\n"
    )


def _of_a_value(guarantee: dict[str, Any]) -> str:
    if guarantee["unit"] == ROW:
        return "Whoever knows already that one row is in the table, and tosses the coin between two values it may have"
    one = text(wording.one(guarantee))
    return f"Whoever knows already that {one} is in the table, and tosses the coin between two sets of rows it may have"


def _pictures(epsilon: float, delta: float) -> str:
    figures = [
        f"{hundred_guesses(epsilon, delta)}<figcaption>Of 100 guesses, 50 are right by chance (grey) and at most so "
        "many more because of the model (green).</figcaption>"
    ]
    if delta == 0:
        figures.append(f"{belief_band(epsilon)}<figcaption>A belief moves within the band at most.</figcaption>")
    figures.append(
        f"{detection_curve(epsilon, delta)}<figcaption>No test for membership lies above the line; the dashes are "
        "guessing.</figcaption>"
    )
    return f'<div class="pictures">{"".join(f"<figure>{figure}</figure>" for figure in figures)}</div>\n'


def _slider() -> str:
    return (
        '<div class="slider with-script"><label for="prior">How likely did they think it before?</label>'
        '<input type="range" id="prior" min="1" max="99" value="10" step="1"><output id="prior-told" '
        'for="prior"></output></div>\n'
    )


def _odds_tables(guarantee: dict[str, Any], odds: dict[str, Any]) -> str:
    beliefs = [
        (f"{each['prior'] * 100:g} %", percent_down(each["lowest"]), percent_up(each["highest"]))
        for each in odds["beliefs"]
    ]
    tests = [(f"{each['false_alarms'] * 100:g} %", percent_up(each["detection_rate"])) for each in odds["tests"]]
    about = f"Belief that {text(wording.was_in(guarantee))} in the table"
    headings = ["thought before", "at least after", "at most after"]
    first = table(headings, beliefs, label="Beliefs", caption=about, numbers=[0, 1, 2]) if beliefs else ""
    headings, about = ["false alarms", "members found, at most"], "Any test that tells the two tables apart"
    second = table(headings, tests, label="Tests", caption=about, numbers=[0, 1])
    return f'<div class="side-by-side">{first}{second}</div>\n'


def _not_covered(guarantee: dict[str, Any], odds: dict[str, Any]) -> str:
    items = [
        _public(guarantee),
        f"{text(wording.caveat(guarantee), 400)}{_groups(guarantee, odds)}",
        "Other releases about the same people: their epsilons add up. The ledger of the data set has the sum; this "
        "file knows of itself alone.",
        "What is true of people in general. A model that finds that smokers fall ill tells something about every "
        "smoker, in the table or not; no promise of this kind prevents that.",
    ]
    if guarantee["assumptions"]:
        items.insert(1, _assumed(guarantee))
    return f"<h3>What this does not cover</h3>\n<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>\n"


def _assumed(guarantee: dict[str, Any]) -> str:
    rests = f"The promise rests on it that {text('; '.join(guarantee['assumptions']), 400)}, which nobody can check"
    if wording.of_parties(guarantee):
        return f"Parties that do otherwise than they say. {rests} from outside."
    return f"Batches that share rows. {rests} afterwards; for whoever is in several, their epsilons add up."


def _public(guarantee: dict[str, Any]) -> str:
    return f"What was declared public beforehand{', and the leaks above' if guarantee['leaks'] else ''}."


def _groups(guarantee: dict[str, Any], odds: dict[str, Any]) -> str:
    """Return what a few units at once come to; leaks leave no number of right guesses to tell."""
    if guarantee["leaks"] or not odds["groups"]:
        return ""
    told = ", ".join(
        f"{group['size']} at epsilon {number_up(group['epsilon'])} ({percent_up(group['right_guesses'])} right guesses)"
        for group in odds["groups"][1:]
    )
    return f" So {told}."
