"""The built documentation in a real browser, opened from its folder; run by `make docs-check`, which builds it."""

import json
import os
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.looking import picture

pytestmark = pytest.mark.site
SITE = Path(os.environ.get("PRIVET_SITE", "build/site")).resolve()
PAGES = sorted(path for path in SITE.rglob("*.html") if path.name != "404.html")
DESKTOP, PHONE = 1280, 390
LOADED = "return document.readyState == 'complete' && [...document.images].every((image) => image.complete)"
MISSING = "return [...document.images].filter((image) => image.naturalWidth == 0).map((image) => image.src)"
# What reaches beyond the page although no box of its own lets it be scrolled to.
TOO_WIDE = """
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= width) return [];
return [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > width + 1)
  .map((element) => element.tagName + ": " + element.textContent.trim().slice(0, 60));
"""


def as_wide_as(browser, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def go_to(browser, page):
    browser.get(page.as_uri())
    wait(browser, lambda: browser.execute_script(LOADED))


def wait(browser, condition):
    return WebDriverWait(browser, 20).until(lambda _: condition())


def test_the_site_is_built():
    assert len(PAGES) > 50


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_page_shows_its_pictures_and_fits(browser, width):
    as_wide_as(browser, width)
    wrong = {}
    for page in PAGES:
        go_to(browser, page)
        found = [*browser.execute_script(MISSING), *browser.execute_script(TOO_WIDE)]
        if found:
            wrong[page.relative_to(SITE).as_posix()] = found[:5]
    assert wrong == {}


def test_no_page_asks_the_network_for_anything(browser):
    for page in PAGES[:: max(1, len(PAGES) // 15)]:
        go_to(browser, page)
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if url.startswith("http")} == set()


def test_a_reader_clicks_from_the_first_page_to_every_part(browser):
    as_wide_as(browser, DESKTOP)
    go_to(browser, SITE / "index.html")
    parts = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, ".md-tabs__link")]
    assert len(parts) == 6
    for part in parts:
        go_to(browser, SITE / "index.html")
        link = next(
            x for x in browser.find_elements(By.CSS_SELECTOR, ".md-tabs__link") if x.get_attribute("href") == part
        )
        link.click()
        wait(browser, lambda: browser.execute_script(LOADED))
        assert browser.find_element(By.CSS_SELECTOR, "article h1").text


def test_a_phone_opens_the_menu(browser):
    as_wide_as(browser, PHONE)
    go_to(browser, SITE / "index.html")
    browser.find_element(By.CSS_SELECTOR, ".md-header__button[for=__drawer]").click()
    wait(browser, lambda: browser.find_element(By.CSS_SELECTOR, ".md-nav--primary .md-nav__title").is_displayed())


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_the_search_finds_a_page_from_a_folder_without_a_server(browser, width):
    as_wide_as(browser, width)
    go_to(browser, SITE / "index.html")
    browser.execute_script("document.getElementById('__search').click()")
    field = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    wait(browser, field.is_displayed)
    field.send_keys("permute")
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "a[href*='arguments/permute_and_flip.html?h=']"))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize(
    "page", ["index", "methods", "gallery/index", "gallery/epsilon", "api/curator", "arguments/index"]
)
def test_pages_to_look_at(browser, page, width):
    as_wide_as(browser, width)
    go_to(browser, SITE / f"{page}.html")
    picture(browser, f"site-{page.replace('/', '-')}-{width}")
