"""A Dask cluster of two worker processes, six of which are killed during one job: `make cluster` runs this."""

import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from benchmarks.load.on_cluster import has_started
from privet import Categorical, DPDFClassifier, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema, load
from privet.cli.app import app
from privet.counting.sources import Files

pytestmark = [
    pytest.mark.cluster,
    # Killed workers leave sockets behind.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCHEMA = Schema(
    [*(Numeric(f"x{j}", 0, 1) for j in range(6)), Categorical("job", ["clerk", "nurse"])],
    classes=["no", "yes"],
    rows=400_000,
)
N_KILLS = 6


def fitted(source, method=PrivateRDTClassifier, executor=None, **parameters):
    given = {"epsilon": 1.0, "random_state": 7, "unsafe_seeded_noise": True, **parameters}
    return method(SCHEMA, **given).fit(source, executor=executor)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """400,000 rows in 80 row groups."""
    rng = np.random.default_rng(7)
    numbers = rng.random((6, 400_000))
    columns = {f"x{j}": numbers[j] for j in range(6)} | {"job": rng.choice(["clerk", "nurse"], 400_000)}
    table = pa.table({**columns, "class": np.where(numbers[0] + numbers[1] > 1, "yes", "no")})
    path = tmp_path_factory.mktemp("cluster") / "rows.parquet"
    pq.write_table(table, path, row_group_size=5_000)
    return path


@pytest.fixture
def cluster(monkeypatch):
    import dask
    from distributed import LocalCluster

    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 5_000)
    # Dask gives a task up that was on three dying workers; here all deaths are ours.
    settings = {"distributed.scheduler.allowed-failures": 100, "distributed.comm.timeouts.connect": "120s"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
    ):
        yield cluster


class Killer:
    """Kills a worker with every eighth of the job that is done, six times, and none that it killed before."""

    def __init__(self, cluster):
        self.cluster, self.killed = cluster, []

    def __call__(self, share):
        if len(self.killed) < N_KILLS and share >= (len(self.killed) + 1) / (N_KILLS + 2):
            self.killed.append(self._kill_one())

    def _kill_one(self):
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            nannies = list(self.cluster.workers.values())
            # A worker that dies while it or another starts is not always started again.
            if all(nanny.pid not in self.killed and has_started(self.cluster, nanny) for nanny in nannies):
                pid = nannies[len(self.killed) % len(nannies)].pid
                os.kill(pid, signal.SIGKILL)
                return pid
            time.sleep(0.05)
        raise AssertionError("no worker came back")


class KillerOfWorkers(Killer):
    """Kills a worker with every fiftieth result, six times."""

    n_results = 0

    def __call__(self, share):
        self.n_results += 1
        if len(self.killed) < N_KILLS and self.n_results >= 50 * (len(self.killed) + 1):
            self.killed.append(self._kill_one())


def test_six_workers_killed_during_a_fit_of_the_recommended_forest_change_no_bit(rows, cluster, monkeypatch):
    from distributed import Client

    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 50_000)
    killer = KillerOfWorkers(cluster)
    with Client(cluster, timeout=120) as client:
        killed = fitted(Files(rows, watch=killer), PrivateForestClassifier, executor=client.get_executor())
    assert len(set(killer.killed)) == N_KILLS
    assert killed.to_document() == fitted(rows, PrivateForestClassifier).to_document()
    print(f"\nPrivateForestClassifier: workers {killer.killed} killed in {killer.n_results} results; models equal")


@pytest.mark.parametrize("method", [PrivateRDTClassifier, PrivateForestClassifier])
def test_a_frame_leads_to_the_model_of_one_process(rows, cluster, method):
    import dask.dataframe as dd
    from distributed import Client

    frame = dd.read_parquet(rows, split_row_groups=8)
    with Client(cluster, timeout=120):
        document = fitted(frame, method).to_document()
    assert document == fitted(rows, method).to_document()


@pytest.mark.parametrize("method", [PrivateRDTClassifier, DPDFClassifier])
def test_six_workers_killed_during_one_job_change_no_count(rows, cluster, method):
    from distributed import Client

    killer = Killer(cluster)
    with Client(cluster, timeout=120) as client:
        killed = fitted(Files(rows, watch=killer), method, executor=client.get_executor())
    assert len(set(killer.killed)) == N_KILLS
    one_process = fitted(rows, method)
    assert killed.to_document() == one_process.to_document()
    print(f"\n{method.__name__}: workers {killer.killed} killed; counts equal: "
          f"{bool((killed.noisy_counts_ == one_process.noisy_counts_).all())}")  # fmt: skip


def test_a_dask_frame_survives_killed_workers_too(rows, cluster):
    import dask.dataframe as dd
    from distributed import Client

    killer, mark = Killer(cluster), rows.with_name("killed")

    def kill_self_once(part, partition_info=None):
        if partition_info and partition_info["number"] == 5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = dd.read_parquet(rows, split_row_groups=4)
    with Client(cluster, timeout=120):
        survived = fitted(frame.map_partitions(kill_self_once, meta=frame._meta))
    assert mark.exists()
    assert not killer.killed
    assert survived.to_document() == fitted(rows).to_document()


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_the_same_job_on_threads_and_processes(rows, monkeypatch, pool):
    import multiprocessing

    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 5_000)
    spawn = {"mp_context": multiprocessing.get_context("spawn")} if pool is ProcessPoolExecutor else {}
    with pool(2, **spawn) as executor:
        assert fitted(rows, executor=executor).to_document() == fitted(rows).to_document()


def test_the_command_line_counts_on_a_cluster_over_tls(rows, tmp_path, monkeypatch):
    from distributed import LocalCluster, Security

    monkeypatch.chdir(tmp_path)
    SCHEMA.save("schema.json")
    temporary = Security.temporary()
    for name, text in {
        "ca": temporary.tls_ca_file,
        "cert": temporary.tls_client_cert,
        "key": temporary.tls_client_key,
    }.items():
        (tmp_path / f"{name}.pem").write_text(text)
    line = f"fit {rows} --schema schema.json --method private-rdt --epsilon inf --random-state 7"
    tls = "--dask-tls-ca ca.pem --dask-tls-cert cert.pem --dask-tls-key key.pem"
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50, security=temporary
    ) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        over_tls = CliRunner().invoke(app, f"{line} --dask {cluster.scheduler_address} {tls} -o tls.privet")
    assert over_tls.exit_code == 0, over_tls.output
    assert CliRunner().invoke(app, f"{line} -o here.privet").exit_code == 0
    assert (load("tls.privet").noisy_counts_ == load("here.privet").noisy_counts_).all()
