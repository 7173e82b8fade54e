"""Fitting a random response forest on Adult's coded bits against scikit-learn's RandomForest on the same bits.

Both grow 100 trees on one thread and split the same nodes: of at least 50 rows, into children of at least 5. Ours is
timed end to end, with encoding and the out-of-bag error, on records as they are and on records of which a fifth is
flipped: there it carries every row and its mirror image. Scikit-learn gets float32, which is what it computes in, and
the records as they are. Answers drawn attribute by attribute are timed beside it, with no bar. With ``--full`` all
training rows of Census-Income too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.speed import harness
from privet.datasets.dataset import Dataset
from privet.datasets.uci import uci
from privet.errors import DatasetUnavailable
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.channels.randomized_response import RandomizedResponse
from privet.local.channels.record_complement import Complement
from privet.local.response_forest.random_response_forest import RandomResponseForestClassifier
from privet.schema.encoding import Encoder

N_TREES, MIN_ROWS, MIN_LEAF = 100, 50, 5
# UCI's training rows come first.
N_ADULT, N_CENSUS = 32_561, 199_523


def ours(channel: Channel, n_trees: int = N_TREES) -> Any:
    return RandomResponseForestClassifier(
        channel=channel, n_trees=n_trees, min_rows=MIN_ROWS, min_leaf=MIN_LEAF, n_jobs=1, random_state=7
    )


def theirs() -> Any:
    return RandomForestClassifier(
        N_TREES, min_samples_split=MIN_ROWS, min_samples_leaf=MIN_LEAF, n_jobs=1, random_state=7
    )


def coded(data: Dataset, n_rows: int) -> tuple[Coding, NDArray[np.uint8], NDArray[np.str_]]:
    X = data.X.iloc[:n_rows]
    coding = Coding.from_rows(X, data.schema)
    return coding, coding.bits(Encoder(coding.schema).encode(X)), data.y[:n_rows]


def disguised(bits: NDArray[np.uint8], keep: float) -> NDArray[np.uint8]:
    return bits ^ (np.random.default_rng(7).random((len(bits), 1)) >= keep)


def through(coding: Coding, keep: float) -> Channel:
    return Channel.of(coding.schema, [], record=Complement(coding, keep))


def measure(options: harness.Options) -> list[harness.Bar]:
    name = f"fit {N_TREES} trees on Adult's bits, RandomForest"
    try:
        adult = uci("adult")
    except DatasetUnavailable as error:
        return [harness.not_run(name, 1 / 3, str(error))]
    coding, bits, y = coded(adult, N_ADULT)
    bars = [
        _against(f"{name}, theta {keep:g}", coding, bits, y, keep=keep, repeats=1 if options.quick else 3)
        for keep in (1.0, 0.8)
    ]
    return [*bars, _answered(adult), *(_census() if options.full else [])]


def _against(
    name: str, coding: Coding, bits: NDArray[np.uint8], y: NDArray[np.str_], *, keep: float, repeats: int
) -> harness.Bar:
    answers, floats = disguised(bits, keep), bits.astype(np.float32)
    mine, other = ours(through(coding, keep)), theirs()
    mine.fit(answers[:500], y[:500])
    times = harness.side_by_side(lambda: mine.fit(answers, y), lambda: other.fit(floats, y), repeats=repeats)
    return harness.faster(name, times, 1 / 3)


def _answered(adult: Dataset) -> harness.Bar:
    n_trees = 10
    X, y = adult.X.iloc[:N_ADULT], adult.y[:N_ADULT]
    answers = RandomizedResponse(adult.schema, keep=0.9, covers_missing=True).fit()
    table, model = answers.transform(X), ours(answers.channel_, n_trees)
    model.fit(table.iloc[:500], y[:500])
    seconds = harness.cpu_seconds(lambda: model.fit(table, y))
    name = f"fit {n_trees} trees on Adult, answers kept with chance 0.9"
    return harness.Bar(name, seconds, None, unit="s", ours=harness.seconds(seconds))


def _census() -> list[harness.Bar]:
    coding, bits, y = coded(uci("census-income-kdd"), N_CENSUS)
    bars = []
    for keep in (1.0, 0.8):
        answers, model = disguised(bits, keep), ours(through(coding, keep))
        seconds = harness.cpu_seconds(lambda model=model, answers=answers: model.fit(answers, y))  # type: ignore[misc]
        name = f"fit {N_TREES} trees on Census-Income, {coding.n_bits} bits, theta {keep:g}"
        bars.append(harness.Bar(name, seconds, None, unit="s", ours=harness.seconds(seconds)))
    return bars


if __name__ == "__main__":
    harness.main(measure, __doc__)
