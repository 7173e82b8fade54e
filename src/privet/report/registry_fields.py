"""The fields of the Differential Privacy Deployments Registry, and a check that a record has them.

The registry is OpenDP's (https://github.com/opendp/deployments-registry-data), and NIST proposes to host it
(IR 8588). Its schema is schemas/deployments-schema.yaml. What fields there are, which of them are required, and which
words they allow is noted here in our own words, as of commit 057e5d81cf60150dd3307e0cf4504b957802fb3b; the repository
states no licence, so the schema itself is not part of privet. `evidence_sources`, whose form was changing, is left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from privet.checks import is_day
from privet.errors import ParameterError
from privet.report.about import OWNER_KINDS, SECTORS

COMMIT = "057e5d81cf60150dd3307e0cf4504b957802fb3b"
TEXT, DAY, WHOLE, NUMBER, NAMES, CURATORS = "text", "day", "whole number", "number", "names", "curators"
CURATOR_FIELDS = ("data_curator_name", "data_curator_type")


@dataclass(frozen=True)
class Field:
    """A field: from which tier on it is expected, what it holds, and the words that it allows."""

    tier: int
    kind: str = TEXT
    words: tuple[Any, ...] = ()
    required: bool = False


FIELDS: dict[str, Field] = {
    "url_slug": Field(1, required=True),
    "deployment.basic.name": Field(1, required=True),
    "deployment.basic.data_curators": Field(1, CURATORS, required=True),
    "deployment.basic.description": Field(1, required=True),
    "deployment.basic.intended_use": Field(1, required=True),
    "deployment.basic.data_product_type": Field(
        1,
        words=(
            "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
            "SQL queries",
        ),
        required=True,
    ),
    "deployment.basic.data_product_region": Field(1, required=True),
    "deployment.basic.data_product_sector": Field(1, words=SECTORS),
    "deployment.basic.publication_date": Field(1, DAY, required=True),
    "deployment.dp_variant.variant_name": Field(
        2, words=("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
    ),
    "deployment.dp_variant.data_domain": Field(3),
    "deployment.dp_variant.unprotected_quantities": Field(3),
    "deployment.privacy_loss.privacy_unit": Field(2),
    "deployment.privacy_loss.privacy_unit_details": Field(3),
    "deployment.privacy_loss.number_of_privacy_units": Field(3, WHOLE),
    "deployment.privacy_loss.privacy_parameters.epsilon": Field(2, NUMBER),
    "deployment.privacy_loss.privacy_parameters.delta": Field(2, NUMBER),
    "deployment.privacy_loss.privacy_parameters.rho": Field(2, NUMBER),
    "deployment.privacy_loss.privacy_parameters_details": Field(3),
    "deployment.deployment_model.model_name": Field(2, words=("Local", "Central", "Shuffle", "Federated", "Varies")),
    "deployment.deployment_model.model_name_details": Field(3),
    "deployment.deployment_model.trust_assumptions": Field(3),
    "deployment.deployment_model.actors": Field(3),
    "deployment.deployment_model.release_type": Field(2, words=("One release", "Many releases")),
    "deployment.deployment_model.release_type_details": Field(3),
    "deployment.deployment_model.data_source_type": Field(2, words=("Static", "Dynamic")),
    "deployment.deployment_model.data_source_type_details": Field(2),
    "deployment.deployment_model.access_type": Field(2, words=("Interactive", "Non-interactive")),
    "deployment.deployment_model.access_type_details": Field(3),
    "deployment.implementation.preprocessing_and_hyperparameter_tuning": Field(3),
    "deployment.implementation.mechanisms": Field(3),
    "deployment.implementation.composition": Field(3),
    "deployment.implementation.post_processing": Field(3),
    "deployment.implementation.justification": Field(3),
    "deployment.implementation.utility": Field(3),
    "deployment.implementation.additional_information": Field(1),
    "deployment.administrative.status": Field(
        1,
        words=(
            "Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)",
            "Approved (Pending)",
        ),
        required=True,
    ),
    "deployment.administrative.registry_authors": Field(1, NAMES, required=True),
    "deployment.administrative.tier": Field(1, WHOLE, words=(1, 2, 3), required=True),
}  # fmt: skip


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that the registry's schema would refuse."""
    answered = dict(leaves(record))
    for path, value in answered.items():
        if path not in FIELDS:
            raise ParameterError(f"the registry has no field {path!r}; leave it out")
        if not _holds(FIELDS[path], value):
            wanted = " or ".join(map(repr, FIELDS[path].words)) or FIELDS[path].kind
            raise ParameterError(f"the registry's field {path!r} takes {wanted}; correct it")
    for path, field in FIELDS.items():
        if field.required and path not in answered:
            raise ParameterError(f"the registry needs {path!r}; fill it in")


def unanswered(record: Mapping[str, Any]) -> list[str]:
    """Return the fields that a record leaves open."""
    answered = dict(leaves(record))
    return [path for path in FIELDS if path not in answered]


def leaves(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every field of a record with its place."""
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _holds(field: Field, value: Any) -> bool:
    if field.words and value not in field.words:
        return False
    match field.kind:
        case "text":
            return isinstance(value, str) and bool(value)
        case "day":
            return is_day(value)
        case "whole number":
            return type(value) is int
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "names":
            return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
        case _:
            return isinstance(value, list) and bool(value) and all(map(_is_curator, value))


def _is_curator(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set(CURATOR_FIELDS)
        and isinstance(value["data_curator_name"], str)
        and value["data_curator_type"] in OWNER_KINDS
    )
