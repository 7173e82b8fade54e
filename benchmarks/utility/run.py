r"""Measure what is missing: ``python -m benchmarks.utility.run``, some 70 minutes of one core in all.

Every fit has fresh structure and fresh noise, and is scored on a fifth of the rows that it has not seen. Its line is
added to the results when it is done, and what is found there is not measured again: a run can be broken off at any
time and resumed. ``--set`` changes parameters of the recommended forest and ``--constant`` what a module of privet
fixes; the forest then goes by a name that says so, and belongs into another file than the published results, with
``--repeats`` from 100 on, which these do not use. `compare` shows two such files side by side:

    python -m benchmarks.utility.run --methods "private forest" --repeats 100-104 --out before.jsonl
    python -m benchmarks.utility.run --methods "private forest" --repeats 100-104 --out after.jsonl \
        --set n_bins=8 --constant privet.central.weights.policy._ROWS_PER_ATTRIBUTE=180
    python -m benchmarks.utility.compare before.jsonl after.jsonl
"""

import argparse
import ast
import importlib
import sys
import time
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.utility import methods, plan
from benchmarks.utility.scores import Scores, scores_of
from benchmarks.utility.splits import TABLES, Split, is_within_reach
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
    """Measure the cells that have no line yet, one after the other; tables that are not here are left out."""
    away = sorted({cell.table for cell in cells if not is_within_reach(cell.table)})
    if away:
        print(f"left out, since the folder of more tables is not here: {', '.join(away)}", file=sys.stderr)
    missing, start = [cell for cell in store.missing(cells) if cell.table not in away], time.monotonic()
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
        name = f"{cell.table}, repeat {cell.repeat}, {cell.method}, epsilon={cell.epsilon}, run {cell.run}"
        print(f"{done}/{len(missing)}  {name}: {outcome}; about {left / 60:.0f} min left", file=sys.stderr, flush=True)


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--methods", type=names_of(methods.METHODS), default=tuple(methods.METHODS), metavar="A;B")
    parser.add_argument("--tables", type=names_of(TABLES), default=tuple(TABLES), metavar="A;B")
    parser.add_argument("--repeats", type=_repeats, metavar="A-B", help="instead of as many as a table's size asks for")
    parser.add_argument("--runs", type=int, metavar="N", help="fits of each split that differ in what is drawn alone")
    parser.add_argument("--epsilons", type=_prices, metavar="A;B", help="instead of those of the page")
    parser.add_argument("--set", type=_parameter, action="append", default=[], metavar="NAME=VALUE", dest="parameters",
                        help="a parameter of the recommended forest; may be given several times")  # fmt: skip
    parser.add_argument("--constant", type=_constant, action="append", default=[], metavar="MODULE.NAME=VALUE",
                        dest="constants", help="what a module fixes; may be given several times")  # fmt: skip
    parser.add_argument("--out", type=Path, default=FITS, metavar="FILE", help="where results are found and added")
    parser.add_argument("--again", action="store_true", help="measure anew what is asked for")
    return parser.parse_args(words)


def names_of(known: Any) -> Any:
    """Return what reads names that are known, with semicolons between them, from the command line."""

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


def _prices(text: str) -> list[float]:
    return [float(price) for price in text.split(";")]


def _constant(text: str) -> tuple[str, str, Any]:
    path, value = _parameter(text)
    module, _, name = path.rpartition(".")
    try:
        known = importlib.import_module(module)
    except (ImportError, ValueError):
        raise argparse.ArgumentTypeError(f"there is no module {module!r}") from None
    if not hasattr(known, name):  # a typo would measure the forest as it is under another name
        raise argparse.ArgumentTypeError(f"{module} has no constant {name!r}")
    return module, name, value


def set_constants(constants: Sequence[tuple[str, str, Any]]) -> None:
    """Give constants of modules other values, for this process."""
    for module, name, value in constants:
        setattr(importlib.import_module(module), name, value)


def main() -> None:
    given = options()
    names = list(given.methods)
    set_constants(given.constants)
    if given.parameters or given.constants:
        changed = methods.forest_with(dict(given.parameters), {name: value for _, name, value in given.constants})
        names = [changed if name == methods.FOREST else name for name in names]
    cells = plan.cells(given.tables, names, given.repeats, epsilons=given.epsilons, runs=given.runs)
    store = Store(given.out)
    if given.again:
        store.forget(cells)
    add_missing(store, cells)


if __name__ == "__main__":
    main()
