"""Fig. 2: plateau and triangles, disturbed and reconstructed."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from papers.experiment import Experiment, Scale
from papers.workers import Cell
from privet import Channel, GaussianNoise, Numeric, Schema, Secret, UniformNoise, perturb, reconstruct

Floats = NDArray[np.float64]
# The paper does not say how many values it drew.
SIZES = {"quick": (100_000,), "full": (100_000, 400_000)}
DRAWS = {"quick": 1, "full": 5}
SHAPES = ("plateau", "triangles")
WIDTH = 0.05
# As printed in the paper: noise of standard deviation 0.25, or uniform on [-0.5, 0.5].
SCALES = {"gaussian": 0.25, "uniform": 0.5}


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every shape under every noise, the first draw of all before the second of any."""
    for draw, size in product(range(DRAWS[scale]), SIZES[scale]):
        for shape, noise in product(SHAPES, SCALES):
            yield size, shape, noise, draw


def measure(values: int, shape: str, noise: str, draw: int) -> list[tuple[float, ...]]:
    """Return the lower border of every cell within which something was answered, and the shares in it."""
    clear = sample(shape, values, np.random.default_rng(draw))
    through = channel(noise)
    made = reconstruct(perturb(clear[:, None], through, Secret())[:, 0], through.columns[0])
    assert made.edges is not None
    assert made.observed_edges is not None
    middles, wide = made.edges[:-1] + WIDTH / 2, made.observed_edges
    shares = (
        np.histogram(clear, wide)[0] / values,
        made.observed / values,
        np.histogram(middles, wide, weights=made.estimate)[0],
    )
    first, *_, last = np.flatnonzero(made.observed)
    lines = np.column_stack([wide[:-1], *shares]).round(6)[first : last + 1]
    return [(low, *rest) for low, *rest in lines.tolist()]


def sample(shape: str, size: int, rng: np.random.Generator) -> Floats:
    """Return values of a shape."""
    if shape == "plateau":
        return rng.uniform(0.25, 0.75, size)
    left, right = rng.triangular(0.0, 0.25, 0.5, size), rng.triangular(0.5, 0.75, 1.0, size)
    return np.where(rng.random(size) < 0.5, left, right)


def channel(noise: str) -> Channel:
    """Return the channel of one number between 0 and 1, in cells of the paper's width."""
    schema = Schema([Numeric("value", 0, 1, bins=round(1 / WIDTH))], classes=["A", "B"])
    disturbance = GaussianNoise if noise == "gaussian" else UniformNoise
    return disturbance(schema, scale=SCALES[noise]).channel


RECONSTRUCTION = Experiment(
    "reconstruction",
    ("values", "shape", "noise", "draw"),
    ("low", "original", "disturbed", "reconstructed"),
    cells,
    measure,
)
