"""A search: by hand, by a plain twin, within its budget, and what it refuses."""

import json
import math
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

from privet import (
    DiffPID3Classifier,
    DPDFClassifier,
    Ledger,
    PrivateForestClassifier,
    PrivateRDTClassifier,
    PrivateSearch,
    Schema,
    load,
)  # fmt: skip
from privet.central import private_search
from privet.central.private_search import RowParts, batches_of
from privet.central.receipts import SETTINGS, fit_of, trial_of
from privet.counting.sources import Files
from privet.datasets import agrawal
from privet.errors import BudgetExceeded, DataError, ModelFileError, ParameterError
from privet.model_file import with_checksum
from privet.privacy import events
from privet.privacy.unit import EACH_ROW, Unit
from privet.schema import Categorical

DATA = agrawal(1_500, function=1, random_state=5)
SMALL = Schema([Categorical("colour", ["red", "blue"])], classes=[5, 9])


def candidates(schema=DATA.schema):
    return {
        "forest": PrivateForestClassifier(schema),
        "random": PrivateRDTClassifier(schema, n_trees=2, height=2),
        "greedy": DPDFClassifier(schema, height=2),
    }  # fmt: skip


def two(schema=SMALL, **others):
    return {f"{n} trees": PrivateRDTClassifier(schema, n_trees=n, height=1, **others) for n in (1, 2)}


def small_table(n=60):
    colour = np.array(["red", "blue"])[np.arange(n) % 2]
    return pd.DataFrame({"colour": colour}), np.where(colour == "red", 5, 9)


TURNS = iter(range(10**6))


def shuffled_rows():
    return pa.table({"colour": ["red", "blue"] * 30, "class": [5, 9] * 30}).take(np.roll(np.arange(60), next(TURNS)))


def renamed_people():
    people = np.roll(["ann", "ben", "cy"] * 20, next(TURNS))
    return pa.table({"colour": ["red"] * 60, "class": [5] * 60, "person": people})


@pytest.mark.parametrize(("table", "unit"), [(shuffled_rows, "row"), (renamed_people, "person")])
def test_a_function_that_shuffles_is_refused_and_no_model_of_the_trial_leaves(table, unit, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="rows", epsilon=2.0, unit=unit)
    search = PrivateSearch(two(), epsilon=1.0, unit=unit, ledger=ledger)
    with pytest.raises(DataError, match="came in another order, when they were read again"):
        search.fit(lambda: [table()])
    assert not hasattr(search, "model_")
    assert ledger.spent == 1.0


@pytest.mark.parametrize("unit", ["row", "person"])
def test_a_function_that_cuts_the_same_rows_otherwise_is_taken(unit):
    table = pa.table({"colour": ["red", "blue"] * 30, "class": [5, 9] * 30, "person": ["ann", "ben", "cy"] * 20})
    sizes = iter(range(7, 10**6))
    search = PrivateSearch(two(), epsilon=1.0, unit=unit)
    assert search.fit(lambda: table.to_batches(max_chunksize=next(sizes))).guarantee_.epsilon <= 1.0


class Guesses:
    """A model that says the same of every row."""

    schema_ = SMALL

    def __init__(self, place):
        self.place = place

    def predict_proba(self, rows):
        return np.eye(2)[[self.place] * rows.num_rows]


def test_right_guesses_by_hand():
    held_out = pa.table({"colour": ["red"] * 5, "class": [5, 5, 5, 9, 5]})
    exact = PrivateSearch()._exact_right_guesses([Guesses(0), Guesses(1)], iter([held_out, held_out.slice(3)]))
    assert exact.tolist() == [5, 2]


def test_right_guesses_of_a_person_count_up_to_the_bound():
    held_out = pa.table({"colour": ["red"] * 6, "class": [5, 5, 5, 9, 5, 9], "person": list("aaabbb")})
    search = PrivateSearch(unit="person", max_rows=2)
    # Of a: 5, 5; of b: 9, 5.
    assert search._exact_right_guesses([Guesses(0), Guesses(1)], iter([held_out])).tolist() == [3, 1]


def test_every_row_is_in_one_part_and_in_the_same_one_in_every_pass():
    table = pa.table({"colour": ["red"] * 1_000, "class": [5] * 1_000, "number": range(1_000)})
    parts = RowParts(lambda: iter([table.slice(0, 300), *table.slice(300).to_batches(max_chunksize=77)]), 4, EACH_ROW)
    first, again = ([pa.concat_tables(parts.part(i))["number"].to_pylist() for i in range(4)] for _ in range(2))
    assert first == again
    assert sorted(chain.from_iterable(first)) == list(range(1_000))
    assert all(180 < len(part) < 320 for part in first)


