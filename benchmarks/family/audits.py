"""What an attacker shows of each member: a lower bound on its epsilon, by privet's own audit, on tables made for it.

Small forms are audited, one tree of height 1 or so: a release in many parts shows its whole epsilon only where all
parts fall out alike, which is rare.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from benchmarks.family.members import (
    DELTA,
    DPDF,
    DPDF_PAPER,
    FLIPPED,
    FOREST,
    FOREST_DELTA,
    GAUSSIAN,
    ID3,
    ID3_PAPER,
    RECONSTRUCTION,
    RESPONSE_FOREST,
    THETA,
    UNIFORM,
)
from benchmarks.utility.methods import RANDOM_FOREST
from privet import (
    Categorical,
    Channel,
    DiffPID3Classifier,
    DPDFClassifier,
    DPRFClassifier,
    GaussianNoise,
    Numeric,
    PrivateForestClassifier,
    PrivateID3Classifier,
    PrivateRDTClassifier,
    RandomizedResponse,
    RecordComplement,
    Schema,
    Secret,
    UniformNoise,
    perturb,
)
from privet.attack import Audit, audit
from privet.attack.neighbours import Neighbours, Table, worst_cases
from privet.errors import NoGuaranteeWarning
from privet.tree.forest import LEAF

CONFIDENCE = 0.95
_LABELS = ["no", "yes"]
_ONE = Schema([Categorical("a", [5, 9])], classes=_LABELS, rows=40)
_TWO = Schema([Categorical("a", [5, 9]), Categorical("b", ["u", "v"])], classes=_LABELS, rows=40)
# A forest of weights is attacked in a larger crowd, which the row contradicts.
_CROWDED = Schema(_ONE.attributes, classes=_LABELS, rows=400)
_AGE = Schema([Numeric("age", 0, 100)], classes=_LABELS)
# So many attributes that, with a delta, normal noise is drawn.
_WIDE = Schema([Categorical(f"a{i}", [5, 9]) for i in range(16)], classes=_LABELS, rows=400)
# Noise in a thousand classes makes a node of two rows look like a crowd; the paper's choice then hangs on one of them.
_THOUSAND = Schema(_TWO.attributes, classes=[f"class {i}" for i in range(1_000)], rows=40)
_ALONE = "a row alone in its leaf, beside a crowd"
_TIPS = "a row that tips a choice"
_SECOND = "a second row, which one attribute tells from the first"
_CONTRADICTS = "a row that contradicts its leaf"


@dataclass(frozen=True)
class Attack:
    """One attack.

    Parameters
    ----------
    words
        What was fitted, and which row is looked for.
    subject
        Returns an estimator, or a function of a table, at an epsilon.
    tables
        The neighbours of an estimator; the two tables of a function.
    runs
        Releases of each table.
    """

    words: str
    subject: Callable[[float], Any]
    tables: Neighbours | tuple[Any, Any]
    runs: int

    def audit(self, epsilon: float, runs: int, confidence: float) -> Audit:
        """Return what the attack shows at an epsilon; where there is none, none is claimed."""
        claimed = 0.0 if math.isinf(epsilon) else epsilon
        tables = [self.tables] if isinstance(self.tables, Neighbours) else self.tables
        return audit(self.subject(epsilon), tables, epsilon=claimed, runs=runs, confidence=confidence, n_jobs=1)


def case(schema: Schema, name: str, copies: int = 1) -> Neighbours:
    """Return a worst case of a schema, its crowd so many times as large."""
    found = next(each for each in worst_cases(schema) if each.name == name)
    crowd = Table(np.repeat(found.without.X, copies, axis=0), np.repeat(found.without.y, copies))
    return Neighbours(name, crowd, found.row)


def pair(schema: Schema, name: str) -> tuple[Table, Table]:
    """Return the two tables of a worst case."""
    found = case(schema, name)
    return found.without, found.with_row


@dataclass(frozen=True)
class RootChoice:
    """Fits, and reads how many rows the root seems to have, with a sign for the attribute that it tests."""

    estimator: Any

    def __call__(self, table: Table) -> list[float]:
        """Return the number of rows, negative for the second attribute and 0 for a leaf."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoGuaranteeWarning)
            model = clone(self.estimator).fit(table.X, table.y)
        sign = {LEAF: 0.0, 0: 1.0, 1: -1.0}[int(model.forest_.attribute[0])]
        return [sign * float(model.noisy_counts_[0].sum())]


@dataclass(frozen=True)
class Answer:
    """One person's answer through a channel, with a secret of its own each time, as ``read`` makes numbers of it."""

    channel: Channel
    read: Callable[[NDArray[Any]], list[float]]

    def __call__(self, record: list[Any]) -> list[float]:
        """Return the answer of a person with this record."""
        fields = [*self.channel.schema.names, self.channel.schema.target]
        table = pd.DataFrame([record], columns=fields[: len(record)])
        return self.read(perturb(table, self.channel, Secret()).to_numpy()[0])


def chance_without_noise(table: Table) -> list[float]:
    """Return a forest's chance of the second class where the row in question is."""
    model = RandomForestClassifier(10).fit(table.X.astype(float), table.y == "yes")
    return [float(dict(zip(model.classes_, model.predict_proba([[9.0]])[0], strict=True)).get(True, 0.0))]


