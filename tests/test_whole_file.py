import gzip
import stat

import pytest

from privet.errors import ParameterError
from privet.whole_file import whole_bytes, whole_file, write_new


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
