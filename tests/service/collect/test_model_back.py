"""From two thousand people's phones to the model in their browsers, over HTTP."""

import json
import time
from contextlib import closing

import httpx
import numpy as np
import pandas as pd
import pytest

from privet import Secret, load, perturb
from privet.local import FieldSampling
from privet.service.collect.tokens import token_hash
from privet.service.sessions import hash_password
from tests.export.node import run_node
from tests.service.collect.conftest import PASSWORD, schema
from tests.service.collect.running import ENOUGH, RunningServer, made

PEOPLE, BATCH = 2000, 50
PREDICTED = """
const { predict, predictProba } = require("./model.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf8"));
console.log(JSON.stringify(rows.map((row) => [predict(row), predictProba(row)])));
"""


def people(n, seed):
    """People of whom the old ones smoke, and men more often."""
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(0, 100, n), rng.choice(["female", "male"], n)
    smoker = np.where(age + 10 * (sex == "male") + rng.normal(0, 10, n) > 55, "yes", "no")
    return pd.DataFrame({"age": age, "sex": sex, "smoker": smoker})


def test_what_people_sent_comes_back_as_a_model_that_predicts_in_a_browser_as_python_does(tmp_path):
    channel = FieldSampling(schema(), epsilon=4.0).channel
    sent = pd.DataFrame(perturb(people(PEOPLE, 1), channel, Secret(tmp_path / "secret")))
    folder, tokens = made(tmp_path, channel, PEOPLE, batch=BATCH, minimum=1000, password=hash_password(PASSWORD))
    server = RunningServer(folder.path)
    server.wait()
    with httpx.Client(base_url=server.url, timeout=ENOUGH) as client:
        for i, (token, answers) in enumerate(zip(tokens, sent.to_dict("records"), strict=True)):
            report = {"token": token, "report_id": f"{i:032x}", "answers": answers}
            assert client.post("/answers", json=report).status_code == 201
        act(client, "login", password=PASSWORD)
        assert act(client, "close").json()["released"] == BATCH
        told = act_until_trained(client)
        assert (told["training"], told["why"]) == ("idle", None)
        assert (told["answers"], told["model"]["method"]) == (PEOPLE, "sampled-forest")
        act(client, "publish")
        script, document = client.get("/model.js"), client.get("/model.json")
    server.end()
    (tmp_path / "model.js").write_text(script.text)
    assert document.json()["guarantee"] in told["model"]["guarantee"]

    model = load(folder.path / "model.privet")
    new = people(500, 2)
    rows = new[["age", "sex"]].to_dict("records")
    (tmp_path / "rows.json").write_text(json.dumps([*rows, {"age": None, "sex": None}]))
    answered = run_node(PREDICTED, tmp_path)
    assert [label for label, _ in answered[:-1]] == model.predict(new[["age", "sex"]]).tolist()
    chances = model.predict_proba(new[["age", "sex"]])
    assert np.array([own for _, own in answered[:-1]]) == pytest.approx(chances, abs=1e-12)
    assert (model.predict(new[["age", "sex"]]) == new["smoker"]).mean() > 0.75  # and it has learned


def test_a_server_that_is_started_again_knows_its_model(tmp_path):
    channel = FieldSampling(schema(), epsilon=4.0).channel
    sent = pd.DataFrame(perturb(people(60, 1), channel, Secret(tmp_path / "secret")))
    folder, tokens = made(tmp_path, channel, 60, batch=2, minimum=20, password=hash_password(PASSWORD))
    with closing(folder.open_store()) as store:
        for i, (token, answers) in enumerate(zip(tokens, sent.to_dict("records"), strict=True)):
            store.put(token_hash(token), bytes([i]), json.dumps(list(answers.values())))
        folder.close(store)
    server, states = RunningServer(folder.path), []
    for what in (None, "publish", None):
        server.wait()
        with httpx.Client(base_url=server.url, timeout=ENOUGH) as client:
            act(client, "login", password=PASSWORD)
            if not states:
                act_until_trained(client)
            if what:
                act(client, what)
            states.append(client.get("/collector/state.json").json()["model"])
        server.end()
        server.begin()
    server.end()
    assert [own["published"] for own in states] == [False, True, True]
    assert {own["answers"] for own in states} == {60}


def act(client, what, **told):
    return client.post(f"/collector/{what}", json=told).raise_for_status()


def act_until_trained(client):
    act(client, "train")
    while (state := client.get("/collector/state.json").json())["training"] == "running":
        time.sleep(0.02)
    return state
