"""The class balance of the recommended forest: counts that no declared number enters, with intervals that hold."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.errors import ModelFileError
from privet.model_file import checksum_of, read_document, write_document
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.report import write_report
from privet.report.page.weights import class_balance
from privet.tree.intervals import support_intervals
from tests.report.pages import Elements

HERE = Path(__file__).parent
# Written before two classes had a count each, with 400 rows declared or a number bought; the rows were 300.
DECLARED, BOUGHT = HERE / "difference_declared.json", HERE / "difference_bought.json"
SAID = {
    DECLARED: [[0.9757396229422086, 0.024260377057791403], [0.2575008283809455, 0.7424991716190545]],
    BOUGHT: [[0.9856907748662778, 0.01430922513372231], [0.21465959712799873, 0.7853404028720014]],
}
ATTRIBUTES = [Categorical("colour", ["red", "blue"])]


def table(n_no, n_yes):
    return pd.DataFrame({"colour": ["red"] * n_no + ["blue"] * n_yes}), np.array(["no"] * n_no + ["yes"] * n_yes)


def fitted(rows, declared, *, epsilon=1.0):
    schema = Schema(ATTRIBUTES, classes=["no", "yes"], rows=declared)
    return PrivateForestClassifier(schema, epsilon=epsilon).fit(*rows)


@pytest.mark.parametrize("declared", [150, 300, 600, None])
def test_without_noise_rows_and_shares_are_exact_whatever_was_declared(declared):
    model = fitted(table(180, 120), declared, epsilon=math.inf)
    assert model.class_shares_.tolist() == [0.6, 0.4]
    assert model.n_rows_ == 300
    no, yes = class_balance(model)
    assert no == {
        "class": "no", "rows": 180.0, "low": 180.0, "high": 180.0, "share": 0.6, "share_low": 0.6, "share_high": 0.6
    }  # fmt: skip
    assert (yes["rows"], yes["low"], yes["high"]) == (120.0, 120.0, 120.0)


def test_the_interval_of_a_count_by_hand():
    model = fitted(table(180, 120), 600)
    changed = replace(model.released_, balance=np.array([7, 290]))
    model._set_fitted(model._encoder, [changed], model.guarantee_)
    # At 5 % of epsilon 1 the scale is 20. |noise| > 60 has a chance of 2 q^61 / (1 + q), q = exp(-1/20), below 5 %.
    no, yes = class_balance(model)
    assert (no["low"], no["high"], yes["low"], yes["high"]) == (0, 67, 230, 350)
    assert 2 * math.exp(-61 / 20) / (1 + math.exp(-1 / 20)) < 0.05
    assert (no["share_low"], yes["share_high"]) == (0, 1)
    assert 0.15 < no["share_high"] < 0.25
    assert yes["share_low"] == pytest.approx(1 - no["share_high"])


def test_the_interval_of_a_count_holds_95_times_of_100_or_more_at_every_scale():
    scales = np.geomspace(0.05, 1e7, 4000)
    variances = np.array([laplace_deviation(scale) for scale in scales]) ** 2
    low, high = support_intervals(np.zeros((len(scales), 1), dtype=np.int64), variances)
    assert (high == -low).all()
    # |noise| > k has a chance of 2 q^(k + 1) / (1 + q), q = exp(-1/scale).
    held = 1 - 2 * np.exp(-(high + 1) / scales) / (1 + np.exp(-1 / scales))
    assert held.min() >= 0.95
    assert held[scales > 100].max() < 0.953  # and hardly more, where a row is nothing beside the noise


def coverage(declared, n_fits, *, of=class_balance):
    """Return how many of so many fits' intervals held the number and the share of the first class."""
    rows, count, share = table(180, 120), 0, 0
    for _ in range(n_fits):
        told = of(fitted(rows, declared))[0]
        count += told["low"] <= 180 <= told["high"]
        share += told["share_low"] <= 0.6 <= told["share_high"]
    return count, share


def by_the_declared_number(model):
    """Return a planted fault: the balance as it was told before, by the difference and the declared number."""
    no, _ = class_balance(model)
    noisy = model.released_.balance
    rows, far = (model.schema_.rows + noisy[0] - noisy[1]) / 2, (no["high"] - no["low"]) / 2
    return [{**no, "low": rows - far, "high": rows + far}]


