"""The templates: whatever they are given stays text."""

import json

import pytest
from jinja2 import UndefinedError

from privet.report.page.page import Report, environment, page
from tests.report.pages import Elements
from tests.report.people import exact, hostile, leaking, of_batches, of_visits, paper
from tests.report.test_local import flipped_forest, hostile_tree
from tests.report.weighty import hostile_weights


def rendered(source, **values):
    return environment().from_string('{% import "macros.html" as ui %}' + source).render(**values)


def test_markup_in_a_value_is_shown_and_not_obeyed():
    assert rendered("{{ it }}", it="<img src=x onerror=alert(1)>") == "&lt;img src=x onerror=alert(1)&gt;"
    assert rendered("{{ it|name }}", it="\"'&") == "<bdi>&#34;&#39;&amp;</bdi>"


def test_marks_that_turn_the_writing_round_are_spelled_out_everywhere():
    assert rendered("{{ it }} {{ it|name }}", it="a\u202eb") == "a\\u202eb <bdi>a\\u202eb</bdi>"


def test_a_long_name_is_cut():
    assert rendered("{{ it|name(5) }}", it="x" * 9) == "<bdi>xxxx…</bdi>"


def test_a_value_that_is_not_there_is_an_error():
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        rendered("{{ nothing }}")


def test_embedded_json_cannot_close_its_element_and_reads_back():
    data = {"</script><!--": ["<b>&amp;", "\u2028", 1]}
    embedded = rendered("{{ data|tojson }}", data=data)
    assert not set("<>&\u2028") & set(embedded)
    assert json.loads(embedded) == data
    with pytest.raises(ValueError, match="not JSON compliant"):
        rendered("{{ data|tojson }}", data=float("nan"))


def test_a_bar_stays_in_its_place():
    assert 'width="0.0%"' in rendered("{{ ui.bar(-0.5) }}")
    assert 'width="100.0%"' in rendered("{{ ui.bar(1.5) }}")


def test_a_stacked_bar_lays_shares_end_to_end():
    drawn = rendered("{{ ui.stacked_bar([0.25, 0.0, 0.75]) }}")
    assert 'class="class-0" x="0.00%" width="25.00%"' in drawn
    assert "class-1" not in drawn
    assert 'class="class-2" x="25.00%" width="75.00%"' in drawn


# Marks of markup, of script, of JSON and of writing direction, in one text.
ATTACK = "</script></bdi><img src=x onerror=\"document.title='owned'\">{{ 7 * 7 }}\u202e\u2066\n"
# What the page branches on, or has to be one of a few words.
_FIXED = {"mode", "epsilon", "unit", "channel", "delta"}


def attacked(facts, key=""):
    """Return facts in which every text is an attack, wherever it stands."""
    if isinstance(facts, dict):
        return {name: attacked(value, name) for name, value in facts.items()}
    if isinstance(facts, list):
        return [attacked(value, key) for value in facts]
    return ATTACK if isinstance(facts, str) and key not in _FIXED else facts


BUDGET = {
    "ledger": "ledger.db", "head": "0", "dataset": "people", "epsilon": 2.0, "delta": 0.0, "unit": "row", "spent": 1.0,
    "left": 1.0, "releases": 1, "entry": {"entry": 3, "epsilon": 1.0, "ended": "2026-01-01", "part": "north"},
}  # fmt: skip
MADE = {
    "counts": hostile, "weights": hostile_weights, "leaks": leaking, "paper": paper, "exact": exact, "unit": of_visits,
    "batches": lambda: of_batches(0.5, 2.0), "local": hostile_tree, "local leaks": lambda: flipped_forest(leaks=True),
}  # fmt: skip


@pytest.mark.parametrize("kind", MADE)
def test_every_text_of_every_page_stays_text(kind):
    model = MADE[kind]()
    facts = {**Report.of(model).facts, "budget": BUDGET}
    calm, source = Elements(page(model, facts)), page(model, attacked(facts))
    read = Elements(source)
    assert {tag for tag, _ in read.tags} <= {tag for tag, _ in calm.tags}
    assert "owned" not in "".join(str(attributes) for _, attributes in read.tags)
    assert not {"\u202e", "\u2066"} & set(source)
    assert read.text.count("{{ 7 * 7 }}\\u202e\\u2066\\n") > 10
    assert len([tag for tag, _ in read.tags if tag == "script"]) == 2
