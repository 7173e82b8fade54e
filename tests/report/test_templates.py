"""The templates: whatever they are given stays text."""

import json

import pytest
from jinja2 import UndefinedError

from privet.report.page.page import environment


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
