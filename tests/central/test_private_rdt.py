import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.central.private_rdt import height_rule
from privet.central.released_classifier import ROW_COUNT_SHARE
from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.datasets import agrawal
from privet.errors import DataError, ParameterError, PrivacyLeakWarning, SchemaError, StructureTooLarge
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace, NoNoise, Parallel, Sequential

DATA = agrawal(4000, function=4, balanced=True, random_state=1)
SCHEMA = Schema(
    [
        Categorical("a", ["u", "v"]),
        Categorical("b", ["p", "q", "r"]),
        Numeric("x", 0, 10),
        Numeric("y", 0, 1),
    ],
    classes=["no", "yes"],
    rows=500,
)


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.choice(["u", "v"], n),
            "b": rng.choice(["p", "q", "r"], n),
            "x": rng.uniform(0, 10, n),
            "y": rng.random(n),
        }
    )
    return X, np.where((X["a"] == "u") ^ (rng.random(n) < 0.05), "yes", "no")


def without_rows(schema: Schema) -> Schema:
    return Schema(schema.attributes, classes=schema.classes, target=schema.target)


# The rule of the paper: min(floor(k / 2), floor(log_b n) - 1), at least 1.
@pytest.mark.parametrize(
    ("domains", "n_rows", "height"),
    [
        ([3, 5, 4, 4, 3, 2, 3, 3], 12_960, 4),  # Nursery: b = 27/8, log_b n = 7.8
        ([2] * 16, 435, 7),  # Votes: log2 435 = 8.8
        ([2] * 16, 512, 8),  # exactly 2^9
        ([2] * 16, 511, 7),
        ([10] * 6, 1000, 2),
        ([10] * 6, 999, 1),
        ([4], 10**6, 1),
        ([1, 1, 1, 1], 10, 2),  # b = 1: no logarithm, and k/2 is left
        ([2, 2, 2, 2], 1, 1),
    ],
)
def test_the_height_follows_the_papers_rule(domains, n_rows, height):
    schema = Schema([Categorical(f"c{i}", range(d)) for i, d in enumerate(domains)], classes=["no", "yes"])
    assert height_rule(schema, n_rows) == height


def test_a_numeric_attribute_counts_as_two_in_the_height_rule():
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(20)], classes=["no", "yes"])
    assert height_rule(schema, 2**8) == 7


def test_a_fit_releases_leaf_counts_once_with_the_noise_that_epsilon_buys():
    model = PrivateRDTClassifier(SCHEMA, epsilon=0.5, n_trees=7).fit(*table())
    receipt = model.guarantee_.event
    assert isinstance(receipt, DiscreteLaplace)
    assert (receipt.epsilon, receipt.sensitivity, receipt.scale) == (0.5, 7, 14)
    assert model.guarantee_.epsilon == 0.5
    assert model.noisy_counts_.shape == (len(model.forest_.leaves), 2)


def test_without_noise_the_counts_are_exact_and_the_model_says_that_it_is_not_private():
    X, y = table()
    model = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=3).fit(X, y)
    rows = MemoryRows(model._encoder.encode(X), model._encoder.encode_labels(y))
    assert_array_equal(model.noisy_counts_, exact_leaf_counts(model.forest_, rows, n_classes=2))
    assert model.noisy_counts_.sum() == 3 * 500
    assert model.guarantee_.mode == "not private"
    assert isinstance(model.guarantee_.event, NoNoise)


def test_the_structure_does_not_depend_on_the_rows_and_the_noise_not_on_the_seed():
    first = PrivateRDTClassifier(SCHEMA, random_state=3).fit(*table(seed=0))
    second = PrivateRDTClassifier(SCHEMA, random_state=3).fit(*table(n=90, seed=1))
    again = PrivateRDTClassifier(SCHEMA, random_state=3).fit(*table(seed=0))
    assert_array_equal(first.forest_.words, second.forest_.words)
    assert not np.array_equal(first.noisy_counts_, again.noisy_counts_)


def test_seeded_noise_repeats_and_promises_nothing():
    models = [PrivateRDTClassifier(SCHEMA, random_state=3, unsafe_seeded_noise=True).fit(*table()) for _ in range(2)]
    assert_array_equal(models[0].noisy_counts_, models[1].noisy_counts_)
    assert models[0].guarantee_.mode == "not private"


def test_without_declared_rows_a_share_of_epsilon_buys_a_noisy_number():
    model = PrivateRDTClassifier(without_rows(SCHEMA), epsilon=2.0).fit(*table())
    count, leaves = model.guarantee_.event.parts
    assert (count.what, count.sensitivity, count.epsilon) == ("number of rows", 1, ROW_COUNT_SHARE * 2.0)
    assert pure_epsilon(model.guarantee_.event) <= 2.0
    assert leaves.epsilon == pytest.approx(1.9)


