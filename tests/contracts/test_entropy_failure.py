"""Where the system's generator fails, at whichever draw, so does the release: no model, no file, no other source."""

import os
from itertools import count

import numpy as np
import pytest
from typer.testing import CliRunner

from privet import Ledger
from privet.cli.app import app
from privet.datasets import agrawal
from privet.errors import EntropyError
from privet.local import Secret, perturb
from privet.partitioned import Party, PrivateKey, Structure
from privet.partitioned.secure_sum.masks import AgreementKey
from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.registry import METHODS
from tests.contracts.tasks import data_for
from tests.local.people import channels, people
from tests.partitioned.sums import parties_of, prepare, structure_of, table_of, terms_of

DATA = agrawal(300, random_state=5)
SENTENCE = "secure generator gave no random bytes, or too few"
ZEROS = np.zeros(70_000, dtype=np.int64)
MECHANISMS = {
    "laplace": lambda: discrete_laplace(ZEROS, epsilon=0.5, sensitivity=1),
    "gaussian": lambda: discrete_gaussian(ZEROS, rho=0.5, sensitivity_squared=1),
    "shares": lambda: noise_share(ZEROS, epsilon=0.5, sensitivity=1, honest=2, parties=3),
    "selection": lambda: permute_and_flip(np.arange(5), epsilon=0.5, sensitivity=1),
}


class FailsAt:
    """``os.urandom`` that works ``n_before`` times and then gives a byte too few, or raises."""

    def __init__(self, n_before, how, real):
        self.left, self.how, self.real = n_before, how, real

    def __call__(self, n):
        self.left -= 1
        if self.left >= 0:
            return self.real(n)
        if self.how == "raises":
            raise OSError(1, "Operation not permitted")
        return self.real(n)[: max(0, n - 1)]


@pytest.fixture(scope="module", autouse=True)
def compiled_beforehand(tmp_path_factory):
    """Run everything once: numba's cache draws the names of its files with ``os.urandom`` too."""
    for release in MECHANISMS.values():
        release()
    for name in METHODS:
        data = data_for(name, DATA)
        small(name).fit(data.X, data.y)
    for name in ("laplace", "randomized"):
        perturb(people(20), channels()[name], Secret(), person="name")
    prepare({"bank": parties_of(terms_of(), tmp_path_factory.mktemp("compiled"))["bank"]})


@pytest.fixture(params=["raises", "short"])
def fails_at(request, monkeypatch):
    """Return a function that lets the generator fail at its n-th call, counted from 0."""
    real = os.urandom

    def install(n):
        source = FailsAt(n, request.param, real)
        monkeypatch.setattr(os, "urandom", source)
        return source

    return install


def at_every_draw(fails_at, release, check):
    """Let ``release`` fail at its first draw, its second, and so on, until there is none left to fail at."""
    for n in count():
        source = fails_at(n)
        try:
            release()
        except EntropyError:
            # One failure, and no second try that might have found other bits.
            assert source.left == -1
            check(n)
        else:
            return n
    return None


def small(name, **options):
    model = METHODS[name](data_for(name, DATA).schema, epsilon=0.1, n_jobs=1, **options)
    few = {"n_trees": 2, "height": 2}
    return model.set_params(**{key: value for key, value in few.items() if key in model.get_params()})


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_whose_bits_end_returns_nothing(mechanism, fails_at):
    n_draws = at_every_draw(fails_at, MECHANISMS[mechanism], lambda n: None)
    assert n_draws >= (1 if mechanism == "selection" else 3)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_fit_whose_bits_end_at_any_draw_leaves_no_model_and_counts_as_spent_once_noise_was_asked_for(
    name, fails_at, tmp_path
):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1_000.0)

    def check(n):
        assert not hasattr(model(), "guarantee_")
        states = [spending.state for spending in ledger.account().spendings]
        # The first draw is that of the public structure, before anything is reserved.
        assert states == ["reserved"] * n
        assert ledger.spent == pytest.approx(0.1 * n)

    made, data = [], data_for(name, DATA)

    def model():
        return made[-1]

    def fit():
        made.append(small(name, ledger=ledger))
        made[-1].fit(data.X, data.y)

    n_draws = at_every_draw(fails_at, fit, check)
    assert n_draws >= 2
    assert model().guarantee_.mode == "sound"


