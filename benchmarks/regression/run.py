"""Measure what is missing: ``python -m benchmarks.regression.run``; a run that was broken off goes on."""

import argparse
import json
import sys
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from sklearn.metrics import r2_score

from benchmarks.regression.methods import BOUNDS, EPSILONS, METHODS, PRIVATE
from benchmarks.regression.tables import TARGETS, Split

FITS = Path(__file__).with_name("fits.jsonl")
REPEATS = range(5)


def cells() -> list[dict[str, Any]]:
    """Return every fit: a method at an epsilon on one split of a table."""
    priced = [(method, epsilon) for method in PRIVATE for epsilon in EPSILONS]
    asked = [*((method, None) for method in BOUNDS), *priced]
    return [
        {"table": table, "repeat": repeat, "method": method, "epsilon": epsilon}
        for repeat in REPEATS
        for table in TARGETS
        for method, epsilon in asked
    ]


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return what has been measured."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def measured(cell: dict[str, Any]) -> dict[str, Any]:
    """Do one fit and score it; a method that cannot be fitted is a result."""
    split = _split(cell["table"], cell["repeat"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = METHODS[cell["method"]].fit(split, cell["epsilon"])
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"r2": round(float(r2_score(split.targets()[1], answer.predicted)), 5), "seconds": round(answer.seconds, 2)}


@lru_cache(maxsize=1)
def _split(table: str, repeat: int) -> Split:
    return Split(table, repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=FITS, metavar="FILE", help="where results are found and added")
    path = parser.parse_args().out
    known = cells()[0].keys()
    done = [{name: line[name] for name in known} for line in lines_of(path)]
    missing = [cell for cell in cells() if cell not in done]
    for i, cell in enumerate(missing, start=1):
        found = measured(cell)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**cell, **found}, separators=(",", ":")) + "\n")
        print(f"{i}/{len(missing)}  {cell}: {found}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
