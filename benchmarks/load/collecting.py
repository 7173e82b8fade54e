"""A collecting server under load: ten thousand simulated people over loopback, then those who mean harm.

``python -m benchmarks.load.collecting``. The server is `privet collect run` in a process of its own. Every person sends
one report; then some are sent again, some links are used twice, some are forged, some answers did not come through the
channel, and at last a server with its usual limits is flooded. What crossed the wire is compared with the clear
answers, and the export with what was sent. Each line is printed; anything that is not as it must be is an error.
"""

import argparse
import csv
import http.client
import json
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from privet import Secret
from privet.datasets import agrawal
from privet.local import FieldSampling, perturb

_CLIENTS, _BATCH, _EPSILON = 8, 50, 2.0
_SOME = 1_000
_UNLIMITED = ("--per-minute", "10000000", "--address-per-minute", "10000000")
_PRIVET = (sys.executable, "-c", "from privet.cli.app import main; main()")
# A number with so many digits is nobody else's, and is not in a report by chance.
_UNMISTAKABLE = 9
_HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class People:
    """Simulated people: their clear records, and what their phones make of them."""

    channel: Any
    clear: pd.DataFrame
    reports: list[dict[str, Any]]

    @classmethod
    def drawn(cls, n: int, folder: Path) -> "People":
        """Draw people, and disturb their records."""
        data = agrawal(n, random_state=7)
        channel = FieldSampling(data.schema, epsilon=_EPSILON).channel
        clear = pd.DataFrame(data.X, columns=list(data.schema.names)).assign(**{data.schema.target: data.y})
        sent = pd.DataFrame(perturb(clear, channel, Secret(folder / "secret")))
        return cls(channel, clear, [_plain(row) for row in sent.to_dict("records")])


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: getattr(value, "item", lambda own=value: own)() for name, value in row.items()}


def privet(*words: str) -> str:
    """Run a command of privet and return what it printed."""
    return subprocess.run([*_PRIVET, *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def running(folder: Path, *options: str) -> Iterator[int]:
    """Serve a collection as long as the block lasts, and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    server = subprocess.Popen([*_PRIVET, "collect", "run", str(folder), "--port", str(port), *options])
    try:
        while not _answers(port):
            assert server.poll() is None, "the server did not start"
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def send(port: int, bodies: Sequence[bytes]) -> tuple[Counter[int], float]:
    """Send every body from a few clients; return how often which status came, and the seconds it took."""
    start = time.perf_counter()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        shares = [bodies[i::_CLIENTS] for i in range(_CLIENTS)]
        counts = list(pool.map(lambda share: _send_share(port, share), shares))
    return sum(counts, Counter()), time.perf_counter() - start


def _send_share(port: int, bodies: Sequence[bytes]) -> Counter[int]:
    counts: Counter[int] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for body in bodies:
        connection.request("POST", "/answers", body, _HEADERS)
        answer = connection.getresponse()
        answer.read()
        counts[answer.status] += 1
    connection.close()
    return counts


def body_of(token: str, answers: Mapping[str, Any], report_id: str | None = None) -> bytes:
    """Return a report as the page sends it."""
    report = {"token": token, "report_id": report_id or secrets.token_hex(16), "answers": answers}
    return json.dumps(report).encode()


def check_wire(people: People, bodies: Sequence[bytes]) -> int:
    """Compare all that was sent with the clear answers; return how many clear numbers were looked for."""
    columns = set(people.channel.record.columns)
    looked_for = 0
    for body, (_, row) in zip(bodies, people.clear.iterrows(), strict=True):
        assert set(json.loads(body)["answers"]) == columns
        told = [str(value) for value in row if len(str(value)) >= _UNMISTAKABLE]
        assert not any(text.encode() in body for text in told), "a clear value crossed the wire"
        looked_for += len(told)
    table = pd.DataFrame(people.reports)
    impossible = any(strange.any() for strange, _ in people.channel.record.impossible(table))
    assert not impossible, "a report cannot have come through the channel"
    assert people.channel.record.doubts(table) == (), "the reports are all but impossible through the channel"
    return looked_for


def expect(what: str, counts: Counter[int], wanted: Mapping[int, int], seconds: float) -> None:
    """Print a line, or stop where the server answered otherwise than it must."""
    assert counts == wanted, f"{what}: {dict(counts)} instead of {dict(wanted)}"
    n = counts.total()
    shown = ", ".join(f"{number:,} x {status}" for status, number in counts.items())
    print(f"{what:<28} {n:>7,} requests  {n / seconds:>7,.0f} a second  {shown}", flush=True)


def collect(folder: Path, n: int, store: str) -> None:
    """Run the whole collection."""
    people = People.drawn(n, folder)
    people.channel.save(folder / "channel.json")
    smokers, links, export = folder / "people", folder / "links.csv", folder / "answers.csv"
    init = ["--channel", str(folder / "channel.json"), "--title", "Load", "--people", str(n), "--batch", str(_BATCH)]
    privet("collect", "init", str(smokers), *init, *(["--store", store] if store else []))
    number = str(n + _SOME)
    privet("collect", "links", str(smokers), "--number", number, "--base-url", "http://127.0.0.1", "-o", str(links))
    with links.open() as file:
        tokens = [row["link"].partition("#")[2] for row in csv.DictReader(file)]
    bodies = [body_of(token, report) for token, report in zip(tokens, people.reports, strict=False)]
    some = people.reports[:_SOME]
    with running(smokers, *_UNLIMITED) as port:
        expect("reports", *_wanted(send(port, bodies), 201))
        expect("the same again", *_wanted(send(port, bodies[:_SOME]), 200))
        twice = [body_of(token, report) for token, report in zip(tokens, some, strict=False)]
        expect("a used link, another report", *_wanted(send(port, twice), 409))
        expect("forged links", *_wanted(send(port, [body_of(secrets.token_urlsafe(16), own) for own in some]), 403))
        outside = [body_of(token, {**own, "answer_1": "-1"}) for token, own in zip(tokens[n:], some, strict=True)]
        expect("answers of no channel", *_wanted(send(port, outside), 422))
        expect("no reports at all", *_wanted(send(port, [b"{" * 1000] * _SOME), 400))
    with running(smokers) as port:
        counts, seconds = send(port, [body_of(secrets.token_urlsafe(16), own) for own in some * 3])
        assert set(counts) == {403, 429}
        expect("a flood, usual limits", counts, counts, seconds)
    privet("collect", "close", str(smokers))
    privet("collect", "export", str(smokers), "-o", str(export))
    kept = pd.read_csv(export, dtype=str)
    sent = pd.DataFrame(people.reports).astype(str)
    same = Counter(kept.itertuples(index=False, name=None)) == Counter(sent.itertuples(index=False, name=None))
    assert same, "the export is not what was sent"
    print(f"{'export':<28} {len(kept):>7,} answers, equal to what was sent, in another order")
    looked_for = check_wire(people, bodies)
    print(
        f"{'on the wire':<28} {len(bodies):>7,} reports, all within the channel; of {looked_for:,} clear numbers none"
    )


def _wanted(found: tuple[Counter[int], float], status: int) -> tuple[Counter[int], dict[int, int], float]:
    return found[0], {status: found[0].total()}, found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--people", type=int, default=10_000, help="how many take part")
    parser.add_argument("--store", default="", help="the URL of a PostgreSQL database instead of SQLite")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        collect(Path(folder), given.people, given.store)


if __name__ == "__main__":
    main()
