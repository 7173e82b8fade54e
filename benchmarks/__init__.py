"""Benchmarks: scripts that use privet as a user would.

Speed and memory: `speed`; how good models are: `utility`; accuracy beside what attacks show: `family`.

Everything is compared on one thread. Libraries read these variables when they are first imported, hence here.
"""

import os

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "ARROW_IO_THREADS",
)

os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
