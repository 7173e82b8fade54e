"""Fits peers in an environment of their own: the child of `peers.py`, which knows nothing of privet.

Reads a line of JSON with the model, epsilon, delta and files, fits, writes what it predicts, answers with a line of
JSON, and goes on until its input ends.
"""

import json
import signal
import sys
import time
import warnings
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd


@lru_cache(maxsize=1)
def rows_of(path: str, split: tuple[str, int]) -> dict[str, Any]:  # noqa: ARG001 - the file is overwritten
    """Return the arrays of a file: rows, labels, and what is public about them."""
    with np.load(path) as table:
        return dict(table)


def filled(X: Any, bounds: Any) -> Any:
    """Return the numbers with what is missing in the middle of its range."""
    return np.where(np.isnan(X), bounds.mean(axis=1), X)


def indicators(X: Any, sizes: Any, bounds: Any) -> Any:
    """Return numbers scaled to 0..1 and an indicator of every category."""
    columns, numbers = [], filled(X, bounds)
    for j, size in enumerate(sizes):
        column = numbers[:, j : j + 1]
        low, high = bounds[j]
        columns.append((column == np.arange(size)).astype(float) if size else (column - low) / (high - low))
    return np.hstack(columns)


def cell_indicators(codes: Any, n_cells: Any) -> Any:
    """Return an indicator of every cell: as many ones in each row as there are columns."""
    return np.hstack([codes[:, j : j + 1] == np.arange(n) for j, n in enumerate(n_cells)]).astype(float)


def words_and_numbers(X: Any, sizes: Any) -> Any:
    """Return a frame with categories as words and numbers as they are."""
    columns = {f"x{j}": X[:, j].astype(int).astype(str) if size else X[:, j] for j, size in enumerate(sizes)}
    return pd.DataFrame(columns)


class BoostingOfSyntheticRows:
    """Gradient boosting of rows drawn from a private model of the cells: what is asked of the model is free."""

    def __init__(self, model: Any, rows: dict[str, Any]) -> None:
        self.model = model
        self.n_cells = [*rows["n_cells"].tolist(), int(rows["n_classes"])]
        self.n_rows = int(rows["n_rows"])
        self.categories = [j for j, size in enumerate(rows["sizes"]) if size]

    def fit(self, codes: Any, labels: Any) -> Self:
        """Fit the model of rows and labels, draw as many as are declared, and fit boosting to these."""
        from sklearn.dummy import DummyClassifier
        from sklearn.ensemble import HistGradientBoostingClassifier

        table = pd.DataFrame(np.column_stack([codes, labels]), columns=[f"x{j}" for j in range(len(self.n_cells))])
        self.model.set_domain(dict(zip(table, self.n_cells, strict=True)))
        self.model.check_fit(table)
        self.model.fit(table)
        drawn = self.model.generate(n_records=self.n_rows)[list(table)].to_numpy()
        boosting = HistGradientBoostingClassifier(categorical_features=self.categories or None)
        classifier = boosting if len(np.unique(drawn[:, -1])) > 1 else DummyClassifier()
        self.classifier_ = classifier.fit(drawn[:, :-1], drawn[:, -1])
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, codes: Any) -> Any:
        """Return the most probable class of every row."""
        return self.classifier_.predict(codes)

    def predict_proba(self, codes: Any) -> Any:
        """Return the class probabilities of every row."""
        return self.classifier_.predict_proba(codes)


def prepared(model: str, part: str, rows: dict[str, Any]) -> Any:
    """Return the rows of a part in the form that a model takes."""
    if model in ("mst", "aim"):
        return rows[f"{part}_cells"]
    if model == "logistic, cells":
        return cell_indicators(rows[f"{part}_cells"], rows["n_cells"])
    X = rows[part]
    if model == "ebm":
        return words_and_numbers(filled(X, rows["bounds"]), rows["sizes"])
    if model in ("forest, one-hot", "logistic"):
        return indicators(X, rows["sizes"], rows["bounds"])
    return filled(X, rows["bounds"])


def made(model: str, epsilon: float, delta: float, rows: dict[str, Any]) -> Any:
    """Return the peer's model, with its defaults and all that is public declared."""
    low, high = rows["bounds"].T
    classes = list(range(int(rows["n_classes"])))
    if model == "ebm":
        from interpret.privacy import (  # type: ignore[import-not-found,unused-ignore]
            DPExplainableBoostingClassifier,
        )

        types = ["nominal" if size else "continuous" for size in rows["sizes"]]
        return DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=delta, feature_types=types, privacy_bounds=rows["bounds"], n_jobs=1
        )
    if model in ("mst", "aim"):
        return synthetic(model, epsilon, delta, rows)
    from diffprivlib import models  # type: ignore[import-not-found,unused-ignore]

    if model == "forest":
        return models.RandomForestClassifier(epsilon=epsilon, bounds=(low, high), classes=classes)
    if model == "forest, one-hot":
        return models.RandomForestClassifier(epsilon=epsilon, bounds=(0.0, 1.0), classes=classes)
    if model == "naive Bayes":
        return models.GaussianNB(epsilon=epsilon, bounds=(low, high))
    return models.LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(len(rows["sizes"]))))


def synthetic(model: str, epsilon: float, delta: float, rows: dict[str, Any]) -> Any:
    """Return boosting of what MST or AIM draws."""
    from dpmm.models.aim import AIMGM  # type: ignore[import-not-found,unused-ignore]
    from dpmm.models.mst import MSTGM  # type: ignore[import-not-found,unused-ignore]

    kind = MSTGM if model == "mst" else AIMGM
    made = kind(epsilon=epsilon, delta=delta, n_jobs=1)
    made.set_random_state(np.random.RandomState())
    return BoostingOfSyntheticRows(made, rows)


def give_up_after(cpu_seconds: float | None) -> None:
    """Raise a TimeoutError in this process when it has worked so long from now on; None takes that back."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"stopped after {cpu_seconds:g} CPU seconds")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds or 0)


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """Fit, write what is predicted, and return the CPU seconds of the fit."""
    rows = rows_of(question["rows"], tuple(question["split"]))
    name = question["model"]
    model = made(name, question["epsilon"], question["delta"], rows)
    train, test = prepared(name, "train", rows), prepared(name, "test", rows)
    start = time.process_time()
    give_up_after(question.get("cpu_seconds"))
    try:
        model.fit(train, rows["labels"])
    finally:
        give_up_after(None)
    seconds = time.process_time() - start
    np.savez(
        question["answer"], classes=model.predict(test), chances=model.predict_proba(test), own=np.array(model.classes_)
    )
    return {"seconds": seconds}


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            said = answered(json.loads(line))
        except Exception as error:  # whatever stops a peer belongs into the results
            said = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
