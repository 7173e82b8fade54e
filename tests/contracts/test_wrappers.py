"""scikit-learn's wrappers: which keep the promise, which need a unit, which break it. docs/wrappers.md lists them."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import resample

from privet import Ledger, Numeric, PrivateRDTClassifier, Schema
from privet.errors import DataError, ParameterError, PrivacyLeakWarning
from privet.registry import METHODS
from tests.contracts.tasks import OF_NUMBERS, schema_for

N_ROWS, N_TREES = 200, 3
PAGE = Path(__file__).parents[2] / "docs" / "wrappers.md"


def people(n_rows=N_ROWS):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(0, 100, (n_rows, 2)), columns=["age", "income"])
    return X, np.where(X["age"] + rng.normal(0, 20, n_rows) > 50, 9, 5)


def unfitted(classes=(5, 9), **options):
    schema = Schema([Numeric("age", 0, 100), Numeric("income", 0, 100)], classes=list(classes), rows=N_ROWS)
    return PrivateRDTClassifier(schema, **{"epsilon": 0.5, "n_trees": N_TREES, "height": 2, **options})


@pytest.fixture(scope="module")
def released():
    return unfitted(epsilon=50.0, unsafe_seeded_noise=True, random_state=0).fit(*people())


# What makes the wrapper, what its model calls the classes, how many fits it is charged for, and what it has learnt.
KEEPING = {
    "`Pipeline`, steps that learn nothing": (
        lambda model: make_pipeline(FunctionTransformer(), model), (5, 9), 1, set(),
    ),
    "`VotingClassifier`": (
        lambda model: VotingClassifier([("a", model), ("b", model)]), (0, 1), 2,
        {"le_", "classes_", "estimators_", "named_estimators_", "feature_names_in_"},
    ),
    "`OneVsRestClassifier`": (
        OneVsRestClassifier, (0, 1), 1,
        {"label_binarizer_", "classes_", "estimators_", "n_features_in_", "feature_names_in_"},
    ),
    "`FixedThresholdClassifier`": (
        FixedThresholdClassifier, (5, 9), 1, {"estimator_", "n_features_in_", "feature_names_in_"},
    ),
    "`SelectFromModel`": (SelectFromModel, (5, 9), 1, {"estimator_", "feature_names_in_"}),
    "`BaggingClassifier(bootstrap=False)`": (
        lambda model: BaggingClassifier(model, n_estimators=3, bootstrap=False, max_samples=0.5), (0, 1), 3,
        {"feature_names_in_", "n_features_in_", "_n_samples", "classes_", "n_classes_", "estimator_", "_max_samples",
         "_max_features", "_sample_weight", "estimators_", "estimators_features_", "_seeds"},
    ),
}  # fmt: skip


def charged(wrapper, classes, tmp_path):
    """Return how many fits a ledger was charged for, and the fitted wrapper."""
    ledger = Ledger(tmp_path / "ledger", dataset="people", epsilon=100.0)
    X, y = people()
    fitted = wrapper(unfitted(classes, ledger=ledger))
    fitted.fit(X, y)
    return ledger.spent / 0.5, fitted


@pytest.mark.parametrize("name", KEEPING)
def test_wrappers_that_keep_the_promise_learn_what_is_public_or_paid_for(name, tmp_path):
    wrapper, classes, n_fits, learnt = KEEPING[name]
    spent, fitted = charged(wrapper, classes, tmp_path)
    assert spent == pytest.approx(n_fits)
    # Another version of scikit-learn may keep more: then the page must say whether that is public.
    assert {own for own in vars(fitted) if own[0] == "_" or own[-1] == "_"} <= learnt


def test_a_frozen_model_is_the_released_one(released, tmp_path):
    ledger = Ledger(tmp_path / "ledger", dataset="people", epsilon=100.0)
    model = unfitted(ledger=ledger).fit(*people())
    counts = model.noisy_counts_.copy()
    assert FrozenEstimator(model).fit(*people(20)).estimator.noisy_counts_.tolist() == counts.tolist()
    assert ledger.spent == 0.5


# What a wrapper knows after it has seen the rows: nothing here is fitted again, the model is frozen.
BREAKING = {
    "`Pipeline` with `StandardScaler`": lambda model, X, y: make_pipeline(StandardScaler(), FrozenEstimator(model))
    .fit(X, y)[0].mean_,
    "`SelectKBest`": lambda _, X, y: SelectKBest(k=1).fit(X, y).scores_,
    "`CalibratedClassifierCV`": lambda model, X, y: CalibratedClassifierCV(FrozenEstimator(model))
    .fit(X, y).calibrated_classifiers_[0].calibrators[0].a_,
    "`TunedThresholdClassifierCV`": lambda model, X, y: TunedThresholdClassifierCV(
        FrozenEstimator(model), cv="prefit", refit=False
    ).fit(X, y).best_score_,
    "`StackingClassifier`": lambda model, X, y: StackingClassifier([("model", model)], cv="prefit")
    .fit(X, y).final_estimator_.coef_,
    "`GridSearchCV`": lambda model, X, y: GridSearchCV(
        FixedThresholdClassifier(FrozenEstimator(model)), {"threshold": [0.5]}, cv=3, scoring="neg_log_loss"
    ).fit(X, y).cv_results_["mean_test_score"],
    "`cross_val_score`": lambda model, X, y: cross_val_score(
        FrozenEstimator(model), X, y, cv=3, scoring="neg_log_loss"
    ),
    "`permutation_importance`": lambda model, X, y: permutation_importance(
        model, X, y, scoring="neg_log_loss", random_state=0
    ).importances_mean,
    "`AdaBoostRegressor`": lambda model, X, y: AdaBoostRegressor(FrozenEstimator(model), n_estimators=2, random_state=0)
    .fit(X, y.astype(float)).estimator_errors_,
    "`TransformedTargetRegressor` with `StandardScaler`": lambda model, X, y: TransformedTargetRegressor(
        FrozenEstimator(model), transformer=StandardScaler()
    ).fit(X, y).transformer_.mean_,
    "`SelfTrainingClassifier`": lambda model, X, y: SelfTrainingClassifier(FrozenEstimator(model))
    .fit(X, np.where(X["age"] < 1, -1, y)).transduction_.sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKING)
def test_wrappers_that_break_the_promise_tell_of_one_row_though_nothing_is_released(name, released):
    kept, (X, y) = BREAKING[name], people()
    everybody, all_but_one = kept(released, X, y), kept(released, X[:-1], y[:-1])
    assert np.array_equal(everybody, kept(released, X, y))  # an exact function of the rows
    assert not np.array_equal(everybody, all_but_one)


@pytest.mark.parametrize(
    ("wrapper", "classes", "n_fits"),
    [
        (lambda model: make_pipeline(StandardScaler().set_output(transform="pandas"), model), (5, 9), 1),
        (lambda model: CalibratedClassifierCV(model, cv=3), (5, 9), 3),
        (lambda model: TunedThresholdClassifierCV(model, cv=3), (5, 9), 4),
        (lambda model: StackingClassifier([("a", model)], cv=3), (0, 1), 4),
        (lambda model: GridSearchCV(model, {"n_trees": [2, 3]}, cv=3), (5, 9), 7),
    ],
    ids=["scaler", "calibrated", "tuned", "stacking", "grid"],
)
def test_every_fit_of_a_wrapper_is_charged(wrapper, classes, n_fits, tmp_path):
    assert charged(wrapper, classes, tmp_path)[0] == pytest.approx(n_fits)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_bagging_that_draws_rows_repeatedly_is_refused_and_costs_nothing(method, tmp_path):
    ledger = Ledger(tmp_path / "ledger", dataset="people", epsilon=100.0)
    schema = unfitted((0, 1)).schema
    model = METHODS[method](schema_for(method, schema), ledger=ledger)
    bagging, (X, y) = BaggingRegressor if method in OF_NUMBERS else BaggingClassifier, people()
    with pytest.raises(ParameterError, match="Bagging draws rows repeatedly unless bootstrap=False"):
        bagging(model, n_estimators=2).fit(X, (y == y[0]).astype(float) if method in OF_NUMBERS else y)
    assert ledger.spent == 0


def test_boosting_is_refused():
    with pytest.raises(ParameterError, match="boosting needs other weights; for rare classes there is class_weight"):
        AdaBoostClassifier(unfitted()).fit(*people())


def exact(**options):
    return unfitted(epsilon=float("inf"), **options)


def test_with_a_unit_all_draws_of_a_person_are_one_row():
    X, y = people()
    names = ["person", *X.columns]
    named = FunctionTransformer(pd.DataFrame, kw_args={"columns": names})
    model = exact(classes=(0, 1), unit="person")
    bag = BaggingClassifier(make_pipeline(named, model), n_estimators=3, random_state=0)
    bag.fit(X.assign(person=range(N_ROWS))[names].to_numpy(), y)
    for member, drawn in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        assert len(np.unique(drawn)) < len(drawn) == N_ROWS
        assert member[-1].noisy_counts_.sum() == N_TREES * len(np.unique(drawn))


DRAWS = {
    "`sklearn.utils.resample`": lambda X, y: resample(X, y, random_state=0),
    "`DataFrame.sample(replace=True)`": lambda X, y: (
        X.sample(N_ROWS, replace=True, random_state=0), pd.Series(y).sample(N_ROWS, replace=True, random_state=0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_a_sample_with_replacement_is_refused_and_bounded_by_a_unit(name):
    X, y = people()
    drawn, labels = DRAWS[name](X, y)
    with pytest.raises(DataError, match="rows are in the table more than once: entries of its index repeat"):
        unfitted().fit(drawn, labels)
    if isinstance(labels, pd.Series):  # its index tells where the table has none
        with pytest.raises(DataError, match="rows are in the table more than once"):
            unfitted().fit(drawn.to_numpy(), labels)
    persons = X.assign(person=range(N_ROWS)).loc[drawn.index]
    model = exact(unit="person").fit(persons, labels)
    assert model.noisy_counts_.sum() == N_TREES * persons["person"].nunique()


def test_tables_put_together_warn_and_are_quiet_with_an_index_of_their_own():
    X, y = people()
    january, february = X[: N_ROWS // 2], X[N_ROWS // 2 :].reset_index(drop=True)
    both = pd.concat([january, february])
    with pytest.warns(PrivacyLeakWarning, match=r"entries of the table's index repeat.*reset_index\(drop=True\)"):
        unfitted().fit(both, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unfitted().fit(both.reset_index(drop=True), y)
        unfitted(unit="person").fit(both.assign(person=range(N_ROWS)), y)
    with pytest.raises(DataError, match="rows are in the table more than once"):
        unfitted().fit(pd.concat([X, X]), np.concatenate([y, y]))


def test_the_same_object_twice_is_the_same_row_twice():
    X, y = people()
    rows = X.to_numpy().tolist()
    with pytest.raises(DataError, match="one row is in the list more than once, as the same object"):
        unfitted().fit([*rows, rows[0]], [*y, y[0]])
    batch = pa.Table.from_pandas(X.assign(**{"class": y}))
    with pytest.raises(DataError, match="a batch is in the list twice"):
        unfitted().fit([batch, batch])
    person = batch.append_column("person", [range(N_ROWS)])
    assert exact(unit="person").fit([person, person]).noisy_counts_.sum() == N_TREES * N_ROWS


def test_rows_made_from_rows_are_not_seen():
    def counts(X, y):
        """Of rows halfway between a row and each of the five after it, as SMOTE makes them."""
        made = [(X[:-k] + X[k:]) / 2 for k in range(1, 6)]
        labels = [y[:-k] for k in range(1, 6)]
        return exact(random_state=0).fit(np.concatenate(made), np.concatenate(labels)).noisy_counts_

    X, y = people()
    moved = np.abs(counts(X.to_numpy(), y) - counts(X[1:].to_numpy(), y[1:])).sum()
    assert moved == 5 * N_TREES  # what the noise covers is N_TREES


@pytest.mark.parametrize("weights", [[0, 1] * 100, np.tile([False, True], 100), pd.Series([0.0, 1.0] * 100)])
def test_weights_of_0_and_1_leave_rows_out(weights):
    X, y = people()
    model = exact(random_state=0)
    counts = model.fit(X, y, sample_weight=weights).noisy_counts_
    assert np.array_equal(counts, model.fit(X[1::2], y[1::2]).noisy_counts_)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([2] * N_ROWS, "a row that counts for more would cost more epsilon than is charged"),
        ([-1] * N_ROWS, "may leave rows out"),
        ([0.5] * N_ROWS, "may leave rows out"),
        ([np.nan] * N_ROWS, "may leave rows out"),
        (["a"] * N_ROWS, "may leave rows out"),
        ([1] * 3, "one weight per row"),
        ([[1]] * N_ROWS, "one weight per row"),
        ([0] * N_ROWS, "zero for every row"),
    ],
)
def test_other_weights_are_refused(weights, sentence):
    with pytest.raises(ParameterError, match=f"sample_weight .*{sentence}"):
        unfitted().fit(*people(), sample_weight=weights)


def test_weights_are_for_tables_in_memory(tmp_path):
    X, y = people()
    X.assign(**{"class": y}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ParameterError, match="sample_weight is for a table in memory"):
        unfitted().fit(tmp_path / "rows.csv", sample_weight=np.ones(N_ROWS))


def others_moved(splitter):
    """Return how many rows beside the first are in another training set when the first was not there, at most."""
    X, y = people()

    def training(start):
        return [set((start + train).tolist()) for train, _ in splitter(start).split(X[start:], y[start:])]

    pairs = zip(training(0), training(1), strict=True)
    return max(len((with_first ^ without) - {0}) for with_first, without in pairs)


OWN_FOLD = np.random.default_rng(5).integers(0, 5, N_ROWS)
SPLITS = {
    "`KFold`, `StratifiedKFold`": (lambda _: KFold(5), lambda _: StratifiedKFold(5)),
    "with `shuffle=True` and a number for `random_state`": (
        lambda _: KFold(5, shuffle=True, random_state=0), lambda _: StratifiedKFold(5, shuffle=True, random_state=0),
    ),
    "`PredefinedSplit` by something that each row says of itself": (lambda start: PredefinedSplit(OWN_FOLD[start:]),),
}  # fmt: skip


def test_one_row_more_moves_others_between_folds_unless_each_row_says_its_own():
    few, many, none = ([others_moved(splitter) for splitter in splitters] for splitters in SPLITS.values())
    assert all(1 <= moved <= 8 for moved in few)  # two at each of two borders, of each of two classes
    assert all(moved > N_ROWS / 10 for moved in many)
    assert none == [0]


def test_bagging_draws_by_position_so_that_one_row_more_draws_others():
    X, y = people()
    bag = BaggingClassifier(unfitted((0, 1), epsilon=50.0), n_estimators=2, bootstrap=False, max_samples=0.5)
    bag.set_params(random_state=0)

    def drawn(start):
        return [set((start + own).tolist()) for own in bag.fit(X[start:], y[start:]).estimators_samples_]

    # Where the number of rows is public, another row may stand in the place of one: two rows for each fit.
    assert drawn(0) == drawn(0)
    assert all(
        len(all_rows ^ all_but_one) > N_ROWS / 10 for all_rows, all_but_one in zip(drawn(0), drawn(1), strict=True)
    )


def test_the_page_lists_what_is_tested_here():
    rows = re.findall(r"^\| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [row for row in rows if row not in ("wrapper", "folds")]
    others = {
        *SPLITS, "`FrozenEstimator`", "`BaggingClassifier`", "`AdaBoostClassifier`",
        "Rows made from rows, such as SMOTE",
    }  # fmt: skip
    assert len(named) == len(set(named))
    assert set(named) == {*KEEPING, *BREAKING, *DRAWS, *others}
