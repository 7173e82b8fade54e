"""What people do with scikit-learn: each habit works, or is refused in a sentence with the way out.

docs/habits.md shows the table at the end, with a note on each.
"""

import io
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - offers the next but one
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import RocCurveDisplay, classification_report, make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils import resample
from sklearn.utils.class_weight import compute_class_weight

from privet import Categorical, Ledger, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.errors import BudgetExceeded

mpl.use("Agg")
PAGE = Path(__file__).parents[2] / "docs" / "habits.md"
N_ROWS, EPSILON = 240, 0.25
ATTRIBUTES = [Numeric("age", 0, 100), Categorical("job", ["cook", "judge"]), Numeric("pay", 0, 10)]
SCHEMA = Schema(ATTRIBUTES, classes=["no", "yes"], target="smoker", rows=N_ROWS)
NUMBERED = SCHEMA.with_numbered_classes()
NUMBERS = Schema([ATTRIBUTES[0], ATTRIBUTES[2]], classes=["no", "yes"], rows=N_ROWS)


def people() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.uniform(0, 100, N_ROWS), "job": rng.choice(["cook", "judge"], N_ROWS)})
    X["pay"] = rng.uniform(0, 10, N_ROWS)
    return X, np.where(X["age"] + rng.normal(0, 20, N_ROWS) > 50, "yes", "no")


X, Y = people()
XN = X[["age", "pay"]]


@dataclass(frozen=True)
class At:
    """What a habit is tried with: an unfitted model, or one of another kind, whose fits are all charged."""

    ledger: Ledger

    def __call__(self, schema: Schema | str = SCHEMA, kind: Any = PrivateForestClassifier, **options: Any) -> Any:
        return kind(schema, **{"epsilon": EPSILON, "ledger": self.ledger, **options})

    def fitted(self, schema: Schema = SCHEMA, **options: Any) -> Any:
        return self(schema, **options).fit(X[list(schema.names)], Y)


def same(model, other=X) -> None:
    """The rows are read alike."""
    assert_array_equal(model.predict_proba(other), model.predict_proba(X))


# Habits. Each returns nothing; what is refused raises.


def cloning(at):
    model = at.fitted()
    fresh = clone(model)
    assert fresh.ledger is at.ledger
    assert not hasattr(fresh, "guarantee_")
    assert is_classifier(fresh)


def parameters(at):
    model = at().set_params(n_attributes=2)
    assert at(n_bins=7).set_params(**model.get_params()).get_params() == model.get_params()


def names(at):
    model = at.fitted()
    assert (model.classes_.tolist(), model.n_features_in_) == (["no", "yes"], 3)
    assert model.feature_names_in_.tolist() == ["age", "job", "pay"]


def importances(at):
    assert at.fitted().feature_importances_.shape == (3,)


def log_chances(at):
    model = at.fitted()
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def log_odds(at):
    model = at.fitted()
    assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    assert roc_auc_score(Y, model.decision_function(X)) == roc_auc_score(Y, model.predict_proba(X)[:, 1])


def class_weights(at):
    model = at.fitted(class_weight="balanced")
    assert model.class_weight_.keys() == {"no", "yes"}
    assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


def exact_class_weights(at):
    weights = compute_class_weight("balanced", classes=np.array(["no", "yes"]), y=Y)
    model = at.fitted(class_weight=dict(zip(["no", "yes"], weights, strict=True)))
    assert_allclose(1 / np.array(list(model.class_weight_.values())) / 2, [(Y == "no").mean(), (Y == "yes").mean()])


def weights_of_rows(at):
    at().fit(X, Y, sample_weight=np.arange(N_ROWS) % 2)


def other_weights_of_rows(at):
    at().fit(X, Y, sample_weight=np.full(N_ROWS, 2.0))


def weights_with_a_maximum(at):
    at().fit(X, Y, sample_weight=np.linspace(0, 5, N_ROWS), max_sample_weight=5.0)


def routed_weights(at):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(FunctionTransformer(), at().set_fit_request(sample_weight=True))
        model.fit(X, Y, sample_weight=np.arange(N_ROWS) % 2)


def scoring(at):
    model = at.fitted()
    right = model.predict(X) == Y
    assert model.score(X, Y, sample_weight=np.arange(N_ROWS)) == pytest.approx(np.average(right, weights=range(N_ROWS)))


