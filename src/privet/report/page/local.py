"""What the report says of a model of disturbed records: made from its estimates, the schema and the channel alone."""

import math
from typing import Any

from privet.local.channels.kinds import KINDS, RECORDS
from privet.privacy.guarantee import of_hundred, right_guesses, rounded_up
from privet.report.evidence import NOTHING, Evidence
from privet.report.page.counts import ranked_importances, strongest_rules, trees_view
from privet.report.page.facts import sacro_record
from privet.report.page.formats import epsilon_up, number, percent
from privet.tree.rules import RuleTable

_CONFIDENCES = ("50%", "95%", "99.9%")
_FIRST_NUMBER = 3
# A channel stays a little below the epsilon that was asked for. So many digits do not show it.
_DIGITS = 10
_FLIPPED_LABEL = "flipped_label"


def local_facts(model: Any, *, model_checksum: str, name: str = "", evidence: Evidence = NOTHING) -> dict[str, Any]:
    """Return what the report says as plain values.

    Parameters
    ----------
    model : LocalClassifier
        A fitted model.
    model_checksum : str
        The checksum of its file, so that the report can be matched with it.
    name : str
        The file's name.
    evidence : Evidence
        What the collector states, what was run on it, and who signed it.
    """
    guarantee, schema, forest = model.guarantee_.to_json(), model.schema_, model.forest_
    epsilon = guarantee["local_epsilon"]
    return {
        "file": name,
        "checksum": model_checksum,
        "in_plain_words": in_plain_words(guarantee),
        **evidence.to_json(),
        "model": {
            "method": model.method,
            "target": schema.target,
            "classes": list(schema.classes),
            "trees": forest.n_trees,
            "height": forest.depth,
            "nodes": forest.n_nodes,
            "leaves": len(forest.leaves),
            "attributes": list(schema.names),
        },
        "guarantee": guarantee,
        "public": guarantee["public"],
        "leaks": guarantee["leaks"],
        "right_guesses": None if epsilon is None else right_guesses(epsilon),
        "binary_anonymity": _anonymity(model.guarantee_.channel.flips),
        "noise": _noise(model),
        "sacro_ml": sacro_record(model.method, name, guarantee, evidence),
        "importances": {name: share for name, share in ranked_importances(model) if not math.isnan(share)},
    }


def in_plain_words(guarantee: dict[str, Any]) -> str:
    """Return what the promise means, for readers who know nothing of epsilon."""
    epsilon = guarantee["local_epsilon"]
    if epsilon is None:
        return "Nothing is promised: assume that whoever sees an answer can tell what was true."
    apart = " apart from the leaks" if guarantee["leaks"] else ""
    return (
        f"At most {of_hundred(right_guesses(epsilon))} right guesses in 100{apart}: so often is somebody right who "
        "sees all answers of a person, knows everything else, and hesitates between two records. Without the answers "
        "it is 50."
    )


def view(model: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the template needs beside the facts; ``data`` is for the page's script."""
    guarantee, record = facts["guarantee"], model.guarantee_.channel.record
    disturbed = [field for field in guarantee["fields"] if field["channel"] != "clear"]
    epsilon = guarantee["local_epsilon"]
    own = {
        "data": {},
        "trees": None,
        "can_be_missing": model.schema_.never_missing != model.schema_.names,
        "n_disturbed": len(disturbed) if record is None else len(model.schema_.names) + record.hides_label,
        "together": record.together if record is not None and record.together else ", the sum",
        "channel": channel_table(guarantee),
        "full_epsilon": "" if epsilon is None else rounded_up(epsilon, _DIGITS),
        "factor": math.exp(epsilon) if epsilon is not None and epsilon <= 50 else None,
        **_sum(guarantee, [field.get("local_epsilon") for field in disturbed]),
    }
    if facts["noise"] is not None:
        return own
    rules = RuleTable.of(model.nodes_, model.schema_)
    return {**own, **trees_view(model, rules), "rules": strongest_rules(model, rules), "own_noise": False}


def channel_table(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return what happened to each field, every measure on its own scale, without columns that are empty."""
    rows = [_row(field) for field in all_fields(guarantee)]
    widths = [f"width at {confidence.replace('%', ' %')}" for confidence in _CONFIDENCES]
    headings = ["field", "what happened", "how strongly", *widths, "of the range at 95 %", "local epsilon"]
    filled = [j for j in range(len(headings)) if any(row[j] for row in rows)]  # noise alone has widths
    return {
        "headings": [headings[j] for j in filled],
        "rows": [[row[j] for j in filled] for row in rows],
        "numbers": [place for place, j in enumerate(filled) if j >= _FIRST_NUMBER],
    }


def all_fields(guarantee: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every field of a guarantee with what happened to it, the label last, whatever happened to that.

    A number that is answered at random comes with its ``intervals``, one of which is the answer.
    """
    channel = guarantee["channel"]
    parts = zip(channel["schema"]["attributes"], channel["fields"], strict=True)
    numbers = {attribute["name"]: part for attribute, part in parts if "bounds" in attribute and "answers" in part}
    fields = [{**own, **_intervals(numbers.get(own["field"]))} for own in guarantee["fields"]]
    label, record = channel["schema"]["target"], channel["record"]
    if label in guarantee["given_clear"]:
        fields.append({"field": label, "channel": "clear"})
    elif record is not None and record.get("flips_label"):
        fields.append({"field": label, "channel": _FLIPPED_LABEL, "keep": record["keep"]})
    return fields


def channel_name(kind: str) -> str:
    """Return what a kind of channel does, in words."""
    if kind == _FLIPPED_LABEL:
        return "flipped with the record"
    return RECORDS[kind].words if kind in RECORDS else KINDS[kind].kinds[kind]


def strength(field: dict[str, Any]) -> str:
    """Return the parameter of a field's channel in words; some have none."""
    if "intervals" in field:
        missing = " or missing" if field["or_missing"] else ""
        return f"1 of {field['intervals']} intervals{missing}, kept with chance {field['keep']:.4g}"
    if "cells" in field:
        return f"{field['sent']} of {field['cells']} cells sent, the true one with chance {field['keep']:.4g}"
    if "keep" in field:
        return f"kept, chance {field['keep']:.4g}"
    return f"scale {number(field['scale'])}" if "scale" in field else ""


def _intervals(part: dict[str, Any] | None) -> dict[str, Any]:
    if part is None:
        return {}
    return {"intervals": part["answers"] - part["covers_missing"], "or_missing": part["covers_missing"]}


def _row(field: dict[str, Any]) -> list[str]:
    widths = [field.get(f"width_at_{confidence}") for confidence in _CONFIDENCES]
    share, channel, epsilon = field.get("privacy_at_95%"), field["channel"], field.get("local_epsilon")
    none = "" if channel == "clear" else "none"
    return [
        field["field"],
        channel_name(channel),
        strength(field),
        *("" if width is None else number(width) for width in widths),
        "" if share is None else percent(share),
        none if epsilon is None else epsilon_up(epsilon),
    ]


def _sum(guarantee: dict[str, Any], epsilons: list[float | None]) -> dict[str, Any]:
    """Return whether the disturbed fields bound the record, and the sum of their epsilons; None if none has one."""
    bounded = [epsilon for epsilon in epsilons if epsilon is not None]
    all_bounded = len(bounded) == len(epsilons) and guarantee["local_epsilon"] is not None
    return {"all_bounded": all_bounded, "sum_of_bounded": math.fsum(bounded) if bounded else None}


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
