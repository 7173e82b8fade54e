"""The error of subset selection beside that of its rivals, by formula and measured.

``python -m benchmarks.local.oracles``. Results go to ``results/oracles.json`` cell by cell, and the page ``oracles.md``
is written from them.
"""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.local.frequency_oracles import RIVALS, Oracle, Subsets
from privet.files.whole_file import whole_file

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
CELLS = (2, 4, 10, 32, 100, 1_000)
N_PEOPLE = 100_000
OURS = "subset selection"
ORACLES: dict[str, type[Oracle]] = {OURS: Subsets, **RIVALS}
# Where there are few cells, more draws are needed to tell two errors apart.
DRAWS, CELLS_DRAWN = 24, 1_200
PAGE = Path(__file__).with_name("oracles.md")
RESULTS = Path(__file__).with_name("results") / "oracles.json"


def shares_of(cells: int) -> NDArray[np.float64]:
    """Return how frequent the cells are: the second half as often as the first, the third a third as often."""
    weights = 1 / np.arange(1, cells + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def measured(cells: int, epsilon: float) -> dict[str, Any]:
    """Return the mean squared error of every oracle's shares: by formula, measured, and how sure that is."""
    counts = np.random.default_rng(cells).multinomial(N_PEOPLE, shares_of(cells))
    true = np.repeat(np.arange(cells), counts)
    found: dict[str, Any] = {"cells": cells, "epsilon": epsilon, "draws": max(DRAWS, CELLS_DRAWN // cells)}
    for number, (name, kind) in enumerate(ORACLES.items()):
        rng = np.random.default_rng([cells, int(10 * epsilon), number])
        oracle = kind.best(cells, epsilon)
        errors = [float(np.mean((oracle.estimated(true, rng) - counts / N_PEOPLE) ** 2)) for _ in range(found["draws"])]
        found[name] = {
            "formula": oracle.variance(counts / N_PEOPLE) / N_PEOPLE,
            "measured": float(np.mean(errors)),
            "error": float(np.std(errors, ddof=1) / np.sqrt(len(errors))),
        }
    return found


def best_rival(found: dict[str, Any], what: str = "formula") -> str:
    """Return the rival with the least error."""
    return min(RIVALS, key=lambda name: float(found[name][what]))


def ratio(found: dict[str, Any], what: str = "formula") -> float:
    """Return our error by that of the rival that is best by formula."""
    return float(found[OURS][what] / found[best_rival(found)][what])


def ratio_error(found: dict[str, Any]) -> float:
    """Return the standard error of the ratio measured."""
    parts = [found[name]["error"] / found[name]["measured"] for name in (OURS, best_rival(found))]
    return ratio(found, "measured") * float(np.hypot(*parts))


def off(found: dict[str, Any]) -> Iterator[float]:
    """Yield how far each oracle's measured error is from the formula, in standard errors."""
    for name in ORACLES:
        own = found[name]
        yield abs(own["measured"] - own["formula"]) / own["error"]


def lines_of(results: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Yield the lines of the table."""
    for own in results:
        rivals = [f"{1e6 * own[name]['formula']:.3g}" for name in RIVALS]
        ours = own[OURS]
        measured_ours = f"{1e6 * ours['measured']:.3g} ± {1e6 * ours['error']:.1g}"
        ratios = [f"{ratio(own):.3f}", f"{ratio(own, 'measured'):.3f} ± {ratio_error(own):.3f}"]
        sizes = [f"{own['epsilon']:g}", f"{own['cells']:,}"]
        yield [*sizes, f"{1e6 * ours['formula']:.3g}", measured_ours, *rivals, best_rival(own), *ratios]


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page."""
    head = ["epsilon", "cells", "ours", "ours, measured", *RIVALS, "best rival", "ratio", "ratio, measured"]
    table = [head, ["---"] * len(head), *lines_of(results)]
    away = [gap for own in results for gap in off(own)]
    beyond = max((ratio(own, "measured") - 1) / ratio_error(own) for own in results)
    return f"""# Subset selection beside the other frequency oracles

Mean squared error of the estimated shares of all cells, in millionths, from {N_PEOPLE:,} people in cells of frequencies
1, 1/2, 1/3, ...; by formula, and measured over {DRAWS} draws or more, with one standard error. Every person's report is
drawn by itself. A rival has its best parameter at each point: local hashing the number of groups, Hadamard response the
number of blocks. The ratio is our error by that of the rival that is best by formula.

- By formula the ratio is at most {max(map(ratio, results)):.6f}. Where subset selection sends one cell, it is k-ary
  response.
- The measured ratio is at most {max(beyond, 0.0):.1f} standard errors above 1.
- {sum(gap > 3 for gap in away)} of {len(away)} measured errors are more than 3 standard errors from the formula, the
  farthest {max(away):.1f}.

{chr(10).join("| " + " | ".join(line) + " |" for line in table)}

`python -m benchmarks.local.oracles` writes this page.
"""


def main() -> None:
    """Measure what is not yet in the file, and write the page."""
    done = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    known = {(own["epsilon"], own["cells"]) for own in done}
    for epsilon, cells in ((epsilon, cells) for epsilon in EPSILONS for cells in CELLS):
        if (epsilon, cells) in known:
            continue
        started = time.perf_counter()
        done.append(measured(cells, epsilon))
        print(" | ".join(next(lines_of(done[-1:]))), f"{time.perf_counter() - started:.0f} s", flush=True)
        done.sort(key=lambda own: (own["epsilon"], own["cells"]))
        with whole_file(RESULTS) as file:
            file.write("[\n" + ",\n".join(json.dumps(own) for own in done) + "\n]\n")
    with whole_file(PAGE) as file:
        file.write(page(done))


if __name__ == "__main__":
    main()
