"""Accuracy of the recommended forest on 14 UCI tables and Census-Income, beside other methods and what is possible.

Every fit has fresh structure and fresh noise, and is scored on a fifth of the rows that it has not seen. Its line is
added to the results when it is done, and what is found there is not measured again: a run can be broken off and
resumed. ``--set`` changes parameters of the forest; it then goes by a name that says so, and belongs into another file
than the published results, with ``--seeds`` from 100 on, which the results do not use:

    python -m benchmarks.accuracy_forest --methods PrivateForest --seeds 100-104 --set n_bins=8 --out tuning.csv
"""

import argparse
import ast
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks import accuracy_forest_methods as methods
from benchmarks.accuracy_forest_results import Cell, append, forget, read
from benchmarks.accuracy_forest_split import Scores, Split
from benchmarks.accuracy_forest_summary import Summary

# Small ones first; the first 14 are those over which means are taken.
COUNTED = (
    "congressional-voting", "breast-cancer-wisconsin", "pima-diabetes", "tic-tac-toe", "german-credit",
    "car-evaluation", "page-blocks", "compas", "mushroom", "nursery", "chess-krk", "bank-marketing", "adult",
    "connect-4",
)  # fmt: skip
BESIDE = ("census-income-kdd",)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
RESULTS = Path(__file__).with_name("results") / "accuracy_forest.csv"


def cells(given: argparse.Namespace) -> Iterator[Cell]:
    """Yield every fit that is asked for."""
    for dataset in given.datasets:
        for seed in given.seeds:
            for method in given.methods:
                for epsilon in methods.epsilons_of(method, given.epsilons):
                    yield Cell(method, dataset, epsilon, seed)


def scored(cell: Cell, parameters: Mapping[str, Any]) -> Scores:
    """Do one fit and score it."""
    split = Split.of(cell.dataset, cell.seed)
    with warnings.catch_warnings():
        # Classes with fewer rows than a split has parts, and advice about budgets, are no news here.
        warnings.simplefilter("ignore", UserWarning)
        return methods.scores(cell.method, split, cell.epsilon, cell.seed, parameters)


def measure(given: argparse.Namespace) -> None:
    """Add what is missing in the results."""
    found = read(given.out)
    missing = [cell for cell in cells(given) if cell not in found]
    with ProcessPoolExecutor(given.jobs) as pool:
        futures = {pool.submit(scored, cell, given.parameters): cell for cell in missing}
        for done, future in enumerate(as_completed(futures), start=1):
            cell, scores = futures[future], future.result()
            append(given.out, cell, scores)
            line = f"{cell.dataset}, seed {cell.seed}, {cell.method}, epsilon={cell.epsilon:g}: {scores.accuracy:.3f}"
            print(f"{done}/{len(missing)}  {line}", file=sys.stderr, flush=True)


def summary(given: argparse.Namespace) -> Summary:
    """Return the tables of the methods that have an epsilon."""
    return Summary(
        read(given.out),
        counted=[name for name in given.datasets if name in COUNTED],
        beside=[name for name in given.datasets if name in BESIDE],
        methods=[method for method in given.methods if method not in methods.OTHERS],
        epsilons=given.epsilons,
        seeds=given.seeds,
    )


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--methods", type=_names_of(methods.METHODS), default=methods.METHODS, metavar="A,B")
    parser.add_argument("--datasets", type=_names_of((*COUNTED, *BESIDE)), default=(*COUNTED, *BESIDE), metavar="A,B")
    parser.add_argument("--seeds", type=_seeds, default=range(5), metavar="A-B", help="of the splits")
    parser.add_argument("--epsilons", type=_numbers, default=EPSILONS, metavar="A,B")
    parser.add_argument("--set", type=_parameter, action="append", default=[], metavar="NAME=VALUE", dest="parameters",
                        help="a parameter of the forest; may be given several times")  # fmt: skip
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="where results are found and added")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--again", action="store_true", help="measure anew what is asked for")
    parser.add_argument("--summary", action="store_true", help="only print what has been measured")
    given = parser.parse_args(words)
    given.parameters = dict(given.parameters)
    named = methods.forest_with(given.parameters)
    given.methods = [named if method == methods.FOREST else method for method in given.methods]
    return given


def _names_of(known: Sequence[str]) -> Any:
    def names(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not known; choose from {', '.join(known)}")
        return chosen

    return names


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _parameter(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):  # a word
        return name, value


def main() -> None:
    given = options()
    if given.again:
        forget(given.out, cells(given))
    if not given.summary:
        measure(given)
    print(summary(given))


if __name__ == "__main__":
    main()
