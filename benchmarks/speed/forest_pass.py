"""Time a gradient pass of the recommended forest's first stage in a process of its own: a child of `forest`.

Called with the folder of rows; prints the best CPU seconds of a pass over all of them. It also runs on older versions.
"""

import sys
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.speed.forest import forest
from privet.central.weights.objective import Objective

_PASSES = 12


def main(rows: str) -> None:
    X, y = np.load(f"{rows}/X.npy"), np.load(f"{rows}/y.npy")
    found: list[tuple[Objective, Any]] = []
    gradient = Objective.gradient

    def kept(objective: Objective, weights: Any) -> Any:
        if objective.rows.n_lines == len(X) and not found:  # samples have fewer, and the second stage comes later
            found.append((objective, weights))
        return gradient(objective, weights)

    Objective.gradient = kept  # type: ignore[method-assign,assignment]
    forest(len(X), n_classes=int(y.max()) + 1).fit(X, y)
    times = []
    with threadpool_limits(1, "blas"):
        for _ in range(_PASSES):
            start = time.process_time()
            gradient(*found[0])
            times.append(time.process_time() - start)
    print(min(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
