"""Values in bits: eqs 5-8 by hand, frequencies and quartiles from rows and from answers."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.datasets.uci import uci
from privet.errors import ChannelError, DataError, ParameterError
from privet.local import Channel, RandomizedResponse, RecordComplement, Secret, perturb
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.attribute_code import AttributeCode, fewest_bits, pair_from_the_first, pair_from_the_second
from privet.local.channels.coding import Coding
from privet.local.channels.distributions import Gaussian
from privet.schema.encoding import Encoder
from tests.loops import loop_over

CLASSES = ["no", "yes"]


def of_letters(shares):
    return AttributeCode.of(Categorical("letter", list("abcdefgh"[: len(shares)])), shares)


def test_bits_that_tell_values_apart():
    assert [fewest_bits(k) for k in (1, 2, 3, 4, 5, 8, 9, 65_535)] == [0, 1, 2, 2, 3, 3, 4, 16]


def test_equations_7_and_8_by_hand():
    assert pair_from_the_first(6, 3) == [0, 7, 1, 6, 2, 5]
    assert pair_from_the_first(7, 3) == [0, 7, 1, 6, 2, 5, 3]
    assert pair_from_the_second(7, 3) == [7, 1, 6, 2, 5, 3, 4]


@loop_over("k", range(2, 40))
def test_every_value_has_a_partner_but_one_of_an_odd_number(k):
    n_bits = fewest_bits(k)
    for codes in [pair_from_the_first(k, n_bits)] + ([pair_from_the_second(k, n_bits)] if k % 2 else []):
        assert len(set(codes)) == k
        assert max(codes) < 2**n_bits
        assert sum(2**n_bits - 1 - code in codes for code in codes) == k - k % 2


def test_six_values_are_paired_in_order_of_frequency():
    code = of_letters([0.1, 0.3, 0.05, 0.25, 0.2, 0.1])
    # b .3, d .25, e .2, a .1, f .1, c .05
    assert code.codes == (6, 0, 5, 7, 1, 2)
    assert sorted(code.pairs()) == [(0.1, 0.05), (0.2, 0.1), (0.3, 0.25)]
    assert [code.mirror(c) for c in code.codes] == [1, 7, 2, 0, 6, 5]


def test_of_seven_values_the_alternative_with_more_anonymity_is_taken():
    one_rare = of_letters([0.2, 0.2, 0.15, 0.15, 0.1, 0.15, 0.05])
    assert (0.05, 0.0) in list(one_rare.pairs())
    # Whether .4 is paired with .1, or stays alone while all others are equal pairs.
    one_common = of_letters([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    from_first = AttributeCode(one_common.attribute, 3, one_common.shares, tuple(pair_from_the_first(7, 3)))
    from_second = AttributeCode(one_common.attribute, 3, one_common.shares, tuple(pair_from_the_second(7, 3)))
    best = max(from_first.anonymity(0.7), from_second.anonymity(0.7))
    assert one_common.anonymity(0.7) == pytest.approx(best)
    assert from_first.anonymity(0.7) != pytest.approx(from_second.anonymity(0.7))


def test_equally_frequent_cells_count_upwards():
    assert AttributeCode.of(Numeric("x", 0, 1, bins=4), [1, 1, 1, 1]).codes == (0, 1, 2, 3)
    assert AttributeCode.of(Numeric("x", 0, 1, bins=5), [1, 1, 1, 1, 1]).codes == (0, 1, 2, 6, 7)


SCHEMA = Schema(
    [Categorical("job", ["none", "clerk", "nurse"]), Numeric("age", 0, 100), Numeric("gain", 0, 1000)], classes=CLASSES
)


def rows():
    job = ["clerk"] * 5 + ["nurse"] * 2 + [None] * 1
    return pd.DataFrame({"job": job, "age": [10, 20, 30, 40, 50, 60, 70, 80.0], "gain": [0.0] * 7 + [5.0]})


def test_from_rows_reads_frequencies_and_quartiles_and_says_so():
    coding = Coding.from_rows(rows(), SCHEMA)
    job, age, gain = coding.codes
    assert_allclose(job.shares, [0, 5 / 8, 2 / 8, 1 / 8])
    assert job.codes == (2, 0, 3, 1)
    # The quartiles are 27.5, 45 and 62.5; a quarter holds its upper border, so gain has one cell of 0 and one above.
    assert_allclose(age.attribute.cuts, [27.5, 45, 62.5])
    assert age.shares == (0.25,) * 4
    assert gain.shares == (7 / 8, 1 / 8)
    assert [code.n_bits for code in coding.codes] == [2, 2, 2]
    assert coding.leaks[:1] == ("frequencies of 'job'",)
    assert coding.leaks[-2:] == ("quartiles of 'age'", "quartiles of 'gain'")
    bits = coding.bits(Encoder(coding.schema).encode(rows()))
    assert_array_equal(bits[[0, 5, 7]], [[0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 1]])


def test_a_quartile_belongs_to_the_quarter_below_it():
    coding = Coding.of(SCHEMA, quartiles={"age": [20, 40, 60]})
    codes = Encoder(coding.schema).encode(rows().assign(age=[20, 20.5, 40, 41, 60, 61, 0, 100]))
    assert_array_equal(codes[:, 1], [0, 1, 1, 2, 2, 3, 0, 3])


def test_without_facts_values_are_equally_frequent_and_numbers_in_four_cells():
    coding = Coding.of(Schema([*SCHEMA.attributes, Numeric("score", 0, 1, bins=8)], classes=CLASSES))
    assert [code.n_bits for code in coding.codes] == [2, 2, 2, 3]
    assert_allclose(coding.codes[1].attribute.cuts, [25, 50, 75])
    assert coding.leaks == ()


def test_a_missing_value_without_a_code_is_coded_as_the_most_frequent():
    coding = Coding.of(SCHEMA, {"job": {"none": 0.2, "clerk": 0.5, "nurse": 0.3}})
    table = rows().iloc[-1:]
    assert_array_equal(coding.bits(Encoder(coding.schema).encode(table))[0, :2], coding.codes[0].bits_of_value[1])
    with_share = Coding.of(SCHEMA, {"job": {"clerk": 0.5, None: 0.1}})
    assert len(with_share.codes[0].codes) == 4


def test_a_table_of_bits_is_read_by_its_own_schema():
    coding = Coding.of(SCHEMA)
    assert coding.bit_names == ("job:0", "job:1", "age:0", "age:1", "gain:0", "gain:1")
    bits = coding.bits(Encoder(coding.schema).encode(rows()))
    table = pd.DataFrame(bits, columns=list(coding.bit_names))
    assert_array_equal(Encoder(coding.bit_schema).encode(table) > 0, bits > 0)


def test_the_description_says_value_code_pair_frequency_and_anonymity():
    coding = Coding.from_rows(rows(), SCHEMA)
    text = coding.describe()
    assert "'job': 2 bits, binary anonymity" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["'clerk'", "00", "'nurse'", "0.6250"] in lines
    assert ["(missing)", "01", "'none'", "0.1250"] in lines
    assert ["above", "0", "to", "1000", "11", "0", "to", "0", "0.1250"] in lines
    hostile = Schema([Categorical("x", ["\x1b[31m", "b"])], classes=CLASSES)
    assert "\x1b" not in Coding.of(hostile).describe()


def test_json_brings_a_coding_back_and_nothing_else():
    coding = Coding.from_rows(rows(), SCHEMA)
    data = json.loads(json.dumps(coding.to_json()))
    assert Coding.from_json(data, coding.schema) == coding
    for change in (
        {"codes": [0, 0, 3, 1]},
        {"codes": [0, 1, 2, 4]},
        {"shares": [2.0, 0, 0, 0]},
        {"bits": True},
        {"field": "x"},
    ):
        damaged = {**data, "fields": [{**data["fields"][0], **change}, *data["fields"][1:]]}
        with pytest.raises(ChannelError, match=r"damaged|changed"):
            Coding.from_json(damaged, coding.schema)
    with pytest.raises(ChannelError, match="are not those of the schema"):
        Coding.from_json({**data, "fields": data["fields"][:1]}, coding.schema)
    with pytest.raises(ChannelError, match="lacks a part"):
        Coding.from_json({"fields": []}, coding.schema)


def test_facts_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="no attribute 'wage'"):
        Coding.of(SCHEMA, {"wage": {}})
    with pytest.raises(ParameterError, match="name a value that it does not have"):
        Coding.of(SCHEMA, {"job": {"pilot": 0.5}})
    with pytest.raises(ParameterError, match="not all 0"):
        Coding.of(SCHEMA, {"job": {"clerk": 0.0}})
    with pytest.raises(ParameterError, match="has categories and no quartiles"):
        Coding.of(SCHEMA, quartiles={"job": [1, 2, 3]})
    with pytest.raises(ParameterError, match="three quartiles, in increasing order"):
        Coding.of(SCHEMA, quartiles={"age": [3, 2, 1]})
    with pytest.raises(ParameterError, match="one value only"):
        Coding.of(Schema([Categorical("x", ["only"])], classes=CLASSES))
    with pytest.raises(DataError, match="has no rows"):
        Coding.from_rows(rows().iloc[:0], SCHEMA)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["none", "clerk", "nurse"], size=n, p=[0.1, 0.3, 0.6])
    return pd.DataFrame(
        {"job": job, "age": rng.uniform(0, 100, size=n) ** 2 / 100, "gain": rng.uniform(0, 1000, size=n)}
    )


# The square of a uniform number has its quartiles at 6.25, 25 and 56.25.
FINE = SCHEMA.with_bins(40)


@pytest.mark.parametrize("kind", ["records", "answers", "noise"])
def test_an_earlier_wave_tells_frequencies_and_quartiles_without_a_leak(kind):
    table = people(12_000)
    channel = {
        "records": lambda: RecordComplement(FINE, theta=0.8).channel,
        "answers": lambda: RandomizedResponse(FINE, keep=0.7).channel,
        "noise": lambda: Channel.of(FINE, [AddedNoise(FINE.attributes[1], Gaussian(3.0))]),
    }[kind]()
    coding = Coding.from_answers(perturb(table, channel, Secret.of_key(bytes(32))), channel)
    assert coding.leaks == ()
    assert_allclose(coding.codes[0].shares[:3], [0.1, 0.3, 0.6], atol=0.05)
    assert coding.codes[0].codes[2] == 0
    assert_allclose(coding.codes[1].attribute.cuts, [6.25, 25, 56.25], atol=4)


@pytest.mark.real_data
def test_adult_and_census_code_to_40_and_133_bits_with_the_anonymity_known_of_them():
    adult, census = (uci(name) for name in ("adult", "census-income-kdd"))
    coding = Coding.from_rows(adult.X.iloc[:32_561], adult.schema)
    assert coding.n_bits == 40
    found = [round(coding.anonymity(theta), 2) for theta in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)]
    assert found == [0.87, 0.85, 0.81, 0.73, 0.60, 0.51, 0.37]
    assert Coding.from_rows(census.X.iloc[:20_000], census.schema).n_bits == 133


def test_facts_that_are_no_numbers_are_refused_in_words():
    schema = Schema([Numeric("age", 0, 100), Categorical("job", ["cook", "clerk"])], classes=["no", "yes"])
    with pytest.raises(ParameterError, match="'age' has three quartiles, in increasing order; correct them"):
        Coding.of(schema, quartiles={"age": ["a", 1, 2]})
    with pytest.raises(ParameterError, match="the frequencies of 'job' must be numbers; write them without quotes"):
        Coding.of(schema, frequencies={"job": {"cook": "often"}})


def test_what_is_never_missing_has_no_share_and_no_code_for_it():
    schema = Schema([Numeric("age", 0, 100), Categorical("job", ["cook", "clerk"])], classes=["no", "yes"])
    complete = schema.with_attributes(replace(a, never_missing=True) for a in schema.attributes)
    with pytest.raises(ParameterError, match="'job' have a share of missing values, but the schema declares it never"):
        Coding.of(complete, {"job": {"cook": 0.5, None: 0.5}})
    with pytest.raises(
        ParameterError, match="the coding is of another schema: what is never missing differs; make it from this one"
    ):
        _ = RecordComplement(complete, theta=0.9, coding=Coding.of(schema)).channel
