"""Fig. 1: the binary anonymity of a pair over theta, by how frequent its two values are."""

from collections.abc import Iterator

from papers.experiment import Experiment, Scale
from papers.workers import Cell
from privet.local.measures.anonymity import pair_anonymity

# The shares of the more frequent value: the solid, dashed and dotted lines of the paper, and one without a partner.
PAIRS, ALONE = (0.5, 0.8, 0.95), 1.0
_STEPS = 100


def cells(_scale: Scale) -> Iterator[Cell]:
    """Yield every pair."""
    for frequent in (*PAIRS, ALONE):
        yield (frequent,)


def measure(frequent: float) -> list[tuple[float, float]]:
    """Return theta and the pair's anonymity, by equation 3."""
    thetas = [step / _STEPS for step in range(_STEPS + 1)]
    anonymities = (abs(float(pair_anonymity(frequent, 1 - frequent, theta))) for theta in thetas)
    return [(theta, round(anonymity, 4)) for theta, anonymity in zip(thetas, anonymities, strict=True)]


ANONYMITY = Experiment("anonymity", ("frequent",), ("theta", "anonymity"), cells, measure)
