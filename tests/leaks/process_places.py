"""Places around a process: workers, temporary folders, what a kill leaves, caches, the environment."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pyarrow as pa

import privet
from privet import PrivateRDTClassifier
from tests.leaks.command_places import laid_out, left_behind
from tests.leaks.hearing import heard
from tests.leaks.marks import CATEGORY, LABEL, planted
from tests.leaks.models import unfitted
from tests.leaks.place import Register
from tests.leaks.tables import SCHEMA, batches, frame, labels, spoiled

place = Register("Processes and files")
_ROOT = Path(__file__).parents[2]
_FIT = ["fit", "rows.parquet", "--schema", "schema.json", "--jobs", "1", "--epsilon", "0.05", "--ledger", "ledger.db"]


class Broken(Executor):
    """Workers whose own error quotes a row."""

    def submit(self, *given: Any, **options: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            float(CATEGORY)
        except ValueError as error:
            future.set_exception(error)
        return future


def _fails(given: Any, executor: Any) -> None:
    PrivateRDTClassifier(SCHEMA, epsilon=0.05, n_trees=3).fit(given, executor=executor)


@place("workers that fail: errors that come back from a pool, and their own words")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    yield from heard(lambda: _fails(batches(), Broken())).things("a worker's own error")
    import dask
    import dask.dataframe as dd

    rows = dd.from_pandas(spoiled(age=CATEGORY), npartitions=2)
    late = rows.map_partitions(lambda part: part.assign(age=part["age"].map(float)), meta=rows._meta)
    with dask.config.set(scheduler="synchronous"):
        yield from heard(lambda: unfitted("private-rdt").fit(late)).things("a partition that cannot be made")
        unknown = dd.from_pandas(spoiled(**{"class": LABEL}), npartitions=2)
        yield from heard(lambda: unfitted("private-rdt").fit(unknown)).things("a label that is not known")


_POOL = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import pyarrow as pa
from tests.leaks.marks import LABEL, planting
from tests.leaks.models import unfitted
from tests.leaks.tables import spoiled
with planting(int(sys.argv[1])):
    rows = [pa.Table.from_pandas(spoiled(**{"class": LABEL}))]
with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    unfitted("private-rdt").fit(rows, executor=pool)
"""


@place("a pool of processes: what workers print and what comes back", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    line = [sys.executable, "-c", _POOL, f"{planted().number}"]
    done = subprocess.run(line, cwd=_ROOT, capture_output=True, text=True)
    assert "DataError" in done.stderr
    yield "a label that is not known", [done.stdout, done.stderr]


@place("a cluster of Dask: logs of scheduler and workers when tasks fail", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    inside = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    table = spoiled(**{"class": LABEL})

    def fail(client: Any) -> None:
        unfitted("private-rdt").fit(dd.from_pandas(table, npartitions=2))

    def fail_in_parts(client: Any) -> None:
        unfitted("private-rdt").fit([pa.Table.from_pandas(table)], executor=client.get_executor(pure=False))

    with LocalCluster(**inside) as cluster, Client(cluster) as client:
        for call in (fail, fail_in_parts):
            said = heard(lambda call=call: call(client))
            assert said.error is not None
            yield from said.things(call.__name__)
            yield f"{call.__name__}: logs", [client.get_worker_logs(), client.get_scheduler_logs()]


@place("the environment, the command line and the name of the process after a fit")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    before = _shown_of_process()
    unfitted("private-forest").fit(frame(), labels())
    # What was there before tells of the machine: a variable may well hold a number that is one of the marks.
    for name, text in _shown_of_process().items():
        yield name, "" if before.get(name) == text else text


def _shown_of_process() -> dict[str, Any]:
    """Return what anybody on the machine may see of this process."""
    own = {name: Path("/proc/self") / name for name in ("cmdline", "comm", "environ")}
    files = {name: path.read_bytes() for name, path in own.items() if path.exists()}
    return {**{f"environment, {name}": text for name, text in os.environ.items()}, "arguments": [*sys.argv], **files}


_WATCHED = """
import sys
from tests.crashes.write_points import WRITING
opened = []
def hook(event, arguments):
    if event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITING:
        opened.append(str(arguments[0]))
from tests.leaks.models import unfitted
from tests.leaks.marks import planting
from tests.leaks.tables import frame, labels
with planting(int(sys.argv[1])):
    X, y = frame(), labels()
methods = ("private-rdt", "private-forest", "dpdf")
for method in methods:  # whatever has to be compiled and kept is
    unfitted(method).fit(X, y)
sys.addaudithook(hook)
for method in methods:
    unfitted(method).fit(X, y)
print("\\n".join(opened))
"""


@place("files that a fit of a table in memory opens for writing: none", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    line = [sys.executable, "-c", _WATCHED, f"{planted().number}"]
    done = subprocess.run(line, cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    yield "what was printed", [done.stdout, done.stderr]


def _started(folder: Path) -> "subprocess.Popen[bytes]":
    """Start a fit that has folders of its own for whatever it might leave."""
    own = {name: str(folder / name) for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    for path in own.values():
        Path(path).mkdir(exist_ok=True)
    line = [sys.executable, "-m", "privet", *_FIT, "-o", "model.privet", "--force"]
    return subprocess.Popen(line, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@place("temporary folders, the home and the output's folder, during and after a fit and after a kill", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder)
    subprocess.run(
        [sys.executable, "-m", "privet", "ledger", "init", "ledger.db", "--dataset", "survey", "--epsilon", "3"],
        check=True, capture_output=True,
    )  # fmt: skip
    began, process = time.monotonic(), _started(folder)
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):  # what is there now may be gone when it is opened
            for what, path in left_behind(folder):
                yield f"during: {what}", path.read_bytes()
        time.sleep(0.1)
    assert process.returncode == 0
    yield from left_behind(folder)
    lasted = time.monotonic() - began
    for share in (0.6, 0.8, 0.9, 0.97):
        process = _started(folder)
        time.sleep(share * lasted)
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield from ((f"killed: {what}", thing) for what, thing in left_behind(folder))


@place("compiled kernels in numba's cache", slow=True, counts=False)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(Path(privet.__file__).parent.rglob("*.nb[ic]")):
        yield path.name, path
