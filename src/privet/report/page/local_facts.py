"""All that the report says of a model of disturbed records, as plain values."""

import math
from typing import Any

from privet.report.page.counts import ranked_importances
from privet.report.page.odds import right_guesses


def local_facts(model: Any, *, model_checksum: str, name: str = "") -> dict[str, Any]:
    """Return what the report says as plain values: from the model's estimates, the schema and the channel alone.

    Parameters
    ----------
    model : LocalClassifier
        A fitted model.
    model_checksum : str
        That of its file, so that the report can be matched with it.
    name : str
        The file's name.
    """
    guarantee = model.guarantee_.to_json()
    epsilon = guarantee["local_epsilon"]
    return {
        "file": name,
        "checksum": model_checksum,
        "model": _shape(model),
        "guarantee": guarantee,
        "public": guarantee["public"],
        "leaks": guarantee["leaks"],
        "right_guesses": None if epsilon is None else right_guesses(epsilon),
        "binary_anonymity": _anonymity(model.guarantee_.channel.record),
        "noise": _noise(model),
        "importances": {name: share for name, share in ranked_importances(model) if not math.isnan(share)},
    }


def _shape(model: Any) -> dict[str, Any]:
    schema, forest = model.schema_, model.forest_
    return {
        "method": model.method,
        "target": schema.target,
        "classes": list(schema.classes),
        "trees": forest.n_trees,
        "height": forest.depth,
        "nodes": forest.n_nodes,
        "leaves": len(forest.leaves),
        "attributes": list(schema.names),
    }


def _anonymity(record: Any) -> dict[str, Any] | None:
    """Return the binary anonymity of each attribute and their mean, where records are flipped."""
    if record is None:
        return None
    fields = {code.attribute.name: code.anonymity(record.keep) for code in record.coding.codes}
    return {"theta": record.keep, "mean": record.coding.anonymity(record.keep), "fields": fields}


def _noise(model: Any) -> dict[str, Any] | None:
    """Return how many nodes are no more than noise, where the method can tell."""
    if not hasattr(model, "noise_only_"):
        return None
    leaves = model.noise_only_[model.forest_.leaves]
    return {
        "nodes_that_are_only_noise": int(model.noise_only_.sum()),
        "share_of_nodes": float(model.noise_only_.mean()),
        "share_of_leaves": float(leaves.mean()),
    }
