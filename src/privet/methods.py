"""The table of methods: a new one is registered here, with a line for type checkers in its package's ``__init__``.

The names of `privet` and of its packages, the registry of classes, ``--method`` with its help and completion, and the
list of methods that take updates follow from it. This module imports nothing but the standard library.
"""

from dataclasses import dataclass
from typing import Literal

Room = Literal["central", "local", "partitioned"]
Task = Literal["classes", "number"]


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    name
        What model files and ``--method`` call it.
    module, class_name
        Where its estimator is, below `privet`.
    help
        What it is, in a line.
    takes_updates
        Whether new rows can be added to a fitted model.
    learns
        What its target is: one of several classes, or a number.
    in_privet
        Whether `privet` itself offers the class, beside the package that has it.
    """

    name: str
    module: str
    class_name: str
    help: str
    takes_updates: bool = False
    learns: Task = "classes"
    in_privet: bool = True

    @property
    def room(self) -> str:
        """Whom it trusts: a curator (central), nobody (local), or each party with its own rows (partitioned)."""
        return self.module.partition(".")[0]

    @property
    def home(self) -> str:
        """The full name of its module."""
        return f"privet.{self.module}"


# The recommended one first: it is the command line's default.
METHODS = (
    Method(
        "private-forest",
        "central.private_forest",
        "PrivateForestClassifier",
        "small trees whose leaf weights are fitted together; recommended",
        takes_updates=True,
    ),
    Method(
        "private-forest-regressor",
        "central.private_forest_regressor",
        "PrivateForestRegressor",
        "the same for a target that is a number with declared bounds",
        takes_updates=True,
        learns="number",
    ),
    Method(
        "private-rdt",
        "central.private_rdt",
        "PrivateRDTClassifier",
        "random trees with noisy leaf counts",
        takes_updates=True,
    ),
    Method(
        "dp-rf",
        "central.dp_rf",
        "DPRFClassifier",
        "random trees, their number and depth tuned by signal to noise",
        takes_updates=True,
    ),
    Method("dpdf", "central.dpdf", "DPDFClassifier", "greedy trees with noisy counts at every node"),
    Method("diffpid3", "central.diffpid3", "DiffPID3Classifier", "one greedy tree with noisy sizes and leaf counts"),
    Method("private-id3", "central.private_id3", "PrivateID3Classifier", "ID3 on noisy histograms; a baseline"),
    Method(
        "reconstruction-tree",
        "local.reconstruction.reconstruction_tree",
        "ReconstructionTreeClassifier",
        "a tree from reconstructed distributions of disturbed answers",
    ),
    Method(
        "random-response-forest",
        "local.response_forest.random_response_forest",
        "RandomResponseForestClassifier",
        "a forest from randomized bits",
    ),
    Method(
        "sampled-forest",
        "local.sampled_forest.sampled_forest",
        "SampledForestClassifier",
        "a forest from answers to one question of many; recommended where nobody is trusted",
    ),
    Method(
        "horizontal-forest",
        "partitioned.horizontal",
        "HorizontalForest",
        "parties with different rows, each with its own noise",
    ),
    Method(
        "combined-forest",
        "partitioned.own_forests",
        "CombinedForest",
        "parties with different rows, each with a recommended forest of its own",
    ),
    Method(
        "vertical-forest",
        "partitioned.vertical",
        "VerticalForest",
        "parties with different columns, each with random trees of its own",
    ),
    Method(
        "column-forest",
        "partitioned.own_columns",
        "ColumnForest",
        "parties with different columns, each with a recommended forest of its own",
    ),
    Method(
        "secure-sum-forest",
        "partitioned.secure_sum.forest",
        "SecureSumForest",
        "parties with different rows, who share one noise",
        in_privet=False,
    ),
    Method(
        "table-forest",
        "partitioned.tables.table_forest",
        "TableForest",
        "parties with different rows: class tables of attributes, then one Newton step",
        in_privet=False,
    ),
)

# The names of those whose models take new rows.
UPDATED = tuple(method.name for method in METHODS if method.takes_updates)


def methods_of(room: Room, learns: Task | None = None) -> tuple[Method, ...]:
    """Return the methods of one room, or those of them that learn classes or a number."""
    return tuple(method for method in METHODS if method.room == room and learns in (None, method.learns))


def homes_of(room: Room) -> dict[str, str]:
    """Return the modules of a room's estimators by their class names."""
    return {method.class_name: method.home for method in methods_of(room)}
