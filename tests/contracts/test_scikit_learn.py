"""scikit-learn's own checks, with every expected failure named and explained."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from privet import PrivateRDTClassifier, Schema
from privet.datasets import tic_tac_toe
from privet.errors import SchemaError
from privet.registry import LOCAL_METHODS, METHODS

NO_ROW_COUNT = "scikit-learn's sentence quotes the number of rows; privet's errors never do"
ONE_PRICE = "a row that counts several times would cost more than is charged; such weights are refused"

EXPECTED = {"check_estimators_empty_data_messages": NO_ROW_COUNT}
EXPECTED_WITH_WEIGHTS = {
    **EXPECTED,
    "check_sample_weights_list": ONE_PRICE,
    "check_sample_weights_not_overwritten": ONE_PRICE,
    "check_sample_weight_equivalence_on_dense_data": ONE_PRICE,
}
# With fresh noise two fits on the same rows differ, or by luck do not: these are for seeded noise.
COMPARE_TWO_FITS = {
    "check_classifier_data_not_an_array", "check_regressor_data_not_an_array", "check_regressors_int",
    "check_supervised_y_2d", "check_fit_idempotent", "check_pipeline_consistency", "check_array_api_input",
}  # fmt: skip


@pytest.fixture(autouse=True)
def with_array_api(monkeypatch):
    """Let scikit-learn's check of NumPy arrays under its array dispatch run; it skips it elsewhere."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


def check_quietly(check, estimator) -> None:
    with warnings.catch_warnings():
        # The leak of schema="infer" has a test of its own, and scikit-learn says what it skips by warnings.
        warnings.simplefilter("ignore")
        check(estimator)


# With seeded noise the same code is deterministic: whatever is expected to fail must fail.
@parametrize_with_checks(
    [estimator("infer", unsafe_seeded_noise=True) for _, estimator in sorted(METHODS.items())],
    expected_failed_checks=lambda _: EXPECTED_WITH_WEIGHTS,
    xfail_strict=True,
)
def test_with_seeded_noise_the_estimator_keeps_scikit_learns_promises(estimator, check):
    check_quietly(check, estimator)


# On clear rows a local method is an ordinary, seeded one; but for the one that takes answers alone.
OF_CLEAR_ROWS = [estimator for name, estimator in sorted(LOCAL_METHODS.items()) if name != "sampled-forest"]
LOCAL = [estimator("infer", random_state=0) for estimator in OF_CLEAR_ROWS]


@parametrize_with_checks(LOCAL, expected_failed_checks=lambda _: EXPECTED, xfail_strict=True)
def test_local_estimators_keep_scikit_learns_promises(estimator, check):
    check_quietly(check, estimator.set_params(**{"n_trees": 5} if "n_trees" in estimator.get_params() else {}))


def checks_of_one_fit(estimator):
    """Return scikit-learn's checks but for those that compare two fits."""
    marked = {"expected_failed_checks": EXPECTED_WITH_WEIGHTS, "mark": "xfail", "xfail_strict": True}
    checks = estimator_checks_generator(estimator, **marked)
    return [own for own in checks if getattr(own, "values", own)[1].func.__name__ not in COMPARE_TWO_FITS]


@pytest.mark.parametrize(
    ("estimator", "check"),
    [own for _, estimator in sorted(METHODS.items()) for own in checks_of_one_fit(estimator("infer"))],
    ids=lambda own: own.func.__name__ if hasattr(own, "func") else type(own).__name__,
)
def test_the_estimator_keeps_scikit_learns_promises(estimator, check):
    check_quietly(check, estimator)


@pytest.mark.parametrize("method", sorted([*METHODS, *LOCAL_METHODS]))
def test_no_parameter_hides_a_method_of_scikit_learns(method):
    # A parameter called score would: the instance's attribute comes before the class's method.
    estimator = {**METHODS, **LOCAL_METHODS}[method]
    hidden = {name for name in estimator().get_params() if callable(getattr(estimator, name, None))}
    assert hidden == set()


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_table_without_columns_is_refused_without_showing_its_length(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            SchemaError, match="^a schema needs attributes: a list of at least one Categorical or Numeric$"
        ):
            METHODS[method]("infer").fit(np.empty((12, 0)), [5, 9] * 6)


def test_scores_of_scikit_learn_do_not_depend_on_the_order_in_which_classes_are_declared():
    data = tic_tac_toe()

    def auc(classes):
        schema = Schema(data.schema.attributes, classes=classes, rows=958)
        model = PrivateRDTClassifier(schema, epsilon=50.0, n_trees=30, height=4, random_state=0)
        return cross_val_score(model, data.X, data.y, cv=3, scoring="roc_auc").mean()

    assert auc(["positive", "negative"]) > 0.6
    assert auc(["negative", "positive"]) > 0.6
