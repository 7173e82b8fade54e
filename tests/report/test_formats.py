"""Names and labels come from strangers."""

import json

from privet.report.page.formats import bar, embedded_json, shown, stacked_bar, text


def test_markup_in_a_name_is_shown_and_not_obeyed():
    assert text("<img src=x onerror=alert(1)>") == "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>"
    assert text("\"'&") == "<bdi>&quot;&#x27;&amp;</bdi>"


def test_marks_that_turn_the_writing_round_are_spelled_out():
    assert shown("a\u202eb\u2066c\n") == "a\\u202eb\\u2066c\\n"


def test_a_long_name_is_cut():
    assert shown("x" * 1_000) == "x" * 71 + "…"


def test_embedded_json_cannot_close_its_element_and_reads_back():
    data = {"</script><!--": ["<b>&amp;", "\u2028", 1]}
    embedded = embedded_json(data)
    assert not set("<>&\u2028") & set(embedded)
    assert json.loads(embedded) == data


def test_a_bar_stays_in_its_place():
    assert 'width="0.0%"' in bar(-0.5)
    assert 'width="100.0%"' in bar(1.5)


def test_a_stacked_bar_lays_shares_end_to_end():
    drawn = stacked_bar([0.25, 0.0, 0.75])
    assert 'class="class-0" x="0.00%" width="25.00%"' in drawn
    assert "class-1" not in drawn
    assert 'class="class-2" x="25.00%" width="75.00%"' in drawn
