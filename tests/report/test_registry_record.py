"""Records of the deployments registry: what is in them, what may be, and what stays open."""

import json
import re

import pytest

from privet.errors import ParameterError
from privet.report.about import TEMPLATE, About
from privet.report.evidence import Evidence
from privet.report.page.facts import facts
from privet.report.page.page import Report
from privet.report.registry_fields import FIELDS, check_record, leaves
from privet.report.registry_record import open_fields, registry_record, to_yaml
from tests.report.people import SCHEMA, exact, fitted, leaking, of_batches, of_visits, paper
from tests.report.test_local import sound_tree

ABOUT = About(
    owner="City Hospital", purpose="To find smokers.", period="2023 to 2026", contact="privacy@hospital.example",
    name="Smokers", description="A forest.", owner_kind="Government", region="Zürich", published="2026-11-19",
)  # fmt: skip
FULL = About(
    **{
        **vars(ABOUT), "sector": "Healthcare", "people": "Patients.", "recipients": "The public.",
        "access": "Two people.", "preparation": "None.", "justification": "Usual.", "further": "None planned.",
        "authors": ("A. Officer",),
    }
)  # fmt: skip


def record_of(model, about=ABOUT, **more):
    told = facts(model, model_checksum="0" * 64, name="people.privet", evidence=Evidence(about, **more))
    return registry_record(told, model.schema_)


def at(record, path):
    return dict(leaves(record))[f"deployment.{path}"]


def test_a_record_says_what_the_model_promises():
    record = record_of(fitted())
    assert at(record, "dp_variant.variant_name") == "Pure DP"
    assert at(record, "privacy_loss.privacy_parameters.epsilon") == 1.0
    assert at(record, "privacy_loss.number_of_privacy_units") == SCHEMA.rows
    assert at(record, "deployment_model.model_name") == "Central"
    assert at(record, "basic.data_curators") == [
        {"data_curator_name": "City Hospital", "data_curator_type": "Government"}
    ]
    assert at(record, "basic.intended_use") == "To find smokers."
    assert record["url_slug"] == "smokers-city-hospital-2026"
    assert "SHA-256): " + "0" * 64 in at(record, "implementation.additional_information")


def test_a_unit_other_than_the_row_has_no_number_of_units():
    record = record_of(of_visits())
    assert at(record, "privacy_loss.privacy_unit") == "All rows with the same visit_id"
    assert "At most 3 rows of each unit are used." in at(record, "privacy_loss.privacy_unit_details")
    assert "deployment.privacy_loss.number_of_privacy_units" in open_fields(record)


def test_leaks_are_unprotected_quantities():
    assert at(record_of(leaking()), "dp_variant.unprotected_quantities").startswith(
        "read from the rows without noise: "
    )


def test_batches_make_the_source_dynamic():
    record = record_of(of_batches(1.0, 2.0))
    assert at(record, "deployment_model.data_source_type") == "Dynamic"
    assert at(record, "deployment_model.data_source_type_details").startswith("2 batches")


def test_what_nobody_stated_is_listed_and_what_everybody_stated_is_tier_3():
    left = open_fields(record_of(fitted()))
    assert [path.removeprefix("deployment.") for path in left] == [
        "basic.data_product_sector", "deployment_model.actors", "deployment_model.release_type_details",
        "implementation.preprocessing_and_hyperparameter_tuning", "implementation.justification",
    ]  # fmt: skip
    full = record_of(fitted(), FULL)
    assert open_fields(full) == []
    assert (at(record_of(fitted()), "administrative.tier"), at(full, "administrative.tier")) == (2, 3)


@pytest.mark.parametrize("model", [exact, paper])
def test_a_model_without_a_promise_has_no_record(model):
    with pytest.raises(ParameterError, match="for deployments with a promise, and this model has none"):
        record_of(model())


