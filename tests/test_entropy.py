"""The one place where secret bits come from: all of them, or an error."""

import errno
import os
import pickle

import numpy as np
import pytest

from privet.entropy import secure_bytes, unforeseeable_name
from privet.errors import EntropyError, PrivetError
from privet.rng import SystemNoise, public_generator


def failing(kind):
    """Return an ``os.urandom`` that fails in one of the ways in which one can."""

    def urandom(n):
        if kind == "forbidden":
            raise OSError(errno.EPERM, "Operation not permitted")
        if kind == "missing":
            raise NotImplementedError("/dev/urandom (or equivalent) not found")
        return os.getrandom(n)[: {"short": n - 1, "word missing": max(0, n - 4), "empty": 0}[kind]]

    return urandom


FAILURES = ["forbidden", "missing", "short", "word missing", "empty"]


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize(
    "draw",
    [lambda: secure_bytes(32), unforeseeable_name, lambda: SystemNoise().words(100), lambda: public_generator(None)],
    ids=["bytes", "name", "words", "public coins"],
)
def test_a_generator_that_fails_or_gives_less_than_asked_is_an_error_and_nothing_takes_its_place(
    monkeypatch, kind, draw
):
    monkeypatch.setattr(os, "urandom", failing(kind))
    with pytest.raises(EntropyError, match=r"secure generator gave no random bytes.* run this where os\.urandom works"):
        draw()


def test_the_error_is_no_error_of_files_and_travels_between_processes():
    # Whoever writes files turns OSError into "cannot write"; this must not be mistaken for one.
    assert not issubclass(EntropyError, OSError)
    assert issubclass(EntropyError, PrivetError)
    assert str(pickle.loads(pickle.dumps(EntropyError()))) == str(EntropyError())
    assert "\n" not in str(EntropyError())


def test_as_many_bytes_come_as_are_asked_for_and_never_the_same():
    assert [len(secure_bytes(n)) for n in (0, 1, 7, 300, 100_000)] == [0, 1, 7, 300, 100_000]
    assert len({secure_bytes(16) for _ in range(1000)}) == 1000
    assert len({unforeseeable_name() for _ in range(1000)}) == 1000


def test_words_are_the_systems_bytes_and_nothing_is_kept_from_one_call_to_the_next(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or bytes(range(n)))
    noise = SystemNoise()
    assert noise.words(2).tolist() == np.frombuffer(bytes(range(8)), dtype=np.uint32).tolist()
    noise.words(3)
    assert asked == [8, 12]
    assert vars(noise) == {}


def test_coins_without_a_seed_differ_and_those_of_a_seed_do_not():
    assert public_generator(None).integers(2**63) != public_generator(None).integers(2**63)
    assert public_generator(5).integers(2**63) == public_generator(5).integers(2**63)
    coins = np.random.default_rng(3)
    assert public_generator(coins) is coins
