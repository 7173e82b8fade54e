"""Fig. 2: plateau and triangles, disturbed and reconstructed; the L1 distance to the original before and after.

Run ``python -m papers.agrawal2000.figure2``; the picture and the table go to ``results/``.
"""

import argparse
import csv
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privet import GaussianNoise, Numeric, Schema, Secret, UniformNoise, perturb, reconstruct
from privet.local.reconstruct import Reconstruction
from privet.report import plot_reconstruction

RESULTS = Path(__file__).with_name("results")
# The paper does not say how many values it drew. Of the draws, each with fresh noise, the mean is given.
SIZES, DRAWS = (100_000, 400_000), 5
# As printed in the paper: cells of 0.05; noise of standard deviation 0.25, or uniform on [-0.5, 0.5].
SCHEMA = Schema([Numeric("value", 0, 1, bins=20)], classes=["A", "B"])
NOISES: dict[str, Any] = {"gaussian": GaussianNoise(SCHEMA, scale=0.25), "uniform": UniformNoise(SCHEMA, scale=0.5)}
# After at most so much of before.
BARS = {"gaussian": 0.5, "uniform": 0.1}
COLUMNS = ("values", "shape", "noise", "before", "after", "ratio")


class Line(NamedTuple):
    """L1 distances to the original, means over draws."""

    values: int
    shape: str
    noise: str
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """How much of the distance is left."""
        return self.after / self.before

    @property
    def verdict(self) -> str:
        """Whether the bar is met."""
        return "held" if self.ratio <= BARS[self.noise] else "NOT HELD"


def shapes(size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the two samples."""
    left, right = rng.triangular(0.0, 0.25, 0.5, size), rng.triangular(0.5, 0.75, 1.0, size)
    return {
        "plateau": rng.uniform(0.25, 0.75, size),
        "triangles": np.where(rng.random(size) < 0.5, left, right),
    }


def reconstructed(values: np.ndarray, noise: Any) -> Reconstruction:
    """Disturb the values and reconstruct how they were spread."""
    answers = perturb(values[:, None], noise.channel, Secret())[:, 0]
    return reconstruct(answers, noise.channel.columns[0])


def distances(values: np.ndarray, made: Reconstruction) -> tuple[float, float]:
    """Return the L1 distance of shares to the original: that of the answers, and that of the reconstruction."""
    edges, wide_edges = np.asarray(made.edges), np.asarray(made.observed_edges)
    original = np.histogram(values, edges)[0] / len(values)
    wide = np.histogram(values, wide_edges)[0] / len(values)
    before = np.abs(wide - made.observed / made.n_values).sum()
    return float(before), float(np.abs(original - made.estimate).sum())


def measured(size: int, shape: str, noise: str) -> Line:
    """Return the mean over draws."""
    samples = (shapes(size, np.random.default_rng(draw))[shape] for draw in range(DRAWS))
    pairs = [distances(values, reconstructed(values, NOISES[noise])) for values in samples]
    before, after = np.mean(pairs, axis=0)
    return Line(size, shape, noise, float(before), float(after))


def draw(folder: Path) -> None:
    """Draw both shapes under both noises."""
    import matplotlib.pyplot as plt

    samples = shapes(SIZES[-1], np.random.default_rng(0))
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.5), layout="constrained")
    for ax, (shape, noise) in zip(axes.flat, product(samples, NOISES), strict=True):
        made = reconstructed(samples[shape], NOISES[noise])
        before, after = distances(samples[shape], made)
        plot_reconstruction(made, original=samples[shape], ax=ax)
        ax.set_title(f"{shape}, {noise} noise: L1 {before:.2f} before, {after:.2f} after")
    figure.savefig(folder / "figure2.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    folder = parser.parse_args().output
    folder.mkdir(exist_ok=True)
    draw(folder)
    print("  ".join(name.rjust(9) for name in COLUMNS))
    lines = [measured(size, shape, noise) for size, shape, noise in product(SIZES, ("plateau", "triangles"), NOISES)]
    for line in lines:
        cells = [
            f"{line.values:,}",
            line.shape,
            line.noise,
            *(f"{x:.3f}" for x in (line.before, line.after, line.ratio)),
        ]
        print("  ".join(cell.rjust(9) for cell in cells), f"  <= {BARS[line.noise]:g} {line.verdict}")
    with (folder / "figure2.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COLUMNS, "verdict"))
        writer.writerows(
            (
                line.values,
                line.shape,
                line.noise,
                *(f"{x:.3f}" for x in (line.before, line.after, line.ratio)),
                line.verdict,
            )
            for line in lines
        )


if __name__ == "__main__":
    main()
