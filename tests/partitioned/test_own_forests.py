import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, CombinedForest, Numeric, PrivateForestClassifier, Schema, load
from privet.errors import ModelFileError, ParameterError, PartyError
from privet.model_file import with_checksum, write_document
from privet.partitioned import ForestRound, Party, PrivateKey, Release, Roster
from privet.partitioned.split_structure import load_structure
from privet.privacy.events import Parallel
from privet.privacy.ledger import Ledger
from privet.privacy.unit import Unit
from privet.report import write_report
from tests.export.test_agreement import imported
from tests.partitioned.parties import parties, roster_of, signed_anew

SCHEMA = Schema(
    [
        Numeric("age", 0, 100),
        Categorical("job", ["nurse", "clerk", "cook"]),
        Numeric("pay", 0, 10),
        Categorical("night", ["no", "yes"]),
    ],
    classes=[5, 9],
    target="group",
)


def table(n=3_000, seed=2, low=0):
    """Rows whose class follows from age and night; ``low`` is the least age."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(low, 100, n),
            "job": rng.choice(["nurse", "clerk", "cook"], n),
            "pay": rng.uniform(0, 10, n),
            "night": rng.choice(["no", "yes"], n),
        }
    )
    return X, np.where((X["age"] > 40) ^ (X["night"] == "yes") & (X["age"] > 70), 9, 5)


def agreed(epsilon=1.0, **options):
    return ForestRound.draw(SCHEMA, epsilon=epsilon, **options)


def released(holders, structure, tables):
    return [holder.release(structure, *own) for holder, own in zip(holders.values(), tables, strict=True)]


def thirds(n=3_000):
    X, y = table(n)
    return [(X[i::3].reset_index(drop=True), y[i::3]) for i in range(3)]


def model_of(folder, epsilon=1.0, tables=None, **options):
    tables = tables or thirds()
    names = [f"clinic-{i}" for i in range(len(tables))]
    holders, structure = parties(folder, names), agreed(epsilon, **options)
    return CombinedForest.combine(structure, roster_of(holders), released(holders, structure, tables))


def accuracy(model, seed=9):
    X, y = table(4_000, seed)
    return float((model.predict(X) == y).mean())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"))


def test_the_promise_is_that_of_one_party_if_no_row_is_with_two(model):
    assert model.guarantee_.epsilon == pytest.approx(1.0, abs=1e-6)
    assert isinstance(model.guarantee_.event, Parallel)
    assert "provided that no row is with more than one party" in model.guarantee_.sentence
    assert "trusted: each party with its own rows, nobody with those of another" in model.guarantee_.sentence


def test_parties_together_are_nearly_as_good_as_a_curator_and_better_than_one_alone(model):
    curator = PrivateForestClassifier(replace(SCHEMA, rows=3_000), epsilon=1.0).fit(*table())
    assert accuracy(model) >= accuracy(curator) - 0.05
    assert accuracy(model) >= 0.85


def test_without_noise_parties_find_what_a_curator_finds(tmp_path):
    ours = model_of(tmp_path, math.inf)
    curator = PrivateForestClassifier(replace(SCHEMA, rows=3_000), epsilon=math.inf).fit(*table())
    X, _ = table(500, 7)
    assert ours.guarantee_.mode == "not private"
    assert np.corrcoef(ours.predict_proba(X)[:, 1], curator.predict_proba(X)[:, 1])[0, 1] > 0.98


def test_a_single_party_is_its_own_forest(tmp_path):
    alone = model_of(tmp_path, 1.0, tables=thirds()[:1])
    assert alone.guarantee_.assumptions == ()
    assert len(alone.releases_) == 1
    assert alone.released_ is alone.releases_[0]


def test_any_of_the_parties_make_a_model(tmp_path):
    holders, structure = parties(tmp_path), agreed()
    sent = released(holders, structure, thirds())
    two = CombinedForest.combine(structure, roster_of(holders), [sent[2], sent[0]])
    assert two.parties == ["bank", "school"]
    assert two.n_rows_ == pytest.approx(2_000, rel=0.1)


def grown(n, seed, low=0):
    """Rows whose class is likelier to be 9 the older they are, and at night."""
    X, _ = table(n, seed, low)
    score = (X["age"] - 45) / 8 + 2.0 * (X["night"] == "yes") - 1.0
    return X, np.where(np.random.default_rng(seed).random(n) < 1 / (1 + np.exp(-score)), 9, 5)


def test_parties_of_other_kinds_make_a_model_for_all(tmp_path):
    """One clinic sees old people only, one hardly anybody of class 5, and one is small."""
    X, y = grown(4_000, 4)
    keep = (y == 9) | (np.random.default_rng(1).random(len(y)) < 0.3)
    tables = [grown(2_000, 3, low=60), (X[keep].reset_index(drop=True), y[keep]), grown(200, 5)]
    X, y = grown(6_000, 99)
    together = model_of(tmp_path / "all", 8.0, tables)
    old_only = model_of(tmp_path / "old", 8.0, tables[:1])
    assert (together.predict(X) == y).mean() > 0.9
    assert (old_only.predict(X) == y).mean() < 0.7


def test_a_release_is_drawn_once_and_repeats_byte_for_byte(tmp_path):
    holder, structure = parties(tmp_path, ["bank"])["bank"], agreed()
    first = holder.release(structure, *table())
    assert holder.release(structure, *table(50)).bytes == first.bytes


def test_the_ledger_pays_for_a_release_once(tmp_path):
    ledger = Ledger(tmp_path / "bank.db", dataset="bank", epsilon=3.0)
    holder, structure = parties(tmp_path, ["bank"], ledger=ledger)["bank"], agreed()
    for _ in range(2):
        holder.release(structure, *table())
    assert ledger.spent == pytest.approx(1.0)
    (spending,) = ledger.account().spendings
    assert spending.begun.body["structure"] == structure.hash


def test_a_release_that_was_lost_is_not_drawn_again_unasked(tmp_path):
    ledger = Ledger(tmp_path / "bank.db", dataset="bank", epsilon=3.0)
    key, structure = PrivateKey.generate("bank"), agreed()
    Party(key, store=tmp_path / "a", ledger=ledger).release(structure, *table())
    with pytest.raises(Exception, match="the ledger has a release of this structure that the store"):
        Party(key, store=tmp_path / "b", ledger=ledger).release(structure, *table())
    Party(key, store=tmp_path / "b", ledger=ledger).release(structure, *table(), again=True)
    assert ledger.spent == pytest.approx(2.0)


def test_rows_that_are_refused_cost_nothing(tmp_path):
    ledger = Ledger(tmp_path / "bank.db", dataset="bank", epsilon=3.0)
    holder = parties(tmp_path, ["bank"], ledger=ledger)["bank"]
    X, y = table(100)
    with pytest.raises(Exception, match="'pay'"):
        holder.release(agreed(), X.drop(columns="pay"), y)
    assert ledger.spent == 0
    assert not list((tmp_path / "bank").glob("*.json"))


def test_a_number_of_rows_that_is_said_is_not_paid_for(tmp_path):
    holders = parties(tmp_path, ["bank", "clinic"])
    said = holders["bank"].release(agreed(), *table(), n_rows=3_000)
    bought = holders["clinic"].release(agreed(), *table())
    names = [[part["what"] for part in own.document["model"]["guarantee"]["event"]["parts"]] for own in (said, bought)]
    assert names[1][0] == "number of rows"
    assert "number of rows" not in names[0]


def test_the_combined_promise_lists_that_a_party_said_how_many_rows_it_has(model, tmp_path):
    structure, holders = agreed(), parties(tmp_path, ["bank", "clinic"])
    said = holders["bank"].release(structure, *table(seed=4), n_rows=3_000)
    bought = holders["clinic"].release(structure, *table(seed=5))
    mixed = CombinedForest.combine(structure, roster_of(holders), [said, bought])
    assert mixed.guarantee_.public[-1] == "about how many rows 1 of 2 parties had"
    assert (
        CombinedForest.combine(structure, roster_of(holders), [said]).guarantee_.public[-1].endswith("1 of 1 party had")
    )
    assert not any("rows" in each for each in model.guarantee_.public)
    mixed.save(tmp_path / "mixed.privet")
    assert load(tmp_path / "mixed.privet").guarantee_ == mixed.guarantee_


def test_a_party_that_says_what_it_spends_spends_no_delta_unasked(tmp_path):
    key, structure = PrivateKey.generate("bank"), agreed(0.5, delta=1e-6)
    with pytest.raises(PartyError, match="delta=1e-06, more than this party spends; agree on another, or allow for"):
        Party(key, store=tmp_path / "a", epsilon=1.0).release(structure, *table())
    allowed = Party(key, store=tmp_path / "a", epsilon=1.0, delta=1e-6)
    assert allowed.release(structure, *table()).party == "bank"


@pytest.mark.parametrize("n_rows", [0, -3, 2.5])
def test_a_number_of_rows_that_is_none_is_refused_before_anything_is_spent(tmp_path, n_rows):
    ledger = Ledger(tmp_path / "bank.db", dataset="bank", epsilon=3.0)
    holder = parties(tmp_path, ["bank"], ledger=ledger)["bank"]
    with pytest.raises(ParameterError, match="n_rows"):
        holder.release(agreed(), *table(), n_rows=n_rows)
    assert ledger.spent == 0.0
    assert not ledger.account().spendings


def test_rows_of_one_part_of_an_account_are_refused_in_another(tmp_path):
    file = tmp_path / "bank.db"
    Ledger(file, dataset="bank", epsilon=3.0)
    first = Party(PrivateKey.generate("bank"), store=tmp_path / "a", ledger=Ledger(file, dataset="bank", part="june"))
    first.release(agreed(), *table())
    second = Party(PrivateKey.generate("bank"), store=tmp_path / "b", ledger=Ledger(file, dataset="bank", part="july"))
    with pytest.raises(Exception, match="the ledger has this batch in the part 'june'"):
        second.release(agreed(), *table())


def test_delta_is_of_each_party(tmp_path):
    ours = model_of(tmp_path, 1.0, delta=1e-6)
    assert ours.guarantee_.delta <= 1e-6
    assert ours.delta == 1e-6


def test_with_persons_the_promise_is_about_persons(tmp_path):
    tables = [(X.assign(person=np.arange(len(X)) // 2), y) for X, y in thirds()]
    ours = model_of(tmp_path, 1.0, tables, unit=Unit("person", 2))
    assert "provided that no 'person' is with more than one party" in ours.guarantee_.sentence
    assert ours.max_rows == 2


@pytest.mark.parametrize("epsilon", [0.02, 1.0, math.inf])
def test_a_model_comes_back_with_the_same_answers_and_the_same_promise(tmp_path, epsilon):
    ours = model_of(tmp_path, epsilon)
    ours.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert isinstance(again, CombinedForest)
    assert again.guarantee_ == ours.guarantee_
    assert again.parties == ours.parties
    assert_array_equal(again.predict_proba(table()[0]), ours.predict_proba(table()[0]))


def test_what_is_explained_adds_up_to_the_score(model):
    X, _ = table(50, 5)
    parts = model.explain(X)
    scores = model.leaf_weights_.scores(model._encoder.encode(X))
    assert_allclose(parts.sum(axis=1), scores[:, 1] - scores[:, 0], atol=1e-9)
    assert model.feature_importances_.argmax() == 0


def test_an_export_and_a_report_are_of_the_combined_model(model, tmp_path):
    X, _ = table(50, 5)
    assert_array_equal(
        [imported(model, tmp_path / "m.py").predict(row) for row in X.to_dict("records")], model.predict(X)
    )
    write_report(model, tmp_path / "report.html")
    assert "more than one party" in (tmp_path / "report.html").read_text()


def test_a_structure_comes_back_from_its_file(tmp_path):
    structure = agreed(0.5, delta=1e-6, grouping=4, unit=Unit("person", 3))
    structure.save(tmp_path / "s.json")
    again = load_structure(tmp_path / "s.json", pin=structure.hash)
    assert isinstance(again, ForestRound)
    assert again.to_json() == structure.to_json()
    assert again.schema.rows is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"delta": 0}, "is damaged: its delta or grouping is no such number"),
        ({"grouping": -1}, "is damaged: grouping=-1"),
        ({"delta": 2.0}, "is damaged: delta=2.0"),
        ({"epsilon": "0"}, "is damaged: epsilon=0"),
        ({"method": "dpdf"}, "asks for releases that this privet does not know"),
        ({"schema": replace(SCHEMA, rows=9).to_json()}, "declares a number of rows"),
    ],
)
def test_a_damaged_structure_is_refused(tmp_path, changes, words):
    (tmp_path / "s.json").write_text(json.dumps({**agreed().to_json(), **changes}))
    with pytest.raises(PartyError, match=words):
        load_structure(tmp_path / "s.json")


AGREED = agreed()


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    holder = parties(tmp_path_factory.mktemp("parties"), ["bank"])["bank"]
    return holder, holder.release(AGREED, *table())


class TestLies:
    """A party signs something that it should not have released."""

    def refused(self, sent, words, structure=None, **changes):
        holder, release = sent
        lie = signed_anew(holder, release, **changes)
        with pytest.raises(PartyError, match=words):
            CombinedForest.combine(structure or AGREED, Roster([holder.public]), [lie])

    def model_with(self, **options):
        fitted = PrivateForestClassifier(**{"schema": SCHEMA, "epsilon": 1.0, "random_state": 0, **options}).fit(
            *table()
        )
        return with_checksum(fitted.to_document())

    @pytest.mark.parametrize(
        "options",
        [{"epsilon": 1.1}, {"delta": 1e-6}, {"n_attributes": 2}, {"unsafe_seeded_noise": True}, {"epsilon": math.inf}],
    )
    def test_another_cost_or_setting_is_refused(self, sent, options):
        self.refused(sent, "was not fitted as the structure requires", model=self.model_with(**options))

    def test_a_smaller_cost_is_taken(self, sent):
        holder, release = sent
        cheap = signed_anew(holder, release, model=self.model_with(epsilon=0.5))
        model = CombinedForest.combine(AGREED, Roster([holder.public]), [cheap])
        assert model.guarantee_.epsilon <= 0.5 + 1e-9

    def test_another_schema_is_refused(self, sent):
        other = replace(SCHEMA, attributes=(replace(SCHEMA.attributes[0], high=99), *SCHEMA.attributes[1:]))
        self.refused(sent, "was fitted with another schema", model=self.model_with(schema=other))

    def test_a_changed_weight_is_refused(self, sent):
        document = json.loads(json.dumps(sent[1].document["model"]))
        document["released"]["weights"][0] += 1
        self.refused(sent, "checksum does not fit", model=document)

    def test_a_release_of_another_unit_is_refused(self, sent):
        other = agreed(unit=Unit("person", 2), round_=AGREED.round)
        self.refused(sent, "counted on a structure with another hash", structure=other)

    def test_counts_in_place_of_a_model_are_refused(self, sent):
        body = {name: value for name, value in sent[1].document.items() if name not in ("model", "signature")}
        body |= {"counts": [1, 2], "event": {}}
        lie = Release({**body, "signature": sent[0].key.sign(body)})
        with pytest.raises(PartyError, match="of another kind than the structure"):
            CombinedForest.combine(AGREED, Roster([sent[0].public]), [lie])

    def test_a_signature_of_somebody_else_is_refused(self, sent, tmp_path):
        other = parties(tmp_path, ["bank"])["bank"]
        with pytest.raises(PartyError, match="is not that of its key in the roster"):
            CombinedForest.combine(AGREED, Roster([other.public]), [sent[1]])

    def test_the_same_party_twice_is_refused(self, sent):
        with pytest.raises(PartyError, match="two releases of 'bank', and its rows would count twice"):
            CombinedForest.combine(AGREED, Roster([sent[0].public]), [sent[1], sent[1]])


def forged(model, path, change):
    document = json.loads(json.dumps(model.to_document()))
    change(document)
    write_document(path, document)
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["parameters"].update(parties=["bank", "clinic"]),
        lambda d: d["parameters"].update(parties=["bank", "bank", "bank"]),
        lambda d: d["structure"]["fits"].pop(),
        lambda d: d["released"]["fits"][0]["weights"].append(0),
        lambda d: d["structure"]["fits"][0].update(version=6),
        lambda d: d["structure"].update(fits=d["structure"]["fits"][:1]),
        lambda d: d["guarantee"]["event"]["parts"].pop(),
        lambda d: d["guarantee"]["event"].update(because="they said so"),
        lambda d: d["guarantee"]["event"]["parts"].__setitem__(0, d["guarantee"]["event"]["parts"][0]["parts"][0]),
        lambda d: d["guarantee"].update(assumptions=[]),
        lambda d: d.update(version=5),
    ],
)
def test_a_forged_file_is_refused(model, tmp_path, change):
    forged(model, tmp_path / "m.privet", change)


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
