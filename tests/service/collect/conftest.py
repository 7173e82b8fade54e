"""A small collection, and reports that came through its channel."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from privet import Categorical, Numeric, RandomizedResponse, Schema, Secret, perturb
from privet.service.collect.app import make_app
from privet.service.collect.folder import CollectFolder, Settings
from privet.service.collect.tokens import new_token, token_hash
from privet.service.sessions import hash_password
from tests.service.postgres import PostgresServer

PASSWORD = "correct horse"  # noqa: S105
BATCH = 5


def schema():
    attributes = [Numeric("age", 0, 100, bins=5), Categorical("sex", ["female", "male"])]
    return Schema(attributes, classes=["no", "yes"], target="smoker", rows=1000)


def randomized():
    return RandomizedResponse(schema(), epsilon=6.0, label=True).channel


def disturbed(channel, n, folder, seed=3):
    """The reports of ``n`` people of whom the old ones smoke, as a page would send them."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 100, n)
    sex = rng.choice(["female", "male"], n)
    people = pd.DataFrame({"age": age, "sex": sex, "smoker": np.where(age > 50, "yes", "no")})
    answers = perturb(people, channel, Secret(Path(folder) / f"secret-{seed}"))
    return [{name: _plain(value) for name, value in row.items()} for row in pd.DataFrame(answers).to_dict("records")]


def _plain(value):
    return value.item() if hasattr(value, "item") else value


class Collection:
    """A collection with its server, and what a page does with it."""

    def __init__(self, folder, channel, store="", **limits):
        channel.save(folder / "channel.json")
        settings = Settings("Smoking", 1000, batch=BATCH, minimum=20, store=store, password=hash_password(PASSWORD))
        self.folder = CollectFolder.make(folder / "smokers", folder / "channel.json", settings)
        self.store = self.folder.open_store()
        self.client = TestClient(make_app(self.folder, self.store, **limits), raise_server_exceptions=False)
        self.reports = disturbed(channel, 60, folder)

    def token(self):
        token = new_token()
        self.store.add_tokens([token_hash(token)])
        return token

    def send(self, token, answers, report_id="0" * 32):
        return self.client.post("/answers", json={"token": token, "report_id": report_id, "answers": answers})

    def send_many(self, n):
        for answers in self.reports[:n]:
            assert self.send(self.token(), answers).status_code == 201

    def log_in(self):
        answer = self.client.post("/collector/login", json={"password": PASSWORD})
        assert answer.status_code == 204
        return answer

    def state(self):
        return self.client.get("/collector/state.json").json()

    def train(self):
        assert self.act("train").status_code == 202
        while self.state()["training"] == "running":
            time.sleep(0.05)

    def act(self, what):
        return self.client.post(f"/collector/{what}", json={})


@pytest.fixture
def make_collection(tmp_path):
    made = []

    def make(channel=None, **limits):
        made.append(Collection(tmp_path, channel or randomized(), **limits))
        return made[-1]

    yield make
    for own in made:
        own.client.close()
        own.store.close()


@pytest.fixture
def collection(make_collection):
    return make_collection()


@pytest.fixture(scope="session")
def postgres():
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request):
    """Where answers are kept: what holds of one store holds of the other."""
    if request.param == "sqlite":
        return ""
    return request.getfixturevalue("postgres").answers


@pytest.fixture
def either(make_collection, store_url):
    return make_collection(store=store_url)
