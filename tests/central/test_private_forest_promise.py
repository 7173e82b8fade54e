"""What a forest promises survives files, other kinds of numbers, and whatever context it is fitted in."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from privet import Categorical, Ledger, Numeric, PrivateForestClassifier, Schema, load
from privet.central.receipts import in_sequence
from privet.central.weights import double_floats
from privet.errors import BudgetExceeded, ModelFileError, ParameterError
from privet.model_file import write_document
from privet.privacy.events import NormalObjective

MANY = Schema([Numeric(f"x{i}", 0, 1) for i in range(30)], classes=["no", "yes"], rows=6_000)


def rows(n=6_000):
    X = np.random.default_rng(3).random((n, 30))
    return X, np.where(X[:, 0] > 0.5, "yes", "no")


def with_delta(**options):
    return PrivateForestClassifier(MANY, epsilon=1.0, delta=1e-6, **options)


def test_a_model_with_delta_comes_back_with_its_epsilon_and_fits_anew_with_noise(tmp_path):
    with_delta().fit(*rows()).save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert (again.epsilon, again.delta) == (1.0, 1e-6)
    refitted = clone(again).set_params(schema=MANY).fit(*rows())
    assert refitted.guarantee_.mode == "sound"
    assert (refitted.guarantee_.epsilon, refitted.guarantee_.delta) == (1.0, 1e-6)
    assert "epsilon = 1, delta = 1e-06" in refitted.guarantee_.sentence


def test_how_attributes_are_grouped_does_not_decide_whether_delta_is_used():
    names = [Categorical(f"c{i}", [str(v) for v in range(2 + i % 7)]) for i in range(12)]
    schema = Schema(names, classes=["no", "yes"], rows=40_000)
    X = np.full((3, 12), "0", dtype=object)
    used = {
        PrivateForestClassifier(schema, delta=1e-6, random_state=seed).fit(X, ["no", "yes", "no"]).guarantee_.delta > 0
        for seed in range(8)
    }
    assert len(used) == 1


def test_a_ledger_is_charged_the_delta_that_was_spent_and_says_what_was_asked(tmp_path):
    numbers = [Numeric("x", 0, 1), Numeric("z", 0, 1)]
    few, many = (Schema(numbers, classes=["no", "yes"], rows=n_rows) for n_rows in (40, 6_000))
    book = Ledger(tmp_path / "l.db", dataset="a", epsilon=9, delta=1e-5)
    X, y = rows()
    small = PrivateForestClassifier(few, delta=1e-6, ledger=book).fit(X[:, :2], y)
    assert small.guarantee_.delta == 0  # so few rows have a single tree, and no plan of normal noise
    model = PrivateForestClassifier(many, delta=1e-6, ledger=book).fit(X[:, :2], y)
    # K-norm noise of two trees is smaller, which what was released decides: the plan is promised.
    assert not any(isinstance(own, NormalObjective) for own in in_sequence(model.guarantee_.event))
    assert model.guarantee_.delta == 1e-6
    assert [entry["delta"] for entry in settled(tmp_path / "l.db")] == [0.0, 1e-6]
    pure = Ledger(tmp_path / "p.db", dataset="a", epsilon=9)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon=1.0 and delta=1e-06, but 9.0 is left .*without delta"):
        with_delta(ledger=pure).fit("no such file.csv")


def settled(path):
    from privet.privacy.ledger.ledger_file import LedgerFile

    with LedgerFile(path).transaction() as transaction:
        return [entry.body for entry in transaction.entries if entry.kind == "settled"]


@pytest.mark.parametrize("kind", [np.float16, np.float32, Fraction])
def test_any_kind_of_number_is_a_plain_one(tmp_path, kind):
    book = Ledger(tmp_path / "l.db", dataset="a", epsilon=9, delta=1e-2)
    options = {"prior_variance": 1.5, "balance_share": 0.125, "selection_share": 0.25, "delta": 2.0**-12}
    model = PrivateForestClassifier(
        MANY, n_attributes=20, ledger=book, **{name: kind(value) for name, value in options.items()}
    ).fit(*rows())
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    for name, value in options.items():
        assert (type(getattr(again, name)), getattr(again, name)) == (float, value)


def test_the_callers_decimal_context_cannot_make_a_fit_fail():
    usual = double_floats.powers()
    double_floats.powers.cache_clear()
    with decimal.localcontext() as context:
        context.traps[decimal.FloatOperation] = context.traps[decimal.Inexact] = True
        context.prec, context.Emax, context.rounding = 3, 5, decimal.ROUND_UP
        strict = double_floats.powers()
    np.testing.assert_array_equal(np.concatenate(strict), np.concatenate(usual))


def test_too_many_choices_are_refused_before_anything_is_drawn(tmp_path):
    book = Ledger(tmp_path / "l.db", dataset="a", epsilon=1)
    crowd = Schema(MANY.attributes, classes=["no", "yes"], rows=10**9)
    model = PrivateForestClassifier(crowd, epsilon=1e-4, n_attributes=25, ledger=book)
    with pytest.raises(ParameterError, match="choosing 25 attributes .* pass a smaller n_attributes, or raise epsilon"):
        model.fit(*rows())
    assert book.left == 1.0


@pytest.mark.parametrize(
    ("name", "forged"),
    [("noise_std", 0.0), ("noise_std", 1.0), ("variances", 0.0), ("variances", 9.0), ("variances", math.pi)],
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_file_that_says_another_noise_or_prior_is_refused(tmp_path, name, forged, delta):
    document = PrivateForestClassifier(MANY, delta=delta).fit(*rows()).to_document()
    structure = {**document["structure"], name: [forged] * len(document["structure"]["trees"])}
    write_document(tmp_path / "m.privet", {**document, "structure": structure})
    with pytest.raises(ModelFileError, match="the file (was changed|is damaged)"):
        load(tmp_path / "m.privet")
