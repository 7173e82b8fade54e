"""The model of both rounds: release files, its file, what it promises, and forged files."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Schema, load
from privet.errors import ModelFileError, ParameterError, PartyError, PrivetError
from privet.model_file import VERSION, checksum, write_document
from privet.partitioned import HorizontalForest, Roster, TableForest, TableRound
from privet.privacy.events import Parallel, Sequential
from tests.contracts.test_damaged_files import with_other_digits
from tests.partitioned.tables.small import NAMES, parties, structure, table, tables

CASES = 300


def combined(folder, agreed, names=NAMES, rows=None):
    """The models of the first round and of both, from release files."""
    holders, rows = parties(folder, names), rows or tables(names)
    roster = Roster(holder.public for holder in holders.values())
    first = TableForest.combine(agreed, roster, [own.release(agreed, *rows[name]) for name, own in holders.items()])
    following = first.next_round
    sent = [own.release(following, *rows[name]) for name, own in holders.items()]
    return first, TableForest.combine(following, roster, sent)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return combined(tmp_path_factory.mktemp("parties"), structure(1.0))


def test_the_tables_of_parties_add_up_to_those_of_all_rows(tmp_path):
    agreed, rows = structure(), tables()
    first, model = combined(tmp_path, agreed, rows=rows)
    assert_array_equal(first.tables_.noisy, sum(agreed.exact_counts(*own) for own in rows.values()))
    following = first.next_round
    assert_array_equal(model.newton_.noisy, sum(following.exact_counts(*own) for own in rows.values()))
    assert_array_equal(first.released_.balance.sum(), 3_000)


def test_each_round_costs_its_share_and_both_cost_epsilon(both):
    first, model = both
    assert first.guarantee_.epsilon == first.tables_.structure.epsilon
    assert model.guarantee_.epsilon == 1.0
    assert isinstance(model.guarantee_.event, Sequential)
    assert all(isinstance(part, Parallel) for part in model.guarantee_.event.parts)
    assert model.guarantee_.assumptions == ("no row is with more than one party",)


def test_parties_that_differ_make_a_model_that_knows_all_of_them(both):
    X, y = table(4_000, seed=77)
    first, model = both
    majority = max(np.mean(y == label) for label in ("no", "yes"))
    assert first.score(X, y) > majority + 0.25
    assert model.score(X, y) > majority + 0.25


def test_what_two_neighbours_of_the_schema_do_together_is_found(tmp_path):
    """A planted fault: with a tree for each of them, no model is right in more than three of the four cells."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({name: rng.choice(["p", "q"], 6_000) for name in ("a", "b")})
    y = np.where((X["a"] == X["b"]) ^ (rng.random(6_000) < 0.1), "yes", "no")
    schema = Schema([Categorical(name, ["p", "q"]) for name in ("a", "b")], classes=["no", "yes"], rows=6_000)
    scores = {}
    for n_rows in (6_000, 10):
        agreed = replace(TableRound.draw(schema, n_rows=n_rows, round_=f"r{n_rows}"), epsilon=0.7, newton_epsilon=0.3)
        rows = {name: (X[i::3].reset_index(drop=True), y[i::3]) for i, name in enumerate(NAMES)}
        scores[n_rows] = combined(tmp_path / str(n_rows), agreed, rows=rows)[1].score(X, y)
    assert scores[6_000] > 0.85
    assert scores[10] < 0.75


def test_chances_are_about_how_often_a_class_occurs(tmp_path):
    _, model = combined(tmp_path, structure())
    rows = tables(n=3_000).values()
    X, y = pd.concat([X for X, _ in rows]), np.concatenate([y for _, y in rows])
    chances = model.predict_proba(X)[:, 1]
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        own = (chances >= low) & (chances < high)
        assert chances[own].mean() == pytest.approx(np.mean(y[own] == "yes"), abs=0.15)


@pytest.mark.parametrize("which", [0, 1])
def test_a_model_survives_its_file(both, which, tmp_path):
    model, (X, _) = both[which], table(50)
    X.loc[3, "age"] = None
    model.save(tmp_path / "m.privet")
    read = load(tmp_path / "m.privet")
    assert isinstance(read, TableForest)
    assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert read.guarantee_ == model.guarantee_
    assert read.next_round.hash == model.next_round.hash
    read.save(tmp_path / "again.privet")
    assert (tmp_path / "again.privet").read_bytes() == (tmp_path / "m.privet").read_bytes()


def test_explanations_add_up_to_the_score(both):
    model, (X, _) = both[1], table(20)
    parts = model.explain(X)
    assert list(parts.columns) == ["(start)", "age", "job", "night", "job x night"]
    scores = model.leaf_weights_.scores(model._encoder.encode(X))
    assert_allclose(parts.sum(axis=1), scores[:, 1] - scores[:, 0], atol=1e-6)
    assert len(model.shapes()) == 4
    assert model.feature_importances_.sum() in (0.0, pytest.approx(1.0))


