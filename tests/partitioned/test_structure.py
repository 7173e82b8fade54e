import json
import math

import pytest
from numpy.testing import assert_array_equal

from privet import PrivateRDTClassifier, Schema
from privet.errors import ParameterError, PartyError
from privet.partitioned import SplitStructure, Structure
from privet.partitioned.split_structure import load_structure
from privet.privacy.unit import Unit
from tests.partitioned.parties import SCHEMA, SPLIT, split_structure, structure, table

AGREED = structure(0.1)


def test_the_trees_are_those_that_private_rdt_draws():
    model = PrivateRDTClassifier(SCHEMA, n_trees=4, random_state=3).fit(*table())
    assert_array_equal(AGREED.forest.attribute, model.forest_.attribute)
    assert_array_equal(AGREED.forest.cut, model.forest_.cut)


@pytest.mark.parametrize("epsilon", [0.1, 1e-6, 7 / 3, 1e300, math.inf])
def test_a_structure_reads_back_with_the_same_hash_and_price(tmp_path, epsilon):
    drawn = structure(epsilon, unit=Unit("person", 3))
    drawn.save(tmp_path / "s.json")
    read = Structure.load(tmp_path / "s.json", pin=drawn.hash)
    assert (read.hash, read.epsilon, read.unit, read.schema) == (drawn.hash, epsilon, Unit("person", 3), SCHEMA)
    assert read.receipt == drawn.receipt


def test_a_price_is_the_decimal_that_was_written():
    assert AGREED.to_json()["epsilon"] == "1/10"


def test_a_row_moves_as_many_counts_as_there_are_trees_and_a_person_more():
    assert AGREED.sensitivity == 4
    assert structure(unit=Unit("person", 3)).sensitivity == 12


def test_two_rounds_never_share_a_hash_and_a_named_one_always_has_the_same():
    assert structure().hash != structure().hash
    assert structure(round_="spring").hash == structure(round_="spring").hash


def test_the_number_of_rows_has_to_come_from_somewhere():
    unsized = Schema(SCHEMA.attributes, classes=[5, 9])
    with pytest.raises(ParameterError, match="give roughly how many all parties have together"):
        Structure.draw(unsized)
    assert Structure.draw(unsized, height=2).forest.depth == 2
    assert Structure.draw(unsized, n_rows=600).schema.rows == 600


def trees_of(**changes):
    return {**AGREED.to_json()["trees"], **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.1}, "its epsilon is no fraction"),
        ({"epsilon": "-1/10"}, "its epsilon is no fraction"),
        ({"epsilon": "1/0"}, "its epsilon is no fraction"),
        ({"epsilon": "2/20"}, "not as privet writes it"),
        ({"epsilon": "1/10000000000"}, "out of range"),
        ({"max_rows": 2}, "bounds the rows of a person"),
        ({"round": "../x"}, "a party's name has at most"),
        ({"round": 5}, "a party's name has at most"),
        ({"party": 5}, "a party's name has at most"),
        ({"method": "dpdf"}, "of the method .dpdf."),
        ({"schema": {}}, "the model's schema is damaged"),
        ({"trees": trees_of(n_trees=3)}, "the trees have too many or too few nodes"),
        ({"trees": trees_of(attribute=[99, *trees_of()["attribute"][1:]])}, "an attribute that the schema lacks"),
        ({"more": 1}, "lacks a part or has one too many"),
    ],
)
def test_a_damaged_structure_is_refused(changes, words):
    with pytest.raises(PartyError, match=words):
        Structure.from_json({**AGREED.to_json(), **changes})


def test_parts_of_a_split_have_their_own_attributes_and_share_the_price():
    agreed = split_structure(1.0)
    assert {part.party: list(part.schema.names) for part in agreed.parts} == SPLIT
    assert [part.epsilon for part in agreed.parts] == [0.5, 0.5]
    assert len({part.round for part in agreed.parts}) == 1
    assert [part.epsilon for part in split_structure(1.0, variant="paper").parts] == [1.0, 1.0]


def test_a_split_structure_reads_back(tmp_path):
    agreed = split_structure(1.0)
    agreed.save(tmp_path / "s.json")
    read = load_structure(tmp_path / "s.json", pin=agreed.hash)
    assert isinstance(read, SplitStructure)
    assert read.hash == agreed.hash
    AGREED.save(tmp_path / "one.json")
    assert load_structure(tmp_path / "one.json").hash == AGREED.hash


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ({}, "which attributes each party has"),
        ({"bank": []}, "a list of at least one attribute"),
        ({"bank": "age"}, "a list of at least one attribute"),
        ({**SPLIT, "bank": ["age"]}, "no party of the split has the attribute 'pay'"),
        ({**SPLIT, "bank": ["age", "pay", "job"]}, "the attribute 'job' is listed twice in the split"),
        ({**SPLIT, "bank": ["age", "pay", "shoes"]}, "gives 'bank' the attribute 'shoes', which the schema lacks"),
    ],
)
def test_a_split_gives_every_attribute_to_one_party(split, words):
    with pytest.raises(ParameterError, match=words):
        SplitStructure.draw(SCHEMA, split)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parts: parts[1].update(round="other"), "must agree on method, round, epsilon, delta, unit, classes"),
        (lambda parts: parts[1].update(epsilon="3"), "must agree on method, round, epsilon, delta, unit, classes"),
        (
            lambda parts: parts[1].update(schema=parts[0]["schema"], trees=parts[0]["trees"]),
            "have the same attribute; give it to one of them",
        ),
        (lambda parts: parts[1].update(party=None), "needs one part for each party"),
        (lambda parts: parts.reverse(), "needs one part for each party, in the order of their names"),
        (lambda parts: parts.clear(), "needs one part for each party"),
        (lambda parts: parts.append(5), "lists no parts"),
    ],
)
def test_a_damaged_split_structure_is_refused(change, words):
    document = json.loads(json.dumps(split_structure(1.0).to_json()))
    change(document["parts"])
    with pytest.raises(PartyError, match=words):
        SplitStructure.from_json(document)


def test_another_file_is_no_structure(tmp_path):
    (tmp_path / "s.json").write_text("{}")
    with pytest.raises(PartyError, match="is not a structure; pass the file that `privet party structure` wrote"):
        load_structure(tmp_path / "s.json")


def test_the_variant_is_one_of_two():
    with pytest.raises(ParameterError, match="variant='cheap' is not known; choose from sound, paper"):
        split_structure(variant="cheap")
