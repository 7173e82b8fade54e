"""What no attack from outside can see: noise is whole, exact, and all of it comes from the system's generator."""

import os

import numpy as np
import pytest

from privet.central import PrivateRDTClassifier, leaf_counts
from privet.errors import EntropyError
from privet.local import Secret, perturb
from privet.partitioned import HorizontalForest
from privet.privacy.events import Seeded, releases
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.registry import LOCAL_METHODS
from privet.rng import SeededNoise
from tests.contracts.randomness import (
    CASES,
    ROWS,
    SOURCES,
    Stream,
    answers_through,
    assert_noise_is_the_systems,
    fit_of,
    fitted,
    noised_counts,
    offences,
    party_release,
)
from tests.contracts.test_every_method import released, structure
from tests.local.people import channels, people
from tests.partitioned import parties as partitioned


@pytest.fixture(params=CASES)
def case(request, monkeypatch):
    """Return a case's name; its kernels are compiled, since numba's cache draws names with ``os.urandom`` too."""
    with monkeypatch.context() as patches:
        fitted(request.param, patches, os.urandom)
    return request.param


def test_all_noise_of_a_fit_comes_from_the_systems_bits_and_from_no_other_generator(case, monkeypatch):
    assert_noise_is_the_systems(fit_of(case), monkeypatch)


def test_released_numbers_are_whole_and_receipts_name_no_seed(case, monkeypatch):
    model = fitted(case, monkeypatch, os.urandom)
    assert released(model).dtype == np.int64
    assert model.guarantee_.mode == "sound"
    assert not any(isinstance(event, Seeded) for event in releases(model.guarantee_.event))


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("private-rdt", "dp-rf"))])
def test_a_seed_fixes_the_public_structure_and_not_the_noise(name, monkeypatch):
    one, two = (fitted(name, monkeypatch, os.urandom, coins=11) for _ in range(2))
    other = fitted(name, monkeypatch, os.urandom, coins=12)
    assert structure(one) == structure(two)
    assert (released(one) != released(two)).any()
    assert structure(one) != structure(other)


@pytest.mark.parametrize("release", [party_release, noised_counts])
def test_all_noise_of_a_party_comes_from_the_systems_bits(release, monkeypatch, tmp_path):
    with monkeypatch.context() as patches:  # compiled first, as above
        release(patches, Stream(0), tmp_path / "compiled")
    assert_noise_is_the_systems(lambda patches, stream: release(patches, stream, tmp_path), monkeypatch)


@pytest.mark.parametrize("channel", ["uniform", "gaussian", "laplace", "randomized", "mixed", "records", "sampled"])
def test_all_noise_of_answers_comes_from_a_key_of_the_systems_bits(channel, monkeypatch):
    # A key of 32 bytes, from which HMAC makes 64 bits an answer: as good as the key, and made to repeat.
    assert_noise_is_the_systems(answers_through(channel), monkeypatch, bytes_a_number=0)
    stream = Stream(5)
    answers_through(channel)(monkeypatch, stream)
    assert stream.n_bytes == 32


def no_bits(n):
    raise AssertionError("secret bits were asked for where nothing is left to hide")


@pytest.mark.parametrize(
    ("method", "channel"),
    [("reconstruction-tree", "laplace"), ("random-response-forest", "records"), ("sampled-forest", "sampled")],
)
def test_a_model_of_disturbed_answers_draws_no_secret_bits(method, channel, monkeypatch):
    channel = channels()[channel]
    answers = perturb(people(300), channel, Secret(), person="name")

    def fit():
        model = LOCAL_METHODS[method](channel=channel, random_state=3)
        labels = None if channel.record is not None and not channel.record.gives_label else answers["smoker"]
        return model.fit(answers.drop(columns="smoker", errors="ignore"), labels)

    fit()
    monkeypatch.setattr(os, "urandom", no_bits)
    assert fit().classes_.tolist() == ["no", "yes"]


def test_combining_what_parties_released_draws_no_secret_bits(monkeypatch, tmp_path):
    holders, agreed = partitioned.parties(tmp_path), partitioned.structure()
    sent = partitioned.released(holders, agreed)
    monkeypatch.setattr(os, "urandom", no_bits)
    assert HorizontalForest.combine(agreed, partitioned.roster_of(holders), sent).classes_.tolist() == [5, 9]


