"""A person answers on the served page: from a link to thanks, and nothing clear crosses the wire."""

import json
import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from privet.local import Channel, FieldSampling, RandomizedResponse
from privet.service.collect.texts import page_texts, read_texts
from tests.browser.collecting import (
    RECORD,
    SIZES,
    TEXTS,
    Collection,
    agree,
    answered,
    as_large_as,
    by_field,
    disturb,
    fill,
    look,
    open_link,
    part,
    press,
    reach,
    requests,
    sampled,
    schema,
    send,
    served,
    wait,
)  # fmt: skip
from tests.browser.looking import emulate, picture

pytestmark = pytest.mark.browser

REFUSED = 'globalThis.fetch = async () => new Response(\'{"error": "refused", "message": "no"}\', { status: 422 });'
GAPS = re.compile(r"(\{\w+\})")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    with served(Collection(tmp_path_factory.mktemp("collect") / "sampled", sampled())) as own:
        yield own


@pytest.fixture(scope="module")
def other_collection(tmp_path_factory):
    with served(Collection(tmp_path_factory.mktemp("collect") / "fields", by_field())) as own:
        yield own


@pytest.fixture(scope="module")
def autumn(tmp_path_factory):
    """A second wave, to be put in the place of the first, at the same address."""
    own = Collection(tmp_path_factory.mktemp("collect") / "autumn", sampled(wave="autumn"))
    yield own
    own.store.close()


@pytest.fixture
def page(browser, collection):
    browser.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": "en"})
    browser.get(f"{collection.base}/")
    browser.execute_script("localStorage.clear()")
    requests(browser)
    return browser


def stored(browser):
    return json.loads(browser.execute_script("return localStorage.getItem('privet-respondent')") or "null")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_from_a_link_to_thanks(page, collection, size, dark):
    as_large_as(page, size)
    emulate(page, dark=dark)
    name = f"{size}-{'dark' if dark else 'light'}"
    open_link(page, collection.link())
    assert "at most 74 times in 100" in part(page, "price").text
    look(page, f"{name}-1-welcome")
    agree(page)
    asked = fill(page)
    assert len(asked) == 2
    assert asked[1] == "smoker"
    look(page, f"{name}-2-asking")
    disturb(page)
    look(page, f"{name}-3-compared")
    send(page)
    for details in page.find_elements(By.CSS_SELECTOR, "footer details > summary"):
        if details.is_displayed():
            details.click()
    look(page, f"{name}-4-thanks")
    assert len(stored(page)["ledger"]) == 1


def test_what_crosses_the_wire_is_the_report_that_was_shown_and_nothing_clear(page, collection):
    token = collection.token()
    shown = answered(page, collection.link(token), {"age": 43.21987, "job": "outdoors", "smoker": "yes"})
    assert page.current_url == f"{collection.base}/"
    send(page)
    crossed = requests(page)
    posts = [json.loads(body) for _, method, body in crossed if method == "POST"]
    assert [set(post) for post in posts] == [{"token", "report_id", "answers"}]
    assert posts[0]["answers"] == shown
    assert set(shown) == {"question_1", "answer_1"}
    everything = json.dumps(crossed)
    assert not any(clear in everything for clear in ("43.21987", "outdoors", '"yes"', "smoker"))
    # The token goes to the server with the report alone: it is in no address.
    assert not any(token in url for url, _, _ in crossed)
    assert all(url.startswith(collection.base) for url, _, _ in crossed)


def test_an_altered_script_is_refused_by_its_hash(page, collection):
    async def altered(scope, receive, send):
        async def more(message):
            if message["type"] == "http.response.start":
                message["headers"] = [(key, value) for key, value in message["headers"] if key != b"content-length"]
            elif not message.get("more_body"):
                message = {**message, "body": message["body"] + b"\nglobalThis.altered = true;"}
            await send(message)

        await right(scope, receive, more if scope["path"] == "/respond.js" else send)

    right, collection.app = collection.app, altered
    try:
        page.get("about:blank")
        page.get(collection.link())
        wait(page, lambda: page.execute_script("return document.readyState") == "complete")
    finally:
        collection.app = right
    assert page.execute_script("return globalThis.altered") is None
    assert not part(page, "welcome").is_displayed()
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert any("integrity" in told and "respond.js" in told for told in refused), refused


