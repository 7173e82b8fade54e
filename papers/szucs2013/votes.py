"""Section 4.3: the paper's majority vote beside the mean of probabilities, and nodes split to the end or not.

The paper leaves open its least node, its number of trees, and how votes become the scores of a ROC curve; here a score
is the share of trees that vote for the class.
"""

from collections.abc import Iterator
from itertools import product
from math import inf

from papers.experiment import Experiment, Scale
from papers.szucs2013.forest import SIZES, THETAS
from papers.szucs2013.plain_forest import FULLY_GROWN, LEAST_NODE, MAJORITY, MEAN, TREES
from papers.szucs2013.split import split
from papers.workers import Cell
from privet import RandomResponseForestClassifier, RecordComplement, Secret, perturb

LEAST_NODES = (LEAST_NODE, FULLY_GROWN)
# Without disguise, to tell what other least nodes and more votes would change.
MORE_LEAST_NODES, MANY_TREES = (10, 30, 300), 500


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every table and theta with both least nodes, the first run of all before the second of any."""
    for run in range(max(runs for _, runs in SIZES[scale].values())):
        for table, (_, runs) in SIZES[scale].items():
            if run < runs:
                for theta, least_node in product(THETAS[scale], LEAST_NODES):
                    yield table, TREES[scale], theta, least_node, run
    if scale == "full":
        for table in SIZES[scale]:
            yield from ((table, TREES[scale], 1.0, least_node, 0) for least_node in MORE_LEAST_NODES)
            yield from ((table, MANY_TREES, 1.0, least_node, 0) for least_node in (*LEAST_NODES, *MORE_LEAST_NODES))


def measure(table: str, trees: int, theta: float, least_node: int, run: int) -> list[tuple[str, float]]:
    """Disguise the training rows and return the areas of the same trees under both votes."""
    rows = split(table)
    through = RecordComplement(rows.coding.schema, theta=theta, coding=rows.coding).channel
    clear = rows.train.assign(**{rows.target: rows.train_y})
    answers = perturb(clear, through, Secret(), max_epsilon=inf)  # at theta 1 clear rows are what is wanted
    X, y = answers.drop(columns=rows.target), answers[rows.target]
    models = {
        vote: RandomResponseForestClassifier(
            channel=through, n_trees=trees, min_rows=least_node, vote=vote, cautious=False, random_state=run, n_jobs=1
        )
        for vote in (MEAN, MAJORITY)
    }
    return [(vote, rows.auc(model.fit(X, y), rows.test)) for vote, model in models.items()]


VOTES = Experiment("votes", ("table", "trees", "theta", "least_node", "run"), ("vote", "auc"), cells, measure)
