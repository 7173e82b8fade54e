"""What a hostile analyst tries, and what each must get: ``python -m tests.service.gateway.hostile`` prints the list.

Every try goes to a real server. After each, the ledger has exactly the entries that the try has paid for.
"""

import base64
import json
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from privet.service.gateway.analysts import Analyst, digest
from tests.service.gateway.conftest import ENOUGH, PASSWORD, Gateway, people
from tests.service.gateway.running import RunningServer

URL, AUDIENCE = "https://id.example", "privet"
NEEDLE = "needle-in-a-row"
RACE = 12
FIT = {"epsilon": 0.01, "method": "private-rdt"}
ROW = {"age": 70, "sex": "male"}
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())
BOTH_LENGTHS = ("Content-Length: 4", "Transfer-Encoding: chunked")
BEHIND = b"0\r\n\r\nGET /owner HTTP/1.1\r\n\r\n"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Attack:
    """A gateway with an honest analyst, who has a fit, and a hostile one, who has a token and a little money."""

    def __init__(self, folder):
        table = people()
        table.loc[7, "sex"] = NEEDLE  # no category: read as missing, and never told
        self.gateway = Gateway(folder, epsilon=5.0, table=table)
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.jwk = {"kty": "EC", "crv": "P-256", "x": b64(numbers.x.to_bytes(32)), "y": b64(numbers.y.to_bytes(32))}
        keys = folder / "jwks.json"
        keys.write_text(json.dumps({"keys": [self.jwk]}))
        self.gateway.folder.set_issuer(URL, AUDIENCE, keys)
        self.honest, self.own = self.gateway.analyst("honest", 1.0), self.gateway.analyst("hostile", 0.5)
        self.racer = self.gateway.analyst("racer", 0.2)
        self.revoked = self.gateway.analyst("gone", 1.0)
        self.gateway.folder.analysts.revoke("gone")
        self.gateway.folder.analysts.put(Analyst("federated", 0.5, subject="sub-1"))
        self.server = RunningServer(self.gateway.folder.path)
        self.answers, self._beside = [], ThreadPoolExecutor(1)

    def __enter__(self):
        self.server.start()
        self.fit = self.fitted(self.honest)
        self.mine = self.fitted(self.own)
        self._endless = self._beside.submit(self.raw, self.lines("Content-Length: 50"), b'{"epsilon"')
        return self

    def __exit__(self, *_):
        self.server.kill()  # and with it what still waits for an answer
        self._beside.shutdown()

    def fitted(self, analyst):
        fit = self.post("/v1/fits", FIT, key="first", token=analyst.token).json()["fit"]
        # Not asked for: the requests of a minute are few, and a busy machine would need many.
        deadline = time.monotonic() + ENOUGH
        while not self.gateway.folder.model_file(fit).exists():
            assert time.monotonic() < deadline, "the fit did not end"
            time.sleep(0.02)
        return fit

    def send(self, method, path, token=None, key=None, headers=(), **more):
        token = self.own.token if token is None else token
        told = [*([("Authorization", f"Bearer {token}")] if token else []), *headers]
        told += [] if key is None else [("Idempotency-Key", key)]
        answer = httpx.request(method, self.server.url + path, headers=told, timeout=ENOUGH, **more)
        self.answers.append(answer)
        return answer

    def get(self, path, **more):
        return self.send("GET", path, **more)

    def get_with(self, path, name, value):
        return self.get(path, headers=[(name, value)])

    def get_by(self, token):
        return self.get("/v1/schema", token=token)

    def log_in(self, password, site="same-origin"):
        return self.send(
            "POST", "/owner/login", data={"password": password}, headers=[("Sec-Fetch-Site", site)]
        )  # fmt: skip

    def post(self, path, document, **more):
        return self.send("POST", path, json=document, **more)

    def post_text(self, text, path="/v1/fits", key="k", media_type="application/json", **more):
        return self.send("POST", path, content=text, key=key, headers=[("Content-Type", media_type)], **more)

    def ask(self, key="k", **changes):
        return self.post("/v1/fits", {**FIT, **changes}, key=key)

    def ask_epsilon(self, text):
        return self.post_text(f'{{"method": "private-rdt", "epsilon": {text}}}')

    def predict(self, rows, fit=None):
        return self.post(f"/v1/fits/{fit or self.mine}/predict", {"rows": rows})

    def jwt(self, header=None, claims=None, key=None):
        told = {"iss": URL, "aud": AUDIENCE, "sub": "sub-1", "exp": 4e9, **(claims or {})}
        text = ".".join(b64(json.dumps(each).encode()) for each in ({"alg": "ES256", **(header or {})}, told))
        r, s = utils.decode_dss_signature((key or self.key).sign(text.encode(), ec.ECDSA(SHA256())))
        return f"{text}.{b64(r.to_bytes(32) + s.to_bytes(32))}"

    def raw(self, lines, body=b"", *, ends=False):
        """Send bytes as they are, and return what comes back; ``ends`` says that no more will come."""
        text = "\r\n".join([*lines, "", ""]).encode() + body
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=ENOUGH) as line:
            line.sendall(text)
            if ends:
                line.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := line.recv(65536):
                got += chunk
        return Raw(got)

    def lines(self, *headers):
        own = ["POST /v1/fits HTTP/1.1", "Host: gate", f"Authorization: Bearer {self.own.token}",
               "Idempotency-Key: raw", "Content-Type: application/json", "Connection: close"]  # fmt: skip
        return [*own, *headers]

    def raw_post(self, *headers, body=b"", ends=False):
        self.answers.append(self.raw(self.lines(*headers), body, ends=ends))
        return self.answers[-1]

    def endless(self):
        """Return what came of a body that never ends, which was begun at first: the server waits long for it."""
        self.answers.append(self._endless.result())
        return self.answers[-1]

    def race(self):
        ready, got = threading.Barrier(RACE), []

        def run(i):
            ready.wait(ENOUGH)
            got.append(self.post("/v1/fits", {**FIT, "epsilon": 0.1}, key=f"race {i}", token=self.racer.token))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(RACE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(ENOUGH)
        refused = [answer for answer in got if answer.status_code != 202]
        assert Counter(answer.status_code for answer in got) == {202: 2, 402: RACE - 2}
        return refused[0]

    def flood(self):
        with httpx.Client(headers={"Authorization": f"Bearer {self.revoked.token}"}, timeout=ENOUGH) as client:
            # A minute has 60, and one more each second that the requests take.
            for _ in range(1_000):
                self.answers.append(client.get(f"{self.server.url}/v1/schema"))
                if self.answers[-1].status_code == 429:
                    break
            return self.answers[-1]


class Raw:
    """What came back over a socket."""

    def __init__(self, got):
        heads = [line for line in got.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
        self.content, self.status_code = got, int(heads[0].split()[1]) if heads else 0
        self.text = got.decode(errors="replace")
        self.n_answers = len(heads)

    def json(self):
        return json.loads(self.text.partition("\r\n\r\n")[2])


@dataclass(frozen=True)
class Try:
    """One try: what is sent, which status and code it must get, and how many fits it pays for."""

    what: str
    send: Callable[[Attack], object]
    status: int
    code: str
    paid: int = 0


DEEP = "[" * 20_000 + "]" * 20_000
TRIES = [
    Try("a body of 70 kB", lambda a: a.post_text(b" " * 70_000), 413, "too_large"),
    Try("JSON nested 20,000 deep", lambda a: a.ask_epsilon(DEEP), 400, "malformed"),
    Try("a key twice", lambda a: a.post_text('{"epsilon": 0.01, "epsilon": 1e-6}'), 400, "malformed"),
    Try("half a surrogate pair", lambda a: a.post_text('{"method": "\\ud800"}'), 400, "malformed"),
    Try("no UTF-8", lambda a: a.post_text(b"\xff\xfe{}"), 400, "malformed"),
    Try("a list", lambda a: a.post_text("[1]"), 400, "malformed"),
    Try("a form", lambda a: a.post_text("epsilon=1", media_type="application/x-www-form-urlencoded"), 415, "malformed"),
    *(
        Try(f"epsilon {shown}", lambda a, text=text: a.ask_epsilon(text), 422, code)
        for shown, text, code in [
            ("NaN", "NaN", "epsilon"), ("Infinity", "Infinity", "epsilon"), ("1e999", "1e999", "epsilon"),
            ("-1", "-1", "epsilon"), ("0", "0", "parameters"), ("1e-300", "1e-300", "parameters"),
            ('"1"', '"1"', "epsilon"), ("true", "true", "epsilon"), ("null", "null", "epsilon"),
            ("of 400 digits", "9" * 400, "epsilon"), ("[1]", "[1]", "epsilon"),
        ]
    ),
    Try("epsilon of 5,000 digits", lambda a: a.ask_epsilon("9" * 5_000), 400, "malformed"),
    Try("epsilon above the own budget", lambda a: a.ask(epsilon=0.6), 402, "own_budget"),
    Try("delta 1", lambda a: a.ask(method="private-forest", delta=1.0), 422, "parameters"),
    Try("delta where the data set has none", lambda a: a.ask(method="private-forest", delta=1e-9), 402, "own_budget"),
    Try("delta of a method without one", lambda a: a.ask(delta=1e-9), 422, "delta"),
    *(
        Try(f"parameter {name}: {value!r}", lambda a, given={name: value}: a.ask(parameters=given), 422, "parameters")
        for name, value in [
            ("unsafe_seeded_noise", True), ("random_state", 7), ("ledger", "other.db"), ("schema", "infer"),
            ("unit", "row"), ("max_rows", 1), ("verbose", 1), ("n_jobs", -1), ("executor", "os"), ("__class__", "x"),
            ("n_trees", 10**9), ("n_trees", 5_000), ("n_trees", 3.0), ("n_trees", True), ("height", 64),
            ("height", "../../etc/passwd"),
        ]
    ),
    Try("the unproven variant", lambda a: a.ask(method="dpdf", parameters={"variant": "paper"}), 422, "parameters"),
    Try("parameters as a list", lambda a: a.ask(parameters=["n_trees"]), 422, "parameters"),
    *(
        Try(f"method {method!r}", lambda a, method=method: a.ask(method=method), 422, "method")
        for method in ("reconstruction-tree", "horizontal-forest", "__class__", "../models", ["private-rdt"], None)
    ),
    *(
        Try(f"the key {name!r} beside epsilon", lambda a, name=name: a.ask(**{name: "x"}), 422, "unknown_key")
        for name in ("schema", "dataset", "ledger", "unit", "rows", "analyst")
    ),
    Try("a plan for a schema of one's own", lambda a: a.post("/v1/plan", {**FIT, "schema": {}}), 422, "unknown_key"),
    Try("a plan for -1 rows", lambda a: a.post("/v1/plan", {**FIT, "rows": -1}), 422, "rows"),
    Try("no Idempotency-Key", lambda a: a.post("/v1/fits", FIT), 400, "key"),
    Try("two of them", lambda a: a.post("/v1/fits", FIT, key="a", headers=[("Idempotency-Key", "b")]), 400, "key"),
    Try("one of 1,000 letters", lambda a: a.ask(key="a" * 1_000), 400, "key"),
    Try("a used key with a cheaper body", lambda a: a.ask(key="first", epsilon=1e-6), 409, "key_used"),
    Try("another analyst's key and body", lambda a: a.ask(key="first"), 202, ""),
    Try("another's fit", lambda a: a.get(f"/v1/fits/{a.fit}"), 404, "no_fit"),
    Try("another's model", lambda a: a.get(f"/v1/fits/{a.fit}/model"), 404, "no_fit"),
    Try("another's report", lambda a: a.get(f"/v1/fits/{a.fit}/report"), 404, "no_fit"),
    Try("predictions of another's model", lambda a: a.predict([ROW], a.fit), 404, "no_fit"),
    Try("a fit that is not there", lambda a: a.get(f"/v1/fits/{'0' * 32}"), 404, "no_fit"),
    Try("a path as a fit", lambda a: a.get("/v1/fits/..%2F..%2Fsettings.json"), 404, "not_found"),
    Try("a path as a model", lambda a: a.get("/v1/fits/%2e%2e/model"), 404, "no_fit"),
    Try("a file of the folder", lambda a: a.get("/settings.json"), 404, "not_found"),
    Try("to delete a fit", lambda a: a.send("DELETE", f"/v1/fits/{a.mine}"), 405, "not_found"),
    Try("to raise the budget", lambda a: a.post("/v1/budget", {"epsilon": 99}), 405, "not_found"),
    Try("another verb by a header", lambda a: a.get_with("/v1/fits/x", "X-HTTP-Method", "POST"), 404, "no_fit"),
    Try("another's name by a header", lambda a: a.get_with(f"/v1/fits/{a.fit}", "X-User", "honest"), 404, "no_fit"),
    Try("another path by a header", lambda a: a.get_with("/v1/fits/x", "X-Original-URL", "/owner"), 404, "no_fit"),
    Try("no token", lambda a: a.get_by(""), 401, "token"),
    Try("a wrong token", lambda a: a.get_by("0" * 64), 401, "token"),
    Try("a token's digest", lambda a: a.get_by(digest(a.own.token)), 401, "token"),
    Try("a revoked token", lambda a: a.get_by(a.revoked.token), 401, "token"),
    Try("two tokens", lambda a: a.get_with("/v1/schema", "Authorization", f"Bearer {a.honest.token}"), 401, "token"),
    Try("a token in the address", lambda a: a.get(f"/v1/schema?access_token={a.own.token}", token=""), 401, "token"),
    Try("a token by another's signature", lambda a: a.get_by(a.jwt(key=OTHER_KEY)), 401, "token"),
    Try("an expired token", lambda a: a.get_by(a.jwt(claims={"exp": 1e9})), 401, "token"),
    Try("a token for another audience", lambda a: a.get_by(a.jwt(claims={"aud": "mail"})), 401, "token"),
    Try("alg none", lambda a: a.get_by(a.jwt({"alg": "none"})), 401, "token"),
    Try("alg HS256", lambda a: a.get_by(a.jwt({"alg": "HS256"})), 401, "token"),
    Try("a key inside the token", lambda a: a.get_by(a.jwt({"jwk": a.jwk}, key=OTHER_KEY)), 401, "token"),
    Try("a subject that nobody added", lambda a: a.get_by(a.jwt(claims={"sub": "sub-2"})), 401, "token"),
    Try("a subject that is an analyst's name", lambda a: a.get_by(a.jwt(claims={"sub": "honest"})), 401, "token"),
    Try("rows with a column of their own", lambda a: a.predict([{**ROW, "x": 1}]), 422, "rows"),
    Try("rows that lack one", lambda a: a.predict([{"age": 70}]), 422, "rows"),
    Try("text as a number", lambda a: a.predict([{**ROW, "age": "70"}]), 422, "rows"),
    Try("an object as a category", lambda a: a.predict([{**ROW, "sex": {"$ne": ""}}]), 422, "rows"),
    Try("a number of 400 digits", lambda a: a.predict([{**ROW, "age": int("9" * 400)}]), 422, "rows"),
    Try("10,001 rows", lambda a: a.predict([ROW] * 10_001), 422, "rows"),
    Try("9 MB of rows", lambda a: a.post_text(b" " * 9_000_000, f"/v1/fits/{a.mine}/predict"), 413, "too_large"),
    Try("two lengths", lambda a: a.raw_post("Content-Length: 2", "Content-Length: 30", body=b"{}"), 400, ""),
    Try("two lengths, and a request behind", lambda a: a.raw_post(*BOTH_LENGTHS, body=BEHIND), 400, "malformed"),
    Try("a token behind a bare line feed", lambda a: a.raw_post("X: a\nAuthorization: Bearer x"), 401, "token"),
    Try("a body that breaks off", lambda a: a.raw_post("Content-Length: 90", body=b"{}", ends=True), 0, ""),
    Try("the owner's page", lambda a: a.get("/owner"), 200, ""),
    Try("a token as the owner's password", lambda a: a.log_in(a.own.token), 403, ""),
    Try("the owner's login by another site's page", lambda a: a.log_in(PASSWORD, "cross-site"), 403, "origin"),
    Try("a body that never ends", lambda a: a.endless(), 408, "too_slow"),
    Try(f"{RACE} fits at once on money for 2", lambda a: a.race(), 402, "own_budget", paid=2),
    Try("requests without end with a revoked token", lambda a: a.flood(), 429, "rate_limited"),
]  # fmt: skip


def code_of(answer):
    try:
        return answer.json().get("error", "")
    except ValueError:
        return ""


def run(attack, one):
    """Return the status, the code and how many fits were paid for."""
    before = len(attack.gateway.releases())
    answer = one.send(attack)
    return answer.status_code, code_of(answer), len(attack.gateway.releases()) - before


def main():
    with tempfile.TemporaryDirectory() as folder, Attack(Path(folder)) as attack:
        for one in TRIES:
            status, code, paid = run(attack, one)
            expected = (status, code, paid) == (one.status, one.code, one.paid)
            print(f"| {one.what} | {status or 'closed'} {code} | {paid} |" + ("" if expected else " UNEXPECTED"))


if __name__ == "__main__":
    main()
