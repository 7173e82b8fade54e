"""All that the report says, as plain values: made from released numbers, the schema and the guarantee alone."""

import math
from typing import Any

from privet.report import counts, nist
from privet.report.odds import odds_table
from privet.report.receipts import batch_epsilons, single_releases


def facts(model: Any, *, model_checksum: str, name: str = "") -> dict[str, Any]:
    """Return what the report says as plain values.

    An infinite number stays one, but in the guarantee, which spells it "inf" as its JSON does.

    Parameters
    ----------
    model : PrivateClassifier
        A fitted model.
    model_checksum : str
        That of its file, so that the report can be matched with it and with a ledger's entry.
    name : str
        The file's name.
    """
    guarantee = model.guarantee_.to_json()
    releases = single_releases(model.guarantee_.event)
    noise = _noise(model)
    deviations = [r.standard_deviation for r in releases if r.standard_deviation is not None]
    return {
        "file": name,
        "checksum": model_checksum,
        "model": _shape(model),
        "guarantee": guarantee,
        "public": guarantee["public"],
        "leaks": guarantee["leaks"],
        "odds": _odds(guarantee),
        "released_values": int(model.noisy_counts_.size) if counts.has_counts(model) else None,
        "smallest_noise_standard_deviation": min(deviations, default=0.0),
        "noise": noise,
        "releases": [release.to_json() for release in releases],
        "composition": guarantee["event"],
        **_read_off(model),
        "nist_sp_800_226": [answer.to_json() for answer in nist.answers(noise, guarantee, releases)],
    }


def _odds(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return the odds with what they rest on and what they leave out."""
    return {
        **odds_table(float(guarantee["epsilon"]), float(guarantee["delta"]), guarantee["unit"]),
        "provided_that": guarantee["assumptions"],
        "not_covered": guarantee["leaks"],
    }


def _shape(model: Any) -> dict[str, Any]:
    schema = model.schema_
    shape: dict[str, Any] = {"method": model.method, "target": schema.target, "classes": list(schema.classes)}
    if hasattr(model, "forest_"):
        forest = model.forest_
        shape |= {
            "trees": forest.n_trees,
            "height": forest.depth,
            "nodes": forest.n_nodes,
            "leaves": len(forest.leaves),
        }
    return {**shape, "attributes": list(schema.names)}


def _noise(model: Any) -> dict[str, Any] | None:
    if not counts.has_counts(model):
        return None
    return {
        "standard_deviation_of_a_count": float(model.noise_std_),
        "standard_deviation_of_a_leaf": counts.support_deviation(model),
        "share_of_leaves_above_3_deviations": counts.share_above_noise(model),
        "growth": [float(deviation) for deviation in model.noise_growth_],
        "epsilon_of_batches": batch_epsilons(model.guarantee_.event),
        "histogram": [vars(each) for each in counts.histogram(model)],
    }


def _read_off(model: Any) -> dict[str, Any]:
    if not counts.has_counts(model):
        return {}
    importances = {name: share for name, share in counts.ranked_importances(model) if not math.isnan(share)}
    return {"class_balance": counts.class_balance(model), "importances": importances}
