"""Fig. 2: the area under the ROC curve over theta, and what an attacker makes of the same records."""

from collections.abc import Iterator
from math import inf

import numpy as np
import pandas as pd

from papers.experiment import Experiment, Scale
from papers.szucs2013.mirror_attack import recovered_share
from papers.szucs2013.split import Split, split
from papers.workers import Cell
from privet import Channel, RandomResponseForestClassifier, RecordComplement, Secret, perturb
from privet.local.channels.record_complement import Complement

# By scale, of each table the trees and the runs; each run disguises anew.
SIZES: dict[Scale, dict[str, tuple[int, int]]] = {
    "quick": {"adult": (30, 1)},
    "full": {"adult": (100, 3), "census-income-kdd": (30, 1)},
}
THETAS: dict[Scale, tuple[float, ...]] = {
    "quick": (1.0, 0.9, 0.7, 0.55, 0.52),
    "full": (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.55, 0.52),
}
FINDINGS = ("anonymity", "auc", "auc_disguised_label", "auc_disguise_ignored", "attacker_recovers")


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every table and theta, the first run of all before the second of any."""
    for run in range(max(runs for _, runs in SIZES[scale].values())):
        for table, (trees, runs) in SIZES[scale].items():
            if run < runs:
                yield from ((table, trees, theta, run) for theta in THETAS[scale])


def measure(table: str, trees: int, theta: float, run: int) -> list[tuple[float, ...]]:
    """Disguise the training rows and return what a forest, and an attacker, learn from them."""
    rows = split(table)
    clear = rows.train.assign(**{rows.target: rows.train_y})
    through, hiding = _channel(rows, theta, label=False), _channel(rows, theta, label=True)
    answers = perturb(clear, through, Secret(), max_epsilon=inf)  # at theta 1 clear rows are what is wanted
    areas = (
        _auc(rows, through, answers, trees, run),
        _auc(rows, hiding, perturb(clear, hiding, Secret(), max_epsilon=inf), trees, run),
        _auc(rows, _believing(through), answers, trees, run),
    )
    return [(round(rows.coding.anonymity(theta), 4), *areas, round(_recovered(rows, theta, answers), 5))]


def _channel(rows: Split, theta: float, *, label: bool) -> Channel:
    return RecordComplement(rows.coding.schema, theta=theta, label=label, coding=rows.coding).channel


def _believing(channel: Channel) -> Channel:
    """Return the channel that a collector assumes who believes every record."""
    assert channel.flips is not None
    believed = Complement(channel.flips.coding, 1.0, channel.flips.flips_label)
    return Channel.of(channel.schema, [], record=believed, leaks=channel.leaks)


def _auc(rows: Split, through: Channel, answers: pd.DataFrame, trees: int, run: int) -> float:
    model = RandomResponseForestClassifier(channel=through, n_trees=trees, cautious=False, random_state=run, n_jobs=1)
    return rows.auc(model.fit(answers.drop(columns=rows.target), answers[rows.target]), rows.test)


def _recovered(rows: Split, theta: float, answers: pd.DataFrame) -> float:
    """Return whose true records an attacker finds who has the test rows for reference; at theta 1 all lie open."""
    if theta == 1:
        return 1.0
    disguised = answers[list(rows.coding.bit_names)].to_numpy(np.uint8)
    return recovered_share(rows.bits(rows.train), disguised, rows.bits(rows.test), rows.coding, theta)


FOREST = Experiment("forest", ("table", "trees", "theta", "run"), FINDINGS, cells, measure)
