"""What Flower carries, without Flower: the same questions and replies, handed over in memory."""

import json

import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError, PartyError
from privet.partitioned import SecureSumForest
from privet.partitioned.transports.flower import answer, open_round, terms_of
from tests.partitioned.sums import NAMES, keys_of, table_of
from tests.partitioned.sums import structure_of as small_structure
from tests.partitioned.sums import terms_of as small_terms


@pytest.fixture
def nodes(tmp_path):
    """The configuration of four SuperNodes."""
    terms = small_terms()
    terms.structure.save(tmp_path / "structure.json")
    terms.roster.save(tmp_path / "roster.json")
    common = {"structure": str(tmp_path / "structure.json"), "roster": str(tmp_path / "roster.json")}
    for name, key in keys_of().items():
        (tmp_path / name).mkdir()
        key.save(tmp_path / name / "private.key")
        table = table_of(name)
        rows = table.X.assign(**{table.schema.target: table.y})
        rows.to_csv(tmp_path / name / "rows.csv", index=False)
    return {
        name: common | {"key": str(tmp_path / name / "private.key"), "rows": str(tmp_path / name / "rows.csv")}
        for name in NAMES
    }


def carried(nodes, change=lambda asked: asked):
    """Ask all nodes, as an honest ServerApp does, or as one that changes the question on its way."""
    return lambda asked: [answer(change(asked), settings) for settings in nodes.values()]


def test_two_questions_open_the_sum_and_two_more_the_same_one(nodes):
    terms = terms_of(nodes["bank"])
    model = open_round(carried(nodes), terms, 1)
    assert isinstance(model, SecureSumForest)
    again = open_round(carried(nodes), terms, 2)
    assert_array_equal(again.noisy_counts_, model.noisy_counts_)


def forged(asked):
    """The mill's key, signed by somebody else."""
    if asked["phase"] == "key":
        return asked
    keys = dict(zip(asked["names"], asked["messages"], strict=True))
    body = {key: value for key, value in json.loads(keys["mill"]).items() if key != "signature"}
    keys["mill"] = json.dumps({**body, "signature": keys_of()["bank"].sign(body)}).encode()
    return asked | {"messages": list(keys.values())}


def test_a_carrier_that_forges_a_key_is_found_out_by_the_parties(nodes):
    with pytest.raises(PartyError, match="bank stopped the round: the signature of the key message of 'mill' is not"):
        open_round(carried(nodes, forged), terms_of(nodes["bank"]), 1)


def test_a_carrier_that_replays_a_key_is_found_out_by_the_parties(nodes):
    overheard = carried(nodes)({"phase": "key", "attempt": 1})

    def replayed(asked):
        return asked | ({"messages": [reply["message"] for reply in overheard]} if asked["phase"] == "masked" else {})

    with pytest.raises(
        PartyError, match="bank stopped the round: the key message of 'bank' is from another attempt than attempt 2"
    ):
        open_round(carried(nodes, replayed), terms_of(nodes["bank"]), 2)


def test_a_node_that_does_not_reply_opens_nothing(nodes):
    three = {name: settings for name, settings in nodes.items() if name != "school"}
    with pytest.raises(PartyError, match="no key message came from 'school' in time; nothing was opened"):
        open_round(carried(three), terms_of(nodes["bank"]), 1)


def test_two_nodes_of_one_party_open_nothing(nodes):
    with pytest.raises(PartyError, match="two SuperNodes speak for 'mill'; nothing was opened: stop one of them"):
        open_round(carried({**nodes, "again": nodes["mill"]}), terms_of(nodes["bank"]), 1)


def test_what_is_wrong_with_a_partys_own_files_stays_with_it(nodes, capsys):
    nodes["mill"]["rows"] = "/secret/place/rows.csv"
    reply = answer({"phase": "key", "attempt": 1}, nodes["mill"])
    assert reply == {"party": "", "refused": "a party could not take part; its own log says why"}
    assert "/secret/place/rows.csv" in capsys.readouterr().err
    with pytest.raises(
        PartyError, match="a SuperNode stopped the round: a party could not take part; its own log says why"
    ):
        open_round(carried(nodes), terms_of(nodes["bank"]), 1)


def test_a_reply_cannot_steer_a_terminal(nodes):
    def rude(_):
        return [{"party": "\x1b[31mmill", "refused": "\x1b]0;gone\x07" + "x" * 10_000}]

    with pytest.raises(PartyError) as refusal:
        open_round(rude, terms_of(nodes["bank"]), 1)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 700