def test_no_file_draws_randomness_past_the_places_that_are_there_for_it():
    sources = {path.relative_to(SOURCES).as_posix(): path for path in SOURCES.rglob("*.py")}
    found = {name: offences(path.read_text(encoding="utf-8"), name) for name, path in sources.items()}
    assert len(found) > 100
    assert {name: drawn for name, drawn in found.items() if drawn} == {}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import random", "random"),
        ("from random import gauss", "random.gauss"),
        ("import numpy.random as r", "numpy.random"),
        ("from numpy.random import default_rng", "numpy.random.default_rng"),
        ("from os import urandom", "os.urandom"),
        ("import numpy as np\nnoise = np.random.default_rng(3)", "np.random.default_rng"),
        ("import numpy as np\ndef f():\n    return np.random.laplace(0, 1)", "np.random.laplace"),
        ("def f(coins, x):\n    return x + coins.laplace(0.0, 2.0, x.shape)", ".laplace()"),
        ("def f(coins, x):\n    return coins.standard_normal()", ".standard_normal()"),
        ("from scipy import stats\nx = stats.laplace.rvs(size=3)", ".rvs()"),
        ("import secrets", "secrets"),
        ("import os\nbits = os.urandom(4)", "os.urandom"),
    ],
)
def test_the_scan_sees_what_it_is_there_to_see(source, name):
    assert name in offences(source, "central/private_rdt.py")


def test_the_scan_lets_types_of_public_coins_pass():
    source = "import numpy as np\ndef draw(coins: np.random.Generator | None = None) -> np.random.Generator: ..."
    assert offences(source, "tree/random_structure.py") == set()


# Planted faults: each claims all that the honest method claims.


def with_float_noise(exact, *, epsilon, sensitivity, what, noise):
    _, receipt = discrete_laplace(np.asarray(exact)[:1], epsilon=epsilon, sensitivity=sensitivity, what=what)
    return exact + np.rint(FLOATS.laplace(0.0, sensitivity / epsilon, exact.shape)).astype(np.int64), receipt


FLOATS = np.random.default_rng(7)


class ClaimsToBeSecure(SeededNoise):
    """A seeded generator that says it is none."""

    secure = True

    def __init__(self, seed):
        self._generator = np.random.Generator(np.random.PCG64(seed))


class SeededInSecret(PrivateRDTClassifier):
    """Draws its noise from a seed, whatever the system's bits are."""

    def _noise(self, coins, reservation, *, stream=0):
        return ClaimsToBeSecure(7)


class Stretched(PrivateRDTClassifier):
    """Draws 16 bytes from the system and stretches them."""

    def _noise(self, coins, reservation, *, stream=0):
        return ClaimsToBeSecure(int.from_bytes(os.urandom(16)))


class UsesCoins(PrivateRDTClassifier):
    """Takes its noise from the coins that draw the public structure."""

    def _noise(self, coins, reservation, *, stream=0):
        coins.laplace(0.0, 1.0)


class MakesItsOwn(PrivateRDTClassifier):
    """Makes a generator of its own."""

    def _noise(self, coins, reservation, *, stream=0):
        return SeededNoise(None)


@pytest.mark.parametrize(
    ("estimator", "seen"),
    [
        (SeededInSecret, "does not come from the system's bits"),
        (Stretched, "stretched from fewer bits"),
        (UsesCoins, "public coins were asked for laplace"),
        (MakesItsOwn, "neither public nor the system's"),
    ],
)
def test_a_planted_generator_is_caught(estimator, seen, monkeypatch):
    fitted("private-rdt", monkeypatch, os.urandom)
    with pytest.raises(AssertionError, match=seen):
        assert_noise_is_the_systems(fit_of("private-rdt", estimator), monkeypatch)


def test_planted_float_noise_is_caught_though_its_receipt_is_the_honest_one(monkeypatch):
    fitted("private-rdt", monkeypatch, os.urandom)
    monkeypatch.setattr(leaf_counts, "discrete_laplace", with_float_noise)
    model = PrivateRDTClassifier(fitted("private-rdt", monkeypatch, os.urandom).schema, epsilon=0.5).fit(*ROWS)
    assert model.guarantee_.mode == "sound"  # it would pass as honest
    with pytest.raises(AssertionError, match="something besides the system's bits"):
        assert_noise_is_the_systems(fit_of("private-rdt"), monkeypatch)


def test_a_fit_does_without_seeds_and_never_without_the_system(monkeypatch):
    def broken(n):
        raise OSError(5, "Input/output error")

    fitted("private-rdt", monkeypatch, os.urandom)
    with pytest.raises(EntropyError):
        fitted("private-rdt", monkeypatch, broken)
