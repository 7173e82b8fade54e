"""The report in a real browser: it opens, folds, turns dark, prints, and asks nobody for anything."""

import base64
import json
import re

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from privet import Numeric, PrivateRDTClassifier, Schema
from privet.registry import METHODS
from privet.report import write_report
from privet.signing import PrivateKey, Roster, sign_model
from tests.browser.looking import CONTRAST, CUT_OFF, PICTURES, background, emulate, picture
from tests.report.people import HOSTILE, exact, fitted, hostile, leaking, of_method, of_visits, paper
from tests.report.weighty import weights

pytestmark = pytest.mark.browser


def items(browser, selector=""):
    return browser.find_elements(By.CSS_SELECTOR, f"#outline [role=treeitem]{selector}")


def line_of(item):
    return item.find_element(By.CSS_SELECTOR, ".node")


def test_no_request_but_the_page_itself(opened, tmp_path):
    browser = opened(fitted())
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    page = (tmp_path / "people.html").as_uri()
    # The browser's own start page asks for its own parts.
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert [each["request"]["url"] for each in sent if each["documentURL"] == page] == [page]


def test_the_policy_keeps_the_page_from_asking_for_more(opened):
    browser = opened(fitted())
    blocked = browser.execute_async_script(
        "const done = arguments[0];"
        "document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));"
        "document.body.append(Object.assign(new Image(), { src: 'https://example.invalid/x.png' }));"
    )
    assert blocked == "img-src"
    browser.get_log("browser")  # the violation that was provoked


def test_a_click_opens_a_branch_and_shows_its_released_counts(opened):
    browser = opened(exact())
    shut = items(browser, "[aria-expanded=false]")[0]
    n_before = len(items(browser))
    line_of(shut).click()
    assert shut.get_attribute("aria-expanded") == "true"
    assert len(items(browser)) > n_before
    assert len(shut.find_elements(By.CSS_SELECTOR, ":scope > ul > [role=treeitem]")) > 0
    trees = browser.execute_script("return JSON.parse(document.getElementById('data').textContent).trees")
    node = int(shut.get_attribute("data-node"))
    shown = shut.find_element(By.CSS_SELECTOR, ":scope > .detail").text
    for label, count in zip(trees["classes"], trees["counts"][2 * node : 2 * node + 2], strict=True):
        assert f"{label} {count:,} rows released" in " ".join(shown.split())
    line_of(shut).click()
    assert shut.get_attribute("aria-expanded") == "false"
    assert len(items(browser)) == n_before


def test_children_add_up_to_their_parent(opened):
    browser = opened(exact())
    browser.find_element(By.ID, "open-3").click()
    for told in browser.find_elements(By.CSS_SELECTOR, "#outline .condition"):
        if "more branches" in told.text:
            told.click()
    root = items(browser)[0]
    below = root.find_elements(By.CSS_SELECTOR, ":scope > ul > li > .node > .number")
    assert sum(int(cell.text.replace(",", "")) for cell in below) == 600


@pytest.mark.parametrize("key", [Keys.ENTER, Keys.SPACE])
def test_the_keyboard_opens_a_branch_too(opened, key):
    browser = opened(exact())
    root = items(browser)[0]
    browser.execute_script("arguments[0].focus()", root)
    root.send_keys(Keys.ARROW_DOWN)
    child = browser.switch_to.active_element
    assert child.get_attribute("aria-level") == "2"
    was = child.get_attribute("aria-expanded")
    child.send_keys(key)
    assert {was, child.get_attribute("aria-expanded")} == {"true", "false"}
    assert "rows released" in child.text


def test_arrows_walk_the_tree(opened):
    browser = opened(exact())
    root = items(browser)[0]
    browser.execute_script("arguments[0].focus()", root)
    root.send_keys(Keys.ARROW_LEFT)
    assert len(items(browser)) == 1
    root.send_keys(Keys.ARROW_RIGHT, Keys.END)
    assert browser.switch_to.active_element == items(browser)[-1]
    browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert browser.switch_to.active_element == root
    assert [item.get_attribute("tabindex") for item in items(browser)].count("0") == 1