def test_attributes_that_matter_are_told_apart(both):
    assert both[1].told_apart_.tolist()[:2] == [True, True]


def forged(change):
    def forge(model, path):
        document = json.loads(json.dumps(model.to_document()))
        change(document)
        write_document(path, document)

    return forge


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["guarantee"].update(epsilon=0.1), "guarantee"),
        (lambda d: d["released"].update(newton=None), "the guarantee is not that of this schema"),
        (lambda d: d["released"]["tables"].update(parties=["bank"]), "the receipt of an opened sum is not that of its"),
        (lambda d: d["parameters"].update(parties=["bank"]), "the guarantee is not that of this schema"),
        (lambda d: d["structure"].update(newton_epsilon="1/1000"), "the receipt of an opened sum is not that of its"),
        (lambda d: d["structure"].update(max_rows=2), "the model is damaged|the receipt of an opened sum"),
        (lambda d: d["released"]["newton"]["counts"].pop(), "released.counts"),
        (lambda d: d["released"].update(more=[]), "the structure or the sums are not those of this method"),
        (lambda d: d["released"]["newton"].pop("event"), "an opened sum lacks a part or has one too many"),
    ],
)
def test_a_forged_model_is_refused(both, change, message, tmp_path):
    forged(change)(both[1], tmp_path / "m.privet")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.privet")


def test_a_damaged_model_is_refused_or_predicts(both, tmp_path):
    body = {"format": "privet-model", "version": VERSION, **both[1].to_document()}
    content, rng, outcomes = json.dumps(body).encode(), np.random.default_rng(2), {"refused": 0, "predicts": 0}
    for _ in range(CASES):
        try:
            changed = json.loads(with_other_digits(content, rng))
        except ValueError:
            continue
        (tmp_path / "m.privet").write_text(json.dumps({**changed, "checksum": checksum(changed)}))
        try:
            model = load(tmp_path / "m.privet")
        except PrivetError:
            outcomes["refused"] += 1
            continue
        assert np.isfinite(model.predict_proba(table(5)[0])).all()
        outcomes["predicts"] += 1
    assert min(outcomes.values()) > 5, outcomes


def test_any_of_the_parties_make_a_model_of_either_round(tmp_path):
    agreed, rows, holders = structure(1.0), tables(), parties(tmp_path)
    roster = Roster(holder.public for holder in holders.values())
    first = TableForest.combine(agreed, roster, [holders["bank"].release(agreed, *rows["bank"])])
    sent = [holders[name].release(first.next_round, *rows[name]) for name in ("clinic", "school")]
    model = TableForest.combine(first.next_round, roster, sent)
    assert model.party_names == ["bank", "clinic", "school"]
    assert model.guarantee_.epsilon == 1.0
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").party_names == model.party_names


def test_variances_of_parties_add_up(both):
    growth = both[0].noise_growth_
    assert_allclose(growth / growth[0], np.sqrt([1, 2, 3]))


def test_a_release_of_another_round_is_refused(tmp_path):
    agreed, holders = structure(1.0), parties(tmp_path)
    roster = Roster(holder.public for holder in holders.values())
    sent = [holders["bank"].release(agreed, *table(100))]
    following = TableForest.combine(agreed, roster, sent).next_round
    with pytest.raises(PartyError, match="was counted on a structure with another hash"):
        TableForest.combine(following, roster, sent)


def test_a_party_that_spends_less_than_both_rounds_refuses_the_first(tmp_path):
    (holder,) = parties(tmp_path, ["bank"], epsilon=0.9).values()
    with pytest.raises(PartyError, match=r"costs epsilon=1\.0, more than this party spends; agree on another"):
        holder.release(structure(1.0), *table(100))


def test_noise_alone_says_no_less_than_the_class_balance(tmp_path):
    X, y = table(900, often=0.85)
    for attempt in range(5):
        agreed = structure(0.05, round_=f"r{attempt}", n_rows=900)
        models = combined(tmp_path / str(attempt), agreed, names=["bank"], rows={"bank": (X, y)})
        assert min(model.score(X, y) for model in models) > 0.75


def test_it_is_not_fitted_to_rows():
    with pytest.raises(ParameterError, match="a forest of parties is not fitted to rows"):
        TableForest(structure().schema).fit(*table(10))


def test_without_noise_it_promises_nothing(tmp_path):
    _, model = combined(tmp_path, structure(math.inf), names=["bank"])
    assert math.isinf(model.guarantee_.epsilon)
    assert not isinstance(model, HorizontalForest)
