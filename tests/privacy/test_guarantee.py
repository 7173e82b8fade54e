import json
import math
from fractions import Fraction

import pytest

from privet.errors import ModelFileError
from privet.privacy.events import DiscreteGaussian, DiscreteLaplace, NoNoise, Parallel, Seeded, Sequential, Unproven
from privet.privacy.guarantee import Guarantee

ROWS = DiscreteLaplace("number of rows", 0.05, 1, Fraction(20))
LEAVES = DiscreteLaplace("class counts of leaves", 0.95, 10, Fraction(11))
PUBLIC = ["names and domains of 2 attributes", "2 classes"]


def promised(event=LEAVES, **changes) -> Guarantee:
    return Guarantee.from_event(event, **{"public": PUBLIC, **changes})


def test_the_price_is_the_sum_over_the_same_rows_and_the_maximum_over_disjoint_ones():
    both = Sequential((ROWS, LEAVES))
    assert promised(both).epsilon == 1.0
    assert promised(Parallel((both, LEAVES), because="no row is in more than one batch")).epsilon == 1.0


def test_the_sentence_says_it_all():
    assert promised(Sequential((ROWS, LEAVES))).sentence == (
        "The chance of any outcome of this fit is the same whether or not any one row was in the table, up to a factor "
        "e^1 = 2.72 (pure differential privacy, epsilon = 1, neighbours: one row more or less; trusted: the curator "
        "who held the rows; public beforehand: names and domains of 2 attributes; 2 classes)."
    )


def test_the_sentence_names_what_the_caller_promised():
    sentence = promised(assumptions=["no row is in more than one batch"]).sentence
    assert "; provided that no row is in more than one batch; trusted:" in sentence


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (1.2, "e^1.2 = 3.33 "),
        (1.0000004, "e^1.0000004 = 2.72 "),
        (0.1, "e^0.1 = 1.11 "),
        (99.0, "e^99, which is next to no promise at all ("),
    ],
)
def test_the_sentence_never_rounds_to_the_better(epsilon, shown):
    event = DiscreteLaplace("counts", epsilon, 1, Fraction(1) / Fraction(epsilon))
    assert f"up to a factor {shown}" in promised(event).sentence


def test_a_release_without_a_finite_epsilon_is_not_private():
    guarantee = promised(DiscreteGaussian("counts", 0.5, 1, Fraction(1)))
    assert (guarantee.mode, guarantee.reason) == ("not private", "no finite epsilon bounds what it gives away")


def test_leaks_come_first_in_the_sentence():
    sentence = promised(leaks=["bounds of 'age'", "b", "c", "d", "e"]).sentence
    assert sentence.startswith(
        "Apart from bounds of 'age', b, c and 2 more, read from the rows without noise and covered by no promise: "
        "the chance"
    )


def test_without_noise_the_model_is_not_private_and_says_so():
    guarantee = promised(Sequential((ROWS, NoNoise("class counts of leaves"))))
    assert (guarantee.mode, guarantee.epsilon) == ("not private", math.inf)
    assert (
        str(guarantee) == "This model is not private: it was fitted with epsilon=inf, so exact numbers were released."
    )


def test_seeded_noise_promises_nothing():
    guarantee = promised(Sequential((ROWS, Seeded(LEAVES))))
    assert (guarantee.mode, guarantee.epsilon) == ("not private", math.inf)
    assert "its noise came from a seed" in guarantee.sentence


CLAIMED = Unproven(LEAVES, "sizes are taken as they seem")


def test_what_is_not_proven_says_so_and_why():
    guarantee = promised(Sequential((ROWS, CLAIMED)))
    assert (guarantee.mode, guarantee.epsilon) == ("paper", math.inf)
    assert guarantee.sentence == "None proven: sizes are taken as they seem."
    twice = promised(Sequential((CLAIMED, CLAIMED, Unproven(ROWS, "rows are, too"))))
    assert twice.reason == "rows are, too, and sizes are taken as they seem"


@pytest.mark.parametrize("worse", [NoNoise("x"), Seeded(LEAVES)])
def test_what_is_not_private_at_all_is_not_called_unproven(worse):
    guarantee = promised(Sequential((CLAIMED, worse)))
    assert guarantee.mode == "not private"
    assert guarantee.sentence.startswith("This model is not private: it")
    assert promised(Unproven(worse, "x")).mode == "not private"


def test_one_batch_without_noise_among_private_ones_is_named_for_what_it_is():
    guarantee = promised(Parallel((NoNoise("x"), LEAVES, LEAVES), because="y"))
    assert guarantee.mode == "not private"
    assert guarantee.reason == "it was fitted with epsilon=inf, so exact numbers were released"


@pytest.mark.parametrize(
    "guarantee",
    [
        promised(),
        promised(NoNoise("x")),
        promised(Seeded(LEAVES)),
        promised(CLAIMED),
        promised(Parallel((ROWS, LEAVES), because="y"), leaks=["z"], assumptions=["a"]),
    ],
)
def test_a_guarantee_comes_back_from_json_equal(guarantee):
    text = json.dumps(guarantee.to_json(), allow_nan=False)
    assert Guarantee.from_json(json.loads(text)) == guarantee


def test_a_proof_cannot_be_claimed_by_leaving_the_reason_out():
    claimed = promised(CLAIMED).to_json()
    for changes in ({"mode": "sound"}, {"reason": ""}, {"epsilon": 0.95}):
        with pytest.raises(ModelFileError, match="does not follow from its receipts"):
            Guarantee.from_json({**claimed, **changes})


def changed(**changes):
    return {**promised().to_json(), **changes}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "lacks a field or has one too many"),
        ({**changed(), "extra": 1}, "lacks a field or has one too many"),
        (changed(epsilon=0.5), "does not follow from its receipts"),
        (changed(epsilon=0.0), "does not follow from its receipts"),
        (changed(epsilon="1"), "does not follow from its receipts"),
        (changed(delta=0.1), "does not follow from its receipts"),
        (changed(mode="perfect"), "does not follow from its receipts"),
        (changed(unit="galaxy"), "does not follow from its receipts"),
        (changed(neighbours="none"), "does not follow from its receipts"),
        (changed(sentence="Trust us."), "does not follow from its receipts"),
        (changed(public="everything"), "the guarantee's public is not what privet writes"),
        (changed(leaks=[3]), "the guarantee's leaks is not what privet writes"),
        (changed(versions=[]), "the guarantee's versions are not what privet writes"),
        (changed(versions={"privet": 3}), "the guarantee's versions are not what privet writes"),
        (changed(event={"event": "Magic"}), "a receipt of an unknown kind"),
    ],
)
def test_a_damaged_or_boastful_guarantee_is_refused(data, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        Guarantee.from_json(data)
