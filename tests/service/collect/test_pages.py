"""What is served to everybody."""

import base64
import hashlib
import re
from importlib.resources import files

from privet.service.collect.assets import script_of


def test_pages_run_no_script_but_the_server_s_own_and_name_its_hash(collection):
    page = collection.client.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    loaded = re.findall(r'(?:src|href)="([^":]+)" integrity="sha256-([^"]+)"', page.text)
    assert [name for name, _ in loaded] == ["page.css", "respond.js"]
    for name, digest in loaded:
        body = collection.client.get(f"/{name}").content
        assert base64.b64encode(hashlib.sha256(body).digest()).decode() == digest
    assert not re.search(r"<script(?![^>]*\bsrc=)", page.text)


def test_every_answer_has_the_careful_headers(collection):
    for path in ("/", "/nothing", "/study.json", "/collector/state.json", "/respond.js"):
        headers = collection.client.get(path).headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


def test_the_channel_is_served_byte_for_byte(collection):
    body = collection.client.get("/channel.json").content
    assert body == (collection.folder.path / "channel.json").read_bytes()
    study = collection.client.get("/study.json").json()
    assert study["channel_sha256"] == hashlib.sha256(body).hexdigest()
    assert (study["title"], study["open"], study["model"]) == ("Smoking", True, False)


def test_there_is_no_model_before_one_is_published(collection):
    answer = collection.client.get("/model.js")
    assert (answer.status_code, answer.json()["error"]) == (404, "no_model")
    assert collection.client.get("/model.privet").status_code == 404


def test_the_script_holds_the_very_code_that_answers_and_predicts():
    """A reader may compare the two files with what is served, but for the words that make modules of them."""
    served, kept = script_of("respond"), files("privet")
    for path, begins in (("local/channels/respondent.js", ""), ("export/predictor.js", "  function countCells")):
        text = kept.joinpath(path).read_text().replace("export ", "")
        part = text[text.index(begins) : text.rindex("\n  const model =")] if begins else text
        assert part.strip() in served


def test_the_offline_script_has_nothing_that_asks_a_network():
    offline = script_of("respond", {"served": "offline"})
    assert "fetch(" in script_of("respond")
    assert not re.search(
        r"\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|\bimport\b", offline.partition("const respondent_js")[0]
    )
    assert "served_js" not in offline
