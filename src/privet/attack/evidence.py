"""What an attacker reads in a released model for one row: he knows both tables, and sees the whole file."""

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

# Which attribute each root tests is taken for evidence up to this many numbers.
_MAX_CHOICES = 64


@dataclass(frozen=True)
class Evidence:
    """Turns a model into numbers that speak for or against the row; what they weigh is learnt from training runs."""

    neighbours: Neighbours

    def __call__(self, model: Any) -> NDArray[np.float64]:
        """Return the numbers, as many from every model of one estimator."""
        document = model.to_document()
        parts = [self._chances(model)]
        if "counts" in document["released"]:
            parts += self._of_counts(model, document)
        else:
            parts.append(_numbers_in(document["released"], "balance"))
        return np.concatenate([part.ravel() for part in parts])

    def _chances(self, model: Any) -> NDArray[np.float64]:
        """Return the log-odds of every class for the row."""
        chances = np.clip(model.predict_proba(self.neighbours.row.X[:1]), 1e-12, 1 - 1e-12)
        odds: NDArray[np.float64] = np.log(chances / (1 - chances))
        return odds

    def _of_counts(self, model: Any, document: dict[str, Any]) -> list[NDArray[np.float64]]:
        schema = model.schema_
        forest = structure_from_json(document["structure"], schema.attributes)
        counted = forest.n_nodes if model.counts_every_node else len(forest.leaves)
        noisy = counts_from_json(document["released"]["counts"], n_leaves=counted, n_classes=len(schema.classes))
        exact, row = (self._exact(model, table, forest) for table in (self.neighbours.without, self.neighbours.row))
        # Under Laplace noise this, over the scale, is the logarithm of how much likelier the row makes what is seen.
        likelier = (np.abs(noisy - exact) - np.abs(noisy - exact - row)).sum(axis=1).astype(np.float64)
        places = np.arange(forest.n_nodes) if model.counts_every_node else forest.leaves
        depths = np.minimum(forest.depth_of_node[places], 7)
        by_depth = np.asarray(np.bincount(depths, likelier, minlength=8), dtype=np.float64)
        return [by_depth, _choices(forest, len(schema.attributes))]

    def _exact(self, model: Any, table: Table, forest: Forest) -> NDArray[np.int64]:
        counts = _leaf_counts(model.schema_, table, forest)
        return forest.sums_of_leaves(counts) if model.counts_every_node else counts


def _leaf_counts(schema: Schema, table: Table, forest: Forest) -> NDArray[np.int64]:
    return exact_leaf_counts(forest, _coded(schema, table), n_classes=len(schema.classes), n_jobs=1)


@lru_cache(maxsize=8)
def _coded(schema: Schema, table: Table) -> MemoryRows:
    """Return a table's rows in codes; thousands of models of the same two are read."""
    encoder = Encoder(schema)
    return MemoryRows(encoder.encode(table.X), encoder.encode_labels(table.y))


def _choices(forest: Forest, n_attributes: int) -> NDArray[np.float64]:
    """Return which attribute each root tests, as a 0 or 1 for each, and none where these are too many."""
    if forest.n_trees * (n_attributes + 1) > _MAX_CHOICES:
        return np.empty(0)
    chosen = np.zeros((forest.n_trees, n_attributes + 1))
    chosen[np.arange(forest.n_trees), forest.attribute[: forest.n_trees]] = 1.0  # the last entry is a leaf's
    return chosen


def _numbers_in(released: dict[str, Any], name: str) -> NDArray[np.float64]:
    return np.array(released.get(name, []), dtype=np.float64)
