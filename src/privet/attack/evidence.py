"""What an attacker reads in a released model. The attacker knows both tables and sees the whole model file."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attack.neighbours import Neighbours, Table
from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.model_file import counts_from_json, structure_from_json
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.forest import Forest

# The attributes that the roots test are evidence while they take at most this many numbers.
_MAX_CHOICES = 64


@dataclass(frozen=True)
class Evidence:
    """Turns a model into numbers that are evidence for or against the row. Training runs teach their weights."""

    neighbours: Neighbours

    def __call__(self, model: Any) -> NDArray[np.float64]:
        """Return the numbers; every model of one estimator gives equally many."""
        document = model.to_document()
        parts = [self._log_odds(model)]
        if "counts" in document["released"]:
            parts += self._of_counts(model, document)
        else:
            parts.append(np.array(document["released"].get("balance", []), dtype=np.float64))
        return np.concatenate([part.ravel() for part in parts])

    def _log_odds(self, model: Any) -> NDArray[np.float64]:
        """Return the log-odds of every class for the row; of a number those of both ends of its range."""
        chances = np.clip(_chances(model, self.neighbours.row.X[:1]), 1e-12, 1 - 1e-12)
        odds: NDArray[np.float64] = np.log(chances / (1 - chances))
        return odds

    def _of_counts(self, model: Any, document: dict[str, Any]) -> list[NDArray[np.float64]]:
        schema = model.schema_
        forest = structure_from_json(document["structure"], schema.attributes)
        counted = forest.n_nodes if model.counts_every_node else len(forest.leaves)
        noisy = counts_from_json(document["released"]["counts"], n_leaves=counted, n_classes=len(schema.classes))
        exact, row = (self._exact(model, table, forest) for table in (self.neighbours.without, self.neighbours.row))
        # Under Laplace noise this is the log-likelihood ratio of the two tables, times the scale.
        likelier = (np.abs(noisy - exact) - np.abs(noisy - exact - row)).sum(axis=1).astype(np.float64)
        places = np.arange(forest.n_nodes) if model.counts_every_node else forest.leaves
        depths = np.minimum(forest.depth_of_node[places], 7)
        by_depth = np.asarray(np.bincount(depths, likelier, minlength=8), dtype=np.float64)
        return [by_depth, _choices(forest, len(schema.attributes))]

    def _exact(self, model: Any, table: Table, forest: Forest) -> NDArray[np.int64]:
        schema = model.schema_
        counts = exact_leaf_counts(forest, _coded(schema, table), n_classes=len(schema.classes), n_jobs=1)
        return forest.sums_of_leaves(counts) if model.counts_every_node else counts


def _chances(model: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    number = model.schema_.number
    if number is None:
        chances: NDArray[np.float64] = model.predict_proba(X)
        return chances
    upper = (model.predict(X) - number.low) / (number.high - number.low)
    return np.column_stack([1 - upper, upper])


def canary_scores(model: Any, n_canaries: int) -> NDArray[np.float64]:
    """Return for each canary, a row of `audit_in_one_run`, how strongly the model suggests that it was fitted to it."""
    canaries = np.arange(n_canaries)[:, None]
    document = model.to_document()
    if "counts" not in document["released"]:
        chances = np.clip(model.predict_proba(canaries)[:, 1], 1e-12, 1 - 1e-12)
        return np.asarray(np.log(chances / (1 - chances)))
    forest = structure_from_json(document["structure"], model.schema_.attributes)
    counted = np.arange(forest.n_nodes) if model.counts_every_node else forest.leaves
    noisy = counts_from_json(document["released"]["counts"], n_leaves=len(counted), n_classes=2)[:, 1]
    every = np.zeros(forest.n_nodes)
    # Under Laplace noise this is the log-likelihood ratio of one row to none, times the scale.
    every[counted] = np.abs(noisy) - np.abs(noisy - 1)
    roots = np.flatnonzero(forest.n_children[: forest.n_trees])
    codes = Encoder(model.schema_).encode(canaries)[:, 0].astype(np.int64)
    return np.asarray(sum((every[forest.first_child[root] + codes] for root in roots), np.zeros(n_canaries)))


@lru_cache(maxsize=8)
def _coded(schema: Schema, table: Table) -> MemoryRows:
    """Return a table's encoded rows. They are cached, since thousands of models of the same two tables are read."""
    encoder = Encoder(schema)
    return MemoryRows(encoder.encode(table.X), encoder.encode_labels(table.y))


def _choices(forest: Forest, n_attributes: int) -> NDArray[np.float64]:
    """Return which attribute each root tests, as 0 or 1 for each attribute; nothing if that is too many numbers."""
    if forest.n_trees * (n_attributes + 1) > _MAX_CHOICES:
        return np.empty(0)
    chosen = np.zeros((forest.n_trees, n_attributes + 1))
    chosen[np.arange(forest.n_trees), forest.attribute[: forest.n_trees]] = 1.0  # the last entry is a leaf's
    return chosen
