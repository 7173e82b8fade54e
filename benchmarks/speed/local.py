"""Fitting from disturbed records: reconstruction trees against scikit-learn's DecisionTree on the clear rows.

The table is that of agrawal2000: 100,000 rows of nine attributes, all disturbed by uniform noise, or normal noise, at
100 % privacy. Ours is timed end to end: reconstruction, cells, growing, pruning. scikit-learn sees the values that
nobody gave away, as float32, which is what it computes in; it is not private. Function 1 is what suits it best: its
tree is done after two cuts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from benchmarks.speed import harness
from privet import Numeric, Schema
from privet.datasets import agrawal
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.channel import Channel
from privet.local.channels.distributions import Gaussian, NoiseDistribution, Uniform
from privet.local.reconstruction.reconstruction_tree import ReconstructionTreeClassifier

N_ROWS, PRIVACY = 100_000, 1.0
# One cell for each value of what is whole numbers.
_WHOLE = {
    "elevel": Numeric("elevel", -0.5, 4.5, bins=5),
    "car": Numeric("car", 0.5, 20.5, bins=20),
    "zipcode": Numeric("zipcode", 0.5, 9.5, bins=9),
}
# Local may take three times as long.
_TARGETS = {"by_class": 1.0, "local": 1 / 3}


def numbers_only(schema: Schema) -> Schema:
    """Return the schema with whole numbers in place of its categories."""
    return schema.with_attributes(_WHOLE.get(a.name, a) for a in schema.attributes)


def noisy_channel(schema: Schema, noise: type[NoiseDistribution], privacy: float) -> Channel:
    """Return the channel that disturbs every attribute."""
    numbers = [a for a in schema.attributes if isinstance(a, Numeric)]
    return Channel.of(schema, [AddedNoise(a, noise.of_width(privacy * (a.high - a.low), 0.95)) for a in numbers])


def answers(X: NDArray[np.float64], channel: Channel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the disturbed table, by a seed's bits instead of people's secrets, which take longer."""
    columns = [column for column in channel.columns if isinstance(column, AddedNoise)]
    words = rng.integers(0, 2**64, X.shape, dtype=np.uint64)
    return np.stack([c.answer_for(c.codes(X[:, j]), words[:, j]) for j, c in enumerate(columns)], axis=1)


def measure(options: harness.Options) -> list[harness.Bar]:
    bars = []
    for function in (2,) if options.quick else (1, 2, 5):
        data = agrawal(N_ROWS, function=function, balanced=True, random_state=7)
        X, schema = data.X.to_numpy(np.float64), numbers_only(data.schema)
        for noise in (Gaussian, Uniform):
            channel = noisy_channel(schema, noise, PRIVACY)
            disturbed = answers(X, channel, np.random.default_rng(7))
            for strategy in _TARGETS:
                model = ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=7, n_jobs=1)
                name = f"fit {N_ROWS:,} rows, function {function}, {noise.name}, {strategy}, DecisionTree"
                bars.append(_against(name, model, disturbed, X.astype(np.float32), data.y, _TARGETS[strategy]))
    return bars


def _against(
    name: str, mine: Any, disturbed: NDArray[np.float64], clear: NDArray[np.float32], y: NDArray[Any], target: float
) -> harness.Bar:
    theirs = DecisionTreeClassifier(random_state=7)
    mine.fit(disturbed, y)
    theirs.fit(clear[:2_000], y[:2_000])
    times = harness.side_by_side(lambda: mine.fit(disturbed, y), lambda: theirs.fit(clear, y), repeats=3)
    return harness.faster(name, times, target)


if __name__ == "__main__":
    harness.main(measure, __doc__)
