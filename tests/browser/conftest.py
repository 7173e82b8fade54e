"""A real browser for pages that are opened from files; after each test its console must be free of errors."""

import shutil

import pytest

from privet.report import write_report

_QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--window-size=1100,1400",
)  # fmt: skip


@pytest.fixture
def browser(driver):
    """The browser as if it had just been started."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    for kind in ("browser", "performance"):
        driver.get_log(kind)
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}] == []


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that writes a model's report and opens it."""

    def open_report(model):
        model.save(tmp_path / "people.privet")
        write_report(tmp_path / "people.privet", tmp_path / "people.html")
        browser.get((tmp_path / "people.html").as_uri())
        return browser

    return open_report


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """Chromium with a profile of its own; selenium is told to fetch nothing."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = found("chromium")
    for argument in (*_QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")
        started = webdriver.Chrome(options=options, service=Service(found("chromedriver")))
    yield started
    started.quit()


def found(name):
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is not installed; run these tests with `make browser`", pytrace=False)
    return path
