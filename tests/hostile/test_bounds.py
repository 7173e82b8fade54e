"""No kernel reads outside its arrays, whatever model it is given: Numba checks every index in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.choices import Choices
from tests.hostile.mutations import mutated
from tests.hostile.seeds import files

N_FILES = 600
KINDS = ("model", "local model", "party model")


def hostile_models(folder):
    """Write a model as it is, by the name of 0.privet, and many that are not as they were."""
    (folder / "0.privet").write_bytes(counts_of_leaves().content)
    for number in range(1, N_FILES):
        choices = Choices.of_seed("bounds", number)
        seed = choices.pick(files().seeds[choices.pick(KINDS)])
        (folder / f"{number}.privet").write_bytes(mutated(seed, choices))


def counts_of_leaves():
    return next(seed for seed in files().seeds["model"] if seed.document["method"] == "private-rdt")


# Kernels are compiled again, which takes most of the time.
@pytest.mark.slow
def test_hostile_models_never_lead_a_kernel_outside_its_arrays(tmp_path):
    (tmp_path / "models").mkdir()
    hostile_models(tmp_path / "models")
    # A cache of its own: Numba would take kernels that were compiled without checks.
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "tests.hostile.bounds", str(tmp_path / "models")]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout)
    assert "violation" not in found["counts"], found["told"]
    assert sum(found["counts"].values()) == N_FILES
    assert found["counts"]["predicted"] > N_FILES / 20, found
    # The detector itself: a tree past all checks is caught, so that no finding means none.
    assert found["unchecked"].startswith("IndexError"), found
