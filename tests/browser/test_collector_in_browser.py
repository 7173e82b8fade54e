"""The collector's page, and the published model, which a respondent asks in the browser."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from privet.local import Secret, perturb
from privet.registry import load
from privet.service.collect.reports import Reports
from privet.service.collect.tokens import new_token, token_hash
from tests.browser.collecting import (
    PASSWORD,
    SIZES,
    Collection,
    as_large_as,
    look,
    open_link,
    part,
    press,
    reach,
    requests,
    sampled,
    served,
    wait,
)

pytestmark = pytest.mark.browser

N_PEOPLE = 300


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    age, job = rng.uniform(16, 100, N_PEOPLE), rng.choice(["office", "workshop", "outdoors", "at home"], N_PEOPLE)
    return pd.DataFrame({"age": age, "job": job, "smoker": np.where(job == "outdoors", "yes", "no")})


@pytest.fixture(scope="module")
def collection(tmp_path_factory, people):
    path = tmp_path_factory.mktemp("collector")
    channel = sampled(epsilon=4.0)
    answers = pd.DataFrame(perturb(people, channel, Secret.of_key(bytes(32))))
    with served(Collection(path / "smokers", channel, batch=150, minimum=150)) as own:
        reports = Reports(channel)
        tokens = [token_hash(new_token()) for _ in range(N_PEOPLE)]
        own.store.add_tokens(tokens)
        for hashed, row in zip(tokens, answers.astype(object).to_dict("records"), strict=True):
            plain = {name: int(value) if name.startswith("question") else value for name, value in row.items()}
            own.store.put(hashed, hashed, reports.canonical(plain))
        yield own


@pytest.fixture
def page(browser, collection):
    browser.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": "en"})
    browser.get(f"{collection.base}/collector")
    wait(browser, lambda: part(browser, "login-part").is_displayed())
    # The browser itself reports that there is no session yet.
    assert all("state.json" in entry["message"] for entry in browser.get_log("browser"))
    return browser


def log_in(browser):
    part(browser, "password").send_keys(PASSWORD)
    press(browser, "#login .main")
    wait(browser, lambda: part(browser, "inside").is_displayed())


def test_a_wrong_password_shows_nothing(page):
    look(page, "collector-login")
    part(page, "password").send_keys("another heron")
    press(page, "#login .main")
    wait(page, lambda: part(page, "messages").text == "This is not the password.")
    assert not part(page, "inside").is_displayed()
    assert all("login" in entry["message"] for entry in page.get_log("browser"))


@pytest.mark.parametrize("size", SIZES)
def test_shares_are_shown_with_intervals_that_hold_the_truth(page, collection, people, size):
    as_large_as(page, size)
    log_in(page)
    press(page, "#release")
    wait(page, lambda: part(page, "charts").find_elements(By.TAG_NAME, "figure"))
    for summary in page.find_elements(By.CSS_SELECTOR, "#charts summary"):
        summary.click()
    look(page, f"collector-{size}")
    told = json.loads(page.execute_script("return document.getElementById('charts').dataset.shown"))[0]
    assert [own["field"] for own in told] == ["age", "job"]
    assert page.execute_script("return [...document.querySelectorAll('figcaption')].map((own) => own.textContent)") == [
        "How old are you?", "Where do you work?",
    ]  # fmt: skip
    # The secret is fixed, and so is every draw.
    for own in told[1]["values"][:4]:
        of_job = people["job"] == own["value"]
        for shown, true in [(own, of_job), *((c, of_job & (people["smoker"] == c["class"])) for c in own["classes"])]:
            assert shown["low_share"] <= shown["share"] <= shown["high_share"]
            assert abs(true.mean() - shown["share"]) <= shown["high_share"] - shown["low_share"]


def test_a_model_is_trained_published_and_asked_on_clear_answers_that_go_nowhere(page, collection):
    log_in(page)
    press(page, "#release")
    wait(page, lambda: part(page, "train").is_enabled())
    press(page, "#train")
    wait(page, lambda: part(page, "publish").is_enabled())
    look(page, "collector-trained")
    press(page, "#publish")
    wait(page, lambda: part(page, "model-links").is_displayed())
    assert not part(page, "publish").is_enabled()
    open_link(page, collection.link())
    press(page, "#model summary")
    wait(page, lambda: page.find_elements(By.ID, "m0"))
    requests(page)
    model = load(collection.folder.model_file)
    for age, code, job in ((44.5, 2, "outdoors"), (None, 0, "office"), (20, "none", None)):
        field = part(page, "m0")
        field.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE)
        field.send_keys("" if age is None else str(age))
        press(page, f'input[name="m1"][value="{code}"]')
        press(page, "#model-form .main")
        row = pd.DataFrame({"age": [age], "job": [job]}).astype({"age": float, "job": object})
        told = [own.text for own in page.find_elements(By.CSS_SELECTOR, "#model-answer li")]
        shares = [float(text.split()[-2]) for text in told]
        assert_allclose(shares, 100 * model.predict_proba(row)[0], atol=0.05 + 1e-9)
        shown = page.execute_script("return document.querySelector('#model-answer strong').textContent")
        words = {"no": "I do not smoke", "yes": "I smoke"}
        assert shown.endswith(f" {words[model.predict(row)[0]]}")
    assert requests(page) == []
    look(page, "model-asked")
    reach(page, "welcome")
