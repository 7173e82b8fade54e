"""The owner of a gateway logs in and reads what was spent, on a phone and at a desk."""

import time

import httpx
import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.looking import CONTRAST, emulate, picture
from tests.service.gateway.conftest import ENOUGH, PASSWORD, Gateway
from tests.service.gateway.running import RunningServer, told

pytestmark = pytest.mark.browser
SIZES = {"phone": (390, 844), "desk": (1280, 900)}
TOO_WIDE = "return document.documentElement.scrollWidth > innerWidth"


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    gateway = Gateway(tmp_path_factory.mktemp("owner") / "one", epsilon=5.0)
    ana, _ = gateway.analyst("ana", 2.0), gateway.analyst("a-colleague@clinic.example", 1.0)
    with RunningServer(gateway.folder.path) as server:
        for key, document in {"one": {"epsilon": 0.5, "method": "private-rdt"}, "two": {"epsilon": 9.0}}.items():
            headers = {"Authorization": f"Bearer {ana.token}", "Idempotency-Key": key}
            httpx.post(f"{server.url}/v1/fits", json=document, headers=headers, timeout=ENOUGH)
        while told(server.url, ana.token, "/v1/fits").json()["fits"][0]["receipt"]["state"] != "settled":
            time.sleep(0.1)
        yield server


def on(browser, size):
    width, height = SIZES[size]
    device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_owner_logs_in_and_reads_what_was_spent(browser, serving, size, dark):
    on(browser, size)
    emulate(browser, dark=dark)
    browser.get(f"{serving.url}/owner")
    picture(browser, f"owner-login-{size}{'-dark' if dark else ''}")
    browser.find_element(By.ID, "password").send_keys(PASSWORD, Keys.ENTER)
    # The login's page has no such button, so nothing of it is looked at while it goes. The driver may stumble over it.
    wait = WebDriverWait(browser, ENOUGH, ignored_exceptions=[WebDriverException])
    wait.until(lambda own: own.find_elements(By.CSS_SELECTOR, "header button"))
    assert browser.find_element(By.TAG_NAME, "h1").text == "patients"
    text = browser.find_element(By.TAG_NAME, "main").text
    for shown in ("4.5", "a-colleague@clinic.example", "settled", "refused: own_budget"):
        assert shown in text
    assert browser.execute_script(CONTRAST) == []
    assert not browser.execute_script(TOO_WIDE)
    picture(browser, f"owner-{size}{'-dark' if dark else ''}")
    browser.find_element(By.CSS_SELECTOR, "header button").click()
    wait.until(lambda own: own.find_elements(By.ID, "password"))
