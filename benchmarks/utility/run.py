"""Measure what is missing: ``python -m benchmarks.utility.run``, some 40 minutes of one core in all.

Every fit has fresh structure and fresh noise, and is scored on a fifth of the rows that it has not seen. Its line is
added to the results when it is done, and what is found there is not measured again: a run can be broken off at any
time and resumed. ``--set`` changes parameters of the recommended forest; it then goes by a name that says so, and
belongs into another file than the published results, with ``--repeats`` from 100 on, which these do not use:

    python -m benchmarks.utility.run --methods "private forest" --repeats 100-104 --set n_bins=8 --out tuning.jsonl
"""

import argparse
import ast
import sys
import time
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.utility import methods, plan
from benchmarks.utility.scores import Scores, scores_of
from benchmarks.utility.splits import TABLES, Split
from benchmarks.utility.store import Cell, Store

RESULTS = Path(__file__).with_name("results")
FITS = RESULTS / "fits.jsonl"


def measured(cell: Cell) -> Scores:
    """Do one fit and score it."""
    split = _split(cell.table, cell.repeat)
    with warnings.catch_warnings():
        # Classes with fewer rows than a split has parts, what the paper's variants do not promise, advice on budgets.
        warnings.simplefilter("ignore", UserWarning)
        return scores_of(split.truth, methods.METHODS[cell.method].fit(split, cell.epsilon))


@lru_cache(maxsize=1)
def _split(table: str, repeat: int) -> Split:
    return Split(table, repeat)


def add_missing(store: Store, cells: Sequence[Cell]) -> None:
    """Measure the cells that have no line yet, one after the other."""
    missing, start = store.missing(cells), time.monotonic()
    for done, cell in enumerate(missing, start=1):
        try:
            scores = measured(cell)
        except Exception as error:  # a method that cannot be fitted is a result
            store.add_failure(cell, f"{type(error).__name__}: {error}")
            outcome = "failed"
        else:
            store.add(cell, scores)
            outcome = f"{scores.accuracy:.3f}"
        left = (time.monotonic() - start) / done * (len(missing) - done)
        name = f"{cell.table}, repeat {cell.repeat}, {cell.method}, epsilon={cell.epsilon}"
        print(f"{done}/{len(missing)}  {name}: {outcome}; about {left / 60:.0f} min left", file=sys.stderr, flush=True)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--methods", type=_names_of(methods.METHODS), default=tuple(methods.METHODS), metavar="A;B")
    parser.add_argument("--tables", type=_names_of(TABLES), default=tuple(TABLES), metavar="A;B")
    parser.add_argument("--repeats", type=_repeats, metavar="A-B", help="instead of as many as a table's size asks for")
    parser.add_argument("--set", type=_parameter, action="append", default=[], metavar="NAME=VALUE", dest="parameters",
                        help="a parameter of the recommended forest; may be given several times")  # fmt: skip
    parser.add_argument("--out", type=Path, default=FITS, metavar="FILE", help="where results are found and added")
    parser.add_argument("--again", action="store_true", help="measure anew what is asked for")
    return parser.parse_args(words)


def _names_of(known: Any) -> Any:
    def names(text: str) -> list[str]:
        chosen = [name.strip() for name in text.split(";")]
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not known; choose from {'; '.join(known)}")
        return chosen

    return names


def _repeats(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _parameter(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):  # a word
        return name, value


def main() -> None:
    given = options()
    names = list(given.methods)
    if given.parameters:
        changed = methods.forest_with(dict(given.parameters))
        names = [changed if name == methods.FOREST else name for name in names]
    cells, store = plan.cells(given.tables, names, given.repeats), Store(given.out)
    if given.again:
        store.forget(cells)
    add_missing(store, cells)


if __name__ == "__main__":
    main()
