"""Parties as processes of their own, over a folder."""

import multiprocessing
import os
import re
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import load
from privet.errors import ParameterError, PartyError
from privet.partitioned import SecureSumForest
from privet.partitioned.secure_sum.messages import KEY, MASKED, SHARES, SURVIVORS, UNMASK
from privet.partitioned.transports.directory import Directory
from tests.partitioned.sums import NAMES, TEN, conversation, messages, parties_of, prepare, terms_of

# So long that even a busy machine is done; nothing waits so long but what fails.
LONG, SHORT = 900.0, 0.3


def take_part(name, stores, shared, attempt, timeout, outcome, settings=None):
    """What a party's process does: its model, or the sentence that it ends with, goes to ``outcome``."""
    terms = terms_of(**(settings or {}))
    party = parties_of(terms, stores)[name]
    try:
        party.run(attempt, Directory(shared, terms, attempt, timeout=timeout)).save(outcome / f"{name}.privet")
    except PartyError as error:
        (outcome / f"{name}.error").write_text(str(error))


def stop_midway(name, stores, shared, attempt):
    """Send the key, and then wait to be killed."""
    terms = terms_of()
    party = parties_of(terms, stores)[name]
    Directory(shared, terms, attempt).send(KEY, name, party.key_message(attempt))
    time.sleep(LONG)


