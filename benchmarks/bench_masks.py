"""Secure sum: what it costs one of ten parties with a million counters.

Masks are those of the protocol: a fresh X25519 key, the agreement with nine others, and nine ChaCha20 streams of a
million 64-bit numbers. The message is those numbers in text, signed. The share of noise is drawn once, before any
attempt.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from benchmarks import harness
from privet.partitioned.keys import PrivateKey
from privet.partitioned.masks import AgreementKey, Words
from privet.partitioned.sum_messages import mask, masked_message
from privet.privacy.mechanisms.noise_shares import noise_share

_N_COUNTERS, _N_PARTIES = 1_000_000, 10
_BAR = 0.2
_REPEATS = 5


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    names = [f"party{i}" for i in range(_N_PARTIES)]
    # Masks ask the terms for the names and the hash only.
    terms = cast("Any", SimpleNamespace(roster=SimpleNamespace(names=names), hash="0" * 64))
    keys = {name: AgreementKey.generate().public for name in names}
    counts = np.arange(_N_COUNTERS, dtype=np.uint64)
    own = PrivateKey.generate(names[4])

    def masked() -> Words:
        fresh = AgreementKey.generate()
        return mask(counts, fresh, own.name, terms, 1, keys | {own.name: fresh.public})

    vector = masked()
    return [
        _bar("masks of 1e6 counters, 10 parties", masked, _BAR),
        _bar("their message, signed", lambda: masked_message(own, terms, 1, keys, vector), None),
        *(_bar(f"1e6 noise shares of scale {scale}", _shares(scale), None) for scale in (10, 100, 1000)),
    ]


def _shares(scale: int) -> Callable[[], object]:
    zeros = np.zeros(_N_COUNTERS, dtype=np.int64)
    return lambda: noise_share(zeros, epsilon=1.0, sensitivity=scale, honest=_N_PARTIES - 1, parties=_N_PARTIES)


def _bar(name: str, work: Callable[[], object], target: float | None) -> harness.Bar:
    work()
    seconds = min(harness.cpu_seconds(work) for _ in range(_REPEATS))
    return harness.Bar(name, seconds, target, unit="s", at_least=False, ours=harness.seconds(seconds))


if __name__ == "__main__":
    harness.main(measure, __doc__)
