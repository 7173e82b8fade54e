import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.utility import peer_fit, peers
from benchmarks.utility.splits import BINS, Split

# Answers as the real child does: says "yes" to everyone with chance .8, and dies or fails where it is told to.
CHILD = """
import json, sys
import numpy as np
for line in sys.stdin:
    asked = json.loads(line)
    if asked["epsilon"] == 13:
        sys.exit(1)
    with np.load(asked["rows"]) as rows:
        n = len(rows["test"])
    np.savez(asked["answer"], classes=np.ones(n, dtype=int), chances=np.tile([[0.8, 0.2]], (n, 1)), own=[1, 0])
    print(json.dumps({"failed": "ValueError: no"} if asked["epsilon"] == 12 else {"seconds": 0.5}), flush=True)
"""
PEER = peers.PEERS[0]


@pytest.fixture
def worker(tmp_path, monkeypatch):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    monkeypatch.setattr(peers, "_SCRIPT", script)
    worker = peers.Worker(Path(sys.executable))
    yield worker
    worker.close()


def test_the_child_is_started_by_its_file_in_the_peers_environment_and_imports_nothing_of_privet():
    command = peers.command(Path(".venv-peers/bin/python"))
    assert command[:2] == [".venv-peers/bin/python", "-P"]
    script = Path(command[2])
    assert script.name == "peer_fit.py"
    imports = [line for line in script.read_text().splitlines() if line.strip().startswith(("import ", "from "))]
    assert imports
    assert not [line for line in imports if "privet" in line or "benchmarks" in line]


def test_a_request_names_the_model_the_price_and_the_files():
    asked = peers.request(PEER, 0.5, Path("rows.npz"), Path("answer.npz"))
    files = {"rows": "rows.npz", "answer": "answer.npz"}
    expected = {"model": "forest", "epsilon": 0.5, "delta": 1e-5, **files, "cpu_seconds": None}
    assert json.loads(json.dumps(asked)) == expected
    [synthetic] = [peer for peer in peers.PEERS if peer.model == "aim"]
    assert peers.request(synthetic, 0.5, Path("rows.npz"), Path("answer.npz"))["cpu_seconds"] == peers.CPU_SECONDS


def test_what_the_child_predicts_comes_back_in_the_order_of_the_schema(toy, worker):
    said = worker.fit(PEER, Split("toy", 0), 1.0)
    assert said.classes.tolist() == [1] * 10
    assert said.chances.tolist() == [[0.2, 0.8]] * 10
    assert said.fit_seconds == 0.5


def test_a_peer_that_fails_is_quoted_and_a_process_that_ends_is_noticed(toy, worker):
    with pytest.raises(peers.PeerFailed, match="^ValueError: no$"):
        worker.fit(PEER, Split("toy", 0), 12)
    with pytest.raises(peers.PeerFailed, match="the peers' process ended"):
        worker.fit(PEER, Split("toy", 0), 13)


def test_peers_are_told_what_is_public_and_nothing_else(toy):
    rows = peers.rows_of(Split("toy", 0))
    numbers, cells = {"train", "test", "sizes", "bounds"}, {"train_cells", "test_cells", "n_cells"}
    assert set(rows) == {"labels", "n_classes", "n_rows", *numbers, *cells}
    assert rows["n_cells"].tolist() == [BINS + 1, 3]
    assert rows["train_cells"].max(axis=0).tolist() == [BINS, 2]
    assert rows["n_rows"] == 40
    assert rows["sizes"].tolist() == [0, 3]
    assert rows["bounds"].tolist() == [[0, 100], [0, 2]]
    assert set(rows["labels"]) == {0, 1}


def test_missing_numbers_are_put_into_the_middle_and_categories_become_indicators():
    X, sizes, bounds = np.array([[25.0, 2], [np.nan, 0]]), np.array([0, 3]), np.array([[0.0, 100], [0, 2]])
    assert peer_fit.filled(X, bounds).tolist() == [[25, 2], [50, 0]]
    assert peer_fit.indicators(X, sizes, bounds).tolist() == [[0.25, 0, 0, 1], [0.5, 1, 0, 0]]
    frame = peer_fit.words_and_numbers(peer_fit.filled(X, bounds), sizes)
    assert frame.to_dict("list") == {"x0": [25.0, 50.0], "x1": ["2", "0"]}


def test_cells_become_indicators_with_as_many_ones_as_columns():
    assert peer_fit.cell_indicators(np.array([[1, 0], [0, 2]]), [2, 3]).tolist() == [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]


class Copies:
    """Stands in for MST: draws the rows that it was given, again and again."""

    def set_domain(self, domain):
        self.domain = domain

    def check_fit(self, table):
        assert list(table) == list(self.domain)

    def fit(self, table):
        self.table = table

    def generate(self, n_records):
        return self.table.iloc[np.arange(n_records) % len(self.table)].iloc[:, ::-1]


@pytest.mark.parametrize("labels", [[0, 1, 1], [1, 1, 1]])
def test_boosting_learns_from_the_rows_that_are_drawn_alone(labels):
    rows = {"n_cells": np.array([3]), "n_classes": np.array(2), "n_rows": np.array(300), "sizes": np.array([3])}
    model = peer_fit.BoostingOfSyntheticRows(Copies(), rows).fit(np.array([[0], [1], [2]]), np.array(labels))
    assert model.model.domain == {"x0": 3, "x1": 2}
    assert model.predict(np.array([[0], [2]])).tolist() == [labels[0], labels[2]]
    assert model.predict_proba(np.array([[0]])).shape == (1, len(set(labels)))


def test_a_fit_is_stopped_when_it_has_worked_as_long_as_is_stated_and_not_later():
    with pytest.raises(TimeoutError, match=r"^stopped after 0.05 CPU seconds$"):
        peer_fit.give_up_after(0.05)
        while True:
            pass
    peer_fit.give_up_after(0.05)
    peer_fit.give_up_after(None)
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
