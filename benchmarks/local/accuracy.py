"""Accuracies of local methods on six tables, written to ``results/accuracy.json`` cell by cell.

``python -m benchmarks.local.accuracy [TABLE ...]``. Each draw has its own split and secret; test rows are clear.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.local.one_field import naive_bayes
from benchmarks.utility.splits import Split, category_sizes
from privet import (
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    SampledForestClassifier,
    Secret,
    perturb,
)
from privet.files.whole_file import whole_file
from privet.local import Channel, FieldSampling

TABLES = ("adult", "nursery", "mushroom", "connect-4", "bank-marketing", "compas")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DRAWS = 5
RESULTS = Path(__file__).with_name("results") / "accuracy.json"


def answers_of(split: Split, channel: Channel) -> Any:
    """Return what the people of the training rows send."""
    people = split.frames()[0].reset_index(drop=True)
    return perturb(people.assign(**{split.schema.target: split.labels}), channel, Secret())


def sampled_forest(split: Split, epsilon: float) -> dict[str, float]:
    """Fit to one question of many; the chances are judged too."""
    channel = FieldSampling(split.schema, epsilon=epsilon).channel
    model = SampledForestClassifier(channel=channel).fit(answers_of(split, channel))
    chances = model.predict_proba(split.frames()[1])
    own = np.clip(chances[np.arange(len(chances)), split.truth], 1e-9, 1.0)
    return {"accuracy": _share(chances.argmax(axis=1) == split.truth), "log_loss": -float(np.log(own).mean())}


def of_all_fields(method: type[Any]) -> Callable[[Split, float], dict[str, float]]:
    """Return how a method of today is fitted: all fields and the label share the epsilon."""

    def fitted(split: Split, epsilon: float) -> dict[str, float]:
        channel = RandomizedResponse(split.schema, epsilon=epsilon, label=True, covers_missing=True).channel
        answers = answers_of(split, channel)
        labels = answers.pop(split.schema.target).to_numpy()
        model = method(channel=channel, n_jobs=1, random_state=split.repeat).fit(answers, labels)
        return {"accuracy": _share(model.predict_proba(split.frames()[1]).argmax(axis=1) == split.truth)}

    return fitted


def clear(split: Split) -> dict[str, float]:
    """Fit boosted trees to the clear rows: what could be known."""
    train, test = split.numbers()
    sizes = category_sizes(split.schema)
    # Without a penalty the scores of a class of two rows, as Nursery has one, grow without bound.
    model = HistGradientBoostingClassifier(
        categorical_features=[0 < s <= 255 for s in sizes], l2_regularization=1.0, random_state=0
    )
    predicted = model.fit(train, split.labels).predict(test)
    truth = np.array(split.schema.classes)[split.truth]
    return {"accuracy": _share(predicted == truth)}


def majority(split: Split) -> dict[str, float]:
    """Guess the class that most training rows have."""
    classes, counts = np.unique(split.labels, return_counts=True)
    truth = np.array(split.schema.classes)[split.truth]
    return {"accuracy": _share(truth == classes[counts.argmax()])}


METHODS: dict[str, Callable[[Split, float], dict[str, float]]] = {
    "sampled-forest": sampled_forest,
    "naive Bayes": lambda split, epsilon: {"accuracy": naive_bayes(split, epsilon)},
    "random-response-forest": of_all_fields(RandomResponseForestClassifier),
    "reconstruction-tree": of_all_fields(ReconstructionTreeClassifier),
}


def cells(tables: tuple[str, ...]) -> Iterator[tuple[str, str, float | None]]:
    """Yield method, table and epsilon, the new method first."""
    for method in METHODS:
        for table in tables:
            yield from ((method, table, epsilon) for epsilon in EPSILONS)
    for table in tables:
        yield from ((method, table, None) for method in ("clear", "majority"))


def measured(method: str, table: str, epsilon: float | None) -> dict[str, Any]:
    """Return a cell's scores, draw by draw."""
    draws = [_draw(method, Split(table, repeat), epsilon) for repeat in range(DRAWS)]
    scores = {name: [round(own[name], 5) for own in draws] for name in draws[0]}
    return {"method": method, "table": table, "epsilon": epsilon, **scores}


def _draw(method: str, split: Split, epsilon: float | None) -> dict[str, float]:
    if epsilon is None:
        return clear(split) if method == "clear" else majority(split)
    return METHODS[method](split, epsilon)


def _share(right: Any) -> float:
    return float(np.mean(right))


def main(tables: tuple[str, ...]) -> None:
    """Measure what is not yet in the file."""
    done = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    known = {(own["method"], own["table"], own["epsilon"]) for own in done}
    for cell in cells(tables or TABLES):
        if cell in known:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done.append(measured(*cell))
        print(*cell, f"{100 * np.mean(done[-1]['accuracy']):.1f}", flush=True)
        with whole_file(RESULTS) as file:
            file.write("[\n" + ",\n".join(json.dumps(own) for own in done) + "\n]\n")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
