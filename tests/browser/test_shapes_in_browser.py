"""The report on a forest of weights in a real browser: pictures, their tables, the control, dark, print, phone."""

import base64
import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from privet.report.page.effects import effects_of
from tests.browser.looking import CONTRAST, CUT_OFF, PICTURES, background, emulate, picture
from tests.report.weighty import exact_weights, grouped, hostile_weights, only_balance, weights

pytestmark = pytest.mark.browser

# Letters of a picture that run out of it, or into each other on one line.
OVERLAPS = """
const found = [];
for (const svg of document.querySelectorAll(".shapes svg")) {
  const frame = svg.getBoundingClientRect();
  const level = [...svg.querySelectorAll("text:not([transform])")];
  const texts = level.map((text) => [text.textContent, text.getBoundingClientRect()]);
  for (const [told, box] of texts) if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(told);
  texts.forEach(([told, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
    if (a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom) found.push([told, other]);
  }));
}
return found;
"""


def three_classes():
    return grouped(2, classes=("no", "yes", "maybe"), epsilon=20.0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("model", [weights, three_classes], ids=["two", "three"])
def test_pictures_for_the_eye(opened, model, dark):
    browser = opened(model())
    emulate(browser, dark=dark)
    browser.refresh()
    red, green, blue = map(int, re.findall(r"\d+", background(browser)))
    assert (max(red, green, blue) < 128) == dark
    assert browser.execute_script(CONTRAST) == []
    shown = sum(effect.is_shown for effect in effects_of(model()))
    assert len(browser.find_elements(By.CSS_SELECTOR, ".shapes figure")) == shown
    name = "two" if model is weights else "three"
    picture(browser, f"shapes-{name}-{'dark' if dark else 'light'}")


@pytest.mark.parametrize(
    "model", [weights, exact_weights, three_classes, lambda: grouped(3, epsilon=20.0), only_balance]
)
def test_nothing_is_cut_off_and_no_letters_run_into_each_other(opened, model):
    browser = opened(model())
    assert browser.execute_script(OVERLAPS) == []
    assert browser.execute_script(CUT_OFF) == []


def test_the_check_for_letters_can_fail(opened):
    browser = opened(weights())
    browser.execute_script("document.querySelector('.shapes text').textContent = 'x'.repeat(300)")
    assert browser.execute_script(OVERLAPS) != []


def test_a_table_unfolds_below_its_picture(opened):
    browser = opened(exact_weights())
    figure = browser.find_element(By.CSS_SELECTOR, ".shapes figure")
    assert not figure.find_element(By.TAG_NAME, "table").is_displayed()
    figure.find_element(By.TAG_NAME, "summary").click()
    assert figure.find_element(By.TAG_NAME, "table").is_displayed()


def test_the_control_brings_out_one_class(opened):
    browser = opened(three_classes())
    parts = browser.find_elements(By.CSS_SELECTOR, ".shapes [data-class]")
    chosen = Select(browser.find_element(By.ID, "shape-class"))
    chosen.select_by_visible_text("yes")
    dim = {part.get_attribute("data-class") for part in parts if "dim" in (part.get_attribute("class") or "").split()}
    assert dim == {"0", "1"}
    chosen.select_by_visible_text("all classes")
    assert not browser.find_elements(By.CSS_SELECTOR, ".shapes .dim")


def test_hostile_names_stay_text(opened):
    browser = opened(hostile_weights())
    assert browser.title == "Privacy report: people.privet"
    assert browser.find_elements(By.TAG_NAME, "img") == []


def test_a_phone_needs_no_scrolling_sideways(opened):
    browser = opened(three_classes())
    phone = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.refresh()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 375
    picture(browser, "shapes-phone")


def test_print_has_the_pictures_and_no_control(opened):
    browser = opened(three_classes())
    emulate(browser, media="print", dark=True)
    assert background(browser) == "rgb(255, 255, 255)"
    assert not browser.find_element(By.ID, "shape-class").is_displayed()
    assert browser.find_element(By.CSS_SELECTOR, ".shapes svg").is_displayed()
    assert browser.execute_script(CONTRAST) == []
    picture(browser, "shapes-print")
    emulate(browser, media="")
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    data = base64.b64decode(pdf["data"])
    assert data.startswith(b"%PDF")
    (PICTURES / "shapes.pdf").write_bytes(data)


def test_without_script_the_pictures_are_there(browser, tmp_path):
    from privet.report import write_report

    write_report(three_classes(), tmp_path / "people.html")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get((tmp_path / "people.html").as_uri())
    assert browser.find_element(By.CSS_SELECTOR, ".shapes svg").is_displayed()
    assert not browser.find_element(By.ID, "shape-class").is_displayed()