def is_at_least_95_percent(held, n_fits):
    return binomtest(held, n_fits, 0.95, alternative="less").pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.5, 0.75, 1.0, 1.3, 2.0])
def test_intervals_hold_95_times_of_100_however_wrong_the_declared_number_is(factor):
    held = coverage(round(300 * factor), 1000)
    print(
        f"\ndeclared {factor:g} x the rows: held in {held[0]} (count) and {held[1]} (share) of 1,000 fits", flush=True
    )
    assert all(is_at_least_95_percent(each, 1000) for each in held)


def test_the_test_of_coverage_catches_the_declared_number():
    count, _ = coverage(600, 40, of=by_the_declared_number)
    assert not is_at_least_95_percent(count, 40)


@pytest.mark.parametrize("path", SAID, ids=["declared", "bought"])
def test_a_file_of_the_difference_opens_predicts_as_it_did_and_is_written_as_it_was(path, tmp_path):
    model = load(path)
    X = pd.DataFrame({"age": [10.0, 90.0], "job": ["nurse", "clerk"]})
    assert_allclose(model.predict_proba(X), SAID[path], rtol=1e-12)
    assert model.released_.balance.shape == (1,)
    model.save(tmp_path / "again.privet")
    assert read_document(tmp_path / "again.privet") == read_document(path)
    assert checksum_of(model.to_document()) == read_document(path)["checksum"]


def text_of(path, tmp_path):
    write_report(path, tmp_path / "page.html")
    return Elements((tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_the_report_of_a_difference_and_declared_rows_claims_no_interval(tmp_path):
    model = load(DECLARED)
    no, yes = class_balance(model)
    assert (no["rows"], yes["rows"]) == (244.0, 156.0)  # (400 + 88) / 2: the true ones are 300 in all
    assert {each[end] for each in (no, yes) for end in ("low", "high", "share_low", "share_high")} == {None}
    read = text_of(DECLARED, tmp_path)
    assert "That number was declared. If it is a hundred rows off, both classes are fifty rows off." in read
    assert "hold 95 times of 100" not in read


def test_the_report_of_a_difference_and_bought_rows_has_the_noise_of_both(tmp_path):
    no, _ = class_balance(load(BOUGHT))
    # Halves of noise of scales 10 and 10.53, at 5 % of 2 and of what that leaves.
    far = math.log(20) / math.sqrt(2) * math.hypot(math.sqrt(2) * 10, math.sqrt(2) / 0.095) / 2 + 1
    assert (no["high"] - no["low"]) / 2 == pytest.approx(far, rel=1e-3)
    assert "Intervals hold 95 times of 100" in text_of(BOUGHT, tmp_path)


def test_counts_of_two_classes_have_a_version_that_earlier_readers_refuse(tmp_path):
    two = fitted(table(180, 120), 300)
    document = two.to_document()
    assert document["version"] == 3
    two.save(tmp_path / "two.privet")
    again = load(tmp_path / "two.privet")
    assert again.released_.balance.tolist() == two.released_.balance.tolist()
    assert again.to_document() == document
    three = Schema([Numeric("age", 0, 9, bins=3)], classes=["a", "b", "c"], rows=60)
    own = PrivateForestClassifier(three).fit(pd.DataFrame({"age": np.arange(60) % 10}), ["a", "b", "c"] * 20)
    assert own.to_document()["version"] == 2


@pytest.mark.parametrize(("version", "balance"), [(2, [180, 120]), (3, [60]), (3, [180, 120, 0]), (3, []), (2, [])])
def test_a_balance_of_another_version_is_refused(tmp_path, version, balance):
    document = fitted(table(180, 120), 300).to_document()
    changed = {**document, "version": version, "released": {**document["released"], "balance": balance}}
    write_document(tmp_path / "m.privet", changed)
    with pytest.raises(ModelFileError, match="the released numbers do not fit the trees and classes"):
        load(tmp_path / "m.privet")


def test_a_later_version_is_that_of_one_method_only(tmp_path):
    document = {**fitted(table(180, 120), 300).to_document(), "method": "private-rdt"}
    write_document(tmp_path / "m.privet", document)
    with pytest.raises(ModelFileError, match="a format version that this privet does not know; update privet"):
        load(tmp_path / "m.privet")
