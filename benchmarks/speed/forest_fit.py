"""Fit the recommended forest in a process of its own and print two peaks of its memory in MB: a child of `forest`.

Called with the folder of rows; the first peak is before the fit, rows and libraries included, and the second after it.
"""

import sys

import numpy as np

from benchmarks.speed.fit_file import peak_mb
from benchmarks.speed.forest import forest


def main(rows: str) -> None:
    X, y = np.load(f"{rows}/X.npy"), np.load(f"{rows}/y.npy")
    model = forest(len(X), n_classes=int(y.max()) + 1).fit(X[:2_000], y[:2_000])
    before = peak_mb()
    model.fit(X, y)
    print(before, peak_mb())


if __name__ == "__main__":
    main(*sys.argv[1:])
