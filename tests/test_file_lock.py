import os

import pytest

from privet.file_lock import held, remove_abandoned


def test_a_lock_keeps_out_whoever_asks_and_goes_with_its_holder(tmp_path):
    with held(tmp_path) as is_first, held(tmp_path, wait=False) as is_second:
        assert (is_first, is_second) == (True, False)
    with held(tmp_path, wait=False) as is_third:
        assert is_third


def test_a_lock_goes_with_a_process_that_is_killed(tmp_path):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with held(tmp_path):
            os.write(writing, b"held")
            os.kill(os.getpid(), 9)
    assert os.read(reading, 4) == b"held"
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    with held(tmp_path, wait=False) as is_mine:
        assert is_mine


def test_only_what_has_no_writer_is_removed(tmp_path):
    path = tmp_path / "rows"
    path.write_text("rows")
    with held(path), pytest.raises(OSError):
        remove_abandoned(path)
    assert path.exists()
    remove_abandoned(path)
    assert not path.exists()
