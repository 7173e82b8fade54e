"""Draws that depend on a name alone: a quick test passes every time or never.

Slow tests are statistics with fresh draws, and so is whatever a process draws that a test starts.
"""

import functools
import os
import zlib
from contextlib import contextmanager

import numpy as np

SYSTEM = os.urandom


class Draws:
    """Stands for ``os`` where privet draws: bytes of a name's own, or the system's."""

    def __init__(self):
        self.generator, self.process = None, None

    def urandom(self, n):
        # A test that puts a source of its own in the system's place gets it.
        seeded = self.generator is not None and self.process == os.getpid() and os.urandom is SYSTEM
        return self.generator.bytes(n) if seeded else os.urandom(n)

    @contextmanager
    def of(self, name):
        """Draw what belongs to ``name`` for a while; the system's bytes without one."""
        before = self.generator, self.process
        self.generator = None if name is None else np.random.default_rng(zlib.crc32(name.encode()))
        self.process = os.getpid()
        try:
            yield
        finally:
            self.generator, self.process = before


DRAWS = Draws()


def cached(function):
    """Like `functools.cache`, and whichever test asks first, the draws are the same."""

    @functools.cache
    @functools.wraps(function)
    def called(*arguments, **options):
        with DRAWS.of(f"{function.__module__}.{function.__qualname__}{arguments}{options}"):
            return function(*arguments, **options)

    return called
