"""A year of monthly updates of the recommended forest against one fit: ``python -m benchmarks.updates.year``, minutes.

The training rows of a table are put into twelve batches of equal size, in random order. After each month there is the
model of all batches so far, and beside it one fit to the same rows at the same epsilon, and random trees that take the
same batches. All are scored on the same test rows. How fits are combined was chosen on other cuts, repeats from 100
on; when a refit is advised was set with these results in view. Noise is drawn anew in every run.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.utility.splits import Split
from privet import PrivateForestClassifier, PrivateRDTClassifier
from privet.central.updates.update import refit_advice

TABLES, EPSILONS, REPEATS, MONTHS = ("adult", "bank-marketing"), (1.0, 0.5), range(5), 12
RESULTS = Path(__file__).with_name("results")


class Month(NamedTuple):
    """The accuracy after a month, and what noise was expected to cost; means over repeats, in percent."""

    table: str
    epsilon: float
    month: int
    updated: float
    one_fit: float
    random_trees: float
    expected: float
    expected_of_one_fit: float

    @property
    def loss(self) -> float:
        """How much less accurate batches are than one fit."""
        return self.one_fit - self.updated

    @property
    def expected_loss(self) -> float:
        """What was expected of that."""
        return self.expected - self.expected_of_one_fit


def year(split: Split, epsilon: float) -> Iterator[Month]:
    """Yield each month of one cut of a table."""
    X, test = split.frames()
    truth, classes = split.truth, np.array(split.schema.classes)
    order = np.random.default_rng(split.repeat).permutation(len(X))
    batches = np.array_split(order, MONTHS)
    updated = _forest(split, len(batches[0]), epsilon)
    trees = PrivateRDTClassifier(updated.schema, epsilon=epsilon, random_state=split.repeat)

    def percent(model: Any) -> float:
        return 100 * float((model.predict(test) == classes[truth]).mean())

    for month, batch in enumerate(batches, start=1):
        for model in (updated, trees):
            model.partial_fit(X.iloc[batch], split.labels[batch])
        so_far = np.concatenate(batches[:month])
        one = _forest(split, len(so_far), epsilon).fit(X.iloc[so_far], split.labels[so_far])
        advice: Any = refit_advice(updated)
        expected = [100 * losses[-1] for losses in (advice.losses, advice.losses_of_one_fit)]
        yield Month(split.table, epsilon, month, percent(updated), percent(one), percent(trees), *expected)


def _forest(split: Split, n_rows: int, epsilon: float) -> PrivateForestClassifier:
    return PrivateForestClassifier(replace(split.schema, rows=n_rows), epsilon=epsilon, random_state=split.repeat)


def measured() -> list[Month]:
    """Return every month, as means over repeats."""
    found: dict[tuple[str, float, int], list[Month]] = defaultdict(list)
    for table in TABLES:
        for epsilon in EPSILONS:
            for repeat in REPEATS:
                for month in year(Split(table, repeat), epsilon):
                    found[month[:3]].append(month)
            print(table, epsilon, f"{np.mean([own.loss for own in found[table, epsilon, MONTHS]]):.2f}", flush=True)
    return [Month(*key, *np.mean([own[3:] for own in months], axis=0).tolist()) for key, months in found.items()]


def page(months: list[Month]) -> str:
    """Return the result page."""
    lines = [
        "# A year of monthly updates",
        "",
        f"`make updates`: the recommended forest takes the training rows of a table in {MONTHS} batches of equal size,",
        "and is scored after each. Beside it are one fit to the same rows at the same epsilon, and `private-rdt` with",
        "the same batches. Accuracy in percent, mean of five cuts of the table. *Seen* is what batches cost against",
        "one fit, in points; *expected* is what `privet update` states of it.",
    ]
    for table in TABLES:
        for epsilon in EPSILONS:
            own = [month for month in months if (month.table, month.epsilon) == (table, epsilon)]
            lines += [
                "",
                f"## {table}, epsilon {epsilon:g}",
                "",
                "| month | batches | one fit | seen | expected | random trees |",
            ]
            lines += ["|---:|---:|---:|---:|---:|---:|"]
            for each in own:
                figures = (each.updated, each.one_fit, each.loss, each.expected_loss, each.random_trees)
                lines.append(f"| {each.month} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    all_months = measured()
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "year.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Month._fields, *[[*own[:3], *(f"{x:.3f}" for x in own[3:])] for own in all_months]])
    (RESULTS / "README.md").write_text(page(all_months))
