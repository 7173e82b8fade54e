"""A model that is paid for lies beside the ledger until it is saved."""

import stat

import pytest

from privet import Ledger, PrivateRDTClassifier, load
from privet.datasets import agrawal
from privet.errors import LedgerError
from privet.model_file import checksum_of
from privet.privacy.ledger import Reservation
from privet.privacy.ledger.shelf import Shelf

DATA = agrawal(50, random_state=5)
MODEL, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="people", epsilon=2.0)


@pytest.fixture
def shelf(ledger):
    ledger.shelf = Shelf(ledger.path)
    return ledger.shelf


def test_what_is_put_there_is_left_behind_once_its_process_lets_go_and_not_before(tmp_path):
    shelf = Shelf(tmp_path / "ledger.db")
    shelf.put(MODEL, "a model")
    assert Shelf(tmp_path / "ledger.db").left_behind() == []
    path = shelf.leave()
    assert path == tmp_path / "ledger.db.paid" / f"{MODEL}.privet"
    assert path.read_text() == "a model"
    assert Shelf(tmp_path / "ledger.db").left_behind() == [path]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_taken_away_leaves_no_folder(tmp_path):
    shelf = Shelf(tmp_path / "ledger.db")
    shelf.put(MODEL, "a model")
    shelf.take_away()
    assert list(tmp_path.iterdir()) == []
    assert shelf.leave() is None


def test_taking_away_leaves_what_others_put_there(tmp_path):
    own, other = Shelf(tmp_path / "ledger.db"), Shelf(tmp_path / "ledger.db")
    own.put(MODEL, "a model")
    other.put(OTHER, "another")
    own.take_away()
    assert [path.name for path in (tmp_path / "ledger.db.paid").iterdir()] == [f"{OTHER}.privet"]


def test_what_a_killed_writer_left_half_written_goes_with_the_next_look(tmp_path):
    shelf = Shelf(tmp_path / "ledger.db")
    shelf.folder.mkdir()
    (shelf.folder / ".0123456789abcdef.unfinished").write_text("half a mod")
    assert shelf.left_behind() == []
    assert not shelf.folder.exists()


def test_what_somebody_else_keeps_there_is_left_alone(tmp_path):
    shelf = Shelf(tmp_path / "ledger.db")
    shelf.folder.mkdir()
    (shelf.folder / "mine.privet").write_text("a model")
    (shelf.folder / f"{MODEL}.privet").mkdir()
    assert shelf.left_behind() == []
    assert len(list(shelf.folder.iterdir())) == 2


def test_a_disk_that_takes_no_model_does_not_stop_the_release(tmp_path, ledger, shelf):
    shelf.folder.write_text("a file where the folder should be")
    model = PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert shelf.leave() is None
    [spending] = ledger.account().spendings
    assert spending.ended.body["model"] == checksum_of(model.to_document())


def test_the_model_is_there_whole_before_its_price_is_settled(ledger, shelf, monkeypatch):
    found = []

    def look_and_fail(*_):
        found.extend(load(path) for path in shelf.folder.iterdir())
        raise LedgerError("the ledger is busy; wait")

    monkeypatch.setattr(Reservation, "_close", look_and_fail)
    with pytest.raises(LedgerError, match="the ledger is busy"):
        PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert [model.method for model in found] == ["private-rdt"]
    assert [spending.state for spending in ledger.account().spendings] == ["reserved"]


def test_a_model_that_stays_in_memory_is_not_written_down(tmp_path, ledger):
    PrivateRDTClassifier(DATA.schema, n_trees=1, height=1, ledger=ledger).fit(DATA.X, DATA.y)
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]