def test_a_question_that_nobody_should_ask_is_refused(nodes):
    reply = answer({"phase": "noised", "attempt": 1}, nodes["bank"])
    assert reply["refused"].startswith("the server asks for a message that no secure sum has")


def test_files_that_are_not_named_are_asked_for():
    with pytest.raises(ParameterError, match="the configuration does not name structure, roster; add the path"):
        terms_of({})


def test_pins_and_the_number_of_honest_parties_are_taken_from_the_configuration(nodes):
    settings = nodes["bank"] | {"honest": 2, "structure-hash": small_structure().hash}
    assert terms_of(settings).honest == 2
    assert terms_of(settings | {"honest": 0}).honest == 3
    with pytest.raises(PartyError, match="does not have the hash that was agreed on"):
        terms_of(settings | {"structure-hash": "0" * 64})


@pytest.fixture
def lenient(nodes):
    """Four SuperNodes of whom one may vanish."""
    return {name: settings | {"dropouts": 1} for name, settings in nodes.items()}


def falling_silent(nodes, name, phase):
    """Ask all nodes, of which one does not reply from ``phase`` on."""
    silent = set()

    def ask(asked):
        silent.update([name] if asked["phase"] == phase else [])
        return [answer(asked, settings) for each, settings in nodes.items() if each not in silent]

    return ask


@pytest.mark.parametrize("phase", ["shares", "masked", "survivors", "unmask"])
def test_five_questions_open_the_sum_without_a_node_that_falls_silent(lenient, phase):
    terms = terms_of(lenient["bank"])
    model = open_round(falling_silent(lenient, "mill", phase), terms, 1)
    counted = list(NAMES) if phase in ("survivors", "unmask") else ["bank", "clinic", "school"]
    assert model.parties == counted
    again = open_round(carried(lenient), terms, 1)
    assert again.parties == counted
    assert_array_equal(again.noisy_counts_, model.noisy_counts_)


def test_a_node_that_refuses_counts_as_one_that_vanished(lenient):
    def ask(asked):
        replies = carried(lenient)(asked)
        return [{"party": "mill", "refused": "no"} if reply["party"] == "mill" and asked["phase"] == "masked" else reply
                for reply in replies]  # fmt: skip

    assert open_round(ask, terms_of(lenient["bank"]), 1).parties == ["bank", "clinic", "school"]


def test_two_nodes_that_fall_silent_open_nothing(lenient):
    def ask(asked):
        gone = ("mill", "school") if asked["phase"] != "key" else ()
        return [answer(asked, settings) for name, settings in lenient.items() if name not in gone]

    with pytest.raises(PartyError, match="no shares message came from 'mill', 'school' in time; nothing was opened"):
        open_round(ask, terms_of(lenient["bank"]), 1)


def test_a_carrier_that_shows_different_survivors_to_different_nodes_opens_nothing(lenient):
    def ask(asked):
        def told(name):
            if asked["phase"] != "survivors" or name in ("bank", "clinic"):
                return asked
            kept = [i for i, each in enumerate(asked["kinds"]) if (each, asked["names"][i]) != ("masked", "bank")]
            return asked | {key: [asked[key][i] for i in kept] for key in ("kinds", "names", "messages")}

        return [answer(told(name), settings) for name, settings in lenient.items()]

    with pytest.raises(
        PartyError, match="there are signatures of this list of survivors of 2 parties, and 3 of 4 must"
    ):
        open_round(ask, terms_of(lenient["bank"]), 1)


def test_a_server_that_opens_a_second_sum_with_a_node_that_returned_is_refused(lenient):
    terms = terms_of(lenient["bank"])
    open_round(falling_silent(lenient, "mill", "masked"), terms, 1)
    with pytest.raises(PartyError, match="bank stopped the round: this party has helped to open the sum in attempt 1"):
        open_round(carried(lenient), terms, 2)


def test_where_too_few_unmask_the_same_attempt_is_run_again(lenient):
    def ask(asked):
        gone = ("mill", "school") if asked["phase"] == "unmask" else ()
        return [answer(asked, settings) for name, settings in lenient.items() if name not in gone]

    terms = terms_of(lenient["bank"])
    with pytest.raises(
        PartyError, match="no unmask message came from 'mill', 'school' in time; .* run this attempt again"
    ):
        open_round(ask, terms, 1)
    assert open_round(carried(lenient), terms, 1).parties == list(NAMES)
