"""How often something may be tried: token buckets in memory, whose keys are hashes that differ at every start."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable

from privet.entropy import secure_bytes
from privet.service.requests import Refusal


class RateLimit:
    """At most ``burst`` tries at once and ``per_minute`` in the long run, for each key.

    Keys are kept as keyed hashes, at most ``most`` of them, and forgotten oldest first.
    """

    def __init__(
        self, per_minute: float, burst: int, *, most: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._most, self._clock = per_minute / 60, burst, most, clock
        self._salt = secure_bytes(32)
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, key: str = "") -> None:
        """Count one try, or raise a Refusal where there were too many."""
        name = hashlib.blake2b(key.encode(), key=self._salt, digest_size=16).digest()
        now = self._clock()
        left, since = self._left.pop(name, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) * self._rate)
        self._left[name] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if left < 1:
            wait = int((1 - left) / self._rate) + 1
            raise Refusal(429, "rate_limited", f"too many tries; wait {wait} seconds", wait)
