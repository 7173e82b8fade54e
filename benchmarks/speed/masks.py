"""Secure sum: what it costs one of ten parties with a million counters.

Masks are those of the protocol: a fresh X25519 key, the agreement with nine others, and nine ChaCha20 streams of a
million 64-bit numbers. The message is those numbers in text, signed. The share of noise is drawn once, before any
attempt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.speed import harness
from privet.partitioned.secure_sum.masks import AgreementKey, Words
from privet.partitioned.secure_sum.messages import mask, masked_message
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.signing.keys import PrivateKey

N_COUNTERS, N_PARTIES = 1_000_000, 10
_BAR = 0.2
_REPEATS = 5


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    round_ = Round.of(N_PARTIES, N_COUNTERS)
    vector = round_.masked()
    return [
        _bar("masks of 1e6 counters, 10 parties", round_.masked, _BAR),
        _bar("their message, signed", lambda: round_.message(vector), None),
        *(_bar(f"1e6 noise shares of scale {scale}", _shares(scale), None) for scale in (10, 100, 1000)),
    ]


@dataclass(frozen=True)
class Round:
    """One party among others, as far as its masks go: they ask the terms for the names and the hash only."""

    own: PrivateKey
    terms: Any
    keys: dict[str, str]
    counts: Words

    @classmethod
    def of(cls, n_parties: int, n_counters: int) -> "Round":
        """Return a round of so many parties and counters, seen by the first party."""
        names = [f"party{i}" for i in range(n_parties)]
        terms = SimpleNamespace(roster=SimpleNamespace(names=names), hash="0" * 64)
        keys = {name: AgreementKey.generate().public for name in names}
        return cls(PrivateKey.generate(names[0]), terms, keys, np.arange(n_counters, dtype=np.uint64))

    def masked(self) -> Words:
        """Return the counts under the masks of a fresh key."""
        fresh = AgreementKey.generate()
        return mask(self.counts, fresh, self.own.name, self.terms, 1, self.keys | {self.own.name: fresh.public})

    def message(self, vector: Words) -> object:
        """Return the signed message of a masked vector."""
        return masked_message(self.own, self.terms, 1, self.keys, vector)


def _shares(scale: int) -> Callable[[], object]:
    zeros = np.zeros(N_COUNTERS, dtype=np.int64)
    return lambda: noise_share(zeros, epsilon=1.0, sensitivity=scale, honest=N_PARTIES - 1, parties=N_PARTIES)


def _bar(name: str, work: Callable[[], object], target: float | None) -> harness.Bar:
    work()
    seconds = min(harness.cpu_seconds(work) for _ in range(_REPEATS))
    return harness.Bar(name, seconds, target, unit="s", at_least=False, ours=harness.seconds(seconds))


if __name__ == "__main__":
    harness.main(measure, __doc__)
