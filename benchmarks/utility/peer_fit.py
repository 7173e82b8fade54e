"""Fits peers in an environment of their own: the child of `peers.py`, which knows nothing of privet.

Reads a line of JSON with the model, epsilon, delta and files, fits, writes what it predicts, answers with a line of
JSON, and goes on until its input ends.
"""

import json
import sys
import time
import warnings
from functools import lru_cache
from typing import Any

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


def words_and_numbers(X: Any, sizes: Any) -> Any:
    """Return a frame with categories as words and numbers as they are."""
    columns = {f"x{j}": X[:, j].astype(int).astype(str) if size else X[:, j] for j, size in enumerate(sizes)}
    return pd.DataFrame(columns)


def prepared(model: str, X: Any, rows: dict[str, Any]) -> Any:
    """Return rows in the form that a model takes."""
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
    from diffprivlib import models  # type: ignore[import-not-found,unused-ignore]

    if model == "forest":
        return models.RandomForestClassifier(epsilon=epsilon, bounds=(low, high), classes=classes)
    if model == "forest, one-hot":
        return models.RandomForestClassifier(epsilon=epsilon, bounds=(0.0, 1.0), classes=classes)
    if model == "naive Bayes":
        return models.GaussianNB(epsilon=epsilon, bounds=(low, high))
    return models.LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(len(rows["sizes"]))))


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """Fit, write what is predicted, and return the CPU seconds of the fit."""
    rows = rows_of(question["rows"], tuple(question["split"]))
    name = question["model"]
    model = made(name, question["epsilon"], question["delta"], rows)
    train, test = prepared(name, rows["train"], rows), prepared(name, rows["test"], rows)
    start = time.process_time()
    model.fit(train, rows["labels"])
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
