"""A person answers on the example page: what it would send is what Python says, and nothing leaves."""

import functools
import http.server
import json
import threading
from pathlib import Path

import pandas as pd
import pytest

from privet.local import Channel, Secret, perturb
from tests.browser.looking import CONTRAST, emulate, picture

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FORM = {"age": "44", "hours": "37", "job": "2", "sex": "0", "smoker": "1"}
RECORD = {"age": 44.0, "hours": 37.0, "job": "outdoors", "sex": "female", "smoker": "yes"}
FILL = """
const [form, done] = arguments;
const [result, sent] = ["result", "sent"].map((id) => document.getElementById(id));
result.hidden = true;
for (const [name, value] of Object.entries(form)) document.getElementsByName(name)[0].value = value;
document.getElementById("disturb").click();
const look = () => (result.hidden ? setTimeout(look, 20) : done(sent.textContent));
look();
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """The project's folder, served to this machine alone."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=ROOT)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser, address):
    browser.get(f"{address}/examples/respondent.html")
    browser.execute_script("localStorage.clear()")
    return browser


def sent(page, form=FORM):
    return json.loads(page.execute_async_script(FILL, form))


def test_what_would_be_sent_is_what_python_answers_under_the_same_secret(page):
    answers = sent(page)
    kept = json.loads(page.execute_script("return localStorage.getItem('privet')"))
    channel = Channel.from_json(
        json.loads(page.execute_script("return document.getElementById('channel').textContent"))
    )
    table = pd.DataFrame([{**RECORD, "who": "me"}])
    expected = perturb(table, channel, Secret.of_key(bytes(kept["secret"])), person="who")
    assert answers == expected.to_dict("records")[0]
    assert dict(kept["pins"]) == channel.fingerprints  # of what is given as it is nothing is remembered


def test_the_same_answer_again_after_a_reload_and_another_without_the_secret(page):
    first = sent(page)
    page.refresh()
    assert sent(page) == first
    others = []
    for _ in range(8):
        page.execute_script("document.getElementById('forget').click()")
        others.append(sent(page)["age"])
    assert len({first["age"], *others}) > 4


def test_fields_left_out_stay_out(page):
    answers = sent(page, {"age": "", "hours": "", "job": "", "sex": "", "smoker": ""})
    assert answers == {"age": None, "hours": None, "job": None, "sex": None}


def test_nothing_but_the_page_and_its_module_is_ever_asked_for(page, address):
    sent(page)
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    own = {f"{address}/examples/respondent.html", f"{address}/src/privet/local/channels/respondent.js"}
    assert {url for url in asked if not url.startswith("data:")} <= own


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_can_be_read(page, dark):
    emulate(page, dark=dark)
    sent(page)
    picture(page, f"respondent-{'dark' if dark else 'light'}")
    assert page.execute_script(CONTRAST) == []
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_a_page_from_a_file_says_that_it_must_be_served(page):
    page.get((ROOT / "examples" / "respondent.html").as_uri())
    assert "python -m http.server" in " ".join(page.execute_script("return document.body.innerText").split())
    assert all("respondent.js" in entry["message"] for entry in page.get_log("browser"))