def test_parts_are_drawn_anew_for_each_table():
    table = pa.table({"number": range(200)})
    drawn = [next(RowParts(lambda: iter([table]), 2, EACH_ROW).part(0))["number"].to_pylist() for _ in range(5)]
    assert all(one != other for one, other in pairwise(drawn))


def test_all_rows_of_a_person_are_in_one_part():
    persons = [f"p{i % 50}" for i in range(400)]
    table = pa.table({"person": persons})
    parts = RowParts(lambda: iter(table.to_batches(max_chunksize=33)), 3, Unit("person", 5))
    found = [set(pa.concat_tables(parts.part(i))["person"].to_pylist()) for i in range(3)]
    assert sum(map(len, found)) == 50
    assert set.union(*found) == set(persons)


@pytest.mark.parametrize("seed", range(5))
def test_the_scores_agree_with_a_plain_twin(seed, monkeypatch):
    """The twin fits no model: it looks at each part as the search saw it and counts one row at a time."""
    rng = np.random.default_rng(seed)
    X, y = small_table(80)
    y = np.where(rng.random(80) < 0.2, 14 - y, y)
    seen = {}
    real = private_search.permute_and_flip

    def watched(exact_scores, **given):
        seen.update(given, scores=list(exact_scores))
        return real(exact_scores, **given)

    class Kept(RowParts):
        def part(self, number):
            tables = list(super().part(number))
            seen.setdefault("parts", {})[number] = pa.concat_tables(tables).to_pylist()
            return iter(tables)

    fitted = []
    monkeypatch.setattr(private_search, "permute_and_flip", watched)
    monkeypatch.setattr(private_search, "RowParts", Kept)
    run = PrivateRDTClassifier._run
    monkeypatch.setattr(PrivateRDTClassifier, "_run", lambda self, call: fitted.append(run(self, call)) or fitted[-1])
    search = PrivateSearch(two(), epsilon=4.0, share=0.25).fit(X, y)
    *tried, final = fitted
    plain = [
        sum(model.predict(pd.DataFrame([row])[["colour"]])[0] == row["class"] for row in seen["parts"][2])
        for model in tried
    ]
    assert seen["scores"] == plain
    assert (seen["epsilon"], seen["sensitivity"], seen["monotone"]) == (1.0, 1, True)
    assert (final.epsilon, final.n_trees) == (3.0, int(search.best_[0]))


def test_the_receipt_says_what_was_chosen_from_how_many_and_at_what_price():
    search = PrivateSearch(candidates(), epsilon=2.0, share=0.25).fit(DATA.X, DATA.y)
    event = search.guarantee_.event
    *fits, choice = trial_of(event).parts
    assert len(fits) == 3
    assert (choice.what, choice.candidates, choice.epsilon) == (SETTINGS, 3, 0.5)
    assert choice.rate <= 0.5
    assert search.guarantee_.epsilon == pytest.approx(2.0)
    assert search.guarantee_.epsilon <= 2.0
    assert search.model_.epsilon == 1.5
    assert "3 candidates for the method" in search.guarantee_.sentence
    assert trial_of(event).because == "each row is in one part of the trial, by a secret coin"
    assert not isinstance(fit_of(event), events.Parallel)


def test_candidates_are_told_how_many_rows_a_part_has(monkeypatch):
    told = []
    run = PrivateRDTClassifier._run
    monkeypatch.setattr(
        PrivateRDTClassifier, "_run", lambda self, call: told.append(self.schema.rows) or run(self, call)
    )
    schema = Schema(SMALL.attributes, classes=[5, 9], rows=61)
    PrivateSearch(two(schema), epsilon=1.0).fit(*small_table())
    assert told == [20, 20, 61]


@pytest.mark.parametrize("name", ["forest", "random", "greedy"])
def test_a_model_of_any_method_is_read_back_with_its_trial_and_takes_no_further_batch(name, tmp_path):
    models = {name: candidates()[name], "the same": candidates()[name]}
    search = PrivateSearch(models, epsilon=1.0).fit(DATA.X, DATA.y)
    search.save(tmp_path / "chosen.privet")
    read = load(tmp_path / "chosen.privet")
    assert read.guarantee_ == search.guarantee_
    assert read.epsilon == pytest.approx(search.model_.epsilon) == 0.8
    np.testing.assert_array_equal(read.predict_proba(DATA.X), search.predict_proba(DATA.X))
    if hasattr(read, "partial_fit"):
        with pytest.raises(ParameterError, match="chosen by a trial takes no further batches; fit again"):
            read.partial_fit(DATA.X, DATA.y)


