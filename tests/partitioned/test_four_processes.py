"""Four parties, each a process of its own, over a directory: a round that works, a forger, a replay."""

import subprocess
import sys

import numpy as np
import pytest

from privet import Ledger, load
from privet.errors import PartyError
from privet.partitioned import HorizontalForest, Party, PrivateKey, PublicKey, Release, Roster, Structure
from tests.partitioned.parties import SCHEMA, table

NAMES = ("east", "north", "south", "west")


def start(folder, name):
    """Start the process of a party, which sees the shared directory and its own files."""
    words = [
        "party", "release", f"{name}.csv", "--structure", "spring.json", "--key", f"{name}.key",
        "--ledger", f"{name}.db", "-o", f"shared/{name}.json",
    ]  # fmt: skip
    command = [sys.executable, "-m", "privet", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=900)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def round_(tmp_path_factory):
    """Four processes at once; and, into the same directory, a forger and a release of the round before."""
    folder = tmp_path_factory.mktemp("round")
    (folder / "shared").mkdir()
    X, y = table(800)
    for i, name in enumerate(NAMES):
        X[i::4].assign(group=y[i::4]).to_csv(folder / f"{name}.csv", index=False)
        key = PrivateKey.generate(name)
        key.save(folder / f"{name}.key")
        key.public.save(folder / f"{name}.pub")
        Ledger(folder / f"{name}.db", dataset=name, epsilon=1.0)
    for each in ("spring", "winter"):
        drawn = Structure.draw(SCHEMA, epsilon=1.0, n_trees=4, round_=each, random_state=1)
        drawn.save(folder / f"{each}.json")
    processes = [start(folder, name) for name in NAMES]
    forger, north = PrivateKey.generate("west"), folder / "north.key"
    for key, each, to in ((forger, "spring", "forged"), (north, "winter", "replayed")):
        party = Party(key, store=folder / to)
        party.release(Structure.load(folder / f"{each}.json"), X, y).save(folder / "shared" / f"{to}.json")
    return folder, [ended(process) for process in processes]


@pytest.fixture
def combine(round_):
    folder = round_[0]

    def run(*names):
        roster = Roster(PublicKey.load(folder / f"{name}.pub") for name in NAMES)
        releases = [Release.load(folder / "shared" / f"{name}.json") for name in names]
        return HorizontalForest.combine(Structure.load(folder / "spring.json"), roster, releases)

    return run


def test_a_round_works(round_, combine):
    folder, processes = round_
    for (code, out, err), name in zip(processes, NAMES, strict=True):
        assert (code, err) == (0, "")
        assert f"budget of '{name}': epsilon=1 of 1 spent per row, 0 left" in out
    model = combine(*NAMES)
    assert model.parties == list(NAMES)
    model.save(folder / "model.privet")
    # Four trees count each of 800 rows; noise of twenty standard deviations will not be seen.
    total = load(folder / "model.privet").noisy_counts_.sum()
    assert abs(total - 4 * 800) < 20 * model.noise_std_ * np.sqrt(model.noisy_counts_.size)


def test_a_forged_signature_is_refused(combine):
    with pytest.raises(PartyError, match="the signature of the release of 'west' is not that of its key in the roster"):
        combine("east", "north", "south", "forged")


def test_a_release_from_another_round_is_refused(combine):
    with pytest.raises(PartyError, match="the release of 'north' is from another round; .* of round spring"):
        combine("east", "replayed", "south", "west")


def test_a_party_that_starts_again_sends_the_same_bytes(round_):
    folder, _ = round_
    east = Party(folder / "east.key", store=folder / "east.releases", ledger=Ledger(folder / "east.db", dataset="east"))
    sent = (folder / "shared" / "east.json").read_bytes()
    assert east.release(Structure.load(folder / "spring.json"), "rows that are gone.csv").bytes == sent
    assert east.ledger.spent == 1.0