def test_the_exact_number_of_rows_moves_nothing_but_noisy_numbers():
    # With rows declared the same height comes out of any table, however large or empty.
    heights = {PrivateRDTClassifier(SCHEMA).fit(*table(n)).height_ for n in (0, 1, 30, 5000)}
    assert len(heights) == 1


def test_at_the_least_epsilon_no_row_count_is_bought():
    model = PrivateRDTClassifier(without_rows(SCHEMA), epsilon=1e-6).fit(*table())
    assert isinstance(model.guarantee_.event, DiscreteLaplace)
    assert model.height_ == 1


def test_an_empty_table_fits_and_predicts():
    X, y = table()
    for schema in (SCHEMA, without_rows(SCHEMA)):
        model = PrivateRDTClassifier(schema).fit(X[:0], y[:0])
        assert set(model.predict(X)) <= {"no", "yes"}
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_it_learns_and_noise_costs_accuracy():
    test = agrawal(4000, function=4, balanced=True, random_state=2)

    def accuracy(epsilon):
        scores = [
            PrivateRDTClassifier(DATA.schema, epsilon=epsilon, n_trees=60, random_state=i)
            .fit(DATA.X, DATA.y)
            .score(test.X, test.y)
            for i in range(3)
        ]
        return np.mean(scores)

    exact, fair, noise = accuracy(math.inf), accuracy(20.0), accuracy(0.01)
    assert exact > 0.75
    assert exact - 0.05 < fair
    assert noise < 0.62


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (5, 9)])
def test_labels_of_any_type_give_the_same_model(labels):
    X, y = table()
    schema = Schema(SCHEMA.attributes, classes=labels, rows=500)
    own = np.where(y == "yes", labels[1], labels[0])
    fit = {"epsilon": 5.0, "random_state": 0, "unsafe_seeded_noise": True}
    model = PrivateRDTClassifier(schema, **fit).fit(X, own)
    plain = PrivateRDTClassifier(SCHEMA, **fit).fit(X, y)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(model.predict(X), np.where(plain.predict(X) == "yes", labels[1], labels[0]))
    assert model.score(X, own) == plain.score(X, y) > 0.8


def test_every_make_of_table_and_a_file_give_the_same_model(tmp_path):
    X, y = table()
    frame = X.assign(**{"class": y})
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    fit = {"random_state": 0, "unsafe_seeded_noise": True}
    expected = PrivateRDTClassifier(SCHEMA, **fit).fit(X, y).noisy_counts_
    inputs = [
        (pl.from_pandas(X), pl.Series(y)),
        (pa.Table.from_pandas(X), pa.array(y)),
        (X.to_numpy(), y.tolist()),
        (tmp_path / "rows.parquet",),
        (str(tmp_path / "rows.csv"),),
    ]
    for arguments in inputs:
        assert_array_equal(PrivateRDTClassifier(SCHEMA, **fit).fit(*arguments).noisy_counts_, expected)


def test_threads_do_not_change_the_model():
    fit = {"random_state": 0, "unsafe_seeded_noise": True}
    one, two = (PrivateRDTClassifier(DATA.schema, n_jobs=n, **fit).fit(DATA.X, DATA.y) for n in (1, 2))
    assert_array_equal(one.noisy_counts_, two.noisy_counts_)


def test_a_batch_of_new_rows_is_added_at_no_further_cost_and_its_noise_shows():
    model = PrivateRDTClassifier(SCHEMA, epsilon=0.5, random_state=0)
    for batch in range(3):
        model.partial_fit(*table(seed=batch))
    assert isinstance(model.guarantee_.event, Parallel)
    assert model.guarantee_.epsilon == 0.5
    assert model.guarantee_.assumptions == ("no row is in more than one batch",)
    assert_allclose(model.noise_growth_ / model.noise_growth_[0], np.sqrt([1, 2, 3]))
    assert model.noise_std_ == model.noise_growth_[-1]


def test_batches_without_noise_add_up_to_the_whole_table():
    X, y = table()
    exact = {"epsilon": math.inf, "random_state": 0}
    whole = PrivateRDTClassifier(SCHEMA, **exact).fit(X, y)
    parts = PrivateRDTClassifier(SCHEMA, **exact)
    for start in range(0, 500, 125):
        parts.partial_fit(X[start : start + 125], y[start : start + 125])
    assert_array_equal(parts.noisy_counts_, whole.noisy_counts_)
    assert parts.noise_std_ == 0


