"""All bars in one table: ``python -m benchmarks.run``; with ``--full`` also what takes gigabytes or an install.

A bar is printed when it has been measured, and the whole table at the end. The exit status is 0 whether or not the
bars are met: timings on a busy machine are not a test.
"""

import sys

from benchmarks import (
    bench_fit,
    bench_forest,
    bench_greedy,
    bench_import,
    bench_local,
    bench_masks,
    bench_memory,
    bench_noise,
    bench_peers,
    bench_predict,
    bench_response_forest,
    harness,
)

_SCRIPTS = (
    bench_import, bench_predict, bench_fit, bench_greedy, bench_forest, bench_local, bench_response_forest,
    bench_masks, bench_peers, bench_noise, bench_memory,
)  # fmt: skip


def measure(options: harness.Options) -> list[harness.Bar]:
    bars = []
    for script in _SCRIPTS:
        own = script.measure(options)
        print(harness.table(bar.cells() for bar in own), file=sys.stderr, flush=True)
        bars += own
    return bars


if __name__ == "__main__":
    harness.main(measure, __doc__)
