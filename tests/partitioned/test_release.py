"""What a combiner refuses, each with a sentence of its own."""

import json
from dataclasses import replace

import numpy as np
import pytest

from privet import HorizontalForest
from privet.errors import PartyError
from privet.model_file import MAX_COUNT
from privet.partitioned import PrivateKey, PublicKey, Release, Roster, Structure
from privet.privacy import events
from tests.partitioned.parties import SCHEMA, parties, released, roster_of, signed_anew, structure, table

AGREED = structure(0.5, round_="spring")


@pytest.fixture(scope="module")
def holders(tmp_path_factory):
    return parties(tmp_path_factory.mktemp("parties"))


@pytest.fixture(scope="module")
def releases(holders):
    return released(holders, AGREED)


@pytest.fixture
def combine(holders):
    return lambda sent, agreed=AGREED, roster=None: HorizontalForest.combine(agreed, roster or roster_of(holders), sent)


def test_a_release_reads_back_byte_for_byte(releases, tmp_path):
    releases[0].save(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_bytes() == releases[0].bytes
    assert Release.load(tmp_path / "r.json").bytes == releases[0].bytes


def test_any_change_breaks_the_signature(combine, releases):
    counts = [releases[0].document["counts"][0] + 1, *releases[0].document["counts"][1:]]
    for change in ({"counts": counts}, {"round": "autumn"}, {"party": "clinic"}, {"signature": "00" * 64}):
        with pytest.raises(PartyError, match="is not that of its key in the roster: it was changed, or somebody else"):
            combine([Release({**releases[0].document, **change})])


def test_who_signs_with_another_key_is_not_the_party(combine, releases):
    forged = signed_anew(holder_of("bank"), releases[0])
    with pytest.raises(PartyError, match="the signature of the release of 'bank' is not that of its key in the roster"):
        combine([forged])


def holder_of(name):
    return type("Forger", (), {"key": PrivateKey.generate(name)})


def test_who_is_not_in_the_roster_is_refused(combine, holders, releases):
    with pytest.raises(PartyError, match="the party 'bank' is not in the roster"):
        combine(releases, roster=Roster([holders["clinic"].public, holders["school"].public]))


def test_a_party_counts_once(combine, releases):
    with pytest.raises(
        PartyError, match="there are two releases of 'bank', and its rows would count twice; leave one out"
    ):
        combine([*releases, releases[0]])


def test_a_party_under_two_names_does_not_get_into_a_roster(holders):
    twin = PublicKey("twin", holders["bank"].public.hex)
    with pytest.raises(PartyError, match="'bank' and 'twin' have the same key, so they are one party under two names"):
        Roster([holders["bank"].public, twin])


def test_a_party_under_anothers_name_is_refused(combine, holders, releases):
    again = signed_anew(holders["bank"], releases[0], party="clinic")
    with pytest.raises(PartyError, match="the signature of the release of 'clinic' is not that of its key"):
        combine([releases[0], again])


def test_a_replay_from_another_round_is_refused(combine, holders, releases):
    earlier = structure(0.5, round_="winter")
    replayed = holders["bank"].release(earlier, *table())
    with pytest.raises(PartyError, match="the release of 'bank' is from another round; ask .* of round spring"):
        combine([replayed, *releases[1:]])


def test_another_schema_is_refused(combine, holders):
    other = Structure.draw(replace(SCHEMA, rows=601), epsilon=0.5, n_trees=4, round_="spring", random_state=3)
    with pytest.raises(PartyError, match="the release of 'bank' was counted with another schema"):
        combine([holders["bank"].release(other, *table())])


def test_another_structure_is_refused(combine, holders):
    other = structure(0.5, round_="spring", random_state=4)
    with pytest.raises(PartyError, match="the release of 'bank' was counted on a structure with another hash"):
        combine([holders["bank"].release(other, *table())])


@pytest.mark.parametrize(
    "damage",
    [
        lambda counts: counts[:-1],
        lambda counts: [*counts, 1],
        lambda counts: [float(counts[0]), *counts[1:]],
        lambda counts: [True, *counts[1:]],
        lambda counts: [MAX_COUNT + 1, *counts[1:]],
        lambda counts: [10**400, *counts[1:]],
        lambda counts: "none",
        lambda counts: None,
    ],
)
def test_damaged_counts_are_refused_though_the_party_itself_signed_them(combine, holders, releases, damage):
    damaged = signed_anew(holders["bank"], releases[0], counts=damage(releases[0].document["counts"]))
    with pytest.raises(
        PartyError, match="the counts in the release of 'bank' are damaged: each leaf and class needs one whole number"
    ):
        combine([damaged])


@pytest.mark.parametrize(
    "event",
    [
        events.to_json(replace(AGREED.receipt, epsilon=0.4)),
        events.to_json(replace(AGREED.receipt, sensitivity=1)),
        events.to_json(events.NoNoise("class counts of leaves")),
        events.to_json(events.Seeded(AGREED.receipt)),
        {},
        None,
    ],
)
def test_other_noise_than_was_agreed_on_is_refused(combine, holders, releases, event):
    other = signed_anew(holders["bank"], releases[0], event=event)
    with pytest.raises(PartyError, match="does not have the noise that the structure requires"):
        combine([other])


def test_numbers_beyond_any_table_are_not_added_up(combine, holders, releases):
    huge = [MAX_COUNT] * len(releases[0].document["counts"])
    sent = [
        signed_anew(holder, release, counts=huge) for holder, release in zip(holders.values(), releases, strict=True)
    ]
    with pytest.raises(PartyError, match="the parties' counts add up to more than any table has"):
        combine(sent)


def test_no_release_makes_no_model(combine):
    with pytest.raises(PartyError, match="there is no release to combine; name the files that the parties sent"):
        combine([])


@pytest.mark.parametrize("changes", [{"party": 5}, {"signature": None}, {"round": {}}, {"party": "a" * 65}])
def test_what_is_no_name_or_hash_is_damage(releases, changes):
    with pytest.raises(PartyError, match="a name, a hash or the signature is invalid; fetch it again"):
        Release.from_json({**releases[0].document, **changes})


def test_a_damaged_release_ends_in_an_error_or_is_the_release(holders, releases, tmp_path):
    content, rng, refused = releases[0].bytes, np.random.default_rng(1), 0
    for _ in range(500):
        changed = bytearray(content)
        for position in rng.integers(0, len(changed), rng.integers(1, 4)):
            changed[position] = rng.integers(0, 256)
        (tmp_path / "r.json").write_bytes(bytes(changed))
        try:
            read = Release.load(tmp_path / "r.json")
            read.check(AGREED, roster_of(holders))
            assert json.loads(read.bytes) == json.loads(content)
        except PartyError:
            refused += 1
    assert refused > 450
