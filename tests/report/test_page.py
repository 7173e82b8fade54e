"""The page as text; tests/browser opens it."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.errors import ParameterError, PrivacyLeakWarning
from privet.report import tree_data, write_report
from privet.report.facts import facts
from privet.report.findings import strongest_rules
from privet.report.page import page
from tests.report.forests import cells_tree
from tests.report.people import HOSTILE, exact, fitted, hostile, people


def page_of(model, name="people.privet"):
    return page(model, facts(model, model_checksum="0" * 64, name=name))


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text outside of scripts and styles."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.words, self._inside = [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self._inside):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def embedded(source):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', source)[1])


def test_the_promise_the_checksum_and_the_sections_are_there():
    read = Elements(page_of(fitted()))
    assert fitted().guarantee_.sentence in read.text
    assert "0" * 64 in read.text
    headings = [tag for tag, _ in read.tags if tag in {"h1", "h2"}]
    assert headings == ["h1"] + ["h2"] * 8
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


def test_a_model_that_is_not_private_wears_a_banner():
    read = Elements(page_of(exact()))
    assert "Do not publish it as if it were." in read.text
    assert "do not publish it or pass it on" in read.text
    assert "costs no further privacy" not in read.text
    assert "Possibly everything" in read.text
    assert "of 100</strong>" not in page_of(exact())


def test_seeded_noise_is_not_private_either():
    assert "noise came from a seed" in Elements(page_of(fitted(unsafe_seeded_noise=True))).text


def test_leaks_wear_a_banner():
    X, y = people()
    with pytest.warns(PrivacyLeakWarning, match="records the leak"):
        model = PrivateRDTClassifier("infer", n_trees=2, height=2).fit(X, y)
    read = Elements(page_of(model))
    assert "This model leaks" in read.text
    assert "bounds of 'age'" in read.text


def test_a_sound_model_wears_none():
    assert 'class="banner"' not in page_of(fitted())


def test_both_banners_are_worn_where_both_are_due():
    X, y = people()
    with pytest.warns(PrivacyLeakWarning, match="records the leak"):
        model = PrivateRDTClassifier("infer", epsilon=math.inf, n_trees=2, height=2).fit(X, y)
    assert page_of(model).count('class="banner"') == 2


def test_a_mode_that_is_not_sound_wears_a_banner():
    told = facts(fitted(), model_checksum="0" * 64)
    told["guarantee"] |= {"mode": "paper", "reason": "as the paper counts"}
    assert "is not sound; its mode is paper. as the paper counts" in Elements(page(fitted(), told)).text


def test_batches_show_how_noise_grew():
    assert "Noise over batches" not in page_of(fitted())
    told = Elements(page_of(fitted(batches=3))).text
    assert "added in 3 batches" in told
    assert "no row is in more than one batch" in told


def test_a_page_that_holds_not_all_nodes_says_so(monkeypatch):
    assert "The rest is in the model file" not in page_of(exact())
    monkeypatch.setattr(tree_data, "MAX_NODES", 10)
    told = Elements(page_of(exact())).text
    assert f"holds 10 of the forest's {exact().forest_.n_nodes:,} nodes" in told


def test_trees_are_there_for_print_and_without_script():
    read = Elements(page_of(exact()))
    assert "Tree 1" in read.text
    assert "Tree 3" in read.text
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


def test_the_strongest_rules_beat_their_class_overall():
    found = strongest_rules(exact())
    assert found
    for rule in found:
        assert rule.is_leaf
        overall = {"no": 0.415, "yes": 0.585}  # in people(), to three digits
        assert rule.confidence_low > overall[rule.prediction] - 0.01


def test_where_noise_hides_all_there_are_no_rules_and_the_page_says_so():
    model = fitted(epsilon=1e-5, n_trees=2, height=1, unsafe_seeded_noise=True)
    assert strongest_rules(model) == []
    assert "No leaf stands out" in page_of(model)


def test_a_delta_leaves_out_what_holds_without_one_only():
    model = fitted(epsilon=2.0)
    told = facts(model, model_checksum="0" * 64)
    told["guarantee"] |= {"delta": 1e-6}
    source = page(model, {**told, "odds": {**told["odds"], "beliefs": [], "groups": []}})
    assert 'id="prior"' not in source
    assert "50 : 50" not in source


def test_a_model_without_counts_is_reported_without_trees():
    class OfWeights:
        method, schema_, guarantee_ = "weights", fitted().schema_, fitted().guarantee_

    source = page_of(OfWeights())
    assert "The trees" not in source
    assert "trees" not in embedded(source)
    assert "Sign-off" in source


def test_a_unit_of_several_rows_is_told():
    model = fitted()
    told = facts(model, model_checksum="0" * 64)
    told["guarantee"] |= {"unit": "patient <id>", "max_rows": 3}
    read = Elements(page(model, told))
    assert "all rows with one value of patient <id>, of which at most 3 are used" in read.text
    assert "whether one person was in the table" in read.text
    assert "Of each person's rows at most 3 were counted." in read.text


def test_an_epsilon_of_thousands_is_told_as_next_to_nothing():
    model = fitted(epsilon=5_000.0)
    assert math.isinf(facts(model, model_checksum="")["odds"]["factor"])
    assert "bounds next to nothing" in page_of(model)


def test_twenty_receipts_are_folded():
    guarantee = fitted(batches=20).guarantee_
    assert len(guarantee.to_json()["event"]["parts"]) == 20
    assert "and 9 more" in page_of(fitted(batches=20))


def test_a_page_stays_small_whatever_the_schema():
    countries = [f"{'a long name of a place ' * 10}{i}" for i in range(3_000)]
    schema = Schema([Categorical("place", countries), Numeric("age", 0, 100)], classes=list(range(400)), rows=100)
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"place": rng.choice(countries, 100), "age": rng.integers(0, 100, 100)})
    model = PrivateRDTClassifier(schema, n_trees=3, height=2, random_state=4).fit(X, rng.integers(0, 400, 100))
    assert len(model.forest_.leaves) > 3_000
    assert len(page_of(model)) < 3_000_000
