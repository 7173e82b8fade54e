"""An exported script in a real browser answers as Python does."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from selenium.webdriver.support.ui import WebDriverWait

from privet.export import export_model
from tests.export.models import cases
from tests.export.weight_models import FIVE, weight_cases

pytestmark = pytest.mark.browser

ASK_ALL = """
const names = privet.attributes.map(({ name }) => name);
const named = rows.map((row) => Object.fromEntries(row.map((value, j) => [names[j], value])));
return [named.map(privet.predict), named.map(privet.predictProba)];
"""


@pytest.fixture(scope="module")
def all_cases():
    return {**cases(), **weight_cases()}


def answers(browser):
    """Ask for all rows, once their script has run: on a busy machine that may be after the page has loaded."""
    WebDriverWait(browser, 120).until(lambda page: page.execute_script("return typeof rows === 'object'"))
    return browser.execute_script(ASK_ALL)


@pytest.mark.parametrize("name", ["mixed, three classes", FIVE])
def test_ten_thousand_rows_on_a_page_with_a_script_tag(browser, all_cases, tmp_path, name):
    case = all_cases[name]
    export_model(case.model, tmp_path / "model.js", format="js")
    write_rows(case, tmp_path)
    page = '<!doctype html><meta charset="utf-8"><script src="model.js"></script><script src="rows.js"></script>'
    (tmp_path / "page.html").write_text(page)
    browser.get((tmp_path / "page.html").as_uri())
    assert len(case.table) == 10_000
    assert_same(answers(browser), case)


@pytest.mark.parametrize("name", ["hostile text", "weights, hostile text"])
def test_hostile_text_in_a_script_inside_the_page(browser, all_cases, tmp_path, name):
    case = all_cases[name]
    export_model(case.model, tmp_path / "model.js", format="js")
    write_rows(case, tmp_path)
    script = (tmp_path / "model.js").read_text()
    page = f'<!doctype html><script>{script}</script><p id="after">whole</p><script src="rows.js"></script>'
    (tmp_path / "page.html").write_text(page)
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.execute_script("return document.body.textContent.trim()") == "whole"
    assert browser.execute_script("return privet.attributes[0].name") == case.model.schema_.names[0]
    assert_same(answers(browser), case)


def test_a_module_script_sets_the_global(browser, all_cases, tmp_path):
    case = all_cases["one tree, one leaf"]
    export_model(case.model, tmp_path / "model.js", format="js")
    # A page from a file may not import modules from files, so the module stands in the page.
    script = (tmp_path / "model.js").read_text()
    (tmp_path / "page.html").write_text(f'<!doctype html><script type="module">{script}</script>')
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.execute_script("return privet.predictProba([0, null])") == [1 / 3, 2 / 3]


@pytest.mark.parametrize("name", ["cells that neighbours share", "class balance alone", "scores that saturate"])
def test_weights_on_a_page(browser, all_cases, tmp_path, name):
    case = all_cases[name]
    export_model(case.model, tmp_path / "model.js", format="js")
    write_rows(case, tmp_path)
    (tmp_path / "page.html").write_text(
        '<!doctype html><script src="model.js"></script><script src="rows.js"></script>'
    )
    browser.get((tmp_path / "page.html").as_uri())
    assert_same(answers(browser), case)


def write_rows(case, folder):
    # What Python writes for an infinite number, JavaScript reads as one.
    (folder / "rows.js").write_text(f"const rows = {json.dumps(case.rows)};")


def assert_same(answer, case):
    labels, probabilities = answer
    expected = case.model.predict_proba(case.table)
    # Counts are added up exactly; browsers round the exponential of weights in their own way.
    relative = 0 if hasattr(case.model, "_vote") else 1e-12
    assert_allclose(np.array(probabilities), expected, rtol=relative, atol=1e-290 if relative else 0)
    assert labels == case.model.classes_[expected.argmax(axis=1)].tolist()
