"""scikit-learn's own checks, with every expected failure named and explained."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from privet import PrivateRDTClassifier

FRESH_NOISE = "two fits on the same rows differ: noise cannot be seeded, so predictions of small tables change"
NO_ROW_COUNT = "scikit-learn's sentence quotes the number of rows; privet's errors never do"

EXPECTED = {"check_estimators_empty_data_messages": NO_ROW_COUNT}
EXPECTED_WITH_FRESH_NOISE = {
    **EXPECTED,
    "check_classifier_data_not_an_array": FRESH_NOISE,
    "check_supervised_y_2d": FRESH_NOISE,
    "check_fit_idempotent": FRESH_NOISE,
}


def expected_failures(estimator) -> dict[str, str]:
    return EXPECTED if estimator.unsafe_seeded_noise else EXPECTED_WITH_FRESH_NOISE


# With seeded noise the same code is deterministic, so the checks that compare two fits run there.
@parametrize_with_checks(
    [PrivateRDTClassifier("infer"), PrivateRDTClassifier("infer", unsafe_seeded_noise=True)],
    expected_failed_checks=expected_failures,
    xfail_strict=False,
)
def test_the_estimator_keeps_scikit_learns_promises(estimator, check):
    with warnings.catch_warnings():
        # The leak of schema="infer" has a test of its own, and scikit-learn says what it skips by warnings.
        warnings.simplefilter("ignore")
        check(estimator)


def test_a_table_without_columns_is_refused_without_showing_its_length():
    import numpy as np

    from privet.errors import SchemaError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            SchemaError, match="^a schema needs attributes: a list of at least one Categorical or Numeric$"
        ):
            PrivateRDTClassifier("infer").fit(np.empty((12, 0)), [5, 9] * 6)
