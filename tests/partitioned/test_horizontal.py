import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import HorizontalForest, PrivateRDTClassifier, load
from privet.errors import ModelFileError, ParameterError
from privet.export import export_model
from privet.model_file import write_document
from privet.privacy.events import Parallel
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.unit import Unit
from privet.report import write_report
from tests.partitioned.parties import SCHEMA, parties, released, roster_of, structure, table


def model_of(folder, epsilon, n_parties=3, **options):
    names = ("bank", "clinic", "school")[:n_parties]
    holders, agreed = parties(folder, names), structure(epsilon, **options)
    return HorizontalForest.combine(agreed, roster_of(holders), released(holders, agreed))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"), 0.5)


def test_exact_counts_of_parties_add_up_to_those_of_a_curator(tmp_path):
    curator = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=4, random_state=3).fit(*table())
    ours = model_of(tmp_path, math.inf)
    assert_array_equal(ours.noisy_counts_, curator.noisy_counts_)
    assert_array_equal(ours.predict_proba(table()[0]), curator.predict_proba(table()[0]))
    assert ours.guarantee_.mode == "not private"


def test_any_of_the_parties_make_a_model(tmp_path):
    holders, agreed = parties(tmp_path), structure(math.inf)
    sent = released(holders, agreed)
    two = HorizontalForest.combine(agreed, roster_of(holders), [sent[2], sent[0]])
    assert two.parties == ["bank", "school"]
    assert two.noisy_counts_.sum() == 4 * 400


def test_the_promise_is_that_of_one_party_if_no_row_is_with_two(model):
    assert model.guarantee_.epsilon == 0.5
    assert isinstance(model.guarantee_.event, Parallel)
    sentence = model.guarantee_.sentence
    assert "provided that no row is with more than one party" in sentence
    assert "trusted: each party with its own rows, nobody with those of another" in sentence


def test_a_single_party_assumes_nothing(tmp_path):
    alone = model_of(tmp_path, 0.5, n_parties=1)
    assert alone.guarantee_.assumptions == ()
    assert alone.noise_growth_.tolist() == [alone.noise_std_]


def test_with_persons_the_promise_is_about_persons(tmp_path):
    holders, agreed = parties(tmp_path, ("bank", "clinic")), structure(0.5, unit=Unit("person", 2))
    X, y = table()
    X = X.assign(person=np.arange(600) // 3)
    sent = [holder.release(agreed, X[i::2], y[i::2]) for i, holder in enumerate(holders.values())]
    combined = HorizontalForest.combine(agreed, roster_of(holders), sent)
    assert combined.guarantee_.assumptions == ("no 'person' is with more than one party",)
    assert combined.guarantee_.max_rows == 2


def test_variances_of_the_noise_add_up_over_parties(model):
    one = standard_deviation(structure(0.5).receipt)
    np.testing.assert_allclose(model.noise_growth_, one * np.sqrt([1, 2, 3]))
    assert model.noise_std_ == pytest.approx(one * math.sqrt(3))


def test_the_noise_of_the_sum_is_as_large_as_it_says(tmp_path):
    """Over 800 counts, a mean square off by 40 % is seven standard errors away."""
    agreed = structure(0.5, n_trees=60, height=2)
    holders = parties(tmp_path)
    model = HorizontalForest.combine(agreed, roster_of(holders), released(holders, agreed))
    exact = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=60, height=2, random_state=3).fit(*table())
    noise = (model.noisy_counts_ - exact.noisy_counts_).astype(float)
    assert noise.size > 800
    assert np.mean(noise**2) == pytest.approx(model.noise_std_**2, rel=0.4)


def test_a_model_reads_back_and_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "m.privet")
    read = load(tmp_path / "m.privet")
    assert isinstance(read, HorizontalForest)
    assert read.parties == ["bank", "clinic", "school"]
    assert read.guarantee_ == model.guarantee_
    assert_array_equal(read.predict_proba(table()[0]), model.predict_proba(table()[0]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["parameters"].update(parties=["bank", "clinic"]), "the guarantee is not that of"),
        (lambda d: d["parameters"].update(parties=["bank", "bank", "clinic"]), "a parameter of the model is out"),
        (lambda d: d["parameters"].update(parties=["bank", "clinic", "a/b"]), "a parameter of the model is out of its"),
        (lambda d: d["parameters"].update(parties="abc"), "a parameter of the model is out of its range"),
        (lambda d: d["parameters"].update(parties=None), "a parameter of the model is out of its range"),
        (lambda d: d["guarantee"].update(trust="nobody"), "the guarantee"),
        (lambda d: d["guarantee"].update(trust=5), "the guarantee's trust is not what privet writes there"),
        (lambda d: d["guarantee"].update(assumptions=[]), "the guarantee"),
        (lambda d: d["guarantee"]["event"]["parts"].pop(), "the guarantee"),
        (lambda d: d["guarantee"]["event"].update(because="they say so"), "the guarantee"),
        (lambda d: d["released"]["counts"].pop(), "the released counts do not fit"),
        (lambda d: d.update(method="private-rdt"), "the model's parameters are not those of its method"),
    ],
)
def test_a_changed_model_is_refused(model, tmp_path, change, words):
    document = json.loads(json.dumps(model.to_document()))
    change(document)
    write_document(tmp_path / "m.privet", document)
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "m.privet")


def test_it_is_not_fitted_to_rows():
    with pytest.raises(ParameterError, match="is not fitted to rows: each party releases counts of its own"):
        HorizontalForest(SCHEMA).fit(*table())


def test_it_is_reported_ruled_and_exported_like_any_forest_of_counts(model, tmp_path):
    write_report(model, tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "Noise over parties" in page
    assert "3 parties counted their own rows" in page
    assert "batch" not in page.split("<script")[0]
    assert len(model.rules()) > 0
    for kind in ("json", "js", "python", "onnx"):
        export_model(model, tmp_path / f"m.{kind}", format=kind)


def test_class_weights_are_taken_later_and_kept_in_the_file(model, tmp_path):
    X, _ = table()
    balanced = model.with_class_weight("balanced")
    weights = np.array(list(balanced.class_weight_.values()))
    parts = model.predict_proba(X) * weights
    assert_allclose(balanced.predict_proba(X), parts / parts.sum(axis=1, keepdims=True))
    balanced.save(tmp_path / "balanced.privet")
    again = load(tmp_path / "balanced.privet")
    assert_array_equal(again.predict_proba(X), balanced.predict_proba(X))
    assert (again.class_weight, model.class_weight) == ("balanced", None)
