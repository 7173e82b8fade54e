"""An exported script in a real browser answers as Python does."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.export import export_model
from tests.export.models import cases

pytestmark = pytest.mark.browser

ASK_ALL = """
const names = privet.attributes.map(({ name }) => name);
const named = rows.map((row) => Object.fromEntries(row.map((value, j) => [names[j], value])));
return [named.map(privet.predict), named.map(privet.predictProba)];
"""


@pytest.fixture(scope="module")
def all_cases():
    return cases()


def test_ten_thousand_rows_on_a_page_with_a_script_tag(browser, all_cases, tmp_path):
    case = all_cases["mixed, three classes"]
    export_model(case.model, tmp_path / "model.js", format="js")
    write_rows(case, tmp_path)
    page = '<!doctype html><meta charset="utf-8"><script src="model.js"></script><script src="rows.js"></script>'
    (tmp_path / "page.html").write_text(page)
    browser.get((tmp_path / "page.html").as_uri())
    assert len(case.table) == 10_000
    assert_same(browser.execute_script(ASK_ALL), case)


def test_hostile_text_in_a_script_inside_the_page(browser, all_cases, tmp_path):
    case = all_cases["hostile text"]
    export_model(case.model, tmp_path / "model.js", format="js")
    write_rows(case, tmp_path)
    script = (tmp_path / "model.js").read_text()
    page = f'<!doctype html><script>{script}</script><p id="after">whole</p><script src="rows.js"></script>'
    (tmp_path / "page.html").write_text(page)
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.execute_script("return document.body.textContent.trim()") == "whole"
    assert browser.execute_script("return privet.attributes[0].name") == case.model.schema_.names[0]
    assert_same(browser.execute_script(ASK_ALL), case)


def test_a_module_script_sets_the_global(browser, all_cases, tmp_path):
    case = all_cases["one tree, one leaf"]
    export_model(case.model, tmp_path / "model.js", format="js")
    # A page from a file may not import modules from files, so the module stands in the page.
    script = (tmp_path / "model.js").read_text()
    (tmp_path / "page.html").write_text(f'<!doctype html><script type="module">{script}</script>')
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.execute_script("return privet.predictProba([0, null])") == [1 / 3, 2 / 3]


def write_rows(case, folder):
    # What Python writes for an infinite number, JavaScript reads as one.
    (folder / "rows.js").write_text(f"const rows = {json.dumps(case.rows)};")


def assert_same(answer, case):
    labels, probabilities = answer
    expected = case.model.predict_proba(case.table)
    assert_array_equal(np.array(probabilities), expected)
    assert labels == case.model.classes_[expected.argmax(axis=1)].tolist()
