"""Section 4.4: the classical random forest on clear rows, to which the paper's is said to be equal."""

from collections.abc import Iterator
from itertools import product

import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from papers.cross_validation import codes
from papers.experiment import Experiment, Scale
from papers.szucs2013.forest import SIZES
from papers.szucs2013.split import Split, split
from papers.workers import Cell

BITS, ATTRIBUTES = "bits", "attributes"
# Nodes of fewer rows are not split: privet's default where little is disguised, and scikit-learn's own.
LEAST_NODE, FULLY_GROWN = 100, 2


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every table, in bits and as it comes, with large leaves and fully grown."""
    for (table, (trees, _)), given, least in product(
        SIZES[scale].items(), (BITS, ATTRIBUTES), (LEAST_NODE, FULLY_GROWN)
    ):
        yield table, trees, given, least


def measure(table: str, trees: int, given: str, least_node: int) -> list[tuple[float]]:
    """Return the area under the curve on the test rows."""
    rows = split(table)
    train, test = (_inputs(rows, part, given) for part in (rows.train, rows.test))
    forest = RandomForestClassifier(trees, min_samples_split=least_node, random_state=0, n_jobs=1)
    return [(rows.auc(forest.fit(train, rows.train_y), test),)]


def _inputs(rows: Split, part: pd.DataFrame, given: str) -> object:
    if given == BITS:
        return rows.bits(part)
    return codes(part).to_numpy()


PLAIN_FOREST = Experiment("plain_forest", ("table", "trees", "given", "least_node"), ("auc",), cells, measure)
