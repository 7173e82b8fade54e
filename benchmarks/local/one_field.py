"""What one answer a person gives without any care: one field and the label, a frequency oracle, and naive Bayes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.local.frequency_oracles import KAryResponse, UnaryEncoding
from benchmarks.utility.splits import Split, positions
from privet import Numeric, Schema
from privet.schema.encoding import Encoder

# Numbers have so many cells of equal width.
_CELLS = 12


def naive_bayes(split: Split, epsilon: float) -> float:
    """Return the share of test rows that naive Bayes on everybody's one answer predicts right.

    Each person's coin picks a field; its cell and the label are answered together at the whole epsilon, by k-ary
    response or unary encoding, whichever has less variance. What an attribute says is drawn to nothing as far as noise
    explains it.
    """
    rng = np.random.default_rng([split.repeat, round(1000 * epsilon)])
    encoder = Encoder(_with_cells(split.schema))
    train, test = (encoder.encode(frame) for frame in split.frames())
    classes = len(split.schema.classes)
    labels = positions(split.labels, split.schema.classes)
    picked = rng.integers(0, train.shape[1], len(train))
    cells = [a.n_codes for a in encoder.schema.attributes]
    tables = [
        _class_table(train[picked == j, j].astype(np.int64) * classes + labels[picked == j], n, classes, epsilon, rng)
        for j, n in enumerate(cells)
    ]
    balance = np.maximum(sum(counts.sum(axis=0) for counts, _ in tables), 1.0)
    balance = balance / balance.sum()
    score = np.log(balance) + sum(_said(*own, balance)[test[:, j]] for j, own in enumerate(tables))
    return float(np.mean(score.argmax(axis=1) == split.truth))


def _with_cells(schema: Schema) -> Schema:
    attributes = [replace(a, bins=_CELLS, edges=None) if isinstance(a, Numeric) else a for a in schema.attributes]
    return replace(schema, attributes=tuple(attributes))


def _class_table(
    true: NDArray[np.int64], cells: int, classes: int, epsilon: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], float]:
    """Return the estimated number of people in every cell of a class, and the variance of the noise in one."""
    size = cells * classes
    oracle = min((o.best(size, epsilon) for o in (KAryResponse, UnaryEncoding)), key=_variance)
    counts = len(true) * oracle.estimated(true, rng)
    return counts.reshape(cells, classes), len(true) * _variance(oracle)


def _variance(oracle: KAryResponse | UnaryEncoding) -> float:
    return oracle.variance(np.full(oracle.cells, 1 / oracle.cells))


def _said(counts: NDArray[np.float64], noise: float, balance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each cell adds to the score of each class."""
    independent = np.maximum(counts.sum(axis=1, keepdims=True), 1.0) * balance
    beyond = counts - independent
    explained = max(0.0, float(np.mean(beyond**2)) - noise)
    likely = np.maximum(independent + explained / (explained + noise) * beyond, 0.5)
    likely /= likely.sum(axis=0)
    said: NDArray[np.float64] = np.log(likely / likely.mean(axis=1, keepdims=True))
    return said
