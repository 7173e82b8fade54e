"""Time InterpretML's DP-EBM in an environment of its own: the child of `forest`, which knows nothing of privet.

Called with the file of rows and the number of fits; prints the best CPU seconds.
"""

import sys
import time

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found,unused-ignore]


def main(rows: str, repeats: str) -> None:
    with np.load(rows) as table:
        X, y = table["X"], table["y"]
    model = DPExplainableBoostingClassifier(
        epsilon=1.0,
        n_jobs=1,
        feature_types=["continuous"] * X.shape[1],
        privacy_bounds=np.array([[0.0, 1.0]] * X.shape[1]),
    )
    model.fit(X[:2_000], y[:2_000])
    times = []
    for _ in range(int(repeats)):
        start = time.process_time()
        model.fit(X, y)
        times.append(time.process_time() - start)
    print(min(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