def test_what_the_owner_has_to_state_is_asked_for():
    with pytest.raises(ParameterError, match="pass --about about.toml, which `privet report --about-template` begins"):
        record_of(fitted(), None)
    with pytest.raises(ParameterError, match="also asks for owner_kind, published; state it in about.toml"):
        record_of(fitted(), About(**{**vars(ABOUT), "owner_kind": None, "published": None}))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("deployment.basic.data_product_sector", "Magic", "takes 'Technology' or 'Healthcare'"),
        ("deployment.basic.publication_date", "1/1/2026", "takes day; correct it"),
        ("deployment.basic.name", "", "takes text; correct it"),
        ("deployment.basic.data_curators", ["City Hospital"], "takes curators; correct it"),
        ("deployment.privacy_loss.number_of_privacy_units", True, "takes whole number; correct it"),
        ("deployment.privacy_loss.privacy_parameters.epsilon", "1", "takes number; correct it"),
        ("deployment.administrative.tier", 4, "takes 1 or 2 or 3; correct it"),
        ("deployment.administrative.registry_authors", [], "takes names; correct it"),
        ("deployment.author", "x", "the registry has no field 'deployment.author'"),
    ],
)
def test_a_record_that_the_registry_would_refuse_is_refused(path, value, sentence):
    record = json.loads(json.dumps(record_of(fitted())))
    *way, last = path.split(".")
    node = record
    for name in way:
        node = node[name]
    node[last] = value
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        check_record(record)


@pytest.mark.parametrize("path", [path for path, field in FIELDS.items() if field.required])
def test_what_the_registry_requires_cannot_be_left_out(path):
    record = json.loads(json.dumps(record_of(fitted())))
    *way, last = path.split(".")
    node = record
    for name in way:
        node = node[name]
    del node[last]
    with pytest.raises(ParameterError, match=f"the registry needs '{path}'; fill it in"):
        check_record(record)


def test_the_template_speaks_of_every_field_that_the_registry_needs():
    for name in ("name", "description", "owner_kind", "region", "published"):
        assert f"\n# {name} = " in TEMPLATE


def test_yaml_is_one_field_a_line_whatever_is_in_it():
    hostile = About(**{**vars(ABOUT), "description": 'x"\nstatus: Approved\u2028# \x85\u202e\\ 😀: {', "region": "no"})
    text = to_yaml(record_of(fitted(), hostile))
    lines = text.splitlines()
    assert all(re.fullmatch(r' *(- )?([a-z_]+:)?( ?("(\\.|[^"\\])*"|[-0-9.e]+|\{.*\}))?', line) for line in lines)
    assert sum("status:" in line and "Approved" not in line for line in lines) == 1
    assert '    region: "no"' not in lines
    assert '    data_product_region: "no"' in lines
    described = next(line for line in lines if line.strip().startswith("description:"))
    # Read as YAML 1.2 reads a quoted text: as Python's own, for these escapes.
    assert described.split(": ", 1)[1] == '"x\\"\\nstatus: Approved\\U00002028# \\U00000085\\U0000202e\\\\ 😀: {"'


def test_a_small_number_is_a_number_to_readers_of_yaml_1_1():
    assert to_yaml({"delta": 1e-06, "epsilon": 2.5e-07}) == "delta: 1.0e-06\nepsilon: 2.5e-07\n"


def test_exact_figures_never_enter_a_record(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"model": "0" * 64, "accuracy": 0.987654, "sentence": "secret"}))
    evidence = Evidence.gather("0" * 64, attach=[tmp_path / "scores.json"])
    text = to_yaml(record_of(fitted(), attachments=evidence.attachments))
    assert "987654" not in text
    assert "secret" not in text


def test_a_model_of_disturbed_answers_is_local():
    model = sound_tree()
    record = registry_record({**Report.of(model).facts, "about": ABOUT.to_json()}, model.schema_)
    assert at(record, "deployment_model.model_name") == "Local"
    assert at(record, "privacy_loss.privacy_parameters.epsilon") == model.guarantee_.epsilon
