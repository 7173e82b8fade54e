"""The page in one file: it asks no network for anything, and its text comes back to the collector."""

import json

import pytest
from selenium.webdriver.common.by import By

from privet.service.collect.assets import write_offline_page
from privet.service.collect.reports import add_report
from tests.browser.collecting import Collection, agree, as_large_as, disturb, fill, look, part, press, reach, sampled

pytestmark = pytest.mark.browser


@pytest.fixture
def collection(tmp_path):
    own = Collection(tmp_path / "smokers", sampled())
    yield own
    own.store.close()


@pytest.fixture
def page(browser, collection, tmp_path):
    browser.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": "en"})
    write_offline_page(collection.folder, tmp_path / "answer.html")
    browser.get((tmp_path / "answer.html").as_uri())
    browser.execute_script("localStorage.clear()")
    browser.get_log("performance")
    browser.get((tmp_path / "answer.html").as_uri())
    reach(browser, "welcome")
    return browser


def handed_over(browser, link):
    if link:
        part(browser, "code").send_keys(link)
    agree(browser)
    fill(browser)
    disturb(browser)
    press(browser, "#send")
    reach(browser, "hand")
    return part(browser, "hand-text").get_property("textContent")


def addresses(browser):
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}


@pytest.mark.parametrize("gives_link", [True, False])
def test_a_text_is_handed_over_and_added_once(page, collection, tmp_path, gives_link):
    as_large_as(page, "phone")
    look(page, "offline-welcome")
    token = collection.token()
    text = handed_over(page, f"https://ask.example/#{token}" if gives_link else "")
    look(page, "offline-hand")
    (tmp_path / "privet-answer.json").write_text(text)
    used = None if gives_link else token
    assert [add_report(collection.folder, collection.store, tmp_path / "privet-answer.json", used) for _ in "12"] == [
        True, False,
    ]  # fmt: skip
    assert json.loads(text)["answers"].keys() == {"question_1", "answer_1"}
    assert all(url.startswith(("file:", "data:")) for url in addresses(page))
    assert not part(page, "model").is_displayed()


def test_the_page_may_ask_no_address_at_all(page):
    page.execute_script("return fetch('https://elsewhere.example/').catch(() => null)")
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert refused
    assert all("Content Security Policy" in told for told in refused), refused


def test_the_page_shows_the_fingerprint_of_its_channel(page, collection):
    part(page, "channel-hash").find_element(By.XPATH, "../..").find_element(By.TAG_NAME, "summary").click()
    assert part(page, "channel-hash").text.replace(" ", "") == collection.folder.channel_sha256
