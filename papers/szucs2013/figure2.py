"""Fig. 2: area under the ROC curve over theta on Adult and Census-Income, and what an attacker recovers beside it.

Run ``python -m papers.szucs2013.figure2 [--table adult] [--trees 100]``; pictures and tables go to ``results/``. UCI's
own split: training rows first. Codes are made from frequencies and quartiles of the clear training rows, as the paper
does; the channel carries that leak.
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from privet import Channel, Coding, RandomResponseForestClassifier, RecordComplement, Secret, perturb
from privet.datasets import uci
from privet.local.complement import Complement
from privet.local.mirror_attack import recovered_share
from privet.schema.encoding import Encoder

RESULTS = Path(__file__).with_name("results")
TRAINING_ROWS = {"adult": 32_561, "census-income-kdd": 199_523}
THETAS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.55, 0.52)
# A node of fewer rows is not split: our default where little is disguised, and so the plain forest's too.
LEAST_NODE = 100
COLUMNS = (
    "theta",
    "anonymity",
    "auc",
    "auc_disguised_label",
    "auc_disguise_ignored",
    "auc_random_forest",
    "attacker_recovers",
)


class Split(NamedTuple):
    """UCI's training and test rows, and the coding that the training rows give."""

    train: pd.DataFrame
    test: pd.DataFrame
    train_y: np.ndarray
    test_y: np.ndarray
    coding: Coding
    target: str

    @classmethod
    def of(cls, table: str) -> "Split":
        data, n = uci(table), TRAINING_ROWS[table]
        coding = Coding.from_rows(data.X[:n], data.schema)
        return cls(data.X[:n], data.X[n:], data.y[:n], data.y[n:], coding, data.schema.target)

    @property
    def positive(self) -> Any:
        """The class whose probability is scored: the rarer one."""
        labels, counts = np.unique(self.train_y, return_counts=True)
        return labels[counts.argmin()]

    def bits(self, rows: pd.DataFrame) -> NDArray[np.uint8]:
        """Return rows in bits."""
        coded: NDArray[np.uint8] = self.coding.bits(Encoder(self.coding.schema).encode(rows))
        return coded


def channel_of(split: Split, theta: float, *, label: bool) -> Channel:
    """Return the channel that keeps a record with chance theta."""
    return RecordComplement(split.coding.schema, theta=theta, label=label, coding=split.coding).channel


def ignoring(channel: Channel) -> Channel:
    """Return the channel that a collector takes who believes every record."""
    assert channel.record is not None
    believed = Complement(channel.record.coding, 1.0, channel.record.flips_label)
    return Channel.of(channel.schema, [], record=believed, leaks=channel.leaks)


def auc(split: Split, model: Any) -> float:
    """Return the area under the ROC curve on clear test rows."""
    scores = model.predict_proba(split.test)[:, list(model.classes_).index(split.positive)]
    return float(roc_auc_score(split.test_y == split.positive, scores))


def forest_auc(split: Split, through: Channel, answers: pd.DataFrame, trees: int) -> float:
    """Fit to what was answered and return the area under the curve."""
    model = RandomResponseForestClassifier(channel=through, n_trees=trees, random_state=0, n_jobs=-1)
    return auc(split, model.fit(answers.drop(columns=split.target), answers[split.target]))


def plain_forest_auc(split: Split, trees: int) -> float:
    """Return the area under the curve of scikit-learn's forest on the same bits, clear."""
    forest = RandomForestClassifier(trees, min_samples_split=LEAST_NODE, random_state=0, n_jobs=-1)
    forest.fit(split.bits(split.train), split.train_y)
    scores = forest.predict_proba(split.bits(split.test))[:, list(forest.classes_).index(split.positive)]
    return float(roc_auc_score(split.test_y == split.positive, scores))


def recovered(split: Split, theta: float, answers: pd.DataFrame) -> float:
    """Return whose true records an attacker finds who has the test rows for reference; at theta 1 all lie open."""
    if theta == 1:
        return 1.0
    disguised = answers[list(split.coding.bit_names)].to_numpy(np.uint8)
    return recovered_share(split.bits(split.train), disguised, split.bits(split.test), split.coding, theta)


def line(split: Split, theta: float, trees: int, plain: float) -> tuple[float, ...]:
    """Return one line of the table."""
    clear = split.train.assign(**{split.target: split.train_y})
    through, hiding = channel_of(split, theta, label=False), channel_of(split, theta, label=True)
    answers = perturb(clear, through, Secret())
    told = recovered(split, theta, answers)
    return (
        theta,
        split.coding.anonymity(theta),
        forest_auc(split, through, answers, trees),
        forest_auc(split, hiding, perturb(clear, hiding, Secret()), trees),
        forest_auc(split, ignoring(through), answers, trees),
        plain,
        told,
    )


def draw(lines: list[tuple[float, ...]], table: str) -> None:
    """Draw the curves."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
    columns = dict(zip(COLUMNS, zip(*lines, strict=True), strict=True))
    ax.plot(columns["theta"], columns["auc"], "o-", label="random response forest")
    ax.plot(columns["theta"], columns["auc_disguised_label"], "s--", label="the label disguised too")
    ax.plot(columns["theta"], columns["auc_disguise_ignored"], "^:", color="gray", label="the disguise ignored")
    ax.axhline(columns["auc_random_forest"][0], color="black", linewidth=1, label="random forest on the clear bits")
    ax.set(xlabel="theta, the chance that a record is given as it is", ylabel="AUC on clear test rows", title=table)
    ax.legend(frameon=False)
    figure.savefig(RESULTS / f"figure2_{table}.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=sorted(TRAINING_ROWS), default="adult")
    parser.add_argument("--trees", type=int, default=100)
    asked = parser.parse_args()
    split = Split.of(asked.table)
    print(f"{asked.table}: {len(split.train):,} training rows in {split.coding.n_bits} bits, {asked.trees} trees")
    plain, lines = plain_forest_auc(split, asked.trees), []
    print("  ".join(name.rjust(12) for name in COLUMNS))
    for theta in THETAS:
        lines.append(line(split, theta, asked.trees, plain))
        print(
            "  ".join(
                f"{number:.4f}".rjust(max(12, len(name))) for name, number in zip(COLUMNS, lines[-1], strict=True)
            )
        )
        sys.stdout.flush()
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"figure2_{asked.table}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([f"{number:.4f}" for number in numbers] for numbers in lines)
    draw(lines, asked.table)


if __name__ == "__main__":
    main()
