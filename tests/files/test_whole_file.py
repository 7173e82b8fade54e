import errno
import gzip
import os
import stat

import pytest

from privet.errors import ParameterError
from privet.files.file_lock import CONTENT
from privet.files.whole_file import whole_bytes, whole_file, write_new


def write(path, *, binary, then=None):
    with (whole_bytes if binary else whole_file)(path) as file:
        file.write(b"yes\n" if binary else "yes\n")
        if then is not None:
            raise then


@pytest.mark.parametrize("binary", [False, True])
def test_a_file_is_there_when_all_is_written(tmp_path, binary):
    write(tmp_path / "plain", binary=binary)
    write(tmp_path / "packed.gz", binary=binary)
    assert (tmp_path / "plain").read_bytes() == b"yes\n"
    assert gzip.decompress((tmp_path / "packed.gz").read_bytes()) == b"yes\n"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path, binary, error):
    (tmp_path / "plain").write_text("mine")
    with pytest.raises(type(error)):
        write(tmp_path / "plain", binary=binary, then=error)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("binary", [False, True])
def test_an_error_of_the_disk_names_the_file_and_the_way_out(tmp_path, binary):
    with pytest.raises(ParameterError, match="cannot write to '.*plain': No space left on device; choose another path"):
        write(tmp_path / "plain", binary=binary, then=OSError(28, "No space left on device"))
    with pytest.raises(ParameterError, match="it is no regular file; choose another path"):
        write(tmp_path, binary=binary)


def test_what_a_killed_writer_left_goes_with_the_next_one_and_nothing_else_does(tmp_path):
    left, others = tmp_path / f".{16 * 'a'}.unfinished", [tmp_path / ".notes.unfinished", tmp_path / "a.unfinished"]
    for path in (left, *others):
        path.write_text("rows")
    with whole_file(tmp_path / "plain") as file:
        file.write("yes")
        [own] = [path for path in tmp_path.glob(".*.unfinished") if path not in others]
        # Another writer comes by: this one is at work, and its file stays.
        write_new(tmp_path / "new", b"nine")
        assert own.exists()
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "new", tmp_path / "plain"])


def test_a_new_file_takes_no_name_that_is_taken(tmp_path):
    write_new(tmp_path / "new", b"five")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"nine")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"five"]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_link_is_followed_unless_it_is_to_be_replaced(tmp_path):
    (tmp_path / "real").write_text("five")
    for name in ("followed", "replaced"):
        (tmp_path / name).symlink_to(tmp_path / "real")
    with whole_bytes(tmp_path / "replaced", follow=False) as file:
        file.write(b"seven")
    assert (tmp_path / "real").read_text() == "five"
    with whole_bytes(tmp_path / "followed") as file:
        file.write(b"nine")
    assert (tmp_path / "real").read_text() == "nine"
    assert not (tmp_path / "replaced").is_symlink()


def test_a_disk_without_second_names_gets_a_new_file_where_that_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", refused)
    with pytest.raises(PermissionError):
        write_new(tmp_path / "new", b"yes")
    write_new(tmp_path / "new", b"five", anywhere=True)
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"nine", anywhere=True)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"five"]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def refused(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_link_planted_under_the_unfinished_name_changes_no_other_files_permissions(tmp_path):
    mine, target = tmp_path / "mine", tmp_path / "target"
    for path, mode in ((mine, 0o600), (target, 0o666)):
        path.write_text("yes")
        path.chmod(mode)
    with whole_file(target) as file:
        file.write("no")
        [unfinished] = tmp_path.glob(".*.unfinished")
        unfinished.unlink()
        unfinished.symlink_to(mine)
    assert stat.S_IMODE(mine.stat().st_mode) == 0o600


def test_a_pipe_under_an_unfinished_name_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / f".{16 * 'a'}.unfinished")
    write(tmp_path / "plain", binary=False)
    assert (tmp_path / "plain").read_bytes() == b"yes\n"


def test_what_a_killed_maker_of_a_new_file_left_goes_with_the_next_one(tmp_path):
    folder = tmp_path / f".{16 * 'a'}.unfinished"
    folder.mkdir()
    (folder / CONTENT).write_text("a key")
    write(tmp_path / "plain", binary=False)
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_a_folder_in_which_others_lock_whatever_is_made_is_told_of_and_not_tried_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("privet.files.whole_file.try_lock", lambda _: False)
    with pytest.raises(ParameterError, match="others lock whatever is made in its folder; choose another path"):
        write(tmp_path / "plain", binary=False)
