"""How many records have a mirror image among the others: without one, nothing is deniable."""

import numpy as np

from papers.experiment import Experiment
from papers.szucs2013.coding import cells
from papers.szucs2013.split import split


def measure(table: str) -> list[tuple[int, int, int]]:
    """Return the training records, how many different ones there are, and how many have a mirror image among them."""
    rows = split(table)
    bits = rows.bits(rows.train)
    seen = {record.tobytes() for record in np.packbits(bits, axis=1)}
    mirrored = sum(mirror.tobytes() in seen for mirror in np.packbits(1 - bits, axis=1))
    return [(len(bits), len(seen), mirrored)]


MIRRORS = Experiment("mirrors", ("table",), ("records", "different", "mirrored"), cells, measure)
