"""The page as text; tests/browser opens it."""

import base64
import hashlib
import math
import re

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.errors import ParameterError
from privet.registry import METHODS
from privet.report import write_report
from privet.report.page import trees
from privet.report.page.counts import strongest_rules
from privet.tree.rules import RuleTable
from tests.report.forests import cells_tree
from tests.report.pages import Elements, embedded, page_of
from tests.report.people import HOSTILE, exact, fitted, hostile, of_batches, of_method

TIMES = "\N{MULTIPLICATION SIGN}"


def test_the_promise_the_checksum_and_the_sections_are_there():
    read = Elements(page_of(fitted()))
    assert fitted().guarantee_.sentence in read.text
    assert "0" * 64 in read.text
    headings = [tag for tag, _ in read.tags if tag in {"h1", "h2"}]
    assert headings == ["h1"] + ["h2"] * 10
    assert "at most 74 times of 100" in read.text
    assert "NIST SP 800-226" in read.text
    assert "Signature" in read.text


def test_the_same_model_file_gives_the_same_bytes(tmp_path):
    fitted().save(tmp_path / "people.privet")
    for name in ("one.html", "two.html"):
        write_report(tmp_path / "people.privet", tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_model_in_memory_can_be_reported(tmp_path):
    write_report(fitted(), tmp_path / "people.html")
    assert "<title>Privacy report</title>" in (tmp_path / "people.html").read_text()


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="cannot write to .*; choose another path"):
        write_report(fitted(), tmp_path / "nowhere" / "people.html")


def test_nothing_on_the_page_leads_elsewhere():
    for tag, attributes in Elements(page_of(fitted())).tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "form", "base"}
        assert "style" not in attributes  # the policy allows the one style sheet alone
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")
        assert "src" not in attributes


