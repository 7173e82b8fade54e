"""Peers that a user can install beside privet, fitted in an environment of their own by `peer_fit.py`.

They pin other versions than privet. ``.venv-peers`` and ``.venv-synthetic`` are made on the first run, with the
requirements below. What they ask to be told as public is declared to them: bounds, classes, which columns are
categories, and cells of equal width where numbers have to be cut.
"""

import atexit
import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer_environment import DIFFPRIVLIB, DPMM, INTERPRET, SYNTHETIC, python_with
from benchmarks.peer_environment import PEERS as USUAL
from benchmarks.utility.scores import Predictions, by_schema
from benchmarks.utility.splits import BINS, Split, bounds_of, category_sizes, cell_counts, positions

# By environment, then by the module to import.
REQUIREMENTS = {USUAL: {"diffprivlib": DIFFPRIVLIB, "interpret.privacy": [INTERPRET]}, SYNTHETIC: {"dpmm": [DPMM]}}
_SCRIPT = Path(__file__).with_name("peer_fit.py")
# The default of DP-EBM, MST and AIM.
DELTA = 1e-5
# Of a fit; what takes longer is stopped, and the results say so.
CPU_SECONDS = 120


class PeerFailed(Exception):
    """A peer could not be fitted; the text is its own."""


@dataclass(frozen=True)
class Peer:
    """One peer.

    Parameters
    ----------
    name
        As it stands in the results.
    model
        What `peer_fit.py` calls it.
    setting
        How it is called, for the page.
    needs_delta, binary_only
        Whether it promises (epsilon, delta), and knows two classes only.
    apart
        Whether it is left out of means over tables: it takes too long for most, or fails on some.
    environment
        Where it is installed.
    """

    name: str
    model: str
    setting: str
    needs_delta: bool = False
    binary_only: bool = False
    apart: bool = False
    environment: str = USUAL


PEERS = (
    Peer("diffprivlib forest", "forest", "RandomForestClassifier(bounds=..., classes=...)"),
    Peer(
        "diffprivlib forest, one-hot", "forest, one-hot",
        "RandomForestClassifier(bounds=..., classes=...) on indicators of categories and numbers scaled to 0..1",
    ),
    Peer("diffprivlib naive Bayes", "naive Bayes", "GaussianNB(bounds=...)"),
    Peer(
        "diffprivlib logistic", "logistic",
        "LogisticRegression(data_norm=square root of the number of attributes) on indicators and scaled numbers",
    ),
    Peer(
        "diffprivlib logistic, cells", "logistic, cells",
        f"LogisticRegression(data_norm=square root of the number of attributes) on indicators of {BINS} cells a number",
        apart=True,
    ),
    Peer(
        "DP-EBM", "ebm",
        f"DPExplainableBoostingClassifier(delta={DELTA:g}, feature_types=..., privacy_bounds=...)",
        needs_delta=True, binary_only=True,
    ),
    *(
        Peer(
            f"{name}, then boosting", name.lower(),
            f"HistGradientBoostingClassifier() on as many rows as declared from dpmm's {name}GM(delta={DELTA:g}) of "
            f"cells, {BINS} a number; {CPU_SECONDS} CPU seconds at most",
            needs_delta=True, apart=True, environment=SYNTHETIC,
        )
        for name in ("MST", "AIM")
    ),
)  # fmt: skip

SYNTHETIC_PEERS = tuple(peer.name for peer in PEERS if peer.environment == SYNTHETIC)


def fit(peer: Peer, split: Split, epsilon: float | None) -> Predictions:
    """Fit a peer in its own environment and say what it predicts."""
    return _worker(peer.environment).fit(peer, split, epsilon)


def command(python: Path) -> list[str]:
    """Return how the peers' process is started."""
    return [str(python), "-P", str(_SCRIPT)]  # -P: what lies beside the script is not importable there


def request(peer: Peer, epsilon: float | None, rows: Path, answer: Path) -> dict[str, Any]:
    """Return what the peers' process is asked."""
    limit = CPU_SECONDS if peer.environment == SYNTHETIC else None
    return {
        "model": peer.model, "epsilon": epsilon, "delta": DELTA, "rows": str(rows), "answer": str(answer),
        "cpu_seconds": limit,
    }  # fmt: skip


class Worker:
    """A process in the peers' environment that fits one model after the other: importing takes seconds."""

    def __init__(self, python: Path) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            command(python), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._written: Split | None = None
        atexit.register(self.close)

    def fit(self, peer: Peer, split: Split, epsilon: float | None) -> Predictions:
        """Send rows where they are new, then the request, and read the answer."""
        rows, answer = Path(self._folder.name, "rows.npz"), Path(self._folder.name, "answer.npz")
        if split != self._written:
            np.savez(rows, **rows_of(split))
            self._written = split
        said = self._ask({**request(peer, epsilon, rows, answer), "split": [split.table, split.repeat]})
        if "failed" in said:
            raise PeerFailed(said["failed"])
        with np.load(answer) as found:
            classes = range(len(split.schema.classes))
            chances = by_schema(found["chances"], found["own"].tolist(), classes)
            return Predictions(positions(found["classes"], classes), chances, said["seconds"])

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            _worker.cache_clear()  # the next fit gets a new process
            raise PeerFailed("the peers' process ended; it may have run out of memory")
        said: dict[str, Any] = json.loads(line)
        return said

    def close(self) -> None:
        """End the process and take its files away."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


def rows_of(split: Split) -> dict[str, Any]:
    """Return the rows and what is public about them, as numbers: the child knows nothing of privet."""
    schema, (train, test), (train_cells, test_cells) = split.schema, split.numbers(), split.cells()
    return {
        "train": train,
        "labels": positions(split.labels, schema.classes),
        "test": test,
        "sizes": np.array(category_sizes(schema)),
        "bounds": bounds_of(schema),
        "n_classes": np.array(len(schema.classes)),
        "train_cells": train_cells,
        "test_cells": test_cells,
        "n_cells": np.array(cell_counts(schema)),
        "n_rows": np.array(schema.rows),
    }


@cache
def _worker(environment: str) -> Worker:
    wanted = REQUIREMENTS[environment]
    pythons = [python_with(module, requirements, environment) for module, requirements in wanted.items()]
    return Worker(pythons[0])
