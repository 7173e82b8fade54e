"""The folder of a collection: what it must hold, and whose wave it is."""

import json
import stat

import pytest

from privet.errors import ChannelError, DataError, ParameterError, PrivetError
from privet.local import FieldSampling
from privet.service.collect.folder import CollectFolder, Settings
from tests.service.collect.conftest import randomized, schema


def make(path, channel=None, **settings):
    (channel or randomized()).save(path / "channel.json")
    return CollectFolder.make(path / "smokers", path / "channel.json", Settings("Smoking", 1000, **settings))


def of_wave(name):
    return FieldSampling(schema(), epsilon=2.0, wave=name).channel


def test_a_folder_can_be_entered_by_its_owner_alone(tmp_path):
    folder = make(tmp_path)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    for name in ("server.key", "settings.json", "answers.db"):
        assert stat.S_IMODE((folder.path / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("settings.json", b"{", DataError, "settings.json in the folder is damaged"),
        ("settings.json", b'{"title": "Smoking", "people": "many"}', DataError, "settings.json in the folder"),
        ("settings.json", b'{"title": 5, "people": 7}', DataError, "settings.json in the folder"),
        ("settings.json", b'{"title": "x", "people": 7, "colour": "red"}', DataError, "settings.json in the folder"),
        ("settings.json", b"[1]", DataError, "settings.json in the folder"),
        ("server.key", b"", DataError, "server.key in the folder is damaged"),
        ("channel.json", b'{"format": "privet-channel"}', ChannelError, "channel"),
        ("answers.db", b"no database" * 1000, DataError, "answers in .* cannot be opened"),
        ("answers.db", b"", DataError, "answers in .* cannot be opened"),
    ],
)
def test_a_damaged_file_is_named_and_the_way_out_too(tmp_path, name, content, error, says):
    folder = make(tmp_path)
    (folder.path / name).write_bytes(content)
    with pytest.raises(error, match=says):
        CollectFolder(folder.path).open_store()


@pytest.mark.parametrize("name", ["settings.json", "server.key", "channel.json", "answers.db"])
def test_a_file_that_is_missing_is_not_made_anew(tmp_path, name):
    folder = make(tmp_path)
    (folder.path / name).unlink()
    with pytest.raises(PrivetError, match="no folder of a collection|cannot be opened"):
        CollectFolder(folder.path).open_store()
    assert not (folder.path / name).exists()


def test_a_folder_that_cannot_be_made_whole_is_not_left_behind(tmp_path):
    with pytest.raises(DataError, match="PostgreSQL database cannot be opened"):
        make(tmp_path, store=f"postgresql:///nowhere?host={tmp_path}")
    assert not (tmp_path / "smokers").exists()


def test_a_collection_is_of_the_wave_of_its_channel(tmp_path):
    assert make(tmp_path, of_wave("spring")).settings.wave == "spring"


def test_naming_the_channel_s_wave_is_allowed(tmp_path):
    assert make(tmp_path, of_wave("spring"), wave="spring").settings.wave == "spring"


@pytest.mark.parametrize(
    ("channel", "says"), [(None, "the channel has no wave"), (of_wave("spring"), "the channel is of wave 'spring'")]
)
def test_a_wave_that_the_channel_does_not_have_is_refused(tmp_path, channel, says):
    with pytest.raises(ParameterError, match=says):
        make(tmp_path, channel, wave="summer")


def test_settings_that_another_server_changed_are_seen(tmp_path):
    one = make(tmp_path)
    CollectFolder(one.path).change(open=False)
    assert one.settings.open is False


def test_a_model_without_its_note_counts_as_none(tmp_path):
    folder = make(tmp_path)
    assert folder.trained is None
    (folder.path / "trained.json").write_text("{")
    assert folder.trained is None
    (folder.path / "trained.json").write_text(json.dumps({"published": True}))
    assert folder.trained == {"published": True}


def test_a_training_that_is_killed_leaves_no_model_that_could_be_published(tmp_path, monkeypatch):
    folder = make(tmp_path)
    (folder.path / "trained.json").write_text(json.dumps({"method": "an older one", "published": True}))

    class Model:
        def save(self, path):
            path.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.save_trained(Model(), method="a new one")
    assert folder.trained is None
    assert not (folder.path / "trained.json").exists()