def test_the_policy_allows_the_script_and_the_style_sheet_that_are_there():
    source = page_of(fitted())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for pattern in (r"<style>(.*?)</style>", r"<script>(.*?)</script>"):
        inside = re.search(pattern, source, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_hostile_names_are_inert():
    source = page_of(hostile(), name=HOSTILE)
    tags = Elements(source).tags
    assert "img" not in {tag for tag, _ in tags}
    harmless = Elements(page_of(fitted())).tags + Elements(page_of(exact())).tags
    assert {tag for tag, _ in tags} <= {tag for tag, _ in harmless}
    assert "owned" not in "".join(str(attributes) for _, attributes in tags)
    assert [attributes for tag, attributes in tags if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert "\u202e" not in source
    assert "\\u202e" in Elements(source).text
    assert HOSTILE in Elements(source).text


def test_hostile_names_reach_the_script_as_text():
    data = embedded(page_of(hostile()))
    assert any(HOSTILE in told for told in data["trees"]["strings"])
    assert data["trees"]["classes"] == [HOSTILE, "<b>yes"]


def test_a_page_that_holds_not_all_nodes_says_so(monkeypatch):
    assert "The model file has the rest" not in page_of(exact())
    monkeypatch.setattr(trees, "MAX_NODES", 10)
    told = Elements(page_of(exact())).text
    assert f"holds 10 of the forest's {exact().forest_.n_nodes:,} nodes" in told


def test_trees_are_there_for_print_and_without_script():
    read = Elements(page_of(exact()))
    assert "Tree 0" in read.text
    assert "Tree 2" in read.text
    assert "all rows" in read.text
    assert "600" in read.text


def test_a_tree_that_branches_on_cells_is_shown_cell_by_cell():
    source = page_of(cells_tree())
    assert "40 &lt;= age &lt; 60" in source
    assert "if 40 &lt;= age &lt; 60 then yes" in source
    trees = embedded(source)["trees"]
    told = [trees["strings"][i] for i in trees["condition"]]
    assert told == ["all rows", "age < 20", "20 <= age < 40", "40 <= age < 60", "age >= 60", "age is missing"]
    assert trees["many"] == [1, 0, 0, 0, 0, 0]


def strongest(model):
    return strongest_rules(model, RuleTable.of(model.nodes_, model.schema_))


def test_the_strongest_rules_beat_their_class_overall():
    found = strongest(exact())
    assert found
    for rule in found:
        assert rule.is_leaf
        overall = {"no": 0.415, "yes": 0.585}  # in people(), to three digits
        assert rule.confidence_low > overall[rule.prediction] - 0.01


def test_where_noise_hides_all_there_are_no_rules_and_the_page_says_so():
    model = fitted(epsilon=1e-5, n_trees=2, height=1, unsafe_seeded_noise=True)
    assert strongest(model) == []
    assert "No leaf stands out" in page_of(model)


def test_a_model_without_counts_is_reported_without_trees():
    class OfWeights:
        method, schema_, guarantee_ = "weights", fitted().schema_, fitted().guarantee_

    source = page_of(OfWeights())
    assert "The trees" not in source
    assert "trees" not in embedded(source)
    assert "Sign-off" in source


OF_COUNTS = sorted(set(METHODS) - {"private-forest", "private-forest-regressor"})


@pytest.mark.parametrize("method", OF_COUNTS)
def test_every_method_has_a_whole_page(method):
    source = page_of(of_method(method))
    read = Elements(source)
    assert of_method(method).guarantee_.sentence in read.text
    assert 'class="banner"' not in source
    for heading in ("Noise against counts", "Class balance, as released", "What matters", "The strongest rules"):
        assert heading in read.text
    trees = embedded(source)["trees"]
    assert len(trees["parent"]) == of_method(method).forest_.n_nodes
    alone = of_method(method).forest_.n_trees == 1
    assert ("<h2>The tree</h2>" in source) == ("<span>tree of height" in source) == alone


def test_branches_are_said_not_to_add_up_where_nodes_have_noise_of_their_own():
    words = "branches need not add up"
    assert words in page_of(of_method("dpdf"))
    assert words not in page_of(of_method("dp-rf"))
    assert words not in page_of(of_method("dpdf", epsilon=math.inf))


def test_rules_are_compared_with_shares_that_count_every_row_once():
    # Both classes of the roots, not of all nodes, of which deeper ones would weigh more.
    model = of_method("dpdf", epsilon=math.inf)
    for rule in strongest(model):
        overall = {"no": 0.415, "yes": 0.585}
        assert rule.confidence_low > overall[rule.prediction] - 0.01


def test_twenty_equal_receipts_are_one_line():
    guarantee = fitted(batches=20).guarantee_
    assert len(guarantee.to_json()["event"]["parts"]) == 20
    read = Elements(page_of(fitted(batches=20)))
    assert f"20 {TIMES} class counts of leaves" in read.text
    assert "1 each" in read.text


def test_choices_are_folded_tree_by_tree():
    model = of_method("dpdf", n_trees=10, height=2)
    assert len(model.guarantee_.event.parts) == 23
    source = page_of(model)
    body = re.search(r'<table class="receipts">.*?<tbody>(.*?)</tbody>', source, re.DOTALL)[1]
    assert body.count("<tr>") == 6  # the sum, three levels of counts, two of choices
    assert f"10 {TIMES} <bdi>split attributes of level 0" in source


def test_receipts_that_differ_are_cut_off_after_forty():
    told = Elements(page_of(of_batches(*np.linspace(1, 2, 50)))).text
    assert "… and 11 more, all in --json" in told


def test_a_page_stays_small_whatever_the_schema():
    countries = [f"{'a long name of a place ' * 10}{i}" for i in range(3_000)]
    schema = Schema([Categorical("place", countries), Numeric("age", 0, 100)], classes=list(range(400)), rows=100)
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"place": rng.choice(countries, 100), "age": rng.integers(0, 100, 100)})
    model = PrivateRDTClassifier(schema, n_trees=3, height=2, random_state=4).fit(X, rng.integers(0, 400, 100))
    assert len(model.forest_.leaves) > 3_000
    assert len(page_of(model)) < 3_000_000
