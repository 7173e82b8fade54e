"""A model as a record of the Differential Privacy Deployments Registry, in the YAML that it takes.

What is computed from rows without noise, such as attached test scores, never enters: the registry is public.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from privet.errors import ParameterError
from privet.privacy.guarantee import SOUND
from privet.privacy.unit import ROW
from privet.report.registry_fields import FIELDS, check_record, leaves, unanswered
from privet.schema import Schema

_NEEDED = ("name", "description", "owner_kind", "region", "published")
_MOST_LISTED = 40
_WHERE = {
    "Central": "One curator held all rows, and released the numbers of the model with noise.",
    "Local": "Each person's answers were disturbed before they left them.",
    "Federated": "Each party held its own rows, and released noisy numbers only.",
}
_UTILITY = "Utility and accuracy"


def registry_record(facts: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the record of a model, from the report's `facts`; checked against the registry's fields.

    What nobody has stated is left out: `open_fields` lists it.
    """
    guarantee = facts["guarantee"]
    if guarantee["mode"] != SOUND:
        raise ParameterError("the registry is for deployments with a promise, and this model has none")
    about = _stated(facts["about"])
    parts = {
        "basic": _basic(about),
        "dp_variant": _variant(guarantee, schema),
        "privacy_loss": _loss(facts, schema),
        "deployment_model": _deployment(facts, about),
        "implementation": _implementation(facts, about),
    }
    authors = about.get("authors") or [about["owner"]]
    administrative = {"status": "Draft", "registry_authors": list(authors), "tier": 2}
    record = {"url_slug": _slug(about), "deployment": {**_filled(parts), "administrative": administrative}}
    administrative["tier"] = _tier(record)
    check_record(record)
    return record


def open_fields(record: Mapping[str, Any]) -> list[str]:
    """Return the fields that nobody has answered, of those that are not about other variants of privacy."""
    return [path for path in unanswered(record) if not path.endswith((".rho", ".delta"))]


def to_yaml(record: Mapping[str, Any]) -> str:
    """Return the record as YAML; texts are quoted as in JSON, of which YAML is a superset."""
    return "".join(f"{line}\n" for line in _lines(record))


