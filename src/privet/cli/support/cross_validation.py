"""Fits to the folds of a table, of private forests and of what they are compared with."""

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.cli.support.options import ModelOptions
from privet.cli.support.progress import Progress
from privet.cli.support.scores import Answered, HeldOut, LabelledRows, held_out_of, said_of
from privet.errors import DataError
from privet.rng import public_generator

_FOREST_TREES = 100


class Fold(NamedTuple):
    """Which rows train and which test, and a seed for what is public or promises nothing."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


# Fits to the rows of a fold that train, and says what it predicts of those that test: class chances, or a number.
Fit: TypeAlias = Callable[[LabelledRows, Fold], NDArray[np.float64]]


def folds_of(rows: LabelledRows, *, folds: int, repeats: int, random_state: int | None) -> tuple[list[Fold], bool]:
    """Return the folds, and whether every class that occurs is frequent enough to be in each of them."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    rng, is_even = public_generator(random_state), True
    shape = {"n_splits": folds, "n_repeats": repeats, "random_state": _seed(rng)}
    if rows.schema.number is not None:
        if len(rows.truth) < 2 * folds:
            raise _too_few()
        parts = list(RepeatedKFold(**shape).split(rows.truth))
    else:
        exact_sizes = np.bincount(rows.truth)
        if not len(exact_sizes) or exact_sizes.max() < folds:
            raise _too_few()
        is_even = bool((exact_sizes[exact_sizes > 0] >= folds).all())
        with warnings.catch_warnings():
            # The warning about rare classes quotes a count.
            warnings.simplefilter("ignore", UserWarning)
            parts = list(RepeatedStratifiedKFold(**shape).split(np.zeros(len(rows.truth)), rows.truth))
    return [Fold(train, test, _seed(rng)) for train, test in parts], is_even


def _too_few() -> DataError:
    """Return the error that a table cannot be split."""
    return DataError("the table has too few rows for that many folds; lower --folds")


def cross_validate(rows: LabelledRows, parts: Sequence[Fold], fits: dict[str, Fit]) -> dict[str, HeldOut]:
    """Return what every fit says of the rows of each fold that test."""
    kind = held_out_of(rows.schema)
    results: dict[str, HeldOut] = {}
    with Progress("cross-validation", steps="folds") as progress:
        for name, fit in fits.items():
            done: list[Answered] = []
            for part in parts:
                progress.step(name, len(done), len(parts))
                done.append(Answered(part.test, rows.truth[part.test], fit(rows, part)))
            progress.step(name, len(done), len(parts))
            results[name] = kind(tuple(done))
    return results


def private_forest(chosen: ModelOptions, epsilon: float) -> Fit:
    """Return the fit of privet's model at one epsilon; a fold has the same trees at every epsilon."""

    def said(rows: LabelledRows, fold: Fold) -> NDArray[np.float64]:
        model = chosen.estimator(rows.schema, epsilon=epsilon, random_state=fold.seed)
        model.fit(rows.features.take(fold.train), rows.labels[fold.train])
        return said_of(model, rows.features.take(fold.test))

    return said


def random_forest(jobs: int) -> Fit:
    """Return the fit of scikit-learn's forest to the encoded rows: no noise, no promise."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    from privet.schema.encoding import encoder_of

    def said(rows: LabelledRows, fold: Fold) -> NDArray[np.float64]:
        codes, is_number = encoder_of(rows.schema).encode(rows.features), rows.schema.number is not None
        kind = RandomForestRegressor if is_number else RandomForestClassifier
        model = kind(_FOREST_TREES, random_state=fold.seed, n_jobs=jobs).fit(codes[fold.train], rows.truth[fold.train])
        if is_number:
            predicted: NDArray[np.float64] = model.predict(codes[fold.test])
            return predicted
        found = np.zeros((len(fold.test), len(rows.schema.classes)))
        found[:, model.classes_] = model.predict_proba(codes[fold.test])  # a fold may lack a class
        return found

    return said


def guess(rows: LabelledRows, fold: Fold) -> NDArray[np.float64]:
    """Return each class's share of the training rows, or the mean of their numbers, for every row."""
    own = rows.truth[fold.train]
    if rows.schema.number is not None:
        return np.full(len(fold.test), own.mean())
    shares = np.bincount(own, minlength=len(rows.schema.classes)) / len(own)
    return np.tile(shares, (len(fold.test), 1))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
