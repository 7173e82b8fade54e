"""A model that is paid for lies beside the ledger until it is saved."""

import errno
import fcntl
import os
import stat

import pytest

from privet import Ledger, PrivateRDTClassifier, load
from privet.datasets import agrawal
from privet.errors import LedgerError
from privet.model_file import checksum_of
from privet.privacy.ledger import Reservation
from privet.privacy.ledger.shelf import Shelf, handed_out

DATA = agrawal(50, random_state=5)
ENTRY, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="people", epsilon=2.0)


@pytest.fixture
def shelf(ledger):
    ledger.shelf = Shelf(ledger.path)
    return ledger.shelf


def put(ledger, reservation=ENTRY, text="a model"):
    shelf = Shelf(ledger)
    shelf.begin(reservation)
    shelf.put(text)
    return shelf


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_put_there_is_left_behind_once_its_process_lets_go_and_not_before(tmp_path):
    shelf = put(tmp_path / "ledger.db")
    assert Shelf(tmp_path / "ledger.db").left_behind() == []
    path = shelf.leave()
    assert path == tmp_path / f"ledger.db.{ENTRY[:16]}.pending"
    assert path.read_text() == "a model"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [left] = Shelf(tmp_path / "ledger.db").left_behind()
    assert (left.path, left.reservation) == (path, ENTRY[:16])


def test_what_is_handed_out_is_called_as_models_are_and_is_left_behind_still(tmp_path):
    shelf = put(tmp_path / "ledger.db")
    path = handed_out(shelf.leave())
    assert path.name == f"ledger.db.{ENTRY[:16]}.privet"
    assert [left.path for left in Shelf(tmp_path / "ledger.db").left_behind()] == [path]
    assert handed_out(path) == path


def test_what_is_taken_away_leaves_nothing_but_what_others_put_there(tmp_path):
    own, other = put(tmp_path / "ledger.db"), put(tmp_path / "ledger.db", OTHER)
    own.take_away()
    assert names(tmp_path) == [f"ledger.db.{OTHER[:16]}.pending"]
    assert own.leave() is None
    assert other.leave() is not None


def test_a_link_to_a_ledger_has_the_same_shelf(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").touch()
    path = put(tmp_path / "ledger.db").leave()
    assert [left.path for left in Shelf(tmp_path / "link.db").left_behind()] == [path]


def test_what_is_no_file_of_ones_own_is_neither_opened_nor_taken_for_a_model(tmp_path):
    ledger, name = tmp_path / "ledger.db", tmp_path / f"ledger.db.{ENTRY[:16]}.pending"
    ledger.touch()
    for plant in (
        name.mkdir,
        lambda: name.symlink_to(ledger),
        lambda: name.hardlink_to(ledger),
        lambda: os.mkfifo(name),
    ):
        plant()
        assert Shelf(ledger).left_behind() == []
        assert put(ledger).leave() is None
        _ = name.rmdir() if name.is_dir() else name.unlink()
    for other in ("mine.privet", "ledger.db.privet", f"ledger.db.{ENTRY[:15]}.privet", f"other.db.{ENTRY[:16]}.privet"):
        (tmp_path / other).touch()
    assert Shelf(ledger).left_behind() == []


def test_a_disk_without_locks_keeps_nothing(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("privet.files.file_lock.fcntl.flock", no_locks)
    assert put(tmp_path / "ledger.db").leave() is None
    assert names(tmp_path) == []


def test_a_file_that_others_keep_locked_is_given_up_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("privet.privacy.ledger.shelf.lock_within", lambda *_: False)
    assert put(tmp_path / "ledger.db").leave() is None
    assert names(tmp_path) == []


def test_two_who_look_at_once_both_see_it(tmp_path):
    path = put(tmp_path / "ledger.db").leave()
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert [left.path for left in Shelf(tmp_path / "ledger.db").left_behind()] == [path]


def test_a_file_that_somebody_took_for_abandoned_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    from privet.files.file_lock import lock_within

    def taken_once(descriptor, seconds):
        monkeypatch.undo()
        (tmp_path / f"ledger.db.{ENTRY[:16]}.pending").unlink()
        return lock_within(descriptor, seconds)

    monkeypatch.setattr("privet.privacy.ledger.shelf.lock_within", taken_once)
    assert put(tmp_path / "ledger.db").leave().read_text() == "a model"


def test_what_is_opened_is_closed(tmp_path, monkeypatch):
    opened = []
    really = os.open
    monkeypatch.setattr(
        "privet.privacy.ledger.shelf.os.open", lambda *words: opened.append(really(*words)) or opened[-1]
    )
    put(tmp_path / "ledger.db").take_away()
    put(tmp_path / "ledger.db").leave()
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_disk_that_takes_no_model_does_not_stop_the_release(tmp_path, ledger, shelf, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("privet.privacy.ledger.shelf.os.fsync", full)
    model = PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert shelf.leave() is None
    assert names(tmp_path) == ["ledger.db"]
    [spending] = ledger.account().spendings
    assert spending.ended.body["model"] == checksum_of(model.to_document())


def test_the_model_is_there_whole_before_its_price_is_settled(ledger, shelf, monkeypatch):
    found = []

    def look_and_fail(*_):
        found.extend(load(path) for path in ledger.path.parent.glob("*.pending"))
        raise LedgerError("the ledger is busy; wait")

    monkeypatch.setattr(Reservation, "_close", look_and_fail)
    with pytest.raises(LedgerError, match="the ledger is busy"):
        PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert [model.method for model in found] == ["private-rdt"]
    assert [spending.state for spending in ledger.account().spendings] == ["reserved"]


def test_a_model_that_stays_in_memory_is_not_written_down(tmp_path, ledger):
    PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert names(tmp_path) == ["ledger.db"]
