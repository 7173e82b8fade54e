"""Which fits are asked for, and how often: the more rows a table has, the less one split differs from the next."""

from collections.abc import Iterable, Sequence
from itertools import product

from benchmarks.utility.methods import FOREST, FOREST_DELTA, METHODS, Method
from benchmarks.utility.peers import SYNTHETIC_PEERS
from benchmarks.utility.splits import TABLES
from benchmarks.utility.store import Cell

# What trusts nobody needs more rows than most tables have; a few tables show it.
LOCAL_TABLES = ("car-evaluation", "compas", "mushroom", "nursery", "adult")
# Models that draw synthetic rows take half a minute a fit at six attributes, and minutes at sixteen.
SYNTHETIC_TABLES = ("car-evaluation", "compas", "nursery", "phoneme", "mozilla4")
# Repeats of tables with fewer rows than this.
_REPEATS = ((2_000, 10), (100_000, 5), (1_000_000, 2))
# What is drawn moves the recommended forest as much as the split does.
_RUNS = {FOREST: 5, FOREST_DELTA: 5}
_LARGEST = "census-income-kdd"
# These take minutes a fit on the largest table, and gigabytes.
_ONCE_THERE = ("diffprivlib forest, one-hot", "diffprivlib logistic", "DP-EBM")
# These take long everywhere, or are far behind.
_ONCE = (*SYNTHETIC_PEERS, "diffprivlib logistic, cells")


def repeats_of(table: str, method: str) -> int:
    """Return how many splits of a table a method is fitted to."""
    if method in _ONCE or _is_slow(table, method):
        return 1
    return next(repeats for rows, repeats in _REPEATS if TABLES[table].rows < rows)


def is_measured(table: str, method: Method) -> bool:
    """Return whether a method is fitted to a table at all."""
    if method.kind == "local":
        return table in LOCAL_TABLES
    if method.name in SYNTHETIC_PEERS and table not in SYNTHETIC_TABLES:
        return False
    return not method.binary_only or TABLES[table].classes == 2


def cells(
    tables: Iterable[str] = tuple(TABLES),
    methods: Iterable[str] = tuple(METHODS),
    repeats: Sequence[int] | None = None,
    *,
    epsilons: Sequence[float] | None = None,
    runs: int | None = None,
) -> list[Cell]:
    """Return every fit, the first repeat of all tables first and the slowest last.

    ``repeats`` overrules which splits are fitted, ``runs`` how often each is (once where ``repeats`` is given), and
    ``epsilons`` the prices of methods that have one.
    """
    every = range(max(most for _, most in _REPEATS)) if repeats is None else repeats
    asked = [
        Cell(name, table, epsilon, repeat, run)
        for repeat, table, name in product(every, tables, methods)
        if is_measured(table, METHODS[name]) and (repeats is not None or repeat < repeats_of(table, name))
        for epsilon in _prices(METHODS[name], epsilons)
        for run in range(runs or (_RUNS.get(name, 1) if repeats is None else 1))
    ]
    return sorted(asked, key=_comes_late)


def _prices(method: Method, epsilons: Sequence[float] | None) -> Sequence[float | None]:
    return method.epsilons if epsilons is None or method.kind == "clear" else epsilons


def _comes_late(cell: Cell) -> tuple[bool, bool]:
    return cell.table == _LARGEST, _is_slow(cell.table, cell.method)


def _is_slow(table: str, method: str) -> bool:
    return table == _LARGEST and method in _ONCE_THERE