def seeds(at):
    one, two = (at.fitted(NUMBERS, kind=PrivateRDTClassifier, random_state=0, n_trees=2, height=2) for _ in range(2))
    assert_array_equal(one.forest_.attribute, two.forest_.attribute)
    assert not np.array_equal(one.noisy_counts_, two.noisy_counts_)


def jobs(at):
    same(at.fitted(n_jobs=2).set_params(n_jobs=-1))


def warm_starts(at):
    at().set_params(warm_start=True)


def others_parameters(at):
    at().set_params(max_features="sqrt")


def batches(at):
    model = at().partial_fit(X[:100], Y[:100], classes=["no", "yes"]).partial_fit(X[100:], Y[100:])
    assert model.guarantee_.epsilon <= EPSILON  # no row is in both


def pickles(at):
    model, file = at.fitted(), io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for again in (joblib.load(file), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def html(at):
    with sklearn.config_context(display="diagram"):
        shown = make_pipeline(FunctionTransformer(), at.fitted())._repr_html_()
    assert "PrivateForestClassifier" in shown


def report(at):
    assert "macro avg" in classification_report(Y, at.fitted().predict(X), zero_division=0)


def roc(at):
    assert RocCurveDisplay.from_estimator(at.fitted(), X, Y).roc_auc > 0


def categories(at):
    model = at().fit(X.astype({"job": "category"}), Y)
    same(model, X.astype({"job": pd.CategoricalDtype(["judge", "cook", "clerk"])}))


def nullable(at):
    same(at().fit(X.convert_dtypes(), pd.Series(Y, dtype="string")), X.convert_dtypes(dtype_backend="pyarrow"))


def truths(at):
    schema = Schema(ATTRIBUTES, classes=[False, True], rows=N_ROWS)
    assert at(schema).fit(X, Y == "yes").predict(X).dtype == bool


def objects(at):
    same(at().fit(X.to_numpy(dtype=object), Y.astype(object)), X.to_numpy(dtype=object))


def missing(at):
    gaps = X.astype(object)
    gaps.loc[::3, "job"], gaps.loc[1::3, "job"], gaps.loc[::4, "age"] = None, pd.NA, np.nan
    other = X.astype(object)
    other.loc[::3, "job"], other.loc[1::3, "job"], other.loc[::4, "age"] = np.nan, None, None
    model = at().fit(gaps, Y)
    assert_array_equal(model.predict_proba(gaps), model.predict_proba(other))


def text_numbers(at):
    at().fit(X.astype({"age": str}), Y)


def other_order(at):
    same(at().fit(X[["pay", "age", "job"]], Y), X[["job", "pay", "age"]])


def other_columns_at_predict(at):
    same(at.fitted(), X.assign(smoker=Y, note="a"))


def other_columns_at_fit(at):
    at().fit(X.assign(note="a"), Y)


def series(at):
    at().fit(X, pd.Series(Y, name="anything"))
    at().fit(X, pl.Series("anything", Y))


def column_vector(at):
    at().fit(X, pd.DataFrame({"smoker": Y}))


def one_hot_labels(at):
    at().fit(X, pd.get_dummies(Y))


def unknown_categories(at):
    model = at.fitted()
    unknown, none = X.assign(job="clerk"), X.assign(job=None)
    assert_array_equal(model.predict_proba(unknown), model.predict_proba(none))


def target_in_the_table(at):
    for table in (X.assign(smoker=Y), pl.from_pandas(X.assign(smoker=Y)), pa.table({**X, "smoker": Y})):
        same(at().fit(table))


def lazy_frames(at):
    lazy = pl.from_pandas(X.assign(smoker=Y)).lazy()
    same(at().fit(lazy), lazy.filter(pl.col("age") >= 0))
    same(at().fit(Stream(pa.table({**X, "smoker": Y}))), pa.table({**X}).to_reader())


class Stream:
    """What a library offers that is none of those privet knows."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def sparse_input(at):
    at(NUMBERS).fit(sparse.csr_array(XN.to_numpy()), Y)


def frames_of_chances(at):
    model = at.fitted()
    frame = model.predict_proba_frame(X[::-1])
    assert_array_equal(frame.index, X.index[::-1])
    assert_array_equal(frame["yes"], model.predict_proba(X)[::-1, 1])
    assert model.predict_proba_frame(X, "polars").columns == ["no", "yes"]
    assert isinstance(
        make_pipeline(FunctionTransformer(), model).set_output(transform="pandas").predict_proba(X), np.ndarray
    )


def pipeline(at):
    make_pipeline(FunctionTransformer(), at()).fit(X, Y).predict(X)


def scaler(at):
    scaled = Schema([Numeric("age", -2, 2), Numeric("pay", -2, 2)], classes=["no", "yes"], rows=N_ROWS)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), at(scaled)).fit(XN, Y)
    assert_allclose(model[0].mean_, XN.mean())


def columns_public(at):
    codes = OrdinalEncoder(categories=[["cook", "judge"]])
    before = ColumnTransformer([("job", codes, ["job"])], remainder="passthrough", verbose_feature_names_out=False)
    schema = Schema([ATTRIBUTES[0], Categorical("job", [0, 1]), ATTRIBUTES[2]], classes=["no", "yes"], rows=N_ROWS)
    make_pipeline(before.set_output(transform="pandas"), at(schema)).fit(X, Y).predict(X)


def columns_learnt(at):
    before = make_column_transformer((StandardScaler(), ["age", "pay"]), verbose_feature_names_out=False)
    scaled = Schema([Numeric("age", -2, 2), Numeric("pay", -2, 2)], classes=["no", "yes"], rows=N_ROWS)
    model = make_pipeline(before.set_output(transform="pandas"), at(scaled)).fit(X, Y)
    assert_allclose(model[0].transformers_[0][1].mean_, XN.mean())


def one_hot_columns(at):
    make_pipeline(make_column_transformer((OneHotEncoder(), ["job"]), sparse_threshold=1), at()).fit(X, Y)


def voting(at):
    model = VotingClassifier([("a", at(NUMBERED)), ("b", at(NUMBERED))], voting="soft").fit(X, Y)
    assert set(model.predict(X)) <= {"no", "yes"}
    mean = np.mean([own.predict_proba(X) for own in model.estimators_], axis=0)
    assert_array_equal(model.predict(X) == "yes", mean[:, 1] > mean[:, 0])


def voting_as_it_is(at):
    VotingClassifier([("a", at())]).fit(X, Y)


def stacking(at):
    model = StackingClassifier([("a", at(NUMBERED))], cv=2).fit(X, Y)
    assert set(model.predict(X)) <= {"no", "yes"}


def bagging(at):
    model = BaggingClassifier(at(NUMBERED), n_estimators=2, bootstrap=False, max_samples=0.5).fit(X, Y)
    assert set(model.predict(X)) <= {"no", "yes"}


def bagging_with_replacement(at):
    BaggingClassifier(at(NUMBERED), n_estimators=2).fit(X, Y)


def bagging_columns(at):
    BaggingClassifier(at(NUMBERED), n_estimators=2, bootstrap=False, max_features=2).fit(X, Y)


def boosting(at):
    AdaBoostClassifier(at()).fit(X, Y)


def one_versus_rest(at):
    three = np.where(X["pay"] > 7, "maybe", Y)
    model = OneVsRestClassifier(at(NUMBERED)).fit(X, three)
    assert set(model.predict(X)) <= {"maybe", "no", "yes"}


def one_versus_one(at):
    OneVsOneClassifier(at(Schema(NUMBERS.attributes, classes=[0, 1], rows=N_ROWS))).fit(
        XN, np.where(X["pay"] > 7, "maybe", Y)
    )


def several_outputs(at):
    both = np.column_stack([Y, Y[::-1]])
    assert MultiOutputClassifier(at()).fit(X, both).predict(X).shape == both.shape


def calibration(at):
    CalibratedClassifierCV(at(), cv=2).fit(X, Y)


def frozen(at):
    model = at.fitted()
    assert_array_equal(FrozenEstimator(model).fit(X[:9], Y[:9]).predict(X), model.predict(X))


def tuned_threshold(at):
    TunedThresholdClassifierCV(at(), cv=2).fit(X, Y)


def fixed_threshold(at):
    model = FixedThresholdClassifier(at(), threshold=0.2, pos_label="yes").fit(X, Y)
    assert_array_equal(model.predict(X) == "yes", model.estimator_.predict_proba(X)[:, 1] >= 0.2)


def grid(at):
    search = GridSearchCV(at(), {"n_attributes": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_estimator_.guarantee_.epsilon <= EPSILON


def grid_beyond_the_budget(at):
    GridSearchCV(at(epsilon=30.0), {"n_attributes": [1, 2]}, cv=2, error_score="raise").fit(X, Y)


def random_search(at):
    RandomizedSearchCV(at(), {"n_attributes": [1, 2, 3]}, n_iter=2, cv=2, random_state=0).fit(X, Y)


def halving(at):
    search = HalvingGridSearchCV(at(), {"n_attributes": [1, 2]}, cv=2, factor=2, min_resources=60, random_state=0)
    assert search.fit(X, Y).n_candidates_ == [2, 1]


def crossed(at):
    assert len(cross_val_score(at(), X, Y, cv=2)) == 2


def crossed_predictions(at):
    assert set(cross_val_predict(at(), X, Y, cv=2)) <= {"no", "yes"}


def crossed_chances(at):
    assert cross_val_predict(at(NUMBERED), X, Y, cv=2, method="predict_proba").shape == (N_ROWS, 2)


def crossed_chances_as_they_are(at):
    cross_val_predict(at(), X, Y, cv=2, method="predict_proba")


def learning(at):
    learning_curve(at(), X, Y, cv=2, train_sizes=[0.5, 1.0])


def learning_by_batches(at):
    learning_curve(at(), X, Y, cv=2, train_sizes=[0.5, 1.0], exploit_incremental_learning=True)


def validation(at):
    validation_curve(at(), X, Y, param_name="n_attributes", param_range=[1, 2], cv=2)


def from_model(at):
    SelectFromModel(at(), threshold=-np.inf).fit(X, Y)


def recursive(at):
    RFE(at(NUMBERS), n_features_to_select=1).fit(XN, Y)


def sequential(at):
    SequentialFeatureSelector(at(NUMBERS), n_features_to_select=1, cv=2).fit(XN, Y)


def permuted(at):
    permutation_importance(at.fitted(), X, Y, n_repeats=1, random_state=0)


def dependence(at):
    model = at.fitted()
    assert len(partial_dependence(model, X, ["age"], grid_resolution=5)["average"][0]) == 5
    PartialDependenceDisplay.from_estimator(model, X, ["age"], grid_resolution=5)


def boundary(at):
    public = pd.DataFrame({"age": [0.0, 100.0], "pay": [0.0, 10.0]})  # the schema's bounds
    DecisionBoundaryDisplay.from_estimator(at.fitted(NUMBERS), public, grid_resolution=5, eps=0)


def drawn_twice(at):
    at().fit(*resample(X, Y, random_state=0))


def scorer_of_frames(at):
    score = make_scorer(roc_auc_score, response_method="predict_proba")
    assert 0 <= score(at.fitted(), X, Y) <= 1


WORKS, TELLS, REFUSED = "works", "works, and tells about rows", "refused"


@dataclass(frozen=True)
class Habit:
    """One habit: how it ends, how many fits a ledger is charged, and what to know or to do instead."""

    name: str
    run: Callable[[At], None]
    ends: str
    fits: int
    sentence: str = ""


HABITS = {
    "The estimator": [
        Habit("`clone`", cloning, WORKS, 1),
        Habit("`get_params`, `set_params`", parameters, WORKS, 0),
        Habit("`classes_`, `n_features_in_`, `feature_names_in_`", names, WORKS, 1),
        Habit("`feature_importances_`", importances, WORKS, 1),
        Habit("`predict_log_proba`", log_chances, WORKS, 1),
        Habit("`decision_function`", log_odds, WORKS, 1),
        Habit("`class_weight`", class_weights, WORKS, 1),
        Habit("`class_weight` from `compute_class_weight`", exact_class_weights, TELLS, 1),
        Habit("`sample_weight` of 0 and 1", weights_of_rows, WORKS, 1),
        Habit("`sample_weight` up to `max_sample_weight`", weights_with_a_maximum, WORKS, 1),
        Habit("other `sample_weight`", other_weights_of_rows, REFUSED, 0, "sample_weight may leave rows out"),
        Habit("metadata routing of `sample_weight`", routed_weights, WORKS, 1),
        Habit("`score`, also with `sample_weight`", scoring, TELLS, 1),
        Habit("`random_state`", seeds, WORKS, 2),
        Habit("`n_jobs`", jobs, WORKS, 1),
        Habit("`warm_start`", warm_starts, REFUSED, 0, "Invalid parameter 'warm_start'"),
        Habit(
            "`max_features`, `max_depth` and other parameters of trees",
            others_parameters,
            REFUSED,
            0,
            "Invalid parameter 'max_features'.*Valid parameters are",
        ),
        Habit("`partial_fit`", batches, WORKS, 2),
        Habit("`joblib.dump`, `pickle`", pickles, WORKS, 1),
        Habit("diagrams in notebooks", html, WORKS, 1),
    ],
    "Tables and labels": [
        Habit("pandas' categories", categories, WORKS, 1),
        Habit("nullable and Arrow types of pandas", nullable, WORKS, 1),
        Habit("true and false as labels", truths, WORKS, 1),
        Habit("NumPy arrays of objects", objects, WORKS, 1),
        Habit("`None`, `NaN`, `pd.NA`", missing, WORKS, 1),
        Habit(
            "numbers as text",
            text_numbers,
            REFUSED,
            0,
            "column 'age' holds text, but the schema calls it continuous; convert it to numbers",
        ),
        Habit("columns in another order", other_order, WORKS, 1),
        Habit("other columns at `predict`", other_columns_at_predict, WORKS, 1),
        Habit(
            "other columns at `fit`",
            other_columns_at_fit,
            REFUSED,
            0,
            "has a column 'note' that the schema lacks; drop it, or add it to the schema",
        ),
        Habit("`y` as a Series with a name", series, WORKS, 2),
        Habit("`y` as a column", column_vector, WORKS, 1),
        Habit("`y` one-hot", one_hot_labels, REFUSED, 0, "y must be one column of labels; pass one label per row"),
        Habit("categories that are not in the schema", unknown_categories, WORKS, 1),
        Habit("`fit(frame)` with the label in it", target_in_the_table, WORKS, 3),
        Habit("lazy frames of polars, streams of Arrow", lazy_frames, WORKS, 2),
        Habit(
            "sparse matrices",
            sparse_input,
            REFUSED,
            0,
            "sparse tables are not supported; pass a dense one, such as table.toarray",
        ),
        Habit("`set_output`", frames_of_chances, WORKS, 1),
        Habit("rows drawn with replacement", drawn_twice, REFUSED, 0, "rows are in the table more than once"),
    ],
    "Before the model": [
        Habit("`Pipeline`", pipeline, WORKS, 1),
        Habit("`StandardScaler` before it", scaler, TELLS, 1),
        Habit("`ColumnTransformer`, given categories", columns_public, WORKS, 1),
        Habit("`ColumnTransformer` that is fitted", columns_learnt, TELLS, 1),
        Habit(
            "`OneHotEncoder`", one_hot_columns, REFUSED, 0, "sparse tables are not supported.*categories as they are"
        ),
        Habit("`SelectFromModel`", from_model, WORKS, 1),
        Habit(
            "`RFE`",
            recursive,
            REFUSED,
            1,
            "X has 1 features, but Schema is expecting 2 features as input; pass every column of the schema",
        ),
        Habit(
            "`SequentialFeatureSelector`",
            sequential,
            REFUSED,
            0,
            "X has 1 features, but Schema is expecting 2 features as input; pass every column of the schema",
        ),
    ],
    "Around the model": [
        Habit("`VotingClassifier`", voting, WORKS, 2),
        Habit(
            "`VotingClassifier` without that",
            voting_as_it_is,
            REFUSED,
            0,
            "holds numbers, but its classes in the schema are text;.*schema.with_numbered_classes\\(\\)",
        ),
        Habit("`StackingClassifier`", stacking, TELLS, 3),
        Habit("`BaggingClassifier(bootstrap=False)`", bagging, WORKS, 2),
        Habit(
            "`BaggingClassifier`",
            bagging_with_replacement,
            REFUSED,
            0,
            "Bagging draws rows repeatedly unless bootstrap=False",
        ),
        Habit(
            "`BaggingClassifier(max_features=)`",
            bagging_columns,
            REFUSED,
            0,
            "X has 2 features, but Schema is expecting 3 features as input; pass every column",
        ),
        Habit(
            "`AdaBoostClassifier`",
            boosting,
            REFUSED,
            0,
            "boosting needs other weights; for rare classes there is class_weight",
        ),
        Habit("`OneVsRestClassifier`", one_versus_rest, WORKS, 3),
        Habit("`OneVsOneClassifier`", one_versus_one, WORKS, 3),
        Habit("`MultiOutputClassifier`", several_outputs, WORKS, 2),
        Habit("`FrozenEstimator`", frozen, WORKS, 1),
        Habit("`FixedThresholdClassifier`", fixed_threshold, WORKS, 1),
        Habit("`TunedThresholdClassifierCV`", tuned_threshold, TELLS, 3),
        Habit("`CalibratedClassifierCV`", calibration, TELLS, 2),
    ],
    "Choosing and looking": [
        Habit("`GridSearchCV`", grid, TELLS, 5),
        Habit("`GridSearchCV` beyond the budget", grid_beyond_the_budget, REFUSED, 3, "left"),
        Habit("`RandomizedSearchCV`", random_search, TELLS, 5),
        Habit("`HalvingGridSearchCV`", halving, TELLS, 7),
        Habit("`cross_val_score`", crossed, TELLS, 2),
        Habit("`cross_val_predict`", crossed_predictions, TELLS, 2),
        Habit('`cross_val_predict(method="predict_proba")`', crossed_chances, TELLS, 2),
        Habit("the same without that", crossed_chances_as_they_are, REFUSED, 0, "schema.with_numbered_classes\\(\\)"),
        Habit("`learning_curve`", learning, TELLS, 4),
        Habit("`learning_curve(exploit_incremental_learning=True)`", learning_by_batches, TELLS, 4),
        Habit("`validation_curve`", validation, TELLS, 4),
        Habit("`permutation_importance`", permuted, TELLS, 1),
        Habit("`partial_dependence` and its display", dependence, TELLS, 1),
        Habit("`DecisionBoundaryDisplay`", boundary, WORKS, 1),
        Habit("`classification_report`", report, TELLS, 1),
        Habit("`RocCurveDisplay.from_estimator`", roc, TELLS, 1),
        Habit("`make_scorer`", scorer_of_frames, TELLS, 1),
    ],
}
ALL = [habit for group in HABITS.values() for habit in group]


@pytest.fixture
def at(tmp_path):
    return At(Ledger(tmp_path / "ledger.db", dataset="people", epsilon=100.0))


@pytest.mark.parametrize("habit", ALL, ids=lambda habit: habit.run.__name__)
def test_a_habit_works_or_is_refused_with_the_way_out_and_every_fit_is_charged(habit, at):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.DataConversionWarning)
        if habit.ends == REFUSED:
            with pytest.raises((ValueError, BudgetExceeded), match=f"(?s){habit.sentence}") as caught:
                habit.run(at)
            assert not any(str(value) in str(caught.value) for value in (N_ROWS, X["age"][0], X["pay"][0]))
        else:
            habit.run(at)
    per_fit = 30.0 if habit.run is grid_beyond_the_budget else EPSILON
    assert at.ledger.spent / per_fit == pytest.approx(habit.fits)


def test_the_page_shows_what_is_tested_here():
    page = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^\| (.+?) \| (.+?) \| (\d+) \| .*\|$", page, re.MULTILINE)
    assert shown == [(habit.name, habit.ends, str(habit.fits)) for habit in ALL]
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == list(HABITS)
    counted = [sum(habit.ends == ends for habit in ALL) for ends in (WORKS, TELLS, REFUSED)]
    assert [int(n) for n in re.findall(r"\b(\d+) (?:work|are refused)", page)] == counted


def test_habits_have_names_of_their_own_and_refusals_a_sentence():
    assert len({habit.name for habit in ALL}) == len({habit.run for habit in ALL}) == len(ALL) >= 40
    assert all((habit.ends == REFUSED) == bool(habit.sentence) for habit in ALL)
