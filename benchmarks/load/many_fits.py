"""Thousands of fits in one process: the child of `run`, prints one line of JSON.

``python -m benchmarks.load.many_fits N_FITS``. All methods by turns on a table of 300 rows. What the process holds is
looked at after a tenth of the fits, when caches are filled and kernels compiled, and at the end.
"""

import itertools
import json
import sys
import time
from dataclasses import asdict
from typing import Any

from benchmarks.load.process import Held
from privet.datasets import agrawal
from privet.methods import methods_of
from privet.registry import METHODS


def fit_all(n_fits: int) -> tuple[Held, Held, int]:
    """Fit so many models in a row; return what was held after a tenth of them and at the end, and the fits between."""
    data = agrawal(300, random_state=5)
    early = max(1, n_fits // 10)
    names = [method.name for method in methods_of("central", "classes")]
    models = itertools.cycle([_small(METHODS[name], data.schema) for name in names])
    for i, model in enumerate(itertools.islice(models, n_fits), start=1):
        model.fit(data.X, data.y)
        if i == early:
            held = Held.now()
    return held, Held.now(), n_fits - early


def _small(estimator: Any, schema: Any) -> Any:
    model = estimator(schema, epsilon=1.0)
    few = {"n_trees": 3, "height": 3}
    return model.set_params(**{name: value for name, value in few.items() if name in model.get_params()})


def main(n_fits: int) -> None:
    start = time.perf_counter()
    early, late, _ = fit_all(n_fits)
    taken = time.perf_counter() - start
    print(json.dumps({"fits": n_fits, "seconds": taken, "early": asdict(early), "late": asdict(late)}))


if __name__ == "__main__":
    main(int(float(sys.argv[1])))
