"""Section 6: Local asks for considerably more computation than ByClass.

Seconds are the processor's, so that other work on the machine does not count.
"""

from collections.abc import Iterator
from time import process_time

from papers.agrawal2000.accuracy import FUNCTIONS, STRATEGIES, TRAINING_ROWS
from papers.agrawal2000.people import NOISES, People, channel, disturbed, people
from papers.experiment import Experiment, Scale
from papers.workers import Cell
from privet import Channel, ReconstructionTreeClassifier

_PRIVACY = 1.0
_WARM_UP_ROWS = 2_000


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every function under both noises, or the first and the last."""
    for function in FUNCTIONS if scale == "full" else (FUNCTIONS[0], FUNCTIONS[-1]):
        for noise in NOISES:
            yield function, TRAINING_ROWS, noise, _PRIVACY


def measure(function: int, rows: int, noise: str, privacy: float) -> list[tuple[float, ...]]:
    """Return the seconds of ByClass and of Local on the same table."""
    through = channel(noise, privacy)
    warm_up, table = (_answers(n_rows, function, through) for n_rows in (_WARM_UP_ROWS, rows))
    return [tuple(_seconds(STRATEGIES[name], through, warm_up, table) for name in ("ByClass", "Local"))]


def _answers(n_rows: int, function: int, through: Channel) -> People:
    train = people(n_rows, function, seed=function)
    return People(disturbed(train.X, through), train.y)


def _seconds(strategy: str, through: Channel, warm_up: People, table: People) -> float:
    """Return how long a fit takes; one before it compiles what is not yet compiled."""
    model = ReconstructionTreeClassifier(channel=through, strategy=strategy, cautious=False, random_state=0, n_jobs=1)
    model.fit(*warm_up)
    start = process_time()
    model.fit(*table)
    return round(process_time() - start, 3)


EFFORT = Experiment("effort", ("function", "rows", "noise", "privacy"), ("by_class", "local"), cells, measure)