def test_a_block_of_the_picture_leads_to_its_line(opened):
    browser = opened(exact())
    block = browser.find_elements(By.CSS_SELECTOR, "#icicle rect")[-1]
    browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", block)
    chosen = browser.switch_to.active_element
    assert chosen.get_attribute("data-node") == block.get_attribute("data-node")


def test_other_trees_can_be_chosen(opened):
    browser = opened(exact())
    browser.find_element(By.ID, "tree-next").click()
    assert items(browser)[0].get_attribute("data-node") == "1"


def test_the_slider_tells_what_the_table_tells(opened):
    browser = opened(fitted(epsilon=1.0))
    told = browser.find_element(By.ID, "prior-result")
    assert told.text == "Somebody who thought 10 % before can think between 3.9 % and 23.2 % afterwards."
    browser.find_element(By.ID, "prior").send_keys(Keys.END)
    assert told.text.startswith("Somebody who thought 99 % before")


def test_the_toggle_changes_the_background_and_follows_the_system_first(opened):
    browser = opened(fitted())
    light = background(browser)
    browser.find_element(By.ID, "theme").click()
    assert background(browser) != light
    assert browser.find_element(By.ID, "theme").get_attribute("aria-pressed") == "true"
    emulate(browser, dark=True)
    browser.refresh()
    dark = background(browser)
    assert dark != light
    browser.find_element(By.ID, "theme").click()
    assert background(browser) == light


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("model", [fitted, exact, paper, leaking])
def test_every_text_stands_out_from_its_background(opened, model, dark):
    browser = opened(model())
    emulate(browser, dark=dark)
    browser.refresh()
    browser.find_element(By.ID, "open-3").click()
    items(browser)[0].send_keys(Keys.HOME)
    assert browser.execute_script(CONTRAST) == []


def test_the_contrast_check_can_fail(opened):
    browser = opened(fitted())
    browser.execute_script("document.querySelector('h1').style.color = '#cccccc'")
    assert browser.execute_script(CONTRAST) != []


def test_hostile_names_stay_text(opened):
    browser = opened(hostile())
    browser.find_element(By.ID, "open-3").click()
    assert browser.title == "Privacy report: people.privet"
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert "onerror=" in browser.find_element(By.ID, "outline").text


def test_a_phone_needs_no_scrolling_sideways(opened):
    browser = opened(fitted())
    phone = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.refresh()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 375
    picture(browser, "phone")


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"private-forest", "private-forest-regressor"}))
def test_every_method_opens_and_unfolds(opened, method):
    browser = opened(of_method(method))
    browser.find_element(By.ID, "open-3").click()
    assert len(items(browser)) > 1
    alone = of_method(method).forest_.n_trees == 1
    assert browser.find_element(By.ID, "tree-next").is_displayed() != alone
    picture(browser, method)


@pytest.mark.parametrize("model", [paper, leaking, of_visits, lambda: of_method("dpdf", n_trees=10, epsilon=0.3)])
def test_no_figure_is_cut_off(opened, model):
    browser = opened(model())
    assert browser.execute_script(CUT_OFF) == []


def test_the_check_for_what_is_cut_off_can_fail(opened):
    browser = opened(paper())
    browser.execute_script("document.querySelector('.receipts td').textContent = 'x\\u00a0'.repeat(200)")
    browser.execute_script("document.querySelector('.receipts').style.whiteSpace = 'nowrap'")
    assert browser.execute_script(CUT_OFF) != []


def test_without_script_everything_but_the_chrome_is_there(browser, tmp_path):
    write_report(exact(), tmp_path / "people.html")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get((tmp_path / "people.html").as_uri())
    assert browser.find_element(By.CLASS_NAME, "without-script").is_displayed()
    assert not browser.find_element(By.ID, "theme").is_displayed()