def test_a_script_in_the_markup_and_one_from_elsewhere_are_refused_by_the_policy(page, collection):
    open_link(page, collection.link())
    page.execute_script(
        "for (const own of [{ textContent: 'globalThis.inline = true' }, { src: 'https://elsewhere.example/a.js' }])"
        " document.head.append(Object.assign(document.createElement('script'), own));"
        "document.body.insertAdjacentHTML('beforeend', '<button id=bad onclick=\"globalThis.inline = true\">');"
        "document.getElementById('bad').click();"
        "return fetch('https://elsewhere.example/').catch(() => null);"
    )
    assert page.execute_script("return globalThis.inline") is None
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert len(refused) >= 4
    assert all("Content Security Policy" in told for told in refused), refused


def test_the_keyboard_is_enough(page, collection):
    open_link(page, collection.link())

    def tab_to(condition):
        for _ in range(40):
            page.switch_to.active_element.send_keys(Keys.TAB)
            if page.execute_script(f"const at = document.activeElement; return {condition}"):
                return page.switch_to.active_element
        raise AssertionError(condition)

    tab_to("at.id === 'agree'").send_keys(Keys.SPACE)
    tab_to("at.matches('#consent .main')").send_keys(Keys.ENTER)
    reach(page, "asking")
    assert page.execute_script("return document.activeElement.id") == "asking-title"
    first = tab_to("at.matches('#controls input')")
    first.send_keys("44" if first.get_attribute("type") == "number" else Keys.SPACE)
    tab_to("at.name === 'q1'").send_keys(Keys.SPACE)
    tab_to("at.matches('#questions .main')").send_keys(Keys.ENTER)
    reach(page, "compared")
    tab_to("at.id === 'send'").send_keys(Keys.ENTER)
    reach(page, "thanks")


def test_another_language_keeps_what_was_entered(page, collection):
    open_link(page, collection.link())
    agree(page)
    fill(page)
    page.execute_script(
        "const own = document.getElementById('language'); own.value = 'de'; own.dispatchEvent(new Event('change'))"
    )
    assert page.find_element(By.TAG_NAME, "html").get_attribute("lang") == "de"
    assert part(page, "asking-title").text == "Ihre Antworten"
    assert "Rauchen Sie?" in part(page, "controls").text
    disturb(page)
    look(page, "phone-german")
    assert "Bleibt hier" in part(page, "pairs").text


def shouted():
    """A language that nobody speaks: English in capitals, from right to left."""
    parts = {key: GAPS.split(text) for key, text in page_texts()["en"].items()}
    own = {key: "".join(part if part[:1] == "{" else part.upper() for part in text) for key, text in parts.items()}
    fields = {"age": "AGE", "job": "JOB", "smoker": "SMOKE"}
    return {**own, "name": "Shouted", "dir": "rtl", "title": "SMOKING", "fields": fields}


def test_a_language_of_the_collector_s_own_needs_a_text_file_alone(page, collection, tmp_path):
    (tmp_path / "texts.json").write_text(json.dumps({**TEXTS, "xx": shouted()}))
    settings = collection.folder.settings
    settings.texts = read_texts(tmp_path / "texts.json", collection.folder.channel.schema)
    page.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": "xx"})
    as_large_as(page, "phone")
    open_link(page, collection.link())
    settings.texts = TEXTS
    assert page.execute_script("return document.documentElement.lang + document.documentElement.dir") == "xxrtl"
    assert part(page, "welcome-title").text == "SMOKING"
    assert "AT MOST 74 TIMES IN 100" in part(page, "price").text
    look(page, "phone-shouted")
    agree(page)
    asked = [own.text for own in page.find_elements(By.CSS_SELECTOR, "#controls .asked")]
    assert (len(asked), set(asked) <= {"AGE", "JOB", "SMOKE"}) == (2, True)


def test_the_browser_s_language_is_taken(page, collection):
    page.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": "test", "acceptLanguage": "fr-CH"})
    open_link(page, collection.link())
    assert page.execute_script("return document.documentElement.lang") == "fr"


def test_nothing_goes_on_without_consent_or_with_a_question_left_open(page, collection):
    open_link(page, collection.link())
    press(page, "#consent .main")
    assert part(page, "messages").text == "Please tick that you agree, or withdraw."
    assert not part(page, "asking").is_displayed()
    agree(page)
    press(page, "#questions .main")
    assert part(page, "messages").text == "Please look at the marked questions: 2."
    assert page.execute_script("return document.activeElement.id") == "q0"
    picture(page, "collect-open-questions")


