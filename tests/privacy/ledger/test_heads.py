"""What was seen of a ledger must stay in its file, for this process and, where heads are kept, for the next."""

import copy
import gc
import os
import pickle
import shutil
import sqlite3
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from privet import Ledger
from privet.central.updates.batches import BatchHistory
from privet.errors import LedgerError
from privet.privacy.events import DiscreteLaplace
from privet.privacy.ledger import Cost, heads
from privet.privacy.ledger.heads import Head, HeadFolder

GONE = "is no longer the file it was: an older copy was put back, or a new one made"
CUT = "lacks entry {}, which was seen before: its end was cut off, an older copy put back, or a copy of it spent from"


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="patients", epsilon=4.0)


def withdraw(ledger):
    with pytest.raises(ZeroDivisionError), ledger.reserve(Cost(0.5)):
        raise ZeroDivisionError


WRITES = {
    "reserve": lambda ledger: ledger.reserve(Cost(0.5)),
    "withdraw": withdraw,
    "add": lambda ledger: ledger.add(0.5, what="a table"),
    "a part": lambda ledger: ledger.for_part("march").add(0.5, what="a table"),
    "another account": lambda ledger: Ledger(ledger.path, dataset="visits", epsilon=1.0),
    "the key of batches": lambda ledger: BatchHistory(ledger).key(),
    "another object": lambda ledger: Ledger(ledger.path, dataset="patients").add(0.5, what="a table"),
    "a copy": lambda ledger: copy.deepcopy(ledger).add(0.5, what="a table"),
    "a pickle": lambda ledger: pickle.loads(pickle.dumps(ledger)).add(0.5, what="a table"),
    "a thread": lambda ledger: ThreadPoolExecutor(1).submit(ledger.add, 0.5, what="a table").result(),
}


@pytest.mark.parametrize("how", WRITES)
def test_what_was_written_is_missed_without_reading_in_between(ledger, how):
    older = ledger.path.read_bytes()
    WRITES[how](ledger)
    ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match=GONE):
        ledger.reserve(Cost(0.5))


def test_what_was_written_is_missed_though_no_object_of_the_ledger_is_left(ledger):
    path, older = ledger.path, ledger.path.read_bytes()
    ledger.add(0.5, what="a table")
    del ledger
    gc.collect()
    path.write_bytes(older)
    with pytest.raises(LedgerError, match=GONE):
        Ledger(path, dataset="patients")


def test_a_reservation_is_not_settled_in_an_older_copy(ledger):
    older = ledger.path.read_bytes()
    reservation = ledger.reserve(Cost(0.5))
    ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match=GONE):
        reservation.settle(DiscreteLaplace("counts", 0.5, 1, Fraction(2)))


def test_a_pickle_carries_what_was_written_and_never_read(ledger):
    older = ledger.path.read_bytes()
    ledger.add(0.5, what="a table")
    pickled = pickle.dumps(ledger)
    ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match=GONE):
        pickle.loads(pickled)


def test_a_fork_that_writes_and_a_parent_that_writes_later_get_along(ledger):
    child = os.fork()
    if child == 0:
        ledger.add(0.5, what="by the child")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    ledger.add(0.5, what="by the parent")
    assert ledger.spent == 1.0


def test_a_fork_knows_what_its_parent_wrote(ledger):
    older = ledger.path.read_bytes()
    ledger.add(0.5, what="by the parent")
    ledger.path.write_bytes(older)
    child = os.fork()
    if child == 0:
        try:
            ledger.add(0.5, what="by the child")
        except LedgerError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads_that_read_and_write_at_once_raise_no_false_alarm(ledger):
    def add_some(own):
        for _ in range(3):
            own.add(0.125, what="a table")
            assert own.spent <= 1.5

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_some, [ledger, ledger, copy.copy(ledger), Ledger(ledger.path, dataset="patients")]))
    assert ledger.spent == 1.5


def test_a_ledger_that_is_made_anew_under_the_same_name_is_another_one(ledger):
    ledger.path.unlink()
    again = Ledger(ledger.path, dataset="patients", epsilon=4.0)
    assert again.left == 4.0
    with pytest.raises(LedgerError, match=GONE):
        ledger.add(0.5, what="a table")


# Heads that are kept.