def test_print_is_light_without_chrome_and_has_trees(opened):
    browser = opened(ten_classes())
    browser.find_element(By.ID, "theme").click()
    emulate(browser, media="print", dark=True)
    assert background(browser) == "rgb(255, 255, 255)"
    for hidden in ("theme", "outline", "icicle", "prior"):
        assert not browser.find_element(By.ID, hidden).is_displayed()
    assert browser.find_element(By.CLASS_NAME, "without-script").is_displayed()
    assert browser.execute_script(CONTRAST) == []
    picture(browser, "print")
    emulate(browser, media="")
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    data = base64.b64decode(pdf["data"])
    assert data.startswith(b"%PDF")
    (PICTURES / "report.pdf").write_bytes(data)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pictures_for_the_eye(opened, dark):
    browser = opened(ten_classes())
    emulate(browser, dark=dark)
    browser.refresh()
    red, green, blue = map(int, re.findall(r"\d+", background(browser)))
    assert (max(red, green, blue) < 128) == dark
    browser.find_element(By.ID, "open-3").click()
    # Three levels below the root are open, and what is on the fourth is folded.
    assert browser.find_elements(By.CSS_SELECTOR, '#outline [aria-level="4"]')
    assert not browser.find_elements(By.CSS_SELECTOR, '#outline [aria-level="4"][aria-expanded="true"]')
    picture(browser, "dark" if dark else "light")


def ten_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5_000, 4))
    y = np.clip((2 * X[:, 0] + X[:, 1] + 5).astype(int), 0, 9)
    schema = Schema([Numeric(f"x{i}", -4, 4) for i in range(4)], classes=list(range(10)), rows=5_000)
    return PrivateRDTClassifier(schema, epsilon=2.0, n_trees=4, height=5, random_state=2).fit(X, y)


def with_evidence(tmp_path):
    """Write a report with all that can be given, some of it hostile, and return its page."""
    key = PrivateKey("clinic", bytes(range(32)))
    fitted().save(tmp_path / "people.privet")
    signature = sign_model(tmp_path / "people.privet", key)
    fields = {"owner": HOSTILE, "purpose": "x" * 900, "period": "2023", "contact": "a@b.example"}
    about = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())
    (tmp_path / "about.toml").write_text(about)
    scores = {"model": signature.model, HOSTILE: 0.5, "by_group": {"y" * 150: {"accuracy": 0.25}}, "sentence": HOSTILE}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    write_report(
        tmp_path / "people.privet", tmp_path / "people.html", about=tmp_path / "about.toml",
        attach=[tmp_path / "scores.json"], signature=signature, keys=Roster([key.public]),
    )  # fmt: skip
    return (tmp_path / "people.html").as_uri()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_is_stated_and_attached_can_be_read_and_stays_text(browser, tmp_path, dark):
    browser.get(with_evidence(tmp_path))
    emulate(browser, dark=dark)
    browser.refresh()
    assert browser.title == "Privacy report: people.privet"
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert browser.find_element(By.CLASS_NAME, "about").text.count("onerror=") == 1
    assert "clinic signed it on" in browser.find_element(By.CLASS_NAME, "about").text
    assert browser.execute_script(CONTRAST) == []
    assert browser.execute_script(CUT_OFF) == []
    picture(browser, f"evidence-{'dark' if dark else 'light'}")


def test_the_first_sentence_stands_before_all_else(opened):
    browser = opened(fitted())
    promise = browser.find_element(By.CLASS_NAME, "promise")
    assert promise.text.startswith("At most 74 right guesses in 100")
    texts, top = browser.find_elements(By.CSS_SELECTOR, "main p"), promise.location["y"]
    above = [each for each in texts if each.location["y"] < top]
    assert [each.text.split(" ")[0] for each in above] == ["Method"]


def pages_of(browser):
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(pdf["data"])))


def test_a_report_on_the_recommended_forest_has_at_most_five_pages(opened):
    browser = opened(weights())
    assert 2 <= pages_of(browser) <= 5


def test_the_count_of_pages_can_fail(opened):
    browser = opened(weights())
    browser.execute_script("document.querySelectorAll('section').forEach((s) => { s.style.breakAfter = 'page'; })")
    assert pages_of(browser) > 5
