"""A model that was paid for is never thrown away."""

import re
import stat
from pathlib import Path

import pytest

from privet import PrivateRDTClassifier
from privet.cli.support.paid_model import save_paid
from privet.datasets import agrawal
from privet.errors import ParameterError
from privet.files.file_lock import file_lock

PUT = r"the model is paid for, and was put in '(.+?)': move it from there"


@pytest.fixture(scope="module")
def model():
    data = agrawal(50, random_state=5)
    return PrivateRDTClassifier(data.schema, n_trees=1, height=1).fit(data.X, data.y)


@pytest.mark.parametrize("replace", [False, True])
def test_where_the_folder_has_gone_it_is_put_where_its_owner_alone_can_read_it(model, tmp_path, monkeypatch, replace):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ParameterError, match=f"cannot write to .*: No such file or directory; {PUT}") as refusal:
        save_paid(model, tmp_path / "gone" / "model.privet", replace=replace)
    place = Path(re.search(PUT, str(refusal.value))[1])
    assert place.is_file()
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_file_that_another_process_made_meanwhile_stays(model, tmp_path):
    path = tmp_path / "model.privet"
    path.write_text("theirs")
    with pytest.raises(ParameterError, match=f"was made by another process meanwhile; it is left as it is; {PUT}"):
        save_paid(model, path, replace=False)
    assert path.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_another_process_keeps_is_not_waited_for_without_end(model, tmp_path, monkeypatch):
    monkeypatch.setattr("privet.cli.support.paid_model._PATIENCE_SECONDS", 0.05)
    with file_lock(tmp_path), pytest.raises(ParameterError, match=f"another process keeps the folder of .*; {PUT}"):
        save_paid(model, tmp_path / "model.privet", replace=False)
