"""Secret files are for their owner, are never written over, and are tried out before noise depends on them."""

import stat

import pytest

from privet.errors import ParameterError, PartyError
from privet.files.whole_file import write_new
from privet.partitioned.secret_file import check_owner_only, make_store, write_secret


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_secret_is_whole_and_for_its_owner_alone(tmp_path):
    write_new(tmp_path / "secret", b"five nine")
    assert (tmp_path / "secret").read_bytes() == b"five nine"
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    check_owner_only(tmp_path / "secret", "it")
    assert names_in(tmp_path) == ["secret"]


def test_a_name_that_is_taken_keeps_what_it_has(tmp_path):
    write_new(tmp_path / "secret", b"five")
    with pytest.raises(PartyError, match="the release '.*secret' exists and is not replaced; choose another name"):
        write_secret(tmp_path / "secret", b"nine", what="release")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"nine")
    assert (tmp_path / "secret").read_bytes() == b"five"
    assert names_in(tmp_path) == ["link", "secret"]


def test_a_store_is_made_for_its_owner_and_tried_without_a_trace(tmp_path):
    for _ in range(2):
        make_store(tmp_path / "store", what="releases")
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    assert names_in(tmp_path / "store") == []


def test_a_folder_without_links_is_no_store(tmp_path, monkeypatch):
    def without_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", without_links)
    with pytest.raises(ParameterError, match="cannot keep releases in '.*store': Operation not permitted; choose"):
        make_store(tmp_path / "store", what="releases")
    assert names_in(tmp_path / "store") == []
