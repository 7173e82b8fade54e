"""Four parties over Flower, with TLS on this machine: a round that works, killed and vanished parties, forged keys.

Starts a real SuperLink and four real SuperNodes, each with its own files, and stops them again. Run by `make flower`.
"""

import contextlib
import datetime as dt
import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from privet import load
from privet.datasets import agrawal
from privet.partitioned import PrivateKey, Roster, Structure

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
NAMES = ("bank", "clinic", "mill", "school")
N_ROWS = 2_000
PATIENCE = 400.0


class Federation:
    """A SuperLink and its SuperNodes, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "FLWR_HOME": str(folder / "flwr"), "FLWR_TELEMETRY_ENABLED": "0",
                    "PATH": f"{BIN}:{os.environ['PATH']}"}  # fmt: skip
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.ports = free_ports(1 + len(NAMES))
        (folder / "flwr").mkdir()
        (folder / "flwr" / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "127.0.0.1:{self.ports[0]}"\n'
            f'root-certificates = "{folder / "ca.pem"}"\n'
        )

    def start_link(self) -> None:
        """Start the SuperLink, with TLS."""
        self._start(
            "superlink", "flower-superlink", "--ssl-ca-certfile", "ca.pem", "--ssl-certfile", "server.pem",
            "--ssl-keyfile", "server.key", "--host", "127.0.0.1", "--port", str(self.ports[0]),
            "--disable-runtime-dependency-installation",
        )  # fmt: skip
        wait_until(lambda: listens(self.ports[0]), "the SuperLink to listen")

    def start_node(self, name: str, **more: object) -> None:
        """Start a party's SuperNode, which knows its own files only."""
        files = {"structure": "structure.json", "roster": "roster.json", "key": f"{name}/{name}.key",
                 "rows": f"{name}/rows.csv", "store": f"{name}/store"}  # fmt: skip
        settings: dict[str, object] = {key: str(self.folder / file) for key, file in files.items()} | more
        self._start(
            name, "flower-supernode", "--root-certificates", "ca.pem", "--superlink", f"127.0.0.1:{self.ports[0]}",
            "--host", "127.0.0.1", "--port", str(self.ports[1 + NAMES.index(name)]), "--ssl-ca-certfile", "ca.pem",
            "--ssl-certfile", "server.pem", "--ssl-keyfile", "server.key",
            "--node-config", " ".join(f"{key}={json.dumps(value)}" for key, value in settings.items()),
        )  # fmt: skip

    def kill(self, name: str) -> None:
        """Kill a SuperNode and whatever it has started, without warning."""
        process = self.processes.pop(name)
        for process_id in [process.pid, *started_by(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        process.wait()

    def run(self, app: str, **settings: object) -> str:
        """Start a run and return its id."""
        given = {
            "structure": str(self.folder / "structure.json"),
            "roster": str(self.folder / "roster.json"),
        } | settings
        words = [f"{key}={json.dumps(value)}" for key, value in given.items()]
        # Each argument is ours; the paths are those of a new temporary folder.
        answer = self._flwr("run", str(HERE / app), "here", "--run-config", " ".join(words), "--format", "json")
        return str(json.loads(answer)["run-id"])

    def outcome(self, run_id: str) -> str:
        """Wait for the end of a run, and return the sentence that it ended with."""

        def status() -> str:
            return str(
                json.loads(self._flwr("list", "here", "--run-id", run_id, "--format", "json"))["runs"][0]["status"]
            )

        wait_until(lambda: status().startswith("finished"), "a run to end", pause=4.0)
        log = self._flwr("log", run_id, "here", "--show").splitlines()
        said = [line.split("PartyError:")[1].strip() for line in log if "PartyError:" in line]
        return ": ".join([status(), *said[-1:]])

    def stop(self) -> None:
        """Stop all that was started."""
        for name in list(self.processes):
            self.kill(name)

    def _flwr(self, *words: str) -> str:
        done = subprocess.run([BIN / "flwr", *words], env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"flwr {words[0]} failed:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def _start(self, name: str, program: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [BIN / program, *words], cwd=self.folder, env=self.env, stdout=log, stderr=log
            )


def main() -> None:
    """Run the rounds and print what came of each."""
    sys.stdout.reconfigure(line_buffering=True)
    folder = Path(tempfile.mkdtemp(prefix="privet-flower-"))
    write_certificates(folder)
    structure = write_parties(folder)
    federation = Federation(folder)
    try:
        federation.start_link()
        for name in NAMES:
            federation.start_node(name)
        works(federation, structure)
        killed(federation)
        forged(federation)
        replayed(federation)
        vanished(federation)
    except BaseException:
        print(f"logs: {folder}", file=sys.stderr)
        raise
    finally:
        federation.stop()
    shutil.rmtree(folder)
    print("all rounds ended as they should")


def works(federation: Federation, structure: Structure) -> None:
    """Run a round in which everybody keeps to the protocol."""
    folder = federation.folder
    output = folder / "first.privet"
    status = federation.outcome(federation.run("flower_sum", output=str(output)))
    model = load(output)
    tables = [agrawal(N_ROWS, function=1, random_state=seed) for seed in range(len(NAMES))]
    exact = sum(structure.exact_counts(table.X, table.y) for table in tables)
    check(np.array_equal(model.noisy_counts_.ravel(), stored_sum(folder)), "the sum is that of the noised counts")
    off = float(np.sqrt(np.mean((model.noisy_counts_ - exact) ** 2)))
    print(f"works:    {status}; noise of standard deviation {off:.3g} seen, {model.noise_std_:.3g} stated")
    print(f"          {model.guarantee_.sentence[:160]} ...")


def killed(federation: Federation) -> None:
    """Kill a party between its messages; afterwards all run again, with the same noised counts."""
    folder, output = federation.folder, federation.folder / "second.privet"
    before = stored(folder)
    federation.kill("school")
    federation.start_node("school", silent="yes")
    run_id = federation.run("flower_hostile", output=str(output), attempt=2, timeout=40, victim="mill")
    wait_until(lambda: list((folder / "bank").rglob("attempt-2.masked")), "a masked message")
    federation.kill("school")
    status = federation.outcome(run_id)
    missing = "no masked message came from" in status and "'school'" in status
    check(not output.exists() and missing, f"nothing is opened: {status}")
    print(f"killed:   {status}")
    federation.start_node("school")
    status = federation.outcome(federation.run("flower_hostile", output=str(output), attempt=3, victim="mill"))
    check(stored(folder) == before, "the noised counts are the same")
    check(np.array_equal(load(output).noisy_counts_, load(folder / "first.privet").noisy_counts_), "the rerun is exact")
    print(f"rerun:    {status}; the same noised counts, the same sum to the last count")


def forged(federation: Federation) -> None:
    """Let the carrier put a key of its own in the place of a party's."""
    output = federation.folder / "third.privet"
    settings = {"attack": "forge", "victim": "mill", "output": str(output), "attempt": 4}
    status = federation.outcome(federation.run("flower_hostile", **settings))
    check(not output.exists() and "the signature of the key message of 'mill' is not" in status, f"refused: {status}")
    print(f"forged:   {status}")


def replayed(federation: Federation) -> None:
    """Let the carrier hand out a party's key of an earlier attempt."""
    output = federation.folder / "second.privet"
    output.unlink()
    settings = {"attack": "replay", "victim": "mill", "output": str(output), "attempt": 5}
    status = federation.outcome(federation.run("flower_hostile", **settings))
    check(not output.exists() and "is from another attempt than attempt 5" in status, f"refused: {status}")
    print(f"replayed: {status}")


def vanished(federation: Federation) -> None:
    """Let one of four parties vanish after its shares; the sum of the others opens, and no second one with all four."""
    folder, output = federation.folder, federation.folder / "fourth.privet"
    before = set(folder.rglob("noised"))
    for name in NAMES:
        federation.kill(name)
        federation.start_node(name, dropouts=1, **({"silent": "yes"} if name == "school" else {}))
    settings = {"output": str(output), "dropouts": 1, "timeout": 60}
    status = federation.outcome(federation.run("flower_hostile", attempt=1, victim="mill", **settings))
    drawn = {path.parts[-4]: path.read_bytes() for path in set(folder.rglob("noised")) - before}
    model = load(output)
    expected = sum(np.frombuffer(drawn[name], dtype="<i8") for name in NAMES if name != "school")
    check(model.parties == [name for name in NAMES if name != "school"], "the school is not counted")
    check(np.array_equal(model.noisy_counts_.ravel(), expected), "the sum is that of those who stayed")
    print(f"vanished: {status}; counted: {', '.join(model.parties)}")
    output.unlink()
    federation.kill("school")
    federation.start_node("school", dropouts=1)
    status = federation.outcome(federation.run("flower_sum", attempt=2, **settings))
    check(not output.exists() and "has helped to open the sum in attempt 1" in status, f"refused: {status}")
    print(f"returned: {status}")


def write_parties(folder: Path) -> Structure:
    """Write the structure, the roster, and a folder for each party with its key and rows."""
    keys = [PrivateKey.generate(name) for name in NAMES]
    for seed, key in enumerate(keys):
        (folder / key.name).mkdir()
        key.save(folder / key.name / f"{key.name}.key")
        table = agrawal(N_ROWS, function=1, random_state=seed)
        rows = table.X.assign(**{table.schema.target: table.y})
        rows.to_csv(folder / key.name / "rows.csv", index=False)
    Roster([key.public for key in keys]).save(folder / "roster.json")
    structure = Structure.draw(table.schema, epsilon=1.0, n_rows=N_ROWS * len(NAMES), random_state=7)
    structure.save(folder / "structure.json")
    return structure


def write_certificates(folder: Path) -> None:
    """Make an authority for this run only, and the certificate of 127.0.0.1 that it signs."""
    authority, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority for one run")])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    own = x509.BasicConstraints(ca=True, path_length=0)
    here = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = [certificate(issuer, issuer, authority.public_key(), authority, own),
              certificate(subject, issuer, server.public_key(), authority, here)]  # fmt: skip
    for name, made in zip(("ca.pem", "server.pem"), signed, strict=True):
        (folder / name).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "server.key").write_bytes(server.private_bytes(*private))


def certificate(subject, issuer, public_key, signer, extension):
    """Return a certificate for a day."""
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public_key)
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - dt.timedelta(hours=1))
    made = made.not_valid_after(now + dt.timedelta(days=1)).add_extension(extension, critical=False)
    return made.sign(signer, hashes.SHA256())


def stored(folder: Path) -> dict[str, bytes]:
    """Return what every party keeps: its noised counts."""
    return {path.parts[-4]: path.read_bytes() for path in folder.rglob("noised")}


def stored_sum(folder: Path) -> np.ndarray:
    """Return the sum that only this script, which runs all parties, can compute."""
    return sum(np.frombuffer(part, dtype="<i8") for part in stored(folder).values())


def started_by(process_id: int) -> list[int]:
    """Return the processes that a process has started, and those that they have: Flower puts them in other sessions."""
    files = Path(f"/proc/{process_id}/task").glob("*/children")
    children = [int(child) for file in files for child in file.read_text().split()]
    return children + [below for child in children for below in started_by(child)]


def free_ports(n: int) -> list[int]:
    """Return ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def listens(port: int) -> bool:
    """Return whether somebody listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def wait_until(done, what: str, *, pause: float = 0.5) -> None:
    """Wait for something, but not for ever."""
    end = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > end:
            raise SystemExit(f"waited {PATIENCE:g} s for {what}")
        time.sleep(pause)


def check(holds: bool, what: str) -> None:
    """Stop where something is not as it should be."""
    if not holds:
        raise SystemExit(f"not as it should be: {what}")


if __name__ == "__main__":
    main()