def test_a_closed_survey_says_so_and_asks_nothing(page, collection):
    collection.folder.change(open=False)
    try:
        open_link(page, collection.link())
        assert part(page, "messages").text == "This survey is closed, or cannot take answers at the moment."
        assert not part(page, "consent").is_displayed()
    finally:
        collection.folder.change(open=True)
    open_link(page, collection.link())
    assert part(page, "consent").is_displayed()


@pytest.mark.parametrize("step", ["welcome", "asking", "compared"])
def test_a_withdrawal_sends_and_leaves_nothing(page, collection, step):
    open_link(page, collection.link())
    if step != "welcome":
        agree(page)
        fill(page)
    if step == "compared":
        disturb(page)
    press(page, f"#{step} .withdraw")
    reach(page, "withdrawn")
    assert page.execute_script("return [localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert [method for _, method, _ in requests(page) if method == "POST"] == []
    assert "44" not in page.execute_script("return [...document.querySelectorAll('input')].map((own) => own.value)")
    assert part(page, "exactly").get_property("textContent") == ""


def test_a_used_link_is_refused_and_said_so(page, collection):
    token = collection.token()
    for is_second in (False, True):
        open_link(page, collection.link(token))
        agree(page)
        fill(page)
        disturb(page)
        press(page, "#send")
        if not is_second:
            reach(page, "thanks")
    wait(page, lambda: "used for an answer already" in part(page, "messages").text)
    assert stored(page)["pending"] is None
    assert len(stored(page)["ledger"]) == 1
    # The browser itself reports a reply of 409.
    assert all("answers" in entry["message"] for entry in page.get_log("browser"))


def test_a_report_without_a_receipt_is_sent_again_with_its_number_and_counts_once(page, collection):
    open_link(page, collection.link())
    agree(page)
    fill(page)
    disturb(page)
    # The report arrives, and its receipt is lost on the way back, as often as the page tries by itself.
    page.execute_script(
        "const own = fetch; globalThis.lost = 0; globalThis.fetch = async (...all) => {"
        " const reply = await own(...all); if (all[0] === 'answers') { lost += 1; throw new TypeError('lost'); }"
        " return reply; }; const later = setTimeout; globalThis.setTimeout = (act, _) => later(act, 0);"
    )
    press(page, "#send")
    reach(page, "pending")
    picture(page, "collect-pending")
    assert page.execute_script("return lost") == 3
    open_link_again(page, collection)
    press(page, "#resend")
    reach(page, "thanks")
    posts = [json.loads(body) for _, method, body in requests(page) if method == "POST"]
    assert len(posts) == 4
    assert len({json.dumps(post) for post in posts}) == 1
    assert len(stored(page)["ledger"]) == 1


def open_link_again(browser, collection):
    browser.get(f"{collection.base}/")
    reach(browser, "pending")


def test_another_wave_costs_again_and_the_person_sees_the_sum_and_must_agree(page, collection, autumn):
    first = answered(page, collection.link())
    assert part(page, "cost").text == ""
    send(page)
    collection.app, before = autumn.app, collection.app
    try:
        open_link(page, f"{collection.base}/#{autumn.token()}")
        assert "cost up to 1 in all. With this one it is up to 2: a guess is then right at most 89 times" in (
            part(page, "again-sum").text
        )
        look(page, "asked-again")
        part(page, "agree").click()
        press(page, "#consent .main")
        assert part(page, "messages").text == "Please agree to answering again, or withdraw."
        part(page, "agree-again").click()
        press(page, "#consent .main")
        reach(page, "asking")
        fill(page)
        disturb(page)
        assert part(page, "cost").text == "This costs up to 1; together with earlier answers up to 2."
        assert json.loads(part(page, "exactly").get_property("textContent")) != first
        send(page)
    finally:
        collection.app = before
    assert [entry["epsilon"] for entry in stored(page)["ledger"]] == [1, 1]
    assert ledger_shown(page) == ["1", "1", "2"]


def test_the_same_answers_through_the_same_channel_cost_nothing_more(page, collection):
    first = answered(page, collection.link())
    send(page)
    assert answered(page, collection.link()) == first
    assert "the same report, and costs nothing more" in part(page, "cost").text
    send(page)
    assert ledger_shown(page) == ["1", "0", "1"]


def answered_as_guest(page, link):
    """Go from a link to what somebody else would send from this browser."""
    open_link(page, link)
    press(page, "#not-me")
    assert part(page, "guest").is_displayed()
    assert not part(page, "again").is_displayed()
    agree(page)
    fill(page)
    disturb(page)
    return part(page, "exactly").get_property("textContent")


def test_somebody_else_at_the_same_browser_answers_by_a_secret_of_their_own_that_is_not_kept(page, collection):
    first = json.dumps(answered(page, collection.link()))
    send(page)
    before = stored(page)
    open_link(page, collection.link())
    press(page, "#not-me")
    assert page.switch_to.active_element == part(page, "guest")
    look(page, "guest")
    others = set()
    for _ in range(6):
        others.add(json.dumps(json.loads(answered_as_guest(page, collection.link()))))
        assert part(page, "cost").text == ""
        send(page)
        assert stored(page) == before
    # By chance all are the first one's report less than once in 10^6; by the first one's secret they always are.
    assert others != {first}


def test_a_guest_s_report_without_a_receipt_is_sent_again_and_is_in_nobody_s_ledger(page, collection):
    answered(page, collection.link())
    send(page)
    before = stored(page)
    answered_as_guest(page, collection.link())
    page.execute_script('globalThis.fetch = async () => new Response(\'{"error": "unavailable"}\', { status: 503 });')
    press(page, "#send")
    reach(page, "pending")
    assert stored(page)["pending"]["entry"] is None
    page.get("about:blank")
    page.get(f"{collection.base}/")
    reach(page, "pending")
    press(page, "#resend")
    reach(page, "thanks")
    assert stored(page) == before


def test_a_guest_who_answers_anew_after_a_refusal_is_told_what_both_cost(page, collection):
    answered(page, collection.link())
    send(page)
    answered_as_guest(page, collection.link())
    page.execute_script(REFUSED)
    press(page, "#send")
    wait(page, lambda: "no" in part(page, "messages").text)
    press(page, "#change")
    fill(page, {**RECORD, "smoker": "no"})
    disturb(page)
    assert part(page, "cost").text == "This costs up to 1; together with earlier answers up to 2."


def test_a_guest_may_forget_what_the_browser_keeps_of_its_owner(page, collection):
    answered(page, collection.link())
    send(page)
    owners = stored(page)["secret"]
    answered_as_guest(page, collection.link())
    page.execute_script("localStorage.clear()")
    send(page)
    assert stored(page)["secret"] != owners
    assert (stored(page)["ledger"], stored(page)["pins"], stored(page)["pending"]) == ([], [], None)


def test_an_answer_that_a_server_took_and_refused_is_in_the_ledger_all_the_same(page, collection, autumn):
    """A server may keep what it refuses, and ask again in a wave of its own."""
    answered(page, collection.link())
    page.execute_script(REFUSED)
    press(page, "#send")
    wait(page, lambda: "no" in part(page, "messages").text)
    assert [entry["epsilon"] for entry in stored(page)["ledger"]] == [1]
    assert stored(page)["pending"] is None
    press(page, "#send")
    wait(page, lambda: "no" in part(page, "messages").text)
    assert [entry["epsilon"] for entry in stored(page)["ledger"]] == [1]
    collection.app, before = autumn.app, collection.app
    try:
        open_link(page, f"{collection.base}/#{autumn.token()}")
        assert "cost up to 1 in all. With this one it is up to 2" in part(page, "again-sum").text
    finally:
        collection.app = before


def test_a_report_that_is_refused_and_sent_again_costs_nothing_more(page, collection):
    token = collection.token()
    open_link(page, f"{collection.base}/#wrong{token[5:]}")
    agree(page)
    fill(page)
    disturb(page)
    press(page, "#send")
    wait(page, lambda: part(page, "messages").text != "")
    answered(page, collection.link(token))
    send(page)
    assert ledger_shown(page) == ["1", "0", "1"]
    # The browser itself reports a reply of 403.
    assert all("answers" in entry["message"] for entry in page.get_log("browser"))


def ledger_shown(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#ledger td.number')].map((own) => own.textContent)"
    )


def test_to_forget_is_asked_about_first(page, collection):
    answered(page, collection.link())
    send(page)
    part(page, "own").find_element(By.TAG_NAME, "summary").click()
    for is_sure in (False, True):
        part(page, "forget").click()
        assert "answering again gives new noise, and both answers together say more" in page.switch_to.alert.text
        (page.switch_to.alert.accept if is_sure else page.switch_to.alert.dismiss)()
        assert (stored(page) is None) == is_sure
    assert part(page, "own-status").text == "Forgotten."


def test_a_backup_brings_the_same_answers_to_another_browser(page, collection):
    first = answered(page, collection.link())
    send(page)
    part(page, "own").find_element(By.TAG_NAME, "summary").click()
    page.execute_script(
        "HTMLAnchorElement.prototype.click = () => {};"
        "URL.createObjectURL = (saved) => { globalThis.saved = saved; return 'blob:saved'; }"
    )
    part(page, "backup").click()
    backup = page.execute_script("return saved.text()")
    page.execute_script("localStorage.clear()")
    open_link(page, collection.link())
    restore(page, backup)
    wait(page, lambda: part(page, "again").is_displayed())
    assert answered(page, collection.link()) == first


def restore(browser, text):
    browser.execute_script(
        "const held = new DataTransfer(); held.items.add(new File([arguments[0]], 'backup.json'));"
        "const own = document.getElementById('restore'); own.files = held.files;"
        "own.dispatchEvent(new Event('change'))",
        text,
    )


def test_a_file_that_is_no_backup_changes_nothing(page, collection):
    open_link(page, collection.link())
    part(page, "own").find_element(By.TAG_NAME, "summary").click()
    restore(page, '{"format": "privet-respondent-backup", "version": 1, "secret": "00"}')
    wait(page, lambda: part(page, "own-status").text == "This file is no backup of this page.")
    assert stored(page) is None


def test_the_page_shows_the_fingerprints_that_the_server_prints(page, collection):
    from privet.service.collect.assets import script_fingerprint

    open_link(page, collection.link())
    wait(page, lambda: part(page, "script-hash").get_property("textContent"))
    shown = [part(page, name).get_property("textContent").replace(" ", "") for name in ("script-hash", "channel-hash")]
    assert shown == [script_fingerprint(), collection.folder.channel_sha256]


def test_a_channel_by_fields_asks_for_all_and_sets_them_side_by_side(page, other_collection):
    as_large_as(page, "phone")
    page.get(f"{other_collection.base}/")
    page.execute_script("localStorage.clear()")
    open_link(page, other_collection.link())
    agree(page)
    assert fill(page) == ["age", "job", "smoker"]
    disturb(page)
    look(page, "phone-by-field")
    send(page)
    assert set(RECORD) == {"age", "job", "smoker"}


@pytest.mark.parametrize(
    ("columns", "label", "says", "epsilon"),
    [(["age"], True, "the rest of what you send", 2), ([], False, "states no limit", None)],
)
def test_a_channel_that_gives_fields_clear_promises_nothing_of_them(page, tmp_path, columns, label, says, epsilon):
    channel = Channel.of(schema(), [])
    if columns:
        channel = RandomizedResponse(schema(), epsilon=2.0, label=label, columns=columns).fit().channel_
    with served(Collection(tmp_path / "clear", channel)) as clear:
        page.get(f"{clear.base}/")
        page.execute_script("localStorage.clear()")
        answered(page, clear.link())
        assert says in part(page, "price").get_property("textContent")
        assert "sent as they are" in part(page, "clear-fields").get_property("textContent")
        send(page)
        told = page.execute_script("return document.body.innerText")
        assert "were not sent" not in told
        assert [entry["epsilon"] for entry in stored(page)["ledger"]] == [epsilon]


def test_a_coin_that_picks_the_label_alone_says_so(page, tmp_path):
    channel = FieldSampling(schema(), epsilon=1.0, label_alone=True).fit().channel_
    with served(Collection(tmp_path / "alone", channel)) as own:
        for _ in range(60):  # one coin of three picks it
            page.get(f"{own.base}/")
            page.execute_script("localStorage.clear()")
            open_link(page, own.link())
            agree(page)
            if len(page.find_elements(By.CSS_SELECTOR, "#controls .question")) == 1:
                break
        assert part(page, "coin").text == "The coin in your browser picked “Do you smoke?”."


def test_a_link_without_a_code_says_what_to_do(page, collection):
    open_link(page, f"{collection.base}/")
    assert "Scan the QR code again" in part(page, "messages").text