def test_the_dearest_batch_counts():
    model = PrivateRDTClassifier(without_rows(SCHEMA), epsilon=0.5).partial_fit(*table())
    model.set_params(epsilon=2.0).partial_fit(*table(seed=1))
    assert model.guarantee_.epsilon == 2.0
    assert isinstance(model.guarantee_.event.parts[0], Sequential)


def test_a_batch_with_seeded_noise_spoils_the_promise_for_good():
    model = PrivateRDTClassifier(SCHEMA, random_state=0, unsafe_seeded_noise=True).fit(*table())
    model.set_params(unsafe_seeded_noise=False).partial_fit(*table(seed=1))
    assert model.guarantee_.mode == "not private"


def test_seeded_batches_have_noise_of_their_own():
    X, y = table()
    model = PrivateRDTClassifier(SCHEMA, random_state=0, unsafe_seeded_noise=True).fit(X[:0], y[:0])
    first = model.noisy_counts_.copy()
    model.partial_fit(X[:0], y[:0])
    assert not np.array_equal(model.noisy_counts_, 2 * first)


def test_the_trees_of_a_model_do_not_change_between_batches():
    model = PrivateRDTClassifier(SCHEMA, n_trees=3).fit(*table())
    with pytest.raises(ParameterError, match="n_trees or height changed since the first batch; set them back"):
        model.set_params(n_trees=9).partial_fit(*table(seed=1))
    with pytest.raises(ParameterError, match="n_trees or height changed since the first batch; set them back"):
        model.set_params(n_trees=3, height=1).partial_fit(*table(seed=1))


def test_a_rules_height_is_lowered_until_the_trees_fit_in_memory():
    wide = Schema([Categorical(f"c{i}", range(300)) for i in range(8)], classes=["no", "yes"], rows=10**12)
    X = np.zeros((3, 8))
    model = PrivateRDTClassifier(wide, n_trees=2).fit(X, ["no", "yes", "no"])
    assert (height_rule(wide, 10**12), model.height_) == (3, 2)
    with pytest.raises(StructureTooLarge, match="lower height or n_trees"):
        PrivateRDTClassifier(wide, n_trees=2, height=3).fit(X, ["no", "yes", "no"])


def test_parameters_are_checked_before_any_data_are_read(tmp_path):
    for wrong in ({"n_jobs": 0}, {"n_trees": 0}, {"epsilon": 0}, {"height": 0}):
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))}=0"):
            PrivateRDTClassifier(SCHEMA, **wrong).fit(tmp_path / "not-there.csv")


def test_a_failed_batch_leaves_the_model_as_it_was():
    X, y = table()
    model = PrivateRDTClassifier(SCHEMA).fit(X, y)
    before, promise = model.noisy_counts_.copy(), model.guarantee_
    with pytest.raises(DataError, match="'class' has labels that are not in the schema's classes"):
        model.partial_fit(X, np.full(len(y), "maybe"))
    assert_array_equal(model.noisy_counts_, before)
    assert model.guarantee_ is promise


def test_a_failed_refit_leaves_the_model_as_it_was():
    X, y = table()
    model = PrivateRDTClassifier(SCHEMA).fit(X, y)
    before = model.predict_proba(X)
    other = Schema([Numeric("x", 0, 1)], classes=[5, 9])
    with pytest.raises(DataError, match="has a column 'a' that the schema lacks"):
        model.set_params(schema=other).fit(X, y)
    with pytest.raises(StructureTooLarge, match="lower height or n_trees"):
        model.set_params(schema=DATA.schema, n_trees=500, height=20).fit(DATA.X, DATA.y)
    assert_array_equal(model.predict_proba(X), before)
    assert model.schema_ == SCHEMA


def test_importances_find_the_attribute_that_decides():
    X, y = table(5000)
    model = PrivateRDTClassifier(SCHEMA, epsilon=2.0, random_state=0).fit(X, y)
    assert model.feature_importances_.argmax() == 0
    assert model.feature_importances_[0] > 0.9
    assert_allclose(model.feature_importances_.sum(), 1.0)


def test_an_inferred_schema_is_a_recorded_leak_with_a_warning():
    X, y = table()
    with pytest.warns(PrivacyLeakWarning, match="reads domains and classes from the rows") as caught:
        model = PrivateRDTClassifier("infer").fit(X, y)
    assert caught[0].filename == __file__
    assert model.guarantee_.leaks == (
        "categories of 'a'", "categories of 'b'", "bounds of 'x'", "bounds of 'y'", "classes of 'class'",
    )  # fmt: skip
    assert model.guarantee_.sentence.startswith("Apart from categories of 'a'")


def test_parameters_are_never_written_and_the_model_can_be_cloned_and_pickled(tmp_path):
    X, y = table()
    SCHEMA.save(tmp_path / "s.json")
    model = PrivateRDTClassifier(str(tmp_path / "s.json"), epsilon=2, n_trees=4)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert clone(model).get_params() == before
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert len(cross_val_score(model, X, y, cv=3)) == 3


