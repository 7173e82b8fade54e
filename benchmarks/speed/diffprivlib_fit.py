"""Time diffprivlib's forest in an environment of its own: the child of `peers`, which knows nothing of privet.

Called with the file of rows, the number of trees and the depth; prints the best CPU seconds of three fits.
"""

import sys
import time

import numpy as np
from diffprivlib.models import RandomForestClassifier  # type: ignore[import-not-found,unused-ignore]


def main(rows: str, n_trees: str, depth: str) -> None:
    with np.load(rows) as table:
        X, y = table["X"], table["y"]
    model = RandomForestClassifier(
        n_estimators=int(n_trees), max_depth=int(depth), epsilon=1.0, bounds=(0.0, 1.0), classes=[0, 1], n_jobs=1
    )
    model.fit(X[:100], y[:100])
    times = []
    for _ in range(3):
        start = time.process_time()
        model.fit(X, y)
        times.append(time.process_time() - start)
    print(min(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