def cut(path, entries):
    """Cut entries off the end of a ledger, as whoever holds the file can."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER no_removal")
        connection.execute("DELETE FROM entries WHERE number > ?", (entries,))
    connection.close()


def opened(tmp_path, **more):
    """Open a ledger as a new process does: this one remembers nothing of it."""
    return Ledger(tmp_path / "ledger.db", dataset="patients", heads=tmp_path / "heads", **more)


@pytest.fixture
def next_process(monkeypatch):
    """What makes of this process one that has seen no ledger."""
    return lambda: monkeypatch.setattr(heads, "_SEEN", {})


def test_an_end_that_was_cut_off_is_noticed_by_the_next_process(tmp_path, next_process):
    opened(tmp_path, epsilon=1.0).add(1.0, what="a table")
    cut(tmp_path / "ledger.db", 2)
    next_process()
    with pytest.raises(LedgerError, match=CUT.format(3)):
        opened(tmp_path)
    assert Ledger(tmp_path / "ledger.db", dataset="patients").left == 1.0  # where no head is kept, nobody knows


def test_a_ledger_is_known_wherever_it_is_moved_to_and_a_copy_is_not_spent_from_as_well(tmp_path, next_process):
    opened(tmp_path, epsilon=1.0)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    (tmp_path / "ledger.db").rename(tmp_path / "moved.db")
    Ledger(tmp_path / "moved.db", dataset="patients", heads=tmp_path / "heads").add(0.5, what="a table")
    next_process()
    with pytest.raises(LedgerError, match=CUT.format(3)):
        Ledger(tmp_path / "copy.db", dataset="patients", heads=tmp_path / "heads")


def test_a_head_that_is_behind_is_in_the_chain_and_is_brought_up_to_date(tmp_path):
    first = opened(tmp_path, epsilon=1.0)
    identity = first.file.entries()[0].hash
    Ledger(tmp_path / "ledger.db", dataset="patients").add(0.5, what="where no head is kept")
    assert HeadFolder(tmp_path / "heads").newest(identity).number == 2
    assert opened(tmp_path).left == 0.5
    assert HeadFolder(tmp_path / "heads").newest(identity).number == 3


def test_the_slower_of_two_writers_does_not_set_the_head_back(tmp_path):
    heads, older, newer = HeadFolder(tmp_path), Head(2, "a" * 64), Head(3, "b" * 64)
    heads.keep("c" * 64, newer)
    heads.keep("c" * 64, older)
    assert heads.newest("c" * 64) == newer
    heads.keep("c" * 64, older, also_older=True)
    assert heads.newest("c" * 64) == older


@pytest.mark.parametrize("content", [b"", b"3", b"x " + b"a" * 64, b"3 " + b"g" * 64, b"\xff\xfe", b"3 a b"])
def test_a_head_that_cannot_be_read_is_told_once_and_stops_nothing(tmp_path, content):
    first = opened(tmp_path, epsilon=1.0)
    [kept] = (tmp_path / "heads").iterdir()
    kept.write_bytes(content)
    said = []
    again = Ledger(tmp_path / "ledger.db", dataset="patients", heads=HeadFolder(tmp_path / "heads", said.append))
    again.add(0.5, what="a table")
    [sentence] = said
    assert "cannot be read, so a ledger that was cut short is not noticed; check its permissions" in sentence
    assert kept.read_text().split() == ["3", first.file.entries()[2].hash]


def test_a_folder_that_takes_no_file_is_told_once_and_stops_nothing(tmp_path):
    (tmp_path / "heads").write_text("a file where the folder should be")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        ledger = opened(tmp_path, epsilon=1.0)
        ledger.add(0.5, what="a table")
    assert len(heard) == 1
    assert "so a ledger that" in str(heard[0].message)
    assert ledger.left == 0.5


def test_what_is_kept_is_for_its_owner_alone_and_holds_a_number_and_a_hash(tmp_path):
    ledger = opened(tmp_path, epsilon=1.0)
    [kept] = (tmp_path / "heads").iterdir()
    entries = ledger.file.entries()
    assert (kept.name, kept.read_text()) == (f"{entries[0].hash}.head", f"2 {entries[1].hash}\n")
    assert [path.stat().st_mode & 0o777 for path in (kept, kept.parent)] == [0o600, 0o700]
