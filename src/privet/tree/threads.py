"""How many threads ``n_jobs`` stands for."""

import os

from privet.checks import is_whole
from privet.errors import ParameterError


def n_threads(n_jobs: int | None) -> int:
    """Return what scikit-learn's ``n_jobs`` stands for: None is 1, -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r} must be a whole number other than 0; -1 uses all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