@pytest.fixture(scope="module")
def processes():
    """Start processes that have privet imported already, and see that none is left over."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["privet.datasets", "privet.registry", "pytest"])
    started = []

    def start(target, *arguments):
        started.append(context.Process(target=target, args=arguments))
        started[-1].start()
        return started[-1]

    yield start
    for process in started:
        if process.is_alive():
            process.kill()
        process.join()


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("stores", "shared", "outcome")]
    for folder in made:
        folder.mkdir()
    return made


def run_all(processes, folders, attempt, *, names=NAMES, timeout=LONG, settings=None):
    stores, shared, outcome = folders
    started = [processes(take_part, name, stores, shared, attempt, timeout, outcome, settings) for name in names]
    for process in started:
        process.join(LONG)
        assert process.exitcode == 0


def noised_of(stores):
    return {path.parts[-3]: path.read_bytes() for path in stores.rglob("noised")}


def test_four_processes_lose_one_midway_and_then_open_the_same_noised_counts(processes, folders):
    stores, shared, outcome = folders
    parties = parties_of(terms_of(), stores)
    prepare(parties)
    # The others' keys are sent beforehand: how quickly a process starts must not decide what it waits for.
    for name, party in parties.items():
        if name != "school":
            Directory(shared, terms_of()).send(KEY, name, party.key_message(1))
    victim = processes(stop_midway, "school", stores, shared, 1)
    while not list(shared.rglob("school.key.json")):
        time.sleep(0.01)
    os.kill(victim.pid, signal.SIGKILL)
    run_all(processes, folders, 1, names=NAMES[:3], timeout=1.0)
    assert {path.name for path in outcome.iterdir()} == {"bank.error", "clinic.error", "mill.error"}
    for path in outcome.iterdir():
        assert re.fullmatch(
            "no masked message came from .*'school' within 1 s; nothing was opened; when all are ready, all parties "
            r"run attempt 2 \(--attempt 2\), with the same noised counts",
            path.read_text(),
        )
    noised = noised_of(stores)
    run_all(processes, folders, 2)
    models = [load(outcome / f"{name}.privet") for name in NAMES]
    assert noised_of(stores) == noised
    expected = sum(np.frombuffer(part, dtype="<i8") for part in noised.values())
    for model in models:
        assert_array_equal(model.noisy_counts_.ravel(), expected)


def directory(folders, **changes):
    return Directory(folders[1], terms_of(), **({"attempt": 1, "timeout": SHORT} | changes))


def test_a_party_that_never_comes_ends_the_wait_with_its_name(folders):
    said = []
    exchange = directory(folders, say=said.append)
    exchange.send(KEY, "bank", b"a message")
    with pytest.raises(
        PartyError, match=r"no key message came from 'clinic', 'mill', 'school' within 0.3 s; nothing was"
    ):
        exchange.collect(KEY)
    assert said == ["waiting for the key message of clinic, mill, school"]


def test_messages_of_all_are_collected_and_the_folder_holds_nothing_else(folders):
    exchange = directory(folders)
    for name in NAMES:
        exchange.send(KEY, name, name.encode())
        exchange.send(KEY, name, name.encode())
    assert exchange.collect(KEY) == exchange.present(KEY) == {name: name.encode() for name in NAMES}
    assert exchange.present(MASKED) == {}
    assert sorted(path.name for path in exchange.folder.iterdir()) == [f"{name}.key.json" for name in NAMES]


def test_a_message_that_somebody_else_put_there_is_not_replaced(folders):
    exchange = directory(folders)
    exchange.send(KEY, "bank", b"a message")
    with pytest.raises(PartyError, match="another key message under the name of 'bank', which this party did not send"):
        exchange.send(KEY, "bank", b"another")


def test_a_link_that_somebody_put_there_is_not_followed(folders):
    exchange, victim = directory(folders), folders[0] / "ledger.db"
    exchange.send(KEY, "clinic", b"a message")
    (exchange.folder / "bank.key.json").symlink_to(victim)  # leads nowhere yet
    with pytest.raises(PartyError, match="another key message under the name of 'bank', which this party did not send"):
        exchange.send(KEY, "bank", b"a message")
    assert not victim.exists()


def test_a_link_put_there_at_the_last_moment_is_replaced_and_not_followed(folders, monkeypatch):
    exchange, victim = directory(folders), folders[0] / "ledger.db"
    victim.write_bytes(b"all that was spent")
    exchange.send(KEY, "clinic", b"a message")
    (exchange.folder / "bank.key.json").symlink_to(victim)
    with monkeypatch.context() as patch:  # it looked before the link was there
        patch.setattr("pathlib.Path.is_symlink", lambda _: False)
        patch.setattr("pathlib.Path.exists", lambda _: False)
        exchange.send(KEY, "bank", b"a message")
    assert victim.read_bytes() == b"all that was spent"
    assert exchange.present(KEY)["bank"] == b"a message"


def test_a_message_that_is_too_long_for_the_sum_is_not_taken_into_memory(folders):
    exchange = directory(folders)
    exchange.send(KEY, "bank", b"a message")
    with (exchange.folder / "mill.masked.json").open("wb") as file:
        file.truncate(2**40)  # a hole, which takes no room on the disk
    with pytest.raises(PartyError, match="the masked message of 'mill' is longer than any of this sum; ask the party"):
        exchange.present(MASKED)


def test_attempts_and_terms_do_not_mix(folders):
    first, second = directory(folders), directory(folders, attempt=2)
    other = Directory(folders[1], terms_of(honest=2))
    first.send(KEY, "bank", b"a message")
    assert second.present(KEY) == other.present(KEY) == {}


def test_a_forged_and_a_replayed_message_stop_the_round_and_open_nothing(tmp_path, folders):
    terms = terms_of()
    parties, twins = parties_of(terms, tmp_path / "one"), parties_of(terms_of(honest=2), tmp_path / "two")
    prepare(parties)
    prepare(twins)
    keys, masked = messages(parties)
    exchange = directory(folders)
    for name in NAMES:
        exchange.send(KEY, name, keys[name])
        exchange.send(
            MASKED, name, masked[name] if name != "mill" else masked[name].replace(b'"vector":"', b'"vector":"AAAA')
        )
    with pytest.raises(
        PartyError, match="the signature of the masked message of 'mill' is not that of its key in the roster"
    ):
        SecureSumForest.open(terms, 1, exchange.present(KEY), exchange.present(MASKED))
    exchange = directory(folders, attempt=2)
    for name, party in parties.items():
        exchange.send(KEY, name, party.key_message(2) if name != "mill" else keys[name])
    with pytest.raises(
        PartyError, match="the key message of 'mill' is from another attempt than attempt 2; it is not used"
    ):
        parties["bank"].run(2, exchange)
    replayed = keys | {"mill": twins["mill"].key_message(1)}
    with pytest.raises(PartyError, match="the key message of 'mill' is from another round"):
        SecureSumForest.open(terms, 1, replayed, masked)


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_a_timeout_is_a_number_of_seconds(folders, timeout):
    with pytest.raises(ParameterError, match=r"timeout=.* is not a number of seconds; pass one above 0"):
        directory(folders, timeout=timeout)


def test_a_folder_that_is_not_there_is_refused_before_anything_is_spent(tmp_path):
    with pytest.raises(ParameterError, match="there is no folder .*; make it where all parties can write"):
        Directory(tmp_path / "nowhere", terms_of())


THREE_MAY_VANISH = {"names": TEN, "dropouts": 3}
GONE = ("clinic", "mill", "yard")


def test_seven_processes_open_their_sum_when_three_of_ten_vanish(processes, folders):
    stores, shared, outcome = folders
    terms = terms_of(**THREE_MAY_VANISH)
    parties = parties_of(terms, stores)
    prepare(parties)
    # One vanishes after its key, one after its shares, one after its masked counts. What the others say up to then is
    # sent and listed beforehand: how quickly a process starts must not decide who is missing.
    exchange = Directory(shared, terms, timeout=SHORT)
    seen = conversation(parties, until=MASKED, silent={SHARES: ["clinic"], MASKED: ["mill"]})
    for kind, said in seen.items():
        for name, message in said.items():
            exchange.send(kind, name, message)
    assert exchange.collect(SHARES, TEN, least=7, same=True) == seen[SHARES]
    assert exchange.collect(MASKED, seen[SHARES], least=7, same=True) == seen[MASKED]
    stay = [name for name in TEN if name not in GONE]
    run_all(processes, folders, 1, names=stay, settings=THREE_MAY_VANISH)
    assert {path.name for path in outcome.iterdir()} == {f"{name}.privet" for name in stay}
    counted = [name for name in TEN if name not in ("clinic", "mill")]
    noised = noised_of(stores)
    expected = sum(np.frombuffer(noised[name], dtype="<i8") for name in counted)
    for path in outcome.iterdir():
        model = load(path)
        assert model.parties == counted
        assert_array_equal(model.noisy_counts_.ravel(), expected)
    # A party that returns is not counted, and gets the same model.
    run_all(processes, folders, 1, names=["clinic"], settings=THREE_MAY_VANISH)
    assert_array_equal(load(outcome / "clinic.privet").noisy_counts_.ravel(), expected)


def lenient(folders, **changes):
    return Directory(folders[1], terms_of(dropouts=1), **({"attempt": 1, "timeout": SHORT} | changes))


def test_after_the_timeout_enough_messages_are_enough_and_all_take_the_same(folders):
    said = []
    first, second = lenient(folders, say=said.append), lenient(folders)
    for name in ("bank", "clinic", "mill"):
        first.send(SHARES, name, name.encode())
    chosen = first.collect(SHARES, NAMES, least=3, same=True)
    assert chosen == {name: name.encode() for name in ("bank", "clinic", "mill")}
    assert said[-1] == "going on without school"
    second.send(SHARES, "school", b"too late")
    assert second.collect(SHARES, NAMES, least=3, same=True) == chosen
    assert set(second.collect(SHARES, NAMES, least=3)) == set(NAMES)


def test_signatures_of_enough_parties_are_not_waited_for(folders):
    exchange = lenient(folders, timeout=LONG)
    for name in ("bank", "clinic", "mill"):
        exchange.send(SURVIVORS, name, b"a message")
    assert set(exchange.collect(SURVIVORS, NAMES, least=3)) == {"bank", "clinic", "mill"}


def test_two_are_not_enough(folders):
    exchange = lenient(folders)
    for name in ("bank", "clinic"):
        exchange.send(SURVIVORS, name, b"a message")
    with pytest.raises(
        PartyError,
        match=r"no survivors message came from 'mill', 'school' within 0.3 s; nothing was opened; when more parties "
        "are there, run attempt 1 again, which goes on where it stopped",
    ):
        exchange.collect(SURVIVORS, NAMES, least=3)


@pytest.mark.parametrize(
    "content", ["", "5", '["bank"]', '["bank","clinic","mill","tavern"]', '["bank","clinic","school"]']
)
def test_a_damaged_list_stops_the_round(folders, content):
    exchange = lenient(folders)
    for name in ("bank", "clinic", "mill"):
        exchange.send(MASKED, name, b"a message")
    (exchange.folder / "list.of.masked.json").write_text(content)
    with pytest.raises(PartyError, match="the folder's list of masked messages is damaged or names one that is not th"):
        exchange.collect(MASKED, NAMES, least=3, same=True)


def test_late_messages_in_the_folder_do_not_keep_the_sum_from_opening(folders, tmp_path):
    terms = terms_of(dropouts=1)
    parties = parties_of(terms, tmp_path / "parties")
    prepare(parties)
    exchange = lenient(folders)
    late = conversation(parties, until=MASKED)[MASKED]["mill"]
    heard = conversation(parties, until=MASKED)
    del heard[MASKED]["mill"]
    for kind in (SURVIVORS, UNMASK):
        heard[kind] = {name: parties[name].message(kind, 1, heard) for name in ("bank", "clinic", "school")}
    for kind, said in (heard | {MASKED: heard[MASKED] | {"mill": late}}).items():
        for name, message in said.items():
            exchange.send(kind, name, message)
    model = SecureSumForest.open(terms, 1, *(exchange.present(kind) for kind in heard))
    assert model.parties == ["bank", "clinic", "school"]
