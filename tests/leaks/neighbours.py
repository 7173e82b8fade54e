"""Two tables that differ by a few rows, each fitted again and again: what tells them apart every time is exact.

Noise is fresh at every fit. Whatever is in all outputs about one table and in none about the other was not
protected by it; a released number would have to be drawn so all these times. With a promise of epsilon between the
tables, that has a chance of at most (p (1 - q))^n for a fact of chance p here and q there, and p (1 - q) is at most
1 / (1 + exp(-epsilon))^2: at epsilon 0.3 and 32 fits, below 1e-15 a fact. Most facts are out after two or three.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from privet import Categorical, Numeric, Schema
from tests.leaks.scanner import parts_of

SCHEMA = Schema(
    [Numeric("age", 0, 100, bins=8), Numeric("pay", 0, 10, bins=4), Categorical("sex", ["female", "male"])],
    classes=["no", "yes"],
    target="class",
    rows=300,
)
TIMES = 32
_DEEPEST = 30
Fact = tuple[str, str]


def people(n_more: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return 300 people, and so many more of one kind."""
    rng = np.random.default_rng(21)
    X = pd.DataFrame(
        {"age": rng.uniform(0, 100, 300), "pay": rng.uniform(0, 10, 300), "sex": rng.choice(["female", "male"], 300)}
    )
    y = np.where(X["age"] > 50, "yes", "no").astype(object)
    more = pd.DataFrame({"age": [61.5] * n_more, "pay": [7.25] * n_more, "sex": ["male"] * n_more})
    return pd.concat([X, more], ignore_index=True), np.append(y, ["yes"] * n_more)


def told_apart(facts: Callable[[pd.DataFrame, np.ndarray], Iterable[Fact]], n_more: int = 1) -> set[Fact]:
    """Return what is always there of one table and never of the other."""
    here, there = set(facts(*people())), set(facts(*people(n_more)))
    here, there = here - there, there - here
    for _ in range(TIMES - 1):  # in turn, so that the time of day tells nothing
        if not here | there:
            break
        new_here, new_there = set(facts(*people())), set(facts(*people(n_more)))
        here, there = (here & new_here) - new_there, (there & new_there) - new_here
    return here | there


def facts_of(thing: Any, path: str = "", seen: frozenset[int] = frozenset()) -> Iterator[Fact]:
    """Yield every leaf of an object by its path, and the length of everything that has one."""
    if callable(thing) or isinstance(thing, type) or len(seen) > _DEEPEST or id(thing) in seen:
        return
    if isinstance(thing, np.ndarray):
        thing = thing.tolist()
    if thing is None or isinstance(thing, (str, bytes, int, float, complex, np.generic, np.dtype)):
        yield path, repr(thing)
        return
    within = seen | {id(thing)}
    if isinstance(thing, Mapping):
        parts: Iterable[tuple[str, Any]] = [(f".{key}", own) for key, own in thing.items()]
    elif isinstance(thing, (list, tuple)):
        parts = [(f"[{i}]", own) for i, own in enumerate(thing)]
        yield f"{path}.length", f"{len(thing)}"
    elif isinstance(thing, (set, frozenset)):
        parts = [(f"{{{own!r}}}", own) for own in thing]
    else:
        parts = parts_of(thing)
    for name, part in parts:
        yield from facts_of(part, f"{path}{name}", within)


def lines_of(text: str) -> Iterator[Fact]:
    """Yield the lines of a text, wherever they stand, and the words of each."""
    for line in text.splitlines():
        yield "line", line.strip()
        yield from (("word", word) for word in line.split())
