import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import PrivateRDTClassifier, VerticalForest, load
from privet.errors import DataError, ModelFileError, ParameterError, PartyError
from privet.export import export_model
from privet.model_file import write_document
from privet.report import write_report
from tests.partitioned.parties import SPLIT, parties, released_columns, roster_of, split_structure, table

BANK, CLINIC = SPLIT["bank"], SPLIT["clinic"]


def model_of(folder, epsilon=math.inf, names=("bank", "clinic"), **options):
    agreed = split_structure(epsilon, **options)
    holders = parties(folder, names)
    return VerticalForest.combine(agreed, roster_of(holders), released_columns(holders, agreed)), agreed


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"))


@pytest.fixture(scope="module")
def model(exact):
    return exact[0]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    return model_of(tmp_path_factory.mktemp("parties"), 1.0)[0]


def votes_by_hand(agreed, X_train, y_train, X, speakers):
    """Return the union's vote by another way: each party's trees alone, walked node by node."""
    total = np.zeros((len(X), 2))
    for part in agreed.parts:
        if part.party not in speakers:
            continue
        names = list(part.schema.names)
        counts = part.exact_counts(X_train[names], y_train)
        for i, row in enumerate(X[names].itertuples(index=False)):
            total[i] += sum(counts[leaf] for leaf in leaves_of(part, dict(zip(names, row, strict=True))))
    return total / total.sum(axis=1, keepdims=True)


def leaves_of(part, row):
    """Yield the leaf of each tree, walked node by node."""
    forest = part.forest
    position = {node: i for i, node in enumerate(forest.leaves)}
    for tree in range(forest.n_trees):
        node = tree
        while node not in position:
            attribute = part.schema.attributes[forest.attribute[node]]
            code = code_of(attribute, row[attribute.name])
            branch = code if forest.cut[node] < 0 else int(code > forest.cut[node])
            node = forest.first_child[node] + branch
        yield position[node]


def code_of(attribute, value):
    if value is None or value != value:
        return attribute.missing_code
    if hasattr(attribute, "categories"):
        return attribute.categories.index(value)
    return int(min(value / attribute.high * attribute.n_values, attribute.n_values - 1))


def test_the_union_votes_as_its_parts_do_together(exact):
    model, agreed = exact
    X_train, y_train = table()
    X, _ = table(40, seed=9)
    assert_allclose(model.predict_proba(X), votes_by_hand(agreed, X_train, y_train, X, SPLIT))


def test_a_party_that_knows_nothing_of_a_row_stays_silent(exact):
    model, agreed = exact
    X_train, y_train = table()
    X, _ = table(30, seed=9)
    X[CLINIC] = X[CLINIC].astype(object)
    X.loc[:9, CLINIC] = None
    X.loc[10:19, BANK] = np.nan
    X.loc[20:, "job"] = None  # something is known: the clinic's trees vote by their branches for missing values
    found = model.predict_proba(X)
    for rows, speakers in ((slice(0, 10), ["bank"]), (slice(10, 20), ["clinic"]), (slice(20, 30), list(SPLIT))):
        assert_allclose(found[rows], votes_by_hand(agreed, X_train, y_train, X[rows], speakers))


def test_where_nobody_knows_anything_class_totals_decide(model):
    X = pd.DataFrame({name: [None] for name in (*BANK, *CLINIC)})
    _, y = table()
    assert_allclose(model.predict_proba(X), [[np.mean(y == 5), np.mean(y == 9)]])


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "Arrow"])
def test_all_columns_of_a_party_may_be_absent(exact, make):
    model, agreed = exact
    X, _ = table(30, seed=9)
    for own, party in ((BANK, "bank"), (CLINIC, "clinic")):
        assert_allclose(model.predict_proba(make(X[own])), votes_by_hand(agreed, *table(), X, [party]))


def test_some_of_a_partys_columns_are_not_enough(model):
    X, _ = table(5)
    with pytest.raises(DataError, match="the table lacks the column 'night'"):
        model.predict(X[[*BANK, "job"]])
    with pytest.raises(DataError, match="the table lacks the column 'age'"):
        model.predict(X[[]].assign(shoes=1))


def test_tables_without_names_are_read_by_position(model):
    X, _ = table(20)
    matrix = X[list(model.schema_.names)].to_numpy(dtype=object)
    assert_array_equal(model.predict_proba(matrix), model.predict_proba(X))


