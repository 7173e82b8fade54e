"""Thousands of hostile files of every kind: opened and used, or refused by an error of privet's own."""

import time
from collections import Counter

import pytest

from privet.errors import PrivetError
from tests.hostile import targets
from tests.hostile.campaign import BLOCK, SHARES, Tally, case_of, outcomes, schedule
from tests.hostile.case import OPENED, REFUSED, VIOLATION, Case, hostile_room
from tests.hostile.choices import Choices
from tests.hostile.seeds import ALL_METHODS, files, methods_with_a_seed

# A block is a thousand cases, of every kind some, and all blocks are alike; `make slow` has the later ones.
N_QUICK, N_CASES, SEED = 5_000, 20_000, 2026
BLOCKS = [
    pytest.param(block, marks=[pytest.mark.slow] * (block >= N_QUICK // BLOCK)) for block in range(N_CASES // BLOCK)
]
# What says that a file was not understood at all, as against understood and found wrong.
_UNREAD = ("JSON", "UTF-8", "not a model file", "checksum does not fit", "does not unpack", "cut short or damaged")


def test_there_is_a_seed_of_every_kind_and_of_every_method():
    assert set(files().seeds) == set(SHARES) == set(targets.TARGETS)
    assert methods_with_a_seed() == ALL_METHODS


def test_every_seed_opens_as_it_is(tmp_path):
    """Else a target would refuse everything, and find nothing."""
    for kind, seeds in files().seeds.items():
        for number, seed in enumerate(seeds):
            folder = tmp_path / f"{kind}-{number}"
            folder.mkdir()
            (folder / seed.name).write_bytes(seed.content)
            targets.TARGETS[kind](folder / seed.name, Choices(b""))


@pytest.mark.parametrize("n_cases", [N_QUICK, N_CASES])
def test_no_kind_is_rare_among_the_cases(n_cases):
    assert n_cases % BLOCK == 0
    kinds = Counter(schedule()[number % BLOCK] for number in range(n_cases))
    assert kinds.total() == n_cases
    assert min(kinds.values()) >= n_cases / 50


@pytest.mark.parametrize("block", BLOCKS)
def test_a_thousand_hostile_files_are_used_or_refused(block):
    tally, violations, read = Tally(), [], 0
    with hostile_room() as room:
        for outcome in outcomes(SEED, range(block * BLOCK, (block + 1) * BLOCK), room):
            tally.add(outcome)
            read += outcome.what == OPENED or not any(words in outcome.told for words in _UNREAD)
            violations += [f"{outcome.kind} {outcome.name}: {outcome.culprit}"] * (outcome.what == VIOLATION)
    assert not violations, "\n".join(violations)
    assert tally.n_cases == BLOCK
    assert tally.of(OPENED) > 0.1 * BLOCK, list(tally.lines())
    assert tally.of(REFUSED) > 0.4 * BLOCK, list(tally.lines())
    assert read > 0.5 * BLOCK, (read, list(tally.lines()))


def test_a_case_is_the_same_when_it_is_run_again():
    with hostile_room() as room:
        first, again = ([o.what for o in outcomes(3, range(60), room)] for _ in range(2))
    assert first == again
    assert case_of(3, 7).kind == schedule()[7]


def _lets_a_key_error_out(path, choices):
    if choices.chance(0.5):
        raise KeyError("released")
    raise PrivetError


def _hangs(path, choices):
    while True:
        pass


def _waits(path, choices):
    time.sleep(1_000)


def _takes_memory(path, choices):
    bytearray(2**33)


def _warns(path, choices):
    import numpy as np

    np.log(np.zeros(1))


@pytest.mark.parametrize(
    ("bad", "culprit", "shorter"),
    [
        (_lets_a_key_error_out, "KeyError: 'released'", {}),
        (_hangs, "Hang", {"SECONDS": 0.1}),
        (_waits, "Hang", {"WAITING_SECONDS": 0.1}),
        (_takes_memory, "MemoryError", {}),
        (_warns, "RuntimeWarning", {}),
    ],
)
def test_a_target_that_is_no_better_than_its_file_is_caught(monkeypatch, bad, culprit, shorter):
    monkeypatch.setitem(targets.TARGETS, "roster", bad)
    for name, seconds in shorter.items():
        monkeypatch.setattr(f"tests.hostile.case.{name}", seconds)
    with hostile_room() as room:
        cases = (Case("roster", Choices.of_seed(n)).run(room, "planted") for n in range(20))
        violation = next(outcome for outcome in cases if outcome.what == VIOLATION)
    assert culprit in violation.culprit
