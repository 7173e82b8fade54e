"""A real collecting server for the tests of its pages, and what they do on them."""

import contextlib
import json
import socket
import threading

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from privet import Categorical, Numeric, Schema
from privet.local import FieldSampling, RandomizedResponse
from privet.service.collect.app import make_app
from privet.service.collect.folder import CollectFolder, Settings
from privet.service.collect.tokens import new_token, token_hash
from privet.service.sessions import hash_password
from tests.browser.looking import CONTRAST, picture

# Seconds; even a busy machine needs a part of them only.
ENOUGH = 120
PASSWORD = "three blue herons"  # noqa: S105 - of a server that lives as long as a test
TEXTS = {
    "en": {
        "fields": {"age": "How old are you?", "job": "Where do you work?", "smoker": "Do you smoke?"},
        "values": {"smoker": {"no": "I do not smoke", "yes": "I smoke"}},
    },
    "de": {"fields": {"age": "Wie alt sind Sie?", "job": "Wo arbeiten Sie?", "smoker": "Rauchen Sie?"}},
}
RECORD = {"age": 44, "job": "outdoors", "smoker": "yes"}

SIZES = {"phone": (390, 844), "desk": (1280, 900)}
# Controls without a name, steps in headings, and targets too small for a thumb.
UNLABELLED = """
const shown = (own) => own.getClientRects().length > 0;
const controls = [...document.querySelectorAll("input, select, textarea, button")].filter(shown);
return controls.filter((own) => !(own.labels?.length || own.textContent.trim() || own.getAttribute("aria-label")))
  .map((own) => own.outerHTML);
"""
HEADINGS = """
const levels = [...document.querySelectorAll("h1, h2, h3")].filter((own) => own.getClientRects().length)
  .map((own) => Number(own.tagName[1]));
return levels.filter((level, i) => level > (i ? levels[i - 1] : 0) + 1);
"""
SMALL = """
const kinds = "button, select, summary, .choice, input[type=number], input[type=password]";
const targets = [...document.querySelectorAll(kinds)];
return targets.filter((own) => own.getClientRects().length && own.getBoundingClientRect().height < 44)
  .map((own) => own.outerHTML);
"""
TOO_WIDE = "return document.documentElement.scrollWidth > innerWidth"
# What a screen reader would not find by its landmarks, and what says twice what it is.
OUTSIDE = """
const own = [...document.querySelectorAll(".page > *")].filter((part) => part.getClientRects().length);
const ids = [...document.querySelectorAll("[id]")].map((part) => part.id);
return [...own.filter((part) => !part.matches("header, main, footer")).map((part) => part.outerHTML),
  ...ids.filter((id, i) => ids.indexOf(id) !== i)];
"""


def schema():
    jobs = Categorical("job", ["office", "workshop", "outdoors", "at home"], never_missing=True)
    age = Numeric("age", 16, 100, edges=[25, 35, 45, 55, 65, 75], never_missing=True)
    return Schema([age, jobs], classes=["no", "yes"], target="smoker")


def sampled(epsilon=1.0, wave=None):
    """A channel that asks everybody for one attribute with the label, whatever the coin picks."""
    return FieldSampling(schema(), epsilon=epsilon, wave=wave, label_alone=False).fit().channel_


def by_field():
    return RandomizedResponse(schema(), epsilon=2.0, label=True).fit().channel_


class Collection:
    """A folder, its server, and links to it."""

    def __init__(self, path, channel, **settings):
        channel.save(path.with_suffix(".json"))
        own = {"by": "the health office", "purpose": "To plan courses.", "batch": 2, "minimum": 4, "texts": TEXTS}
        chosen = Settings("Smoking in town", 100, password=hash_password(PASSWORD), **{**own, **settings})
        self.folder = CollectFolder.make(path, path.with_suffix(".json"), chosen)
        self.store = self.folder.open_store()
        self.app = make_app(self.folder, self.store)
        self.base = ""

    def token(self):
        own = new_token()
        self.store.add_tokens([token_hash(own)])
        return own

    def link(self, token=None):
        return f"{self.base}/#{token or self.token()}"


@contextlib.contextmanager
def served(collection):
    """Serve a collection to this machine alone; its ``app`` may be exchanged meanwhile."""
    import uvicorn

    async def app(scope, receive, send):
        await collection.app(scope, receive, send)

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        collection.base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off"))
        running = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        running.start()
        yield collection
        server.should_exit = True
        running.join(20)
    collection.store.close()


def wait(browser, condition):
    return WebDriverWait(browser, ENOUGH).until(lambda _: condition())


def part(browser, name):
    return browser.find_element(By.ID, name)


def reach(browser, section):
    wait(browser, lambda: part(browser, section).is_displayed())


def open_link(browser, link):
    """Open a link as a phone does that has just scanned it; the page is loaded even where only its token is new."""
    browser.get("about:blank")
    browser.get(link)
    reach(browser, "welcome")


def agree(browser):
    for box in ("agree-again", "agree"):
        if part(browser, box).is_displayed():
            part(browser, box).click()
    press(browser, "#consent .main")
    reach(browser, "asking")


def press(browser, selector):
    browser.find_element(By.CSS_SELECTOR, selector).click()


def fill(
    browser, record=RECORD, labels=(("job", ["office", "workshop", "outdoors", "at home"]), ("smoker", ["no", "yes"]))
):
    """Answer whatever is asked; return the fields that were."""
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#controls .question')].map((q) => q.querySelector('.asked').textContent)"
    )
    by_text = {text: name for name, text in TEXTS["en"]["fields"].items()}
    for j, text in enumerate(shown):
        name = by_text[text]
        if name == "age":
            part(browser, f"q{j}").send_keys(str(record["age"]))
        else:
            place = dict(labels)[name].index(record[name])
            press(browser, f'input[name="q{j}"][value="{place}"]')
    return [by_text[text] for text in shown]


def disturb(browser):
    press(browser, "#questions .main")
    reach(browser, "compared")


def answered(browser, link, record=RECORD):
    """Go from a link to what would be sent; return it."""
    open_link(browser, link)
    agree(browser)
    fill(browser, record)
    disturb(browser)
    return json.loads(part(browser, "exactly").get_property("textContent"))


def send(browser):
    press(browser, "#send")
    reach(browser, "thanks")


def requests(browser):
    """Return every request that crossed the wire since the last look: address, method and body."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [e["params"]["request"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [(r["url"], r["method"], r.get("postData", "")) for r in sent if r["url"].startswith("http")]


def as_large_as(browser, size):
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def look(browser, name):
    """Take a picture, and see that everybody could use what is on it."""
    picture(browser, f"collect-{name}")
    for script in (CONTRAST, UNLABELLED, HEADINGS, SMALL, OUTSIDE):
        assert browser.execute_script(script) == [], name
    assert not browser.execute_script(TOO_WIDE), name