@pytest.mark.parametrize(
    "change",
    [
        {"candidates": 3},
        {"sensitivity": 2},
        {"monotone": False},
        {"what": "a whim"},
    ],
)
def test_a_file_whose_trial_is_not_that_of_a_search_is_refused(change, tmp_path):
    search = PrivateSearch(two(), epsilon=1.0).fit(*small_table())
    document = search.model_.to_document()
    event = document["guarantee"]["event"]
    event["parts"][0]["parts"][-1] |= change
    changed = type(search.guarantee_).from_event(
        events.from_json(event), public=document["guarantee"]["public"]
    ).to_json() | {"versions": document["guarantee"]["versions"]}
    file = tmp_path / "changed.privet"
    file.write_text(json.dumps(with_checksum({**document, "guarantee": changed})))
    with pytest.raises(ModelFileError, match="not that of this schema and these trees|does not follow"):
        load(file)


def test_nothing_of_the_trial_stays():
    search = PrivateSearch(two(), epsilon=1.0).fit(*small_table())
    assert set(vars(search)) - set(search.get_params(deep=False)) == {"best_", "model_"}
    assert not [name for name in vars(search.model_) if "trial" in name or "score" in name]
    assert all(not hasattr(model, "guarantee_") for model in search.candidates.values())


def test_the_ledger_sets_all_aside_before_a_row_is_read_and_settles_once(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    states = []
    search = PrivateSearch(two(), epsilon=1.0, ledger=ledger)
    search.fit_and_save(*small_table(), save=lambda _: states.append(ledger.account().spendings[0].state))
    (spending,) = ledger.account().spendings
    assert (spending.state, ledger.left) == ("settled", 0.0)
    assert states == ["reserved"]
    with pytest.raises(BudgetExceeded, match="0.0 is left"):
        clone(search).fit("there is no such file.csv")
    assert len(ledger.account().spendings) == 1


def test_rows_that_a_fit_refuses_cost_nothing_although_they_are_in_any_part(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    X, y = small_table()
    pd.DataFrame({**X, "class": [*y[:-1], 7]}).to_csv(tmp_path / "rows.csv", index=False)
    for rows in ((X, [*y[:-1], 7]), (tmp_path / "rows.csv",)):
        with pytest.raises(DataError, match="labels that are not in the schema"):
            PrivateSearch(two(), epsilon=1.0, ledger=ledger).fit(*rows)
    assert ledger.left == 1.0


def test_what_fails_after_the_first_noise_is_spent(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("no choice")

    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    monkeypatch.setattr(private_search, "permute_and_flip", fail)
    search = PrivateSearch(two(), epsilon=1.0, ledger=ledger)
    with pytest.raises(OSError, match="no choice") as caught:
        search.fit(*small_table())
    assert ledger.left == 0.0
    assert "noise was drawn by then" in " ".join(caught.value.__notes__)
    assert not hasattr(search, "model_")


def test_tables_of_all_kinds_and_files_are_searched(tmp_path):
    X, y = small_table()
    whole = X.assign(**{"class": y})
    whole.to_csv(tmp_path / "rows.csv", index=False)
    whole.to_parquet(tmp_path / "rows.parquet")
    arrow = pa.Table.from_pandas(whole, preserve_index=False)
    for rows in (
        (X, y), (X, pd.DataFrame({"label": y})), (X.to_numpy(), y.tolist()),
        (arrow.select(["colour"]), arrow["class"]), (tmp_path / "rows.csv",),
        (Files(tmp_path / "rows.parquet"),), ([arrow.to_batches()[0]],),
    ):  # fmt: skip
        search = PrivateSearch(two(), epsilon=100.0).fit(*rows)
        assert search.score(X, y) == 1.0
        assert search.classes_.tolist() == [5, 9]


def test_people_with_several_rows_are_searched_within_their_bound():
    X, y = small_table(120)
    X = X.assign(person=[f"p{i // 4}" for i in range(120)])
    search = PrivateSearch(two(), epsilon=50.0, unit="person", max_rows=3).fit(X, y)
    assert (search.guarantee_.unit, search.guarantee_.max_rows) == ("person", 3)
    choice = trial_of(search.guarantee_.event).parts[-1]
    assert choice.sensitivity == 3
    assert trial_of(search.guarantee_.event).because == "each 'person' is in one part of the trial, by a secret coin"


def test_without_noise_the_best_is_taken_and_nothing_is_promised():
    table, labels = small_table(300)
    models = {"stump": PrivateRDTClassifier(SMALL, n_trees=1, height=1), "other": DiffPID3Classifier(SMALL, height=1)}
    search = PrivateSearch(models, epsilon=math.inf).fit(table, labels)
    assert search.guarantee_.mode == "not private"
    assert search.score(table, labels) == 1.0


def test_an_iterator_that_is_used_up_by_one_pass_is_refused():
    X, y = small_table()
    table = pa.Table.from_pandas(X.assign(**{"class": y}), preserve_index=False)
    with pytest.raises(DataError, match="an iterator is used up by the first pass"):
        PrivateSearch(two(), epsilon=1.0).fit(iter(table.to_batches()))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"candidates": None}, "a dict of 2 to 20 unfitted models"),
        ({"candidates": {"one": PrivateRDTClassifier(SMALL)}}, "a dict of 2 to 20"),
        ({"candidates": {**two(), "third": object()}}, "candidates\\['third'\\] is no model of a curator"),
        ({"candidates": two(unsafe_seeded_noise=True)}, "unsafe_seeded_noise makes a choice that nothing protects"),
        ({"candidates": two(schema="infer")}, "schema is read from the rows"),
        ({"candidates": two(unit="person")}, "unit or max_rows differs"),
        ({"candidates": {**two(), "third": candidates()["forest"]}}, "different schemas"),
        (
            {"candidates": {"a": PrivateForestClassifier(SMALL), "b": PrivateForestClassifier(SMALL, delta=1e-6)}},
            "delta above 0 has no argument",
        ),
        (
            {"candidates": {"a": DPDFClassifier(SMALL), "b": DPDFClassifier(SMALL, variant="paper")}},
            "variant is a form that nothing is proven of",
        ),
        ({"share": 0.9}, "share=0.9 must be a number from 0.05 to 0.5"),
        ({"epsilon": 1e-6}, "leaves a trial less than"),
        ({"epsilon": -1}, "epsilon"),
    ],
)
def test_what_cannot_be_sound_is_refused_before_a_row_is_read(wrong, message):
    search = PrivateSearch(**{"candidates": two(), **wrong})
    with pytest.raises(ParameterError, match=message):
        search.fit("there is no such file.csv")


