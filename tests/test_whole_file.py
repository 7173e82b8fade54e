import gzip

import pytest

from privet.errors import ParameterError
from privet.whole_file import whole_bytes, whole_file


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
