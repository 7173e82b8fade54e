"""Domains that were read from the rows and accepted by name: recorded, and an assumption of every guarantee."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privet import load
from privet.errors import ChannelError, ModelFileError, SchemaError
from privet.local import RandomizedResponse
from privet.local.channels.channel import Channel
from privet.local.guarantee import LocalGuarantee
from privet.registry import METHODS
from privet.report import write_report
from privet.schema import Categorical, Numeric, Schema
from privet.schema.acceptance import Acceptance

ANN, BEN = Acceptance("Ann", "2026-11-19"), Acceptance("Ben", "2026-11-20")
OF_ANN = "bounds of 'age', classes of 'ill', read from the rows, were public before, as Ann declared on 2026-11-19"
OF_BEN = "categories of 'sex', read from the rows, were public before, as Ben declared on 2026-11-20"


def schema_of(**options):
    return Schema(
        [Numeric("age", 0, 90, bins=9, accepted=ANN), Categorical("sex", ["f", "m"], accepted=BEN)],
        classes=["no", "yes"], target="ill", rows=400, classes_accepted=ANN, **options,
    )  # fmt: skip


def rows():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.uniform(0, 90, 400), "sex": rng.choice(["f", "m"], 400)})
    return X, np.where(X["age"] > 40, "yes", "no")


def test_a_schema_lists_what_each_person_accepted_on_a_day():
    assert schema_of().assumptions == (OF_ANN, OF_BEN)
    assert schema_of().leaks == ()
    assert Schema([Numeric("age", 0, 1)], classes=["no", "yes"]).assumptions == ()


def test_what_was_accepted_unseen_is_one_sentence():
    together = replace(ANN, together=True)
    schema = Schema(
        [Numeric("age", 0, 90, accepted=together), Numeric("pay", 0, 9)],
        classes=["no", "yes"],
        classes_accepted=together,
    )
    assert schema.assumptions == (
        "the table's ranges, categories and classes, all read from its rows, were public before, as Ann declared on "
        "2026-11-19",
    )


def test_a_kind_of_domain_is_said_once():
    names = ["sex", "job", "region of birth"]
    attributes = [Categorical(name, ["a", "b"], accepted=ANN) for name in names]
    schema = Schema([*attributes, Numeric("age", 0, 90, accepted=ANN)], classes=["no", "yes"])
    assert schema.assumptions == (
        "categories of 'sex', 'job' and 'region of birth', bounds of 'age', read from the rows, were public before, as "
        "Ann declared on 2026-11-19",
    )


def test_the_file_keeps_who_and_when(tmp_path):
    schema_of().save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == schema_of()
    data = schema_of().to_json()
    assert data["attributes"][0]["accepted"] == {"by": "Ann", "on": "2026-11-19"}
    assert data["classes_accepted"] == {"by": "Ann", "on": "2026-11-19"}
    assert replace(ANN, together=True).to_json() == {"by": "Ann", "on": "2026-11-19", "together": True}
    plain = Schema([Numeric("age", 0, 90)], classes=["no", "yes"]).to_json()
    assert "classes_accepted" not in plain
    assert "accepted" not in plain["attributes"][0]


@pytest.mark.parametrize("name", METHODS)
def test_every_guarantee_assumes_it_and_says_who_declared_it(name, tmp_path):
    schema, (X, y), of_ann = schema_of(), rows(), OF_ANN
    if name == "private-forest-regressor":
        schema = Schema(schema.attributes, target=Numeric("ill", 0, 1, accepted=ANN), rows=400)
        y = (y == "yes").astype(float)
        of_ann = "bounds of 'age' and 'ill', read from the rows, were public before, as Ann declared on 2026-11-19"
    model = METHODS[name](schema, epsilon=4.0, random_state=1).fit(X, y)
    assert model.guarantee_.assumptions == (of_ann, OF_BEN)
    assert f"provided that {of_ann}; {OF_BEN}; trusted" in model.guarantee_.sentence
    model.save(tmp_path / "model.privet")
    assert load(tmp_path / "model.privet").guarantee_ == model.guarantee_


def test_a_file_whose_acceptance_was_taken_out_is_refused(tmp_path):
    model = METHODS["private-rdt"](schema_of(), epsilon=4.0, random_state=1).fit(*rows())
    model.save(tmp_path / "model.privet")
    document = json.loads((tmp_path / "model.privet").read_text(encoding="utf-8"))
    attribute = document["schema"]["attributes"][1]
    assert attribute.pop("accepted") == {"by": "Ben", "on": "2026-11-20"}
    (tmp_path / "model.privet").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.privet")


def test_the_report_says_how_each_domain_is_known(tmp_path):
    model = METHODS["private-rdt"](schema_of(), epsilon=4.0, random_state=1).fit(*rows())
    write_report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("read from the rows; Ann declared on 2026-11-19 that it was public before") == 2
    assert page.count("read from the rows; Ben declared on 2026-11-20 that it was public before") == 1


def test_the_report_says_that_it_was_declared_and_speaks_of_no_batches(tmp_path):
    model = METHODS["private-rdt"](schema_of(), epsilon=4.0, random_state=1).fit(*rows())
    write_report(model, tmp_path / "report.html")
    page = " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())
    assert "What somebody only declared. The promise assumes that" in page
    assert "right, at most, provided that what is said above holds" in page
    assert "in several batches" not in page
    assert "Batches that share rows" not in page


def test_an_acceptance_stays_with_its_attribute():
    first = schema_of().with_attributes(schema_of().attributes[:1])
    assert first.assumptions == (OF_ANN,)
    assert schema_of().with_bins(4).assumptions == schema_of().assumptions


def test_channels_take_a_schema_without_it():
    with pytest.raises(ChannelError, match=r"says who accepted its domains.*ask by schema\.for_answers\(\)"):
        Channel.clear(schema_of())
    assert Channel.clear(schema_of().for_answers()).schema.assumptions == ()


def test_what_was_accepted_is_a_leak_of_channels_which_cannot_say_who_did():
    schema = schema_of()
    assert schema.leaks == ()
    assert len(schema.for_answers().leaks) == len([*schema.attributes, "classes"])
    promise = LocalGuarantee(RandomizedResponse(schema.for_answers(), epsilon=4).channel).sentence
    leaks, _, rest = promise.partition(", read from clear rows and covered by no promise")
    assert leaks.endswith("Apart from bounds of 'age', categories of 'sex', classes of 'ill'")
    assert "declared" not in rest


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Acceptance("", "2026-11-19"), "who accepts must be named: a name or a role of up to 100 letters"),
        (lambda: Acceptance("a" * 101, "2026-11-19"), "who accepts must be named"),
        (lambda: Acceptance("Ann\nBen", "2026-11-19"), "who accepts must be named"),
        (lambda: Acceptance("Ann", "19.11.2026"), 'the day of an acceptance must be written like "2026-11-19"'),
        (lambda: Acceptance("Ann", "20261119"), "the day of an acceptance must be written like"),
        (lambda: Acceptance("Ann", "2026-11-19", together="yes"), "together must be true or false"),
        (lambda: Acceptance.from_json({"by": "Ann"}), 'accepted must have the keys "by" and "on"'),
        (lambda: Acceptance.from_json({"by": "Ann", "on": "2026-11-19", "to": 1}), "accepted must have the keys"),
        (
            lambda: Schema([Numeric("age", 0, 9, accepted=ANN, inferred=True)], classes=["no", "yes"]),
            "bounds of 'age': accepted, an Acceptance, takes the place of inferred; remove one of both",
        ),
        (lambda: schema_of(classes_inferred=True), "classes: accepted, an Acceptance, takes the place of inferred"),
        (lambda: Schema([Numeric("age", 0, 9, accepted="Ann")], classes=["no", "yes"]), "accepted, an Acceptance"),
    ],
)
def test_what_is_no_acceptance_is_refused(make, sentence):
    with pytest.raises(SchemaError, match=sentence):
        make()