def test_fitted_attributes_follow_the_schema():
    model = PrivateRDTClassifier(SCHEMA).fit(*table())
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.feature_names_in_) == ["a", "b", "x", "y"]
    assert (model.n_features_in_, model.schema_) == (4, SCHEMA)


def test_log_probabilities_are_logarithms():
    model = PrivateRDTClassifier(SCHEMA).fit(*table())
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(table()[0]), np.log(model.predict_proba(table()[0])))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_labels_may_be_a_table_of_one_column(frame):
    X, y = table()
    fit = {"random_state": 0, "unsafe_seeded_noise": True}
    expected = PrivateRDTClassifier(SCHEMA, **fit).fit(X, y).noisy_counts_
    assert_array_equal(PrivateRDTClassifier(SCHEMA, **fit).fit(X, frame({"smoker": y})).noisy_counts_, expected)


def test_leaving_the_schema_out_is_an_error_that_shows_how_to_write_one():
    with pytest.raises(SchemaError, match=r'Schema\(\[Numeric\("age", 16, 100\)'):
        PrivateRDTClassifier().fit(*table())


@pytest.mark.parametrize("epsilon", [0, -1, 9e-7, math.nan, "1", None, True])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon=.* is out of range; pass a number from 1e-06 to inf"):
        PrivateRDTClassifier(SCHEMA, epsilon=epsilon).fit(*table())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_trees": 0}, "n_trees=0 must be a whole number from 1 to 10,000"),
        ({"n_trees": 2.0}, "n_trees=2.0 must be a whole number"),
        ({"height": 0}, "height=0 must be a whole number from 1 to 64"),
        ({"height": True}, "height=True must be a whole number"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
        ({"random_state": -1}, "random_state=-1 is not a seed"),
        ({"random_state": "seven"}, "random_state='seven' is not a seed"),
    ],
)
def test_a_parameter_out_of_range_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        PrivateRDTClassifier(SCHEMA, **changes).fit(*table())


def test_what_cannot_be_fitted_is_refused(tmp_path):
    X, y = table()
    with pytest.raises(DataError, match="requires y to be passed"):
        PrivateRDTClassifier(SCHEMA).fit(X)
    with pytest.raises(DataError, match="different lengths"):
        PrivateRDTClassifier(SCHEMA).fit(X, y[:-1])
    for labels in (np.stack([y, y], axis=1), [["no", "yes"]] * len(y), pd.DataFrame({"a": y, "b": y})):
        with pytest.raises(DataError, match="y must be one column of labels; pass one label per row") as caught:
            PrivateRDTClassifier(SCHEMA).fit(X, labels)
        assert "500" not in str(caught.value)
    with pytest.raises(DataError, match="a path is not a table here; read the file first"):
        PrivateRDTClassifier(SCHEMA).fit(X, y).predict("rows.csv")
    with pytest.raises(ParameterError, match="leave y out when fitting from a file"):
        PrivateRDTClassifier(SCHEMA).fit(tmp_path / "rows.csv", y)
    with pytest.raises(ParameterError, match='schema="infer" needs a table in memory'):
        PrivateRDTClassifier("infer").fit(tmp_path / "rows.csv")
    with pytest.raises(ParameterError, match="classes differ from the schema's"):
        PrivateRDTClassifier(SCHEMA).partial_fit(X, y, classes=["no", "maybe"])
    with pytest.raises(StructureTooLarge, match="lower height or n_trees"):
        PrivateRDTClassifier(DATA.schema, n_trees=500, height=20).fit(DATA.X, DATA.y)
    with pytest.raises(ParameterError, match="sample_weight may leave rows out"):
        PrivateRDTClassifier(SCHEMA).fit(X, y, sample_weight=np.full(len(y), 0.5))


def test_verbose_says_what_is_done_and_no_exact_count(capsys):
    X, y = table(n=487)
    PrivateRDTClassifier(SCHEMA, verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "10 trees of height 2" in said
    assert "487" not in said


def test_what_was_inferred_is_not_called_public():
    def public(schema):
        return PrivateRDTClassifier(schema).fit(*table()).guarantee_.public

    assert public(SCHEMA)[:3] == (
        "the names and domains of 4 attributes", "the 2 classes", "that there are about 500 rows",
    )  # fmt: skip
    partly = Schema(
        [*SCHEMA.attributes[:3], Numeric("y", 0, 1, inferred=True)], classes=["no", "yes"], classes_inferred=True
    )
    assert public(partly)[0] == "the names of 4 attributes and the domains of 3 of them"
    assert "classes" not in " ".join(public(partly))
