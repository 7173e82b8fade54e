"""The two kinds of randomness, and the one place where they are kept apart.

The *public generator* draws tree structures. It may be seeded, since the structure is published anyway.
*Noise* protects people. It comes from the operating system's secure generator and cannot be seeded, unless the caller
writes ``unsafe_seeded_noise=True``; the model then claims no privacy.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_whole
from privet.entropy import secure_bytes
from privet.errors import ParameterError


class NoiseSource(Protocol):
    """An endless stream of uniform 32-bit words; ``secure`` says whether a promise may rest on it."""

    secure: bool

    def words(self, n: int) -> NDArray[np.uint32]:
        """Return the next ``n`` words."""
        ...


class SystemNoise:
    """Words from ``os.urandom``: no seed, no state that could be copied or saved."""

    secure = True

    def words(self, n: int) -> NDArray[np.uint32]:
        """Return the next ``n`` words."""
        return np.frombuffer(secure_bytes(4 * n), dtype=np.uint32)


class SeededNoise:
    """Reproducible words for tests and figures. A model that used them claims nothing."""

    secure = False

    def __init__(self, seed: int | np.random.Generator | None) -> None:
        self._generator = np.random.default_rng(seed)

    def words(self, n: int) -> NDArray[np.uint32]:
        """Return the next ``n`` words."""
        return self._generator.integers(0, 2**32, size=n, dtype=np.uint32)


def public_generator(random_state: int | np.random.Generator | np.random.RandomState | None) -> np.random.Generator:
    """Return the public generator that ``random_state`` stands for."""
    if random_state is None:
        return np.random.default_rng(int.from_bytes(secure_bytes(16)))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    if is_whole(random_state) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ParameterError(
        f"random_state={random_state!r} is not a seed; pass a whole number >= 0, a numpy Generator, or None"
    )


def noise_source(public_rng: np.random.Generator, *, unsafe_seeded_noise: bool, stream: int = 0) -> NoiseSource:
    """Return the system's noise, or the seed's own ``stream`` where the caller gave up privacy."""
    return SeededNoise(public_rng.spawn(stream + 1)[stream]) if unsafe_seeded_noise else SystemNoise()
