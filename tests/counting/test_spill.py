"""The unnamed file that takes what is too much to be held."""

import errno
import gc
import os
import pickle
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.counting import spill
from privet.counting.spill import Room, SpillFile
from privet.errors import DiskFull


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder for temporary files, empty; and no file of this process yet, whatever an earlier test still holds."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(SpillFile, "_current", None)
    return tmp_path


def arrays(seed=1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 9, (7, 3)).astype(np.uint8), rng.random(5, dtype=np.float32), np.empty((0, 4), np.int64)


def test_what_is_written_is_read_back_by_hand(folder):
    file = SpillFile.of_process()
    first = file.write((np.array([5, 9], np.uint8),))
    second = file.write((np.array([[1, 2], [3, 4]], np.int64), np.array([7], np.uint8)))
    assert (first.start, second.start) == (0, 2)
    assert first.read()[0].tolist() == [5, 9]
    assert [own.tolist() for own in second.read()] == [[[1, 2], [3, 4]], [7]]
    first.overwrite(np.array([6, 8], np.uint8))
    assert first.read()[0].tolist() == [6, 8]
    assert second.read()[1].tolist() == [7]


def test_all_arrays_come_back_with_their_types_and_shapes(folder):
    file = SpillFile.of_process()
    written = [(arrays(seed), file.write(arrays(seed))) for seed in range(20)]
    for own, spilled in written:
        for array, read in zip(own, spilled.read(), strict=True):
            assert (read.dtype, read.shape) == (array.dtype, array.shape)
            assert_array_equal(read, array)


def test_the_file_has_no_name_and_is_the_owners_alone(folder):
    file = SpillFile.of_process()
    file.write(arrays())
    assert list(folder.iterdir()) == []
    found = os.fstat(file._file.fileno())
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert found.st_nlink == 0
    assert folder.stat().st_dev == found.st_dev


def test_it_is_closed_with_the_last_of_its_arrays(folder):
    spilled = SpillFile.of_process().write(arrays())
    assert SpillFile.of_process() is spilled.file  # one file for all
    descriptor = spilled.file._file.fileno()
    del spilled
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert list(folder.iterdir()) == []


class Full:
    """A file on a disk that takes so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        n = self.file.write(data[: self.room])
        self.room -= n
        return n

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_is_said_and_what_was_written_is_given_back(folder):
    file = SpillFile.of_process()
    file._file = Full(file._file, 30)
    descriptor = file._file.fileno()
    file.write((np.zeros(20, np.uint8),))
    with pytest.raises(DiskFull, match=r"cannot be kept in '.*' \(No space left on device\), and no model") as said:
        file.write((np.zeros(20, np.uint8),))
    assert "let the environment variable TMPDIR name a folder with more" in str(said.value)
    # Even while the error is kept, and the frames that it came through.
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert str(pickle.loads(pickle.dumps(said.value))) == str(said.value)


def test_a_folder_that_takes_no_file_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(DiskFull, match=r"missing' \(No such file or directory\), and no model was made; free space"):
        SpillFile()


def test_a_child_process_has_a_file_of_its_own(folder, monkeypatch):
    parents = SpillFile.of_process()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert SpillFile.of_process() is not parents


def test_a_file_is_not_sent_elsewhere(folder):
    with pytest.raises(TypeError, match="a spill file cannot be sent to another process; send what it holds"):
        pickle.dumps(SpillFile.of_process())


def test_there_is_room_for_so_many_bytes_and_no_more(monkeypatch):
    monkeypatch.setattr(spill, "HELD_BYTES", 100)
    room = Room()
    assert room.take(60)
    assert not room.take(41)
    assert room.take(40)
    room.give_back(60)
    assert room.take(60)


def test_short_writes_and_reads_are_gone_on_with(folder):
    class Slow(Full):
        def write(self, data):
            return self.file.write(data[:3])

        def readinto(self, left):
            return self.file.readinto(left[:2])

    file = SpillFile.of_process()
    file._file = Slow(file._file, 0)
    spilled = file.write(arrays())
    for array, read in zip(arrays(), spilled.read(), strict=True):
        assert_array_equal(read, array)
    file._file.truncate(4)
    with pytest.raises(OSError, match="ended early"):
        spilled.read()


def test_temporary_files_lie_where_the_environment_says(tmp_path):
    import subprocess
    import sys

    code = "import tempfile; from privet.counting.spill import SpillFile; f = SpillFile(); print(tempfile.gettempdir())"
    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert Path(said.stdout.strip()) == tmp_path, said.stderr
    assert list(tmp_path.iterdir()) == []