def test_a_candidate_with_a_ledger_and_a_part_of_an_account_are_refused(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    with pytest.raises(ParameterError, match="ledger is the search's to keep"):
        PrivateSearch(two(ledger=ledger)).fit(*small_table())
    with pytest.raises(ParameterError, match="leave part"):
        PrivateSearch(two(), ledger=ledger.for_part("May")).fit(*small_table())
    with pytest.raises(ParameterError, match="ledger must be a Ledger"):
        PrivateSearch(two(), ledger="ledger.db").fit(*small_table())
    assert not ledger.account().spendings


def test_a_wrapper_that_draws_rows_repeatedly_is_refused_and_costs_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger", dataset="people", epsilon=10.0)
    X, y = small_table()
    numbered = two(SMALL.with_numbered_classes())
    bagging = BaggingClassifier(PrivateSearch(numbered, epsilon=1.0, ledger=ledger), n_estimators=2)
    with pytest.raises(ParameterError, match="Bagging draws rows repeatedly unless bootstrap=False"):
        bagging.fit(X["colour"].to_numpy()[:, None], y)
    assert ledger.spent == 0


def test_rows_of_weight_0_are_in_no_part_and_in_no_fit(tmp_path):
    X, y = small_table()
    weights = np.arange(60) < 20
    (kept,) = batches_of(X, y, SMALL, EACH_ROW, weights)()
    assert kept.num_rows == 20
    search = PrivateSearch(two(), epsilon=math.inf).fit(X, y, sample_weight=weights)
    assert search.model_.noisy_counts_.sum() == 20 * search.model_.n_trees
    X.assign(**{"class": y}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ParameterError, match="sample_weight is for a table in memory"):
        PrivateSearch(two(), epsilon=1.0).fit(tmp_path / "rows.csv", sample_weight=weights)


def test_rows_with_their_labels_and_persons_are_the_same_in_all_kinds_of_table():
    X, y = small_table(6)
    X = X.assign(person=list("aabbcc"))
    expected = [{"colour": c, "class": label, "person": p} for c, label, p in zip(X.colour, y, X.person, strict=True)]
    (batch,) = batches_of(X, y, SMALL, Unit("person"))()
    assert batch.to_pylist() == expected
