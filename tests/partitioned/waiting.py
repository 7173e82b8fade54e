"""Waits for a party that never comes, which end when all others are there and not after so many seconds."""

import time

from privet.partitioned import NewtonRound
from privet.partitioned.transports.directory import Directory

# Seconds; even a busy machine needs a part of them only.
ENOUGH = 600.0


def no_wait_in_the_second_round(patch, *names):
    """Let nobody wait in the second round for any but ``names``; for these, as long as it takes."""
    made, collect = Directory.__init__, Directory.collect

    def make(self, folder, terms, *given, **options):
        made(self, folder, terms, *given, **options)
        self.is_second = isinstance(terms.structure, NewtonRound)

    def collect_of_those(self, kind, *given, **options):
        if self.is_second:
            end = time.monotonic() + ENOUGH
            while not set(names) <= set(self.present(kind)):
                assert time.monotonic() < end
                time.sleep(0.01)
            self._timeout = 0.05
        return collect(self, kind, *given, **options)

    patch.setattr(Directory, "__init__", make)
    patch.setattr(Directory, "collect", collect_of_those)
