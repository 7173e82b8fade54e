"""Fits peers in an environment of their own: a child process that knows nothing of privet.

Reads a line of JSON with the model, epsilon and files, fits, writes what it predicts, answers, and goes on.
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd


def filled(X: Any, bounds: Any) -> Any:
    """Return the numbers with what is missing in the middle of its range."""
    return np.where(np.isnan(X), bounds.mean(axis=1), X)


def indicators(X: Any, sizes: Any, bounds: Any) -> Any:
    """Return numbers scaled to 0..1 and an indicator of every category."""
    columns, numbers = [], filled(X, bounds)
    for j, size in enumerate(sizes.astype(int)):
        column, (low, high) = numbers[:, j : j + 1], bounds[j]
        columns.append((column == np.arange(size)).astype(float) if size else (column - low) / (high - low))
    return np.hstack(columns)


def words_and_numbers(X: Any, sizes: Any, bounds: Any) -> Any:
    """Return a frame with categories as words and numbers as they are."""
    X = filled(X, bounds)
    return pd.DataFrame({f"x{j}": X[:, j].astype(int).astype(str) if size else X[:, j] for j, size in enumerate(sizes)})


def made(model: str, epsilon: float, delta: float, rows: Any) -> tuple[Any, Any]:
    """Return the peer's model, with its defaults and all that is public declared, and how it takes rows."""
    low, high = map(float, rows["target_bounds"])
    if model == "ebm":
        from interpret.privacy import DPExplainableBoostingRegressor  # type: ignore[import-not-found,unused-ignore]

        types = ["nominal" if size else "continuous" for size in rows["sizes"]]
        return DPExplainableBoostingRegressor(
            epsilon=epsilon, delta=delta, feature_types=types, privacy_bounds=rows["bounds"], privacy_target_min=low,
            privacy_target_max=high, n_jobs=1,
        ), words_and_numbers  # fmt: skip
    from diffprivlib import models  # type: ignore[import-not-found,unused-ignore]

    return models.LinearRegression(epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(low, high)), indicators


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """Fit, write what is predicted within the bounds, and return the CPU seconds of the fit."""
    with np.load(question["rows"]) as table:
        rows = dict(table)
    model, form = made(question["model"], question["epsilon"], question["delta"], rows)
    train, test = (form(rows[part], rows["sizes"], rows["bounds"]) for part in ("train", "test"))
    start = time.process_time()
    model.fit(train, np.clip(rows["y"], *rows["target_bounds"]))
    seconds = time.process_time() - start
    np.save(question["answer"], np.clip(model.predict(test), *rows["target_bounds"]))
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