def test_the_prices_of_all_parties_add_up(noisy, tmp_path):
    assert noisy.guarantee_.epsilon == 1.0
    assert [part.epsilon for part in noisy.guarantee_.event.parts] == [0.5, 0.5]
    assert "each party with its own columns and the class" in noisy.guarantee_.sentence
    paper, _ = model_of(tmp_path, 1.0, variant="paper")
    assert paper.guarantee_.epsilon == 2.0
    assert paper.guarantee_.mode == "sound"


def test_a_party_alone_costs_its_share_and_is_a_forest_over_its_columns(tmp_path):
    alone, agreed = model_of(tmp_path, names=("bank",))
    curator = PrivateRDTClassifier(agreed.part_of("bank").schema, epsilon=math.inf, n_trees=4, random_state=3)
    X, y = table()
    assert_array_equal(alone.predict_proba(X[BANK]), curator.fit(X[BANK], y).predict_proba(X[BANK]))
    half, _ = model_of(tmp_path / "noisy", 1.0, names=("bank",))
    assert half.guarantee_.epsilon == 0.5


def test_a_release_of_another_part_is_refused(tmp_path):
    agreed, holders = split_structure(1.0), parties(tmp_path)
    sent = released_columns(holders, agreed)
    with pytest.raises(PartyError, match="there are two releases of 'bank'"):
        VerticalForest.combine(agreed, roster_of(holders), [sent[0], sent[0]])
    later = released_columns(holders, split_structure(1.0))
    with pytest.raises(PartyError, match="the release of 'clinic' is from another round"):
        VerticalForest.combine(agreed, roster_of(holders), [sent[0], later[1]])


def test_a_release_of_a_party_that_has_no_part_is_refused(tmp_path):
    agreed, holders = split_structure(1.0), parties(tmp_path)
    sent = released_columns(holders, agreed)
    other = split_structure(1.0)
    stranger = type(other)(other.parts[:1])
    with pytest.raises(PartyError, match="the structure has no part for 'clinic'; leave its release out"):
        VerticalForest.combine(stranger, roster_of(holders), [sent[1]])


def test_a_model_reads_back_and_predicts_the_same(noisy, tmp_path):
    noisy.save(tmp_path / "m.privet")
    read = load(tmp_path / "m.privet")
    X, _ = table()
    assert isinstance(read, VerticalForest)
    assert read.parties == SPLIT
    for columns in ([*BANK, *CLINIC], BANK, CLINIC):
        assert_array_equal(read.predict_proba(X[columns]), noisy.predict_proba(X[columns]))


def swap_roots(document):
    roots = document["structure"]["attribute"]
    roots[0], roots[-1] = roots[-1], roots[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["parameters"].update(parties={"bank": [*BANK, *CLINIC]}), "the guarantee is not that of"),
        (lambda d: d["parameters"].update(parties={"bank": CLINIC, "clinic": BANK}), "a parameter of the model is out"),
        (lambda d: d["parameters"].update(parties={"bank": ["age"], "clinic": ["pay", *CLINIC]}), "the guarantee"),
        (lambda d: d["parameters"].update(parties={**SPLIT, "x": []}), "a parameter of the model is out of its range"),
        (lambda d: d["parameters"].update(parties=["bank", "clinic"]), "a parameter of the model is out of its range"),
        (lambda d: d["parameters"].update(parties={"bank": 5}), "a parameter of the model is out of its range"),
        (lambda d: d["guarantee"]["event"]["parts"][0].update(scale="1/1"), "the guarantee"),
        (lambda d: d["guarantee"]["event"]["parts"].pop(), "the guarantee"),
        (lambda d: d["guarantee"]["event"].update(event="Parallel", because="other columns"), "the guarantee"),
        (lambda d: d["guarantee"].update(epsilon=0.5), "the guarantee does not follow from its receipts"),
        (swap_roots, "damaged"),
    ],
)
def test_a_changed_model_is_refused(noisy, tmp_path, change, words):
    document = json.loads(json.dumps(noisy.to_document()))
    change(document)
    write_document(tmp_path / "m.privet", document)
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "m.privet")


def test_it_is_reported_and_ruled_and_says_why_it_is_not_exported(noisy, tmp_path):
    write_report(noisy, tmp_path / "m.html")
    assert "the same rows: epsilons add up" in (tmp_path / "m.html").read_text()
    assert len(noisy.rules()) > 0
    with pytest.raises(ParameterError, match="VerticalForest cannot be exported: its vote is not a sum of leaf counts"):
        export_model(noisy, tmp_path / "m.json", format="json")


def test_it_is_not_fitted_to_rows():
    with pytest.raises(ParameterError, match="is not fitted to rows"):
        VerticalForest().fit(*table())


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
