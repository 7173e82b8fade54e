"""What an attacker can gain, in plain words, pictures and tables; and what no epsilon covers."""

import math
from typing import Any

from privet.report.drawing import belief_band, detection_curve, hundred_guesses
from privet.report.markup import table
from privet.report.odds import MEANINGLESS, number_up, of_hundred, percent_down, percent_up
from privet.report.promise import noun


def attacker_section(facts: dict[str, Any]) -> str:
    """Return what somebody can gain who sees the model and knows everything but whether one unit was in the table."""
    guarantee, odds = facts["guarantee"], facts["odds"]
    epsilon, delta = float(guarantee["epsilon"]), float(guarantee["delta"])
    title = f"<h2>What an attacker can gain{'' if math.isinf(epsilon) else ' at this epsilon'}</h2>\n"
    if math.isinf(epsilon):
        return (
            f'{title}<p class="lead">Possibly everything. The model bounds nothing: whoever knows all other rows may '
            "read off whether one more was among them, and which. Treat the file as you treat the rows.</p>\n"
        )
    unit = noun(guarantee)
    return (
        f"{title}{_in_plain_words(odds, unit, pure=delta == 0)}{_pictures(epsilon, delta)}"
        f"{_slider() if delta == 0 else ''}{_odds_tables(odds, unit)}{_not_covered(odds, unit)}"
    )


def _in_plain_words(odds: dict[str, Any], unit: str, *, pure: bool) -> str:
    whose = f"one {unit}"
    told = (
        '<p class="lead">Picture somebody who knows every other row and wants to find out whether '
        f"{whose} was in the table. Somebody tosses a coin, puts the {unit} in or leaves it out, trains the model, "
        "and lets them guess. Without the model they are right 50 times of 100. <strong>With it, on average at most "
        f"{of_hundred(odds['right_guesses'])} times of 100</strong>, whatever else they know and however they "
        "compute.</p>\n"
    )
    if not pure:
        return told
    if math.isinf(odds["factor"]):
        return f"{told}<p>An epsilon beyond {MEANINGLESS:g} bounds next to nothing.</p>\n"
    even = odds["beliefs"][-1]
    return (
        f"{told}<p>In odds: whoever thought it 50 : 50 can be at most {number_up(odds['factor'])} : 1 sure "
        f"afterwards, that is {percent_up(even['highest'])}. Whoever knows already that {whose} is in the table, and "
        "tosses the coin between two values it may have, is bounded at twice epsilon, since one has to be taken out "
        f"and the other put in: at most {of_hundred(odds['right_guesses_of_a_value'])} right guesses of 100.</p>\n"
    )


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


def _odds_tables(odds: dict[str, Any], unit: str) -> str:
    beliefs = [
        (f"{each['prior'] * 100:g} %", percent_down(each["lowest"]), percent_up(each["highest"]))
        for each in odds["beliefs"]
    ]
    tests = [(f"{each['false_alarms'] * 100:g} %", percent_up(each["detection_rate"])) for each in odds["tests"]]
    about = f"Belief that one {unit} was in the table"
    headings = ["thought before", "at least after", "at most after"]
    first = table(headings, beliefs, label="Beliefs", caption=about, numbers=[0, 1, 2]) if beliefs else ""
    headings, about = ["false alarms", "members found, at most"], "Any test that tells the two tables apart"
    second = table(headings, tests, label="Tests", caption=about, numbers=[0, 1])
    return f'<div class="side-by-side">{first}{second}</div>\n'


def _not_covered(odds: dict[str, Any], unit: str) -> str:
    groups = ", ".join(
        f"{group['size']} at epsilon {number_up(group['epsilon'])} ({percent_up(group['right_guesses'])} right guesses)"
        for group in odds["groups"][1:]
    )
    items = [
        "What was declared public beforehand, and the leaks, if any are listed above.",
        f"Several {unit}s at once: k of them are protected at k times epsilon{f': {groups}' if groups else ''}.",
        "Other releases about the same people: their epsilons add up. The ledger of the data set has the sum; this "
        "file knows of itself alone.",
        "What is true of people in general. A model that finds that smokers fall ill tells something about every "
        "smoker, in the table or not; no promise of this kind prevents that.",
    ]
    return f"<h3>What this does not cover</h3>\n<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>\n"