@pytest.mark.parametrize("name", [name for name in sorted(METHODS) if hasattr(METHODS[name], "partial_fit")])
def test_an_update_whose_bits_end_leaves_the_model_as_it_was(name, fails_at):
    data = data_for(name, DATA)
    model = small(name, random_state=3).fit(data.X, data.y)
    before = model.to_document()

    def check(n):
        assert model.to_document() == before

    assert at_every_draw(fails_at, lambda: model.partial_fit(data.X, data.y), check) >= 1


@pytest.mark.parametrize("name", ["laplace", "randomized", "sampled"])
def test_no_secret_and_no_answer_come_without_bits(name, fails_at):
    channel = channels()[name]

    def answer():
        return perturb(people(20), channel, Secret(), person="name")

    assert at_every_draw(fails_at, answer, lambda n: None) == 1


def test_a_secret_that_cannot_be_drawn_leaves_no_file(fails_at, tmp_path):
    def check(n):
        assert list(tmp_path.iterdir()) == []

    assert at_every_draw(fails_at, lambda: Secret(tmp_path / "own.secret"), check) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["own.secret"]


@pytest.mark.parametrize("generate", [lambda: PrivateKey.generate("bank"), AgreementKey.generate])
def test_no_key_comes_without_bits(generate, fails_at):
    assert at_every_draw(fails_at, generate, lambda n: None) == 1


def test_a_party_whose_bits_end_releases_and_stores_nothing(fails_at, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="rows", epsilon=1_000.0)
    key, structure, data = PrivateKey.generate("bank"), structure_of(), table_of("bank")
    store = tmp_path / "store"

    def check(n):
        assert not store.exists() or list(store.iterdir()) == []
        assert "settled" not in [spending.state for spending in ledger.account().spendings]

    def release():
        # Each failure after the first secret bit counts as spent, so the party says that it pays again.
        return Party(key, store=store, ledger=ledger).release(structure, data.X, data.y, again=True)

    assert at_every_draw(fails_at, release, check) >= 2


def test_a_party_of_a_secure_sum_whose_bits_end_keeps_no_noised_counts_and_sends_no_key(fails_at, tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]

    def check(n):
        assert not party.prepared

    assert at_every_draw(fails_at, lambda: prepare({"bank": party}), check) >= 2
    assert at_every_draw(fails_at, lambda: party.key_message(1), lambda n: None) >= 2


def test_no_structure_is_drawn_and_no_ledger_is_made_without_bits(fails_at, tmp_path):
    def check(n):
        assert list(tmp_path.iterdir()) == []

    draw = {"epsilon": 1.0, "n_trees": 2, "height": 2}
    assert at_every_draw(fails_at, lambda: Structure.draw(DATA.schema, **draw), check) == 2
    assert at_every_draw(fails_at, lambda: Ledger(tmp_path / "ledger.db", dataset="rows", epsilon=1.0), check) == 2


def test_the_command_says_it_in_a_sentence_and_writes_nothing(fails_at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.X.assign(**{DATA.schema.target: DATA.y}).to_csv("rows.csv", index=False)
    DATA.schema.save("schema.json")
    before = set(tmp_path.iterdir())
    for n in range(20):
        fails_at(n)
        result = CliRunner().invoke(app, "fit rows.csv --schema schema.json --method private-rdt --output m.privet")
        if result.exit_code == 0:
            break
        assert result.exit_code == 3
        assert result.stderr.strip().splitlines()[-1].startswith(f"privet: the operating system's {SENTENCE}")
        assert result.stdout == ""
        assert set(tmp_path.iterdir()) == before
    assert 2 <= n < 19
