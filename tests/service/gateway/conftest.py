"""A small table behind a gateway, and analysts who ask it."""

import resource
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from privet import Categorical, Ledger, Numeric, Schema
from privet.service.gateway.analysts import Analyst, digest, new_token
from privet.service.gateway.app import make_app
from privet.service.gateway.fits import fits_of
from privet.service.gateway.folder import GatewayFolder
from privet.service.sessions import hash_password

PASSWORD = "correct horse"  # noqa: S105
N_ROWS = 400
# Even a busy machine needs a part of it only.
ENOUGH = 600.0


def schema(**changes):
    attributes = [Numeric("age", 16, 100), Categorical("sex", ["female", "male"])]
    return Schema(attributes, classes=["no", "yes"], target="smoker", **{"rows": N_ROWS, **changes})


def people(n=N_ROWS):
    rng = np.random.default_rng(5)
    age = rng.integers(16, 100, n).astype(float)
    return pd.DataFrame(
        {"age": age, "sex": rng.choice(["female", "male"], n), "smoker": np.where(age > 50, "yes", "no")}
    )


@contextmanager
def files_of_at_most(n_bytes):
    """Let no file grow beyond a size, as on a disk that is full by then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Gateway:
    """A gateway with its server, and what analysts do with it."""

    def __init__(self, folder, *, epsilon=3.0, table=None, told=None, unit="row", max_rows=1, workers=1, signer=None):
        folder.mkdir(exist_ok=True)
        (people() if table is None else table).to_csv(folder / "rows.csv", index=False)
        (told or schema()).save(folder / "schema.json")
        ledger = Ledger(folder / "ledger.db", dataset="patients", epsilon=epsilon, strict=True, unit=unit)
        self.folder = GatewayFolder.make(
            folder / "gate", rows=folder / "rows.csv", schema=folder / "schema.json", ledger=ledger,
            max_rows=max_rows, password=hash_password(PASSWORD),
        )  # fmt: skip
        self.ledger, self.workers, self.signer = ledger, workers, signer
        self.client = self.start()

    def start(self):
        app = make_app(self.folder, self.folder.open_ledger(), workers=self.workers, signer=self.signer)
        return TestClient(app, raise_server_exceptions=False, follow_redirects=False)

    def analyst(self, name="ana", epsilon=2.0, **more):
        token = new_token()
        self.folder.analysts.put(Analyst(name, epsilon, digest=digest(token), **more))
        return Asking(self, name, token)

    def releases(self):
        return [each.state for each in self.ledger.account().spendings]


class Asking:
    """An analyst with a token."""

    def __init__(self, gateway, name, token):
        self.gateway, self.name, self.token = gateway, name, token
        self._keys = 0

    def get(self, path, **headers):
        return self.gateway.client.get(path, headers={"Authorization": f"Bearer {self.token}", **headers})

    def post(self, path, document, **headers):
        told = {"Authorization": f"Bearer {self.token}", **headers}
        return self.gateway.client.post(path, json=document, headers=told)

    def ask(self, epsilon=0.5, key=None, **more):
        self._keys += key is None
        document = {"epsilon": epsilon, "method": "private-rdt", **more}
        return self.post("/v1/fits", document, **{"Idempotency-Key": key or f"{self.name} {self._keys}"})

    def ended(self, fit):
        """Wait until the ledger has the end of a fit, and return what is told of it."""
        deadline = time.monotonic() + ENOUGH
        while next(each for each in fits_of(self.gateway.ledger.account()) if each.id == fit).is_open:
            assert time.monotonic() < deadline, "the fit did not end"
            time.sleep(0.02)
        return self.get(f"/v1/fits/{fit}").json()

    def made(self, **asked):
        answer = self.ask(**asked)
        assert answer.status_code == 202, answer.text
        return self.ended(answer.json()["fit"])


@pytest.fixture
def make_gateway(tmp_path):
    opened = []

    def make(name="one", **options):
        gateway = Gateway(Path(tmp_path) / name, **options)
        opened.append(gateway.client.__enter__())
        return gateway

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def gateway(make_gateway):
    return make_gateway()


@pytest.fixture
def ana(gateway):
    return gateway.analyst()
