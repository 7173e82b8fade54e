"""A worker that is killed while it counts: the fit fails or is right, and the ledger agrees with what was released."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privet import Ledger, PrivateRDTClassifier, Schema
from privet.counting.sources import Files
from privet.errors import ExecutorError
from tests.cli.conftest import SCHEMA, people


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 50)
    # The worker has two of six parts at a time: when the first is counted, others are still to be asked for.
    monkeypatch.setattr("privet.counting.engines.executor._AHEAD", 2)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(people()), path, row_group_size=50)
    return path


def test_a_fit_whose_worker_is_killed_gives_its_price_back_and_can_be_made_again(rows, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    model = PrivateRDTClassifier(Schema.from_json(SCHEMA), n_trees=3, height=2, ledger=ledger)
    context, shares = get_context("spawn"), []
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        worker = pool.submit(os.getpid).result()

        def kill(share):
            if share > 0 and not shares:  # once: its number is another's when it is gone
                os.kill(worker, signal.SIGKILL)
                shares.append(share)

        with pytest.raises(
            ExecutorError, match=r"the executor failed \(BrokenProcessPool\) .* and nothing was released"
        ):
            model.fit(Files(rows, watch=kill), executor=pool)
    assert 0 < shares[0] < 0.5
    assert not hasattr(model, "guarantee_")
    # No noise was drawn, so nothing was released, and nothing is spent.
    [spending] = ledger.account().spendings
    assert spending.state == "withdrawn"
    assert ledger.spent == 0.0
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        model.fit(Files(rows), executor=pool)
    assert ledger.spent == 1.0
