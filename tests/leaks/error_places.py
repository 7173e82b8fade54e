"""Places in Python where something goes wrong, or is told along the way: errors, warnings, logs, progress."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from privet.registry import METHODS
from tests.contracts.tasks import OF_CLASSES
from tests.leaks.hearing import heard
from tests.leaks.marks import LABEL
from tests.leaks.models import EPSILON, apart, fault, unfitted
from tests.leaks.place import Register
from tests.leaks.tables import FAULTS, FILE_FAULTS, ROUTES, frame, labels, threads

place = Register("Python")


@place("errors, warnings and logs of a fit that refuses a table in memory, every method")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for method in OF_CLASSES:
        for name in FAULTS:
            X, y = apart(fault(name))
            said = heard(lambda X=X, y=y, method=method: unfitted(method, verbose=1).fit(X, y))
            yield from said.things(f"{method}, {name}")


@place("errors of a fit that refuses labels of another length or form")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    X, y = frame(), labels()
    wrong = {
        "too few": y[:-1],
        "as a table": pd.DataFrame({"a": y, "b": y}),
        "as a row": [y],
        "none": None,
        "complex": [1j] * len(y),
        "lists": [[LABEL]] * len(y),
    }
    for name, given in wrong.items():
        for method in ("private-rdt", "private-forest"):
            yield from heard(lambda y=given, method=method: unfitted(method).fit(X, y)).things(name)


@place("errors of a fit that refuses a file")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for name, (file, content) in FILE_FAULTS.items():
        path = folder / file
        path.write_bytes(content())
        yield from heard(lambda path=path: unfitted("private-rdt", verbose=1).fit(path)).things(name)
        with threads() as parts:
            said = heard(lambda path=path, parts=parts: unfitted("private-rdt").fit(path, **parts))
        yield from said.things(f"{name}, in parts")


@place("errors of a fit that refuses batches, or parts on a pool of threads")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for name in FAULTS:
        table = fault(name)
        with suppress(pa.ArrowException, TypeError):  # not every fault can be put in an Arrow table
            given = [pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table]
            yield from heard(lambda given=given: unfitted("dpdf").fit(given)).things(name)
            with threads() as parts:
                said = heard(lambda given=given, parts=parts: unfitted("private-forest").fit(given, **parts))
            yield from said.things(f"{name}, in parts")


@place("errors of partial_fit, predict, predict_proba, explain and score")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    counts, weights = (unfitted(method).fit(frame(), labels()) for method in ("private-rdt", "private-forest"))
    X, y = frame(), labels()
    for name in FAULTS:
        bad, bad_labels = apart(fault(name))
        for model in (counts, weights):
            yield from heard(lambda model=model, bad=bad: model.predict(bad)).things(f"predict, {name}")
            yield from heard(lambda model=model, y=bad_labels: model.score(X, y)).things(f"score, {name}")
        yield from heard(lambda bad=bad: weights.explain(bad)).things(f"explain, {name}")
        yield from heard(lambda bad=bad, y=bad_labels: counts.partial_fit(bad, y)).things(f"partial_fit, {name}")
    for name, given in {"too few": y[:-1], "numbers": frame()["age"], "a table": frame(), "lists": [[LABEL]]}.items():
        yield from heard(lambda given=given: counts.score(X, given)).things(f"score, labels {name}")
    yield from heard(lambda: counts.score(X, y, sample_weight=[1.0])).things("score, too few weights")


@place('errors and warnings of schema="infer"')
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for name in FAULTS:
        X, y = apart(fault(name))
        model = METHODS["private-rdt"]("infer", epsilon=EPSILON, n_trees=3)
        said = heard(lambda X=X, y=y, model=model: model.fit(X, y))
        if said.error is not None:  # a fit that succeeds has read the domains, as it was asked, and says so
            yield from said.things(name)


@place("a failing search over folds: scikit-learn's own warnings and tracebacks")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    from sklearn.model_selection import cross_val_score

    X, y = apart(fault("a label that is not known"))
    said = heard(lambda: cross_val_score(unfitted("private-rdt"), X, y, cv=2))
    yield from said.things("cross_val_score")


@place("progress in words (verbose), every method and every road into a fit", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    for method in OF_CLASSES:
        yield from heard(lambda method=method: unfitted(method, verbose=2).fit(frame(), labels())).things(method)
    for name, given in ROUTES.items():
        said = heard(lambda given=given: unfitted("private-rdt", verbose=2).fit(*given(folder)))
        assert said.error is None, (name, said.error)
        yield from said.things(name)
