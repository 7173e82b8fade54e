import os
import signal

import pytest

from privet.files.file_lock import CONTENT, file_lock, remove_abandoned
from tests.crashes.forked import fork


def test_a_lock_keeps_out_whoever_asks_and_goes_with_its_holder(tmp_path):
    with file_lock(tmp_path) as is_first, file_lock(tmp_path, seconds=0) as is_second:
        assert (is_first, is_second) == (True, False)
    with file_lock(tmp_path, seconds=0) as is_third:
        assert is_third


def test_a_lock_goes_with_a_process_that_is_killed(tmp_path):
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        try:
            with file_lock(tmp_path):
                os.write(writing, b"held")
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 4) == b"held"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    os.close(reading)
    with file_lock(tmp_path, seconds=0) as is_mine:
        assert is_mine


def test_only_what_has_no_writer_is_removed(tmp_path):
    path = tmp_path / "rows"
    path.write_text("rows")
    with file_lock(path), pytest.raises(OSError):
        remove_abandoned(path)
    assert path.exists()
    remove_abandoned(path)
    assert not path.exists()


def test_what_is_whole_under_another_name_is_not_opened(tmp_path, monkeypatch):
    # Closing a ledger, under whatever name, lets go of the locks that SQLite has on it in this process.
    (tmp_path / "ledger.db").write_text("whole")
    os.link(tmp_path / "ledger.db", tmp_path / "rest")
    monkeypatch.setattr(os, "open", None)
    remove_abandoned(tmp_path / "rest")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_an_unfinished_folder_goes_with_its_content_unless_it_has_a_writer(tmp_path):
    folder = tmp_path / "rest"
    folder.mkdir()
    (folder / CONTENT).write_text("whole")
    with file_lock(folder), pytest.raises(OSError):
        remove_abandoned(folder)
    remove_abandoned(folder)
    assert not folder.exists()


def test_a_pipe_or_a_link_that_somebody_planted_is_left_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    remove_abandoned(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError):
        remove_abandoned(tmp_path / "link")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "link"}


def test_what_cannot_be_opened_keeps_nobody_out(tmp_path):
    with file_lock(tmp_path / "nowhere") as is_mine:
        assert is_mine


def test_a_lock_that_others_keep_is_waited_for_so_long_and_no_longer(tmp_path):
    with file_lock(tmp_path), file_lock(tmp_path, seconds=0.05) as is_mine:
        assert not is_mine