def second_row(variant: str) -> Attack:
    """Return the attack on a choice: of two rows in a node that seems to hold many, one attribute tells them apart."""
    return Attack(
        f"1 tree, height 1, 1,000 classes; {_SECOND}",
        lambda epsilon: RootChoice(
            DPDFClassifier(_THOUSAND, epsilon=epsilon, height=1, min_support=0, variant=variant)
        ),
        pair(_THOUSAND, _SECOND),
        6_000,
    )


def noisy_age(noise: Any) -> Answer:
    """Return the answer of "100 % privacy" to one number."""
    return Answer(noise(_AGE, privacy=1.0).channel, as_they_are)


def as_they_are(values: NDArray[Any]) -> list[float]:
    """Return numbers as they are."""
    return [float(value) for value in values]


def second_of_two(values: NDArray[Any]) -> list[float]:
    """Return whether each of two answers is the second of its values."""
    return [float(values[0] == 9), float(values[1] == "yes")]


def parity(values: NDArray[Any]) -> list[float]:
    """Return whether two bits differ, which flipping both of them does not change."""
    return [float(values[0] != values[1])]


_SHORT = "1 tree, height 1"
_ENDS = "1 answer; one end of the range or the other"
ATTACKS = {
    "forest": Attack(
        f"1 attribute; {_CONTRADICTS}",
        lambda epsilon: PrivateForestClassifier(_CROWDED, epsilon=epsilon),
        case(_CROWDED, _CONTRADICTS, copies=10),
        2_500,
    ),
    "forest with delta": Attack(
        f"16 trees, normal noise; {_CONTRADICTS}",
        lambda epsilon: PrivateForestClassifier(_WIDE, epsilon=epsilon, delta=DELTA, n_attributes=16, group_size=1),
        case(_WIDE, _CONTRADICTS, copies=10),
        1_000,
    ),
    "Private-RDT": Attack(
        f"{_SHORT}; {_ALONE}",
        lambda epsilon: PrivateRDTClassifier(_TWO, epsilon=epsilon, n_trees=1, height=1),
        case(_TWO, _ALONE),
        4_000,
    ),
    "DP-RF": Attack(
        f"1 tree; {_ALONE}",
        lambda epsilon: DPRFClassifier(_TWO, epsilon=epsilon, n_trees=1),
        case(_TWO, _ALONE),
        4_000,
    ),
    "DPDF": Attack(
        f"{_SHORT}; {_TIPS}",
        lambda epsilon: DPDFClassifier(_TWO, epsilon=epsilon, height=1, min_support=0),
        case(_TWO, _TIPS),
        4_000,
    ),
    "DPDF, second row": second_row("sound"),
    "DPDF of the paper, second row": second_row("paper"),
    "DiffPID3": Attack(
        f"{_SHORT}; {_TIPS}",
        lambda epsilon: DiffPID3Classifier(_TWO, epsilon=epsilon, height=1, criterion="n_gini"),
        case(_TWO, _TIPS),
        4_000,
    ),
    "private ID3": Attack(
        f"1 attribute; {_ALONE}",
        lambda epsilon: PrivateID3Classifier(_ONE, epsilon=epsilon),
        case(_ONE, _ALONE),
        4_000,
    ),
    "random answers": Attack(
        "the answers of 1 attribute and the label; one record or its opposite",
        lambda epsilon: Answer(RandomizedResponse(_ONE, epsilon=epsilon, label=True).channel, second_of_two),
        ([5, "no"], [9, "yes"]),
        4_000,
    ),
    "Gaussian noise": Attack(_ENDS, lambda _: noisy_age(GaussianNoise), ([0.0], [100.0]), 4_000),
    "uniform noise": Attack(_ENDS, lambda _: noisy_age(UniformNoise), ([0.0], [100.0]), 4_000),
    "flipped records": Attack(
        "1 answer; a record, or another that is not its mirror image",
        lambda _: Answer(RecordComplement(_TWO, theta=THETA).channel, parity),
        ([5, "u"], [5, "v"]),
        4_000,
    ),
    "no privacy": Attack(f"10 trees; {_ALONE}", lambda _: chance_without_noise, pair(_ONE, _ALONE), 1_000),
}
# Which attacks are on which member; the most that they show counts.
AUDITS = {
    FOREST: ("forest",),
    FOREST_DELTA: ("forest with delta",),
    "Private-RDT": ("Private-RDT",),
    "DP-RF": ("DP-RF",),
    DPDF: ("DPDF", "DPDF, second row"),
    DPDF_PAPER: ("DPDF of the paper, second row",),
    "DiffPID3": ("DiffPID3",),
    ID3: ("private ID3",),
    ID3_PAPER: ("private ID3",),
    RESPONSE_FOREST: ("random answers",),
    RECONSTRUCTION: ("random answers",),
    GAUSSIAN: ("Gaussian noise",),
    UNIFORM: ("uniform noise",),
    FLIPPED: ("flipped records",),
    RANDOM_FOREST: ("no privacy",),
}


def confidence_of(attack: str) -> float:
    """Return the confidence of one attack's bound, such that all bounds on a member hold together with 95 %."""
    return 1 - (1 - CONFIDENCE) / max(len(names) for names in AUDITS.values() if attack in names)