def _stated(about: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if about is None:
        raise ParameterError(
            "the registry asks for what no model file knows; pass --about about.toml, which "
            "`privet report --about-template` begins"
        )
    missing = [name for name in _NEEDED if name not in about]
    if missing:
        raise ParameterError(f"the registry also asks for {', '.join(missing)}; state it in about.toml, or by --state")
    return about


def _basic(about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": about["name"],
        "data_curators": [{"data_curator_name": about["owner"], "data_curator_type": about["owner_kind"]}],
        "description": about["description"],
        "intended_use": about["purpose"],
        "data_product_type": "Machine learning model",
        "data_product_region": about["region"],
        "data_product_sector": about.get("sector"),
        "publication_date": about["published"],
    }


def _variant(guarantee: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    names = [*schema.names, schema.target]
    listed = ", ".join(names[:_MOST_LISTED]) + (f" and {len(names) - _MOST_LISTED} more" * (len(names) > _MOST_LISTED))
    public = [f"taken as public: {each}" for each in guarantee["public"]]
    leaks = [f"read from the rows without noise: {each}" for each in guarantee["leaks"]]
    return {
        "variant_name": "Approximate DP" if guarantee.get("delta") else "Pure DP",
        "data_domain": f"Tables with the columns {listed}, whose domains a public schema declares.",
        "unprotected_quantities": "; ".join([*leaks, *public]) or None,
    }


def _loss(facts: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    guarantee = facts["guarantee"]
    if "local_epsilon" in guarantee:
        parameters, unit = {"epsilon": guarantee["local_epsilon"]}, "Record-level, at its owner"
        details = f"Neighbours: {guarantee['neighbours']}."
    else:
        parameters = {"epsilon": guarantee["epsilon"]} | ({"delta": guarantee["delta"]} if guarantee["delta"] else {})
        unit = "Row-level" if guarantee["unit"] == ROW else f"All rows with the same {guarantee['unit']}"
        details = f"Neighbours: {guarantee['neighbours']}. At most {guarantee['max_rows']} rows of each unit are used."
    assumed = "".join(f" Assumed: {each}." for each in guarantee["assumptions"])
    is_row = guarantee.get("unit") == ROW
    return {
        "privacy_unit": unit,
        "privacy_unit_details": f"{details}{assumed}",
        "number_of_privacy_units": schema.rows if is_row else None,
        "privacy_parameters": parameters,
        "privacy_parameters_details": facts["in_plain_words"],
    }


def _deployment(facts: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    guarantee, budget = facts["guarantee"], facts["budget"]
    batches = len(_batches(facts))
    later = about.get("further")
    if budget is not None:
        later = (
            f"The ledger of {budget['dataset']} has spent epsilon {budget['spent']:g} of {budget['epsilon']:g} on "
            f"{budget['releases']} of its releases. {later or ''}".strip()
        )
    return {
        "model_name": _model_name(facts),
        "model_name_details": _WHERE[_model_name(facts)],
        "trust_assumptions": f"Trusted with every value: {guarantee['trust']}.",
        "actors": about.get("recipients"),
        "release_type": "One release",
        "release_type_details": later,
        "data_source_type": "Dynamic" if batches > 1 else "Static",
        "data_source_type_details": (
            f"{batches} batches or parts of rows, disjoint by declaration."
            if batches > 1
            else "All rows were there when the model was fitted."
        ),
        "access_type": "Non-interactive",
        "access_type_details": "Recipients get the model file as a whole, and ask it as often as they like.",
    }


def _model_name(facts: Mapping[str, Any]) -> str:
    if "local_epsilon" in facts["guarantee"]:
        return "Local"
    return "Central" if "curator" in facts["guarantee"]["trust"] else "Federated"


def _batches(facts: Mapping[str, Any]) -> list[Any]:
    event = facts.get("composition", {})
    return list(event["parts"]) if event.get("event") == "Parallel" else [event]


def _implementation(facts: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    versions = facts["guarantee"]["versions"]
    releases = facts.get("releases")
    names = sorted({f"{each['name']}: {each['what']}" for each in releases or []})
    audits = [each["sentence"] for each in facts["attachments"] if not each["is_exact"] and each["sentence"]]
    noise = next((each["answer"] for each in facts.get("nist_sp_800_226", []) if each["question"] == _UTILITY), None)
    return {
        "preprocessing_and_hyperparameter_tuning": about.get("preparation"),
        "mechanisms": (
            f"{'; '.join(names) or facts['model']['method']}. Method {facts['model']['method']} of privet "
            f"{versions.get('privet', '')}. Noise is drawn with whole numbers from the operating system's secure "
            "generator. Running time is not covered. "
            + (f"Access to the rows: {about['access']}" if "access" in about else "")
        ).strip(),
        "composition": _composition(releases),
        "post_processing": "Predictions, importances and reports are computed from the released numbers.",
        "justification": about.get("justification"),
        "utility": noise if noise and not any(each["is_exact"] for each in facts["attachments"]) else None,
        "additional_information": " ".join(
            [f"Checksum of the model file (SHA-256): {facts['checksum']}.", *audits, f"Contact: {about['contact']}."]
        ),
    }


def _composition(releases: list[Any] | None) -> str:
    if releases is None:
        return "All answers of a person are composed in the channel's own local epsilon."
    return f"{len(releases)} releases; the parameters are computed from their receipts when the file is opened."


def _filled(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts without what nobody has stated."""
    filled = {name: _filled(part) if isinstance(part, Mapping) else part for name, part in parts.items()}
    return {name: part for name, part in filled.items() if part not in (None, "", {})}


def _tier(record: Mapping[str, Any]) -> int:
    """Return the tier whose fields are all there; of the parameters one will do."""
    answered = set(dict(leaves(record)))
    wanted = [path for path, field in FIELDS.items() if field.tier == 3]
    return 3 if answered >= set(wanted) else 2


def _slug(about: Mapping[str, Any]) -> str:
    words = f"{about['name']} {about['owner']} {about['published'][:4]}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:120] or "model"


def _lines(node: Any, depth: int = 0) -> Iterator[str]:
    indent = "  " * depth
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(each)}" for each in value)
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """Return a scalar as YAML 1.1 and 1.2 read it; no text can end its line or begin another field."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_scalar(each)}" for name, each in value.items()) + "}"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
    text = json.dumps(value, allow_nan=False)
    # Without a point YAML 1.1 takes 1e-06 for a text.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
