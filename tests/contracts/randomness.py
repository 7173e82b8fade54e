"""Everything that is released with noise, and spies on where its randomness comes from."""

import ast
import os
from importlib import import_module
from pathlib import Path

import numpy as np

from privet.local import Secret, perturb
from privet.partitioned import Party, PrivateKey
from privet.registry import METHODS
from tests.contracts.tasks import labels_for, schema_for
from tests.contracts.test_every_method import CASES, DECLARED, released, rows_and_classes, structure
from tests.local.people import channels, people
from tests.partitioned.sums import parties_of, structure_of, table_of, terms_of

SOURCES = Path(__file__).parents[2] / "src" / "privet"
ROWS = rows_and_classes(200)
PEOPLE = people(60)
BANK, STRUCTURE, TERMS = table_of("bank"), structure_of(), terms_of()
# What public coins may be asked for: uniform numbers, and orders. Every other law would be noise in floating point.
COINS = {"bit_generator", "choice", "integers", "permutation", "permuted", "random", "shuffle", "spawn"}


class Stream:
    """Stands for ``os.urandom``: the same bytes for the same seed, and how many were asked for."""

    def __init__(self, seed):
        self._generator, self.n_bytes = np.random.Generator(np.random.PCG64(seed)), 0

    def __call__(self, n):
        self.n_bytes += n
        return self._generator.bytes(n)


class PublicCoins(np.random.Generator):
    """Coins for a public structure; asked for anything else, they say so."""

    def __getattribute__(self, name):
        if not name.startswith("_") and name not in COINS:
            raise AssertionError(f"public coins were asked for {name}")
        return super().__getattribute__(name)

    def spawn(self, n):
        return [PublicCoins(child) for child in self.bit_generator.spawn(n)]


def forbid_other_generators(monkeypatch):
    """Let every generator but public coins and ``os.urandom`` raise."""

    def forbidden(*args, **kwargs):
        raise AssertionError("randomness came from a generator that is neither public nor the system's")

    monkeypatch.setattr(np.random, "default_rng", forbidden)
    for module in (np.random, import_module("random")):
        for name in ("random", "normal", "laplace", "exponential", "uniform", "randint", "gauss", "choice", "shuffle"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, forbidden)


def fitted(name, monkeypatch, stream, estimator=None, coins=3):
    """Fit one of `CASES` on the bits of ``stream``, and return the model."""
    monkeypatch.setattr(os, "urandom", stream)
    method, options = CASES[name]
    estimator = estimator or METHODS[method]
    schema, (X, y) = schema_for(method, DECLARED), ROWS
    unfitted = estimator(schema, epsilon=0.5, n_jobs=1, random_state=PublicCoins(np.random.PCG64(coins)), **options)
    return unfitted.fit(X, labels_for(method, DECLARED, y))


def fit_of(name, estimator=None):
    """Return a release for `assert_noise_is_the_systems`: the numbers of a fit, its structure with them."""

    def release(monkeypatch, stream):
        model = fitted(name, monkeypatch, stream, estimator)
        return released(model), repr(structure(model))

    return release


def party_release(monkeypatch, stream, folder):
    """One party's release of leaf counts."""
    key = PrivateKey("bank", b"k" * 32)
    monkeypatch.setattr(os, "urandom", stream)
    holder = Party(key, store=folder / f"release{id(stream)}", n_jobs=1)
    release = holder.release(STRUCTURE, BANK.X, BANK.y)
    return np.array(release.document["counts"]).ravel(), ""


def noised_counts(monkeypatch, stream, folder):
    """What a party of a secure sum keeps: its counts with its share of the noise."""
    party = parties_of(TERMS, folder / f"sum{id(stream)}")["bank"]
    monkeypatch.setattr(os, "urandom", stream)
    party.prepare(BANK.X, BANK.y)
    return party._noised(), ""


def answers_through(channel):
    """Return a release: what people answer, all columns one after the other."""

    def release(monkeypatch, stream):
        monkeypatch.setattr(os, "urandom", stream)
        table = perturb(PEOPLE, channels()[channel], Secret(), person="name")
        return np.array([repr(value) for value in table.to_numpy().ravel()]), ""

    return release


def assert_noise_is_the_systems(release, monkeypatch, *, bytes_a_number=2):
    """The same system's bits give the same numbers, other bits give others, and there are enough bits for them all."""
    with monkeypatch.context() as patches:
        forbid_other_generators(patches)
        streams = [Stream(1), Stream(1), Stream(2)]
        (one, shape), (again, _), (other, _) = (release(patches, stream) for stream in streams)
    assert np.array_equal(one, again), "something besides the system's bits has a part in the noise"
    assert len(one) != len(other) or (one != other).any(), "the noise does not come from the system's bits"
    assert streams[0].n_bytes >= bytes_a_number * len(one), "the noise was stretched from fewer bits than it needs"
    return shape


def offences(source, name):
    """Return what a file of the library does that only the files named in `ALLOWED` may do."""
    found = set()
    tree = ast.parse(source)
    annotations = {id(part) for node in ast.walk(tree) for part in ast.walk(_annotation(node))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if _is_random(alias.name, "")}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names if _is_random(node.module, alias.name)}
        elif isinstance(node, ast.Attribute) and id(node) not in annotations:
            if ast.unparse(node.value) in ("np.random", "numpy.random") or node.attr in ("urandom", "getrandom"):
                found.add(ast.unparse(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FLOAT_LAWS:
            found.add(f".{node.func.attr}()")
    return found - ALLOWED.get(name, set())


_MODULES = {"random", "secrets", "uuid"}
_FLOAT_LAWS = {
    "exponential", "gamma", "gauss", "geometric", "gumbel", "laplace", "lognormvariate", "normal", "normalvariate",
    "rvs", "standard_exponential", "standard_normal",
}  # fmt: skip
# Types of public coins, and where they are made.
_TYPES = {"np.random.Generator", "np.random.RandomState"}
ALLOWED = {
    "entropy.py": {"os.urandom"},
    "rng.py": {"np.random.default_rng", *_TYPES},
}


def _is_random(module, name):
    return module.partition(".")[0] in _MODULES or module.startswith("numpy.random") or name in ("urandom", "getrandom")


def _annotation(node):
    return getattr(node, "annotation", None) or getattr(node, "returns", None) or ast.Pass()
