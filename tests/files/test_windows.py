"""Files and locks under Windows' rules, which `windows.keep_rules` keeps on Linux."""

import os
import time

import pytest

from privet.errors import ChannelError, ParameterError
from privet.files.file_lock import file_lock, remove_abandoned
from privet.files.whole_file import whole_bytes, whole_file, write_new
from privet.local import Secret
from tests.files.windows import keep_rules


@pytest.fixture(autouse=True)
def windows(monkeypatch):
    keep_rules(monkeypatch)


def test_the_rules_are_kept_here(tmp_path):
    path = tmp_path / "open"
    with path.open("w"):
        for change in (path.unlink, lambda: path.rename(tmp_path / "other"), lambda: path.replace(tmp_path / "other")):
            with pytest.raises(PermissionError):
                change()
    with pytest.raises(PermissionError):
        os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "other").write_text("taken")
    with pytest.raises(FileExistsError):
        path.rename(tmp_path / "other")


def test_a_file_is_whole_or_not_there_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "plain"
    for text in ("yes", "no"):
        with whole_file(path) as file:
            file.write(text)
        assert path.read_text() == text
    with pytest.raises(KeyboardInterrupt), whole_bytes(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("plain", "no")]


def test_a_file_that_others_have_open_is_not_replaced_and_the_error_says_so(tmp_path):
    path = tmp_path / "plain"
    path.write_text("old")
    said = "cannot write to .*used by another process; choose another path"
    with path.open(), pytest.raises(ParameterError, match=said), whole_file(path) as file:
        file.write("new")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("plain", "old")]


def test_a_new_file_takes_no_name_that_is_taken(tmp_path):
    write_new(tmp_path / "new", b"five\n")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"nine")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"five\n"]


def test_what_a_killed_writer_left_goes_after_an_hour_and_not_while_it_is_written(tmp_path):
    left = tmp_path / f".{16 * 'a'}.unfinished"
    left.write_text("rows")
    write_new(tmp_path / "one", b"1")
    assert left.exists()
    os.utime(left, (time.time() - 7200, time.time() - 7200))
    with left.open():
        write_new(tmp_path / "two", b"2")
        assert left.exists()
        with pytest.raises(PermissionError):
            remove_abandoned(left)
    write_new(tmp_path / "three", b"3")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["one", "three", "two"]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_lock_keeps_out_whoever_asks_and_what_it_is_of_can_be_read_and_written(tmp_path, kind):
    locked = tmp_path / "locked"
    locked.mkdir() if kind == "folder" else locked.write_text("rows")
    with file_lock(locked) as is_first, file_lock(locked, seconds=0) as is_second:
        assert (is_first, is_second) == (True, False)
        if kind == "file":
            assert locked.read_text() == "rows"
            with whole_file(locked) as file:
                file.write("more")
    with file_lock(locked, seconds=0) as is_third:
        assert is_third
    stand_in = locked / ".privet.lock" if kind == "folder" else tmp_path / ".locked.lock"
    assert stand_in.read_bytes() == b""


def test_what_is_not_there_keeps_nobody_out_and_nothing_is_made_for_it(tmp_path):
    with file_lock(tmp_path / "nowhere", seconds=0) as is_mine:
        assert is_mine
    assert not list(tmp_path.iterdir())


def test_a_secret_is_made_once_and_kept_in_its_folders_turn(tmp_path):
    first, second = Secret(tmp_path / "key.json"), Secret(tmp_path / "key.json")
    assert first.many_words("age", ["wave"], 2).tolist() == second.many_words("age", ["wave"], 2).tolist()
    first.pin({"age": "one channel"})
    with pytest.raises(ChannelError):
        second.pin({"age": "another"})
