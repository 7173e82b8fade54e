"""Parties with different columns of the same rows, each with the recommended forest."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, ColumnForest, PrivateForestClassifier, Schema, VerticalForest, load
from privet.central.weights.combining import Scales
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Trees
from privet.errors import DataError, ModelFileError, ParameterError, PartyError
from privet.model_file import with_checksum, write_document
from privet.partitioned import ForestRound, SplitStructure
from privet.partitioned.own_columns import joined
from privet.partitioned.split_structure import load_structure
from privet.privacy.events import NoNoise, Parallel, Sequential
from privet.privacy.ledger import Ledger
from privet.privacy.unit import Unit
from privet.report import write_report
from tests.export.test_agreement import imported
from tests.partitioned.parties import parties, roster_of, signed_anew, split_structure
from tests.partitioned.test_own_forests import SCHEMA, table

SPLIT = {"bank": ["age", "pay"], "clinic": ["job", "night"]}
BANK, CLINIC = SPLIT["bank"], SPLIT["clinic"]


def agreed(epsilon=1.0, schema=SCHEMA, split=SPLIT, **options):
    return SplitStructure.draw(schema, split, method="private-forest", epsilon=epsilon, **options)


def released(holders, structure, X, y, extra=()):
    parts = [part for part in structure.parts if part.party in holders]
    return [holders[part.party].release(part, X[[*part.schema.names, *extra]], y) for part in parts]


def model_of(folder, epsilon=1.0, names=tuple(SPLIT), **options):
    structure, holders = agreed(epsilon, **options), parties(folder, names)
    return ColumnForest.combine(structure, roster_of(holders), released(holders, structure, *table()))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"))


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"), math.inf)


def score_by_hand(model, X):
    """Return the second class's score by another way: each party's own forest, fitted again without noise."""
    _, y = table()
    offset, added = 0.0, np.zeros(len(X))
    for names in SPLIT.values():
        schema = replace(SCHEMA, attributes=tuple(a for a in SCHEMA.attributes if a.name in names))
        alone = PrivateForestClassifier(schema, epsilon=math.inf, random_state=0).fit(table()[0][names], y)
        own = alone.leaf_weights_
        offset = own.offsets[1]
        added += own.scores(alone._encoder.encode(X[names]))[:, 1] - offset
    return offset + 0.8 * added


class TestJoining:
    """Two parties with weights that are known, joined as reckoned on paper."""

    schema = Schema([Categorical("a", ["x", "y"], never_missing=True)], classes=["no", "yes"])

    def party(self, weights, balance, *, later=False, **options):
        trees = Trees.of([[0]], self.schema)
        return ReleasedWeights(
            **{
                "trees": replace(trees, n_later=int(later)), "n_rows": 100, "balance": np.array(balance),
                "weights": np.array(weights).reshape(-1, 1), "exponent": -1, "variances": np.array([2.0]),
                "noise_std": np.array([5.0]), "cells": np.array([60, 40]), **options,
            }
        )  # fmt: skip

    def test_weights_are_put_side_by_side_and_taken_times_0_8(self):
        ours = joined(
            [self.party([2, -4], [30, 70]), self.party([10, 0], [40, 60], exponent=0)], [Scales(1.0, 1.0)] * 2, [1, 1]
        )[0]
        assert ours.trees.attributes == ((0,), (1,))
        assert_allclose(ours.weights[:, 0] * 2.0**ours.exponent, [0.8, -1.6, 8.0, 0.0], atol=1e-6)
        assert ours.variances.tolist() == [2.0, 2.0]
        assert ours.noise_std.tolist() == [4.0, 4.0]
        assert ours.cells.tolist() == [60, 40, 60, 40]

    def test_a_partys_attributes_come_after_those_of_the_parties_before_it(self):
        ours, _ = joined([self.party([1, 1], [30, 70])] * 2, [Scales(1.0, 1.0)] * 2, [3, 1])
        assert ours.trees.attributes == ((0,), (3,))

    def test_trees_of_the_second_stage_come_after_all_of_the_first(self):
        both = replace(self.party([1, 2], [30, 70]), cells=None)
        both = both.with_later(self.party([3, 4], [30, 70], later=True))
        ours, _ = joined([both, self.party([5, 6], [30, 70])], [Scales(1.0, 1.0)] * 2, [1, 1])
        assert (ours.trees.attributes, ours.trees.n_later) == (((0,), (1,), (0,)), 1)
        assert_allclose(ours.weights[:, 0] * 2.0**ours.exponent, np.multiply(0.4, [1, 2, 5, 6, 3, 4]), atol=1e-6)
        assert ours.cells is None

    def test_classes_are_a_mean_by_precision(self):
        ours, scales = joined(
            [self.party([0, 0], [30, 70]), self.party([0, 0], [50, 50], n_rows=110)],
            [Scales(1.0, 2.0), Scales(2.0, 3.0)],
            [1, 1],
        )
        assert ours.balance.tolist() == [34, 66]
        assert ours.n_rows == 102
        assert scales.balance == pytest.approx(0.8**0.5)
        assert scales.cells == 3.0

    def test_exact_classes_outweigh_noisy_ones(self):
        ours, scales = joined(
            [self.party([0, 0], [30, 70]), self.party([0, 0], [50, 50])], [Scales(0.0, 0.0), Scales(2.0, 0.0)], [1, 1]
        )
        assert ours.balance.tolist() == [30, 70]
        assert scales.balance == 0.0

    def test_without_a_tree_classes_are_left(self):
        none = ReleasedWeights.balance_only(Trees(()), 100, np.array([30, 70]))
        ours, _ = joined([none, none], [Scales(1.0, 0.0)] * 2, [1, 1])
        assert (ours.trees.n_trees, ours.balance.tolist()) == (0, [30, 70])


def test_scores_are_those_of_the_parties_own_forests_added_up(exact):
    X, _ = table(40, seed=9)
    found = exact.leaf_weights_.scores(exact._encoder.encode(X))
    assert_allclose(found[:, 1], score_by_hand(exact, X), atol=1e-4)


def test_together_parties_know_more_than_either(exact):
    X, y = table(2_000, seed=9)
    assert (exact.predict(X) == y).mean() > (exact.predict(X[BANK]) == y).mean() + 0.05
    assert (exact.predict(X[BANK]) == y).mean() > (exact.predict(X[CLINIC]) == y).mean()


def test_costs_add_up_to_what_was_agreed(model):
    guarantee = model.guarantee_
    assert guarantee.epsilon == pytest.approx(1.0, rel=1e-6)
    assert isinstance(guarantee.event, Sequential)
    assert len(guarantee.event.parts) == 2
    assert guarantee.assumptions == ()
    assert "trusted: each party with its own columns and the class" in guarantee.sentence


def test_deltas_add_up_too(tmp_path):
    ours = model_of(tmp_path, delta=1e-6)
    assert [part.cost.delta for part in agreed(delta=1e-6).parts] == [5e-7, 5e-7]
    assert ours.delta == 1e-6
    assert ours.guarantee_.delta <= 1e-6
    ours.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == ours.guarantee_


def test_the_papers_prices_are_told_as_their_sum(tmp_path):
    structure = agreed(variant="paper", delta=1e-6)
    assert [(part.epsilon, part.delta) for part in structure.parts] == [(1.0, 1e-6)] * 2
    ours = model_of(tmp_path, variant="paper")
    assert ours.guarantee_.epsilon == pytest.approx(2.0, rel=1e-6)
    assert ours.guarantee_.mode == "sound"


def test_the_ledger_of_each_party_shows_its_share(tmp_path):
    structure = agreed(1.0, delta=1e-6)
    X, y = table()
    for part in structure.parts:
        ledger = Ledger(tmp_path / f"{part.party}.db", dataset="people", epsilon=1.0, delta=1e-5)
        holder = parties(tmp_path, [part.party], ledger=ledger)[part.party]
        holder.release(part, X[list(part.schema.names)], y)
        assert ledger.spent == pytest.approx(0.5, rel=1e-6)
        assert ledger.account().spendings[0].begun.body["structure"] == part.hash


def test_a_party_alone_is_its_own_forest_and_costs_its_share(tmp_path):
    alone = model_of(tmp_path, names=["clinic"])
    assert alone.guarantee_.epsilon == pytest.approx(0.5, rel=1e-6)
    assert alone.released_ is alone.releases_[0]
    assert alone.parties == {"clinic": CLINIC}
    assert alone.schema_.names == tuple(CLINIC)
    alone.save(tmp_path / "m.privet")
    X, _ = table(50)
    assert_array_equal(load(tmp_path / "m.privet").predict_proba(X[CLINIC]), alone.predict_proba(X[CLINIC]))


def test_with_persons_the_promise_is_about_persons(tmp_path):
    structure, holders = agreed(unit=Unit("person", 2)), parties(tmp_path, SPLIT)
    X, y = table()
    X["person"] = np.arange(len(X)) // 2
    ours = ColumnForest.combine(structure, roster_of(holders), released(holders, structure, X, y, ["person"]))
    assert (ours.unit, ours.max_rows) == ("person", 2)
    assert "person" in ours.guarantee_.sentence
    ours.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == ours.guarantee_


def test_a_declared_number_of_rows_is_not_paid_for(tmp_path):
    ours = model_of(tmp_path, schema=replace(SCHEMA, rows=3_000))
    for event in ours.guarantee_.event.parts:
        assert "number of rows" not in [part.what for part in event.parts]
    ours.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").schema_.rows == 3_000


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "Arrow"])
def test_trees_of_an_absent_party_say_what_they_say_on_average(exact, make):
    X, _ = table(30, seed=9)
    parts = exact.explain(X)
    own = parts[["(start)", *(name for name in parts if set(name.split(" x ")) <= set(BANK))]].sum(axis=1)
    found = exact.predict_proba(make(X[BANK]))
    whole = exact.explain(X[BANK])
    assert_allclose(whole.sum(axis=1), own, atol=1e-9)
    assert_allclose(whole[["job", "night", "job x night"]], 0, atol=1e-12)
    # The link from a score to a chance does not fall.
    order = np.argsort(own.to_numpy())
    assert (np.diff(found[order, 1]) >= -1e-9).all()
    assert_array_equal(found.argmax(axis=1), own > 0)


def test_some_of_a_partys_columns_are_not_enough(model):
    X, _ = table(5)
    with pytest.raises(DataError, match="the table lacks the column 'night'"):
        model.predict(X[[*BANK, "job"]])
    with pytest.raises(DataError, match="the table lacks the column 'age'"):
        model.explain(X[[]].assign(shoes=1))


def test_null_columns_are_missing_values_as_in_any_forest(model):
    X, _ = table(5)
    X[CLINIC] = None
    codes = model._encoder.encode(X)
    assert_array_equal(model.predict_proba(X), model._weights_with_missing.chances(codes))


@pytest.mark.parametrize("epsilon", [0.02, 1.0, math.inf])
def test_a_model_comes_back_with_the_same_answers_and_the_same_promise(tmp_path, epsilon):
    ours = model_of(tmp_path, epsilon)
    ours.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert isinstance(again, ColumnForest)
    assert again.guarantee_ == ours.guarantee_
    assert again.parties == SPLIT
    X, _ = table(100)
    assert_array_equal(again.predict_proba(X), ours.predict_proba(X))
    assert_array_equal(again.predict_proba(X[CLINIC]), ours.predict_proba(X[CLINIC]))


def test_three_classes_are_joined_alike(tmp_path):
    schema = replace(SCHEMA, classes=(5, 7, 9))
    structure, holders = agreed(math.inf, schema=schema), parties(tmp_path, SPLIT)
    X, y = table()
    y = np.where(X["pay"] > 8, 7, y)
    ours = ColumnForest.combine(structure, roster_of(holders), released(holders, structure, X, y))
    ours.save(tmp_path / "m.privet")
    assert (load(tmp_path / "m.privet").predict(X) == y).mean() > 0.9
    assert ours.explain(X[BANK]).shape[0] == len(X)


def test_what_is_explained_adds_up_to_the_score(model):
    X, _ = table(50, 5)
    scores = model.leaf_weights_.scores(model._encoder.encode(X))
    assert_allclose(model.explain(X).sum(axis=1), scores[:, 1] - scores[:, 0], atol=1e-9)
    assert {shape.title for shape in model.shapes()} == set(model.explained_names_) - {"(start)"}
    assert model.schema_.names[model.feature_importances_.argmax()] in {"age", "night"}


def test_an_export_and_a_report_are_of_the_joined_model(model, tmp_path):
    X, _ = table(50, 5)
    assert_array_equal(
        [imported(model, tmp_path / "m.py").predict(row) for row in X.to_dict("records")], model.predict(X)
    )
    write_report(model, tmp_path / "report.html")
    assert "nobody with the columns of another" in (tmp_path / "report.html").read_text()


def forged(model, path, change, words=None):
    document = json.loads(json.dumps(model.to_document()))
    change(document)
    write_document(path, document)
    with pytest.raises(ModelFileError, match=words):
        load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["parameters"].update(parties={"bank": CLINIC, "clinic": BANK}), "a parameter of the model is out"),
        (lambda d: d["parameters"].update(parties={"clinic": BANK, "bank": CLINIC}), "a parameter of the model is out"),
        (lambda d: d["parameters"].update(parties=["bank", "clinic"]), "a parameter of the model is out"),
        (lambda d: d["parameters"].update(parties={"bank": [*BANK, *CLINIC]}), "more fits than parties|the knots"),
        (
            lambda d: d["parameters"].update(parties={"bank": ["age"], "clinic": ["pay", *CLINIC]}),
            "the file is damaged",
        ),
        (lambda d: [own["fits"].reverse() for own in (d["structure"], d["released"])], "the file is damaged"),
        (lambda d: d["guarantee"]["event"]["parts"].pop(), "the guarantee does not follow from its receipts"),
        (lambda d: d["guarantee"].update(epsilon=0.5), "the guarantee does not follow from its receipts"),
        (lambda d: d["released"]["fits"][0]["weights"].append(0), "do not fit the trees and classes"),
        (lambda d: d["released"]["fits"].pop(), "does not hold several fits|do not fit together"),
        (lambda d: d.update(version=5), "lacks a part or has one too many"),
    ],
)
def test_a_forged_file_is_refused(model, tmp_path, change, words):
    forged(model, tmp_path / "m.privet", change, words)


@pytest.mark.parametrize(
    "event_of",
    [
        lambda parts: Sequential(parts[:1]),
        lambda parts: parts[0],
        lambda parts: Sequential((*parts, parts[0])),
        lambda parts: Sequential((parts[0], Sequential(parts[1].parts[:-1]))),
        lambda parts: Sequential((*parts[0].parts, *parts[1].parts)),
        lambda parts: Parallel(parts, "no row is with more than one party"),
        lambda parts: Sequential((parts[0], Sequential((NoNoise("class balance"),)))),
    ],
    ids=["one left out", "one alone", "one too many", "a release left out", "mixed up", "parallel", "others"],
)
def test_a_promise_with_other_receipts_is_refused(model, tmp_path, event_of):
    promise = model._guarantee(model.schema_, event_of(model.guarantee_.event.parts))
    forged(model, tmp_path / "m.privet", lambda d: d.update(guarantee=promise.to_json()), "the guarantee is not that")


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    structure, holders = agreed(), parties(tmp_path_factory.mktemp("parties"), SPLIT)
    return structure, holders, released(holders, structure, *table())


class TestReleases:
    """What a party may send, and what not."""

    def test_a_party_that_spends_more_than_its_share_is_refused(self, sent):
        structure, holders, (bank, clinic) = sent
        X, y = table()
        dear = PrivateForestClassifier(structure.parts[0].schema, epsilon=1.0, random_state=0).fit(X[BANK], y)
        lie = signed_anew(holders["bank"], bank, model=with_checksum(dear.to_document()))
        with pytest.raises(PartyError, match="was not fitted as the structure requires"):
            ColumnForest.combine(structure, roster_of(holders), [lie, clinic])

    def test_the_forest_of_another_partys_columns_is_refused(self, sent):
        structure, holders, (bank, clinic) = sent
        lie = signed_anew(holders["bank"], bank, model=clinic.document["model"])
        with pytest.raises(PartyError, match="was fitted with another schema"):
            ColumnForest.combine(structure, roster_of(holders), [lie, clinic])

    def test_a_party_twice_is_refused(self, sent):
        structure, holders, (bank, _) = sent
        with pytest.raises(PartyError, match="two releases of 'bank'"):
            ColumnForest.combine(structure, roster_of(holders), [bank, bank])

    def test_the_order_of_releases_does_not_matter(self, sent):
        structure, holders, (bank, clinic) = sent
        one, other = (
            ColumnForest.combine(structure, roster_of(holders), each) for each in ([bank, clinic], [clinic, bank])
        )
        assert one.to_document() == other.to_document()

    def test_each_kind_of_structure_has_its_own_model(self, sent):
        structure, holders, releases = sent
        with pytest.raises(PartyError, match="are of the method 'private-forest'; use ColumnForest"):
            VerticalForest.combine(structure, roster_of(holders), releases)
        with pytest.raises(PartyError, match="are of the method 'private-rdt'; use VerticalForest"):
            ColumnForest.combine(split_structure(1.0), roster_of(holders), releases)


class TestStructures:
    """Split structures of forests."""

    def test_a_structure_comes_back_from_its_file(self, tmp_path):
        structure = agreed(0.5, delta=1e-6, random_state=4, schema=replace(SCHEMA, rows=3_000))
        structure.save(tmp_path / "s.json")
        again = load_structure(tmp_path / "s.json", pin=structure.hash)
        assert again.to_json() == structure.to_json()
        assert all(isinstance(part, ForestRound) for part in again.parts)
        assert [part.grouping for part in again.parts] == [4, 4]

    def test_one_of_random_trees_keeps_its_form(self, tmp_path):
        structure = split_structure(1.0, round_="spring")
        structure.save(tmp_path / "s.json")
        assert {part["method"] for part in structure.to_json()["parts"]} == {"private-rdt"}
        assert load_structure(tmp_path / "s.json").hash == structure.hash

    def test_parts_of_two_kinds_are_refused(self):
        forests, trees = agreed(0.5, round_="spring"), split_structure(0.5, round_="spring")
        with pytest.raises(PartyError, match="must agree on method, round"):
            SplitStructure((forests.parts[0], trees.parts[1]))

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"method": "dpdf"}, "method='dpdf' is not one of parties; choose from private-rdt, private-forest"),
            ({"method": "private-forest", "n_trees": 4}, "n_trees, height and n_rows are for random trees"),
            ({"method": "private-rdt", "delta": 1e-6}, "random trees are released without delta"),
            ({"method": "private-forest", "delta": 2.0}, "delta=2.0 is no probability below 1"),
            ({"method": "private-forest", "random_state": -1}, "grouping=-1"),
        ],
    )
    def test_what_no_party_could_release_is_refused(self, options, words):
        with pytest.raises(ParameterError, match=words):
            SplitStructure.draw(SCHEMA, SPLIT, **options)


def test_it_is_not_fitted_to_rows(model):
    with pytest.raises(ParameterError, match="each party releases its own forest, and combine takes them all"):
        model.fit(*table())


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
