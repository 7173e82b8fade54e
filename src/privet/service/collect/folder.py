"""The folder of a collection: its settings, channel, key, store and models."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from privet.checks import check_whole
from privet.entropy import secure_bytes
from privet.errors import DataError, ParameterError
from privet.files.documents import read_json
from privet.files.whole_file import whole_bytes, whole_file, write_new
from privet.local import Channel
from privet.service.collect.store import AnswerStore

SETTINGS, CHANNEL, KEY, STORE = "settings.json", "channel.json", "server.key", "answers.db"
_NO_FOLDER = "{!r} is no folder of a collection; make one with `privet collect init`"
_KEY_BYTES = 32


@dataclass
class Settings:
    """What the collector has chosen.

    ``batch`` answers at least are released together, ``minimum`` of them at least are trained on.
    """

    title: str
    people: int
    by: str = ""
    purpose: str = ""
    wave: str = "1"
    batch: int = 50
    minimum: int = 100
    store: str = ""
    open: bool = True
    password: str = ""
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.title:
            raise ParameterError("a collection needs a title; pass --title")
        for name in ("people", "batch", "minimum"):
            check_whole(name, getattr(self, name), least=1, most=10**9)


class CollectFolder:
    """A collection on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.settings = Settings(**read_json(path / SETTINGS))
            self.channel_bytes = (path / CHANNEL).read_bytes()
            self.key = (path / KEY).read_bytes()
        except (OSError, ValueError, TypeError):
            raise DataError(_NO_FOLDER.format(str(path))) from None
        self.channel = Channel.load(path / CHANNEL)

    @classmethod
    def make(cls, path: Path, channel: Path, settings: Settings) -> "CollectFolder":
        """Make a new folder, which its owner alone can enter; the channel file is copied byte for byte."""
        Channel.load(channel)
        if path.exists():
            raise ParameterError(f"{str(path)!r} exists; choose another folder")
        try:
            path.mkdir(mode=0o700)
        except OSError as error:
            raise ParameterError(f"cannot make {str(path)!r}: {error.strerror}; choose another folder") from error
        with whole_bytes(path / CHANNEL) as file:
            file.write(channel.read_bytes())
        write_new(path / KEY, secure_bytes(_KEY_BYTES), anywhere=True)
        _save(path, settings)
        folder = cls(path)
        folder.open_store().close()
        return folder

    @property
    def model_file(self) -> Path:
        """The model that was trained last."""
        return self.path / "model.privet"

    def published(self, kind: str) -> Path:
        """Return the file of the published model, as ``js`` or ``json``."""
        return self.path / f"published.{kind}"

    @property
    def channel_sha256(self) -> str:
        """The channel file's fingerprint, as ``sha256sum`` prints it."""
        return hashlib.sha256(self.channel_bytes).hexdigest()

    def change(self, **changes: Any) -> None:
        """Change settings, here and on the disk."""
        changed = Settings(**{**asdict(self.settings), **changes})
        _save(self.path, changed)
        self.settings = changed

    def open_store(self) -> AnswerStore:
        """Open the store of the answers."""
        from privet.service.collect.sqlite_store import SQLiteStore

        if self.settings.store:
            raise ParameterError("only a store in the folder is supported; leave --store out")
        (self.path / STORE).touch(mode=0o600)
        return SQLiteStore(self.path / STORE)


def _save(path: Path, settings: Settings) -> None:
    with whole_file(path / SETTINGS, private=True) as file:
        json.dump(asdict(settings), file, ensure_ascii=False, indent=1)
        file.write("\n")
