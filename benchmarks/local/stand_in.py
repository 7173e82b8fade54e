"""Models of made-up people beside those of real tables: ``python -m benchmarks.local.stand_in``, a minute or two.

Made-up people are as many as a table's training rows; their largest class is as frequent, and every attribute goes with
the class by the root mean square of Cohen's w of the table's. Accuracies of real tables are those that
`benchmarks.local.accuracy` has written. The lines are printed, and stand in src/privet/local/planning/planning.md.
"""

import json
import math

import numpy as np

from benchmarks.local.accuracy import RESULTS, TABLES
from benchmarks.utility.splits import Split
from privet import FieldSampling
from privet.datasets.stand_in import cohens_w
from privet.local import simulate_answers
from privet.local.channels.cells import codes_of

_HEADING = (
    "| table | people | w | largest class | epsilon 0.5 | 1 | 2 | 4 | 8 |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)
_EPSILON, _DRAWS, _MOST = 2.0, 5, 0.95


def strength_of(split: Split) -> float:
    """Return the root mean square of the attributes' w, in the cells that people would be asked about."""
    schema = FieldSampling(split.schema, epsilon=_EPSILON).channel.schema
    rows, labels = split.frames()[0].reset_index(drop=True), np.asarray(split.labels)
    places = np.array([labels == each for each in schema.classes]).argmax(axis=0)
    balance = np.bincount(places, minlength=len(schema.classes)) / len(places)
    found = []
    for attribute in schema.attributes:
        counts = np.zeros((attribute.n_codes, len(balance)))
        np.add.at(counts, (codes_of(rows[attribute.name], attribute), places), 1)
        found.append(cohens_w(counts / counts.sum(axis=0), balance))
    return min(math.sqrt(float(np.mean(np.square(found)))), _MOST)


def main() -> None:
    known = {
        (own["table"], own["epsilon"]): float(np.mean(own["accuracy"]))
        for own in json.loads(RESULTS.read_text(encoding="utf-8"))
        if own["method"] == "sampled-forest"
    }
    print(_HEADING)
    off = []
    for table in TABLES:
        split = Split(table, 0)
        _, counts = np.unique(split.labels, return_counts=True)
        people, share, own = int(counts.sum()), float(counts.max() / counts.sum()), strength_of(split)
        channel = FieldSampling(split.schema, epsilon=_EPSILON).channel
        made_up = simulate_answers(channel, people, strength=own, class_share=share, draws=_DRAWS)
        real = [known[table, epsilon] for epsilon in made_up.epsilons]
        off.append(np.abs(np.subtract(made_up.accuracy[1], real)))
        cells = [f"{100 * a:.1f} ({100 * b:.1f})" for a, b in zip(made_up.accuracy[1], real, strict=True)]
        print(f"| {table} | {people:,} | {own:.2f} | {100 * share:.1f} | {' | '.join(cells)} |", flush=True)
    each = ", ".join(f"{table} {100 * own.mean():.1f}" for table, own in zip(TABLES, off, strict=True))
    print(f"off by {100 * np.mean(off):.1f} points on average: {each}")


if __name__ == "__main__":
    main()
