"""The folder of a collection: its settings, channel, key, store and models."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from privet.checks import check_whole
from privet.entropy import secure_bytes
from privet.errors import DataError, ParameterError, PrivetError
from privet.files.documents import read_json
from privet.files.whole_file import whole_bytes, whole_file, write_new, write_private_json
from privet.local import Channel
from privet.service.collect.store import AnswerStore, StoreUnavailable

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier

SETTINGS, CHANNEL, KEY, STORE = "settings.json", "channel.json", "server.key", "answers.db"
MODEL, TRAINED = "model.privet", "trained.json"
_NO_FOLDER = "{!r} is no folder of a collection; make one with `privet collect init`"
_DAMAGED = "{} in the folder is damaged; restore a backup"
_KEY_BYTES = 32


@dataclass
class Settings:
    """What the collector has chosen.

    ``batch`` answers at least are released together, ``minimum`` of them at least are trained on. ``store`` is the URL
    of a PostgreSQL database without its password; empty where the answers are in the folder.
    """

    title: str
    people: int
    by: str = ""
    purpose: str = ""
    wave: str | None = None
    batch: int = 50
    minimum: int = 100
    store: str = ""
    open: bool = True
    password: str = ""
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.title:
            raise ParameterError("a collection needs a title; pass --title")
        words = (self.title, self.by, self.purpose, self.wave or "", self.store, self.password)
        if not all(isinstance(own, str) for own in words) or not isinstance(self.texts, dict):
            raise TypeError
        for name in ("people", "batch", "minimum"):
            check_whole(name, getattr(self, name), least=1, most=10**9)


class CollectFolder:
    """A collection on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, int] | None = None
        try:
            self._settings = self.settings
            self.channel_bytes = (path / CHANNEL).read_bytes()
            self.key = (path / KEY).read_bytes()
        except OSError:
            raise DataError(_NO_FOLDER.format(str(path))) from None
        if len(self.key) != _KEY_BYTES:
            raise DataError(_DAMAGED.format(KEY))
        self.channel = Channel.load(path / CHANNEL)

    @classmethod
    def make(cls, path: Path, channel: Path, settings: Settings) -> "CollectFolder":
        """Make a new folder, which its owner alone can enter; the channel file is copied byte for byte."""
        settings = replace(settings, wave=_agreed_wave(Channel.load(channel), settings.wave))
        if path.exists():
            raise ParameterError(f"{str(path)!r} exists; choose another folder")
        try:
            path.mkdir(mode=0o700)
        except OSError as error:
            raise ParameterError(f"cannot make {str(path)!r}: {error.strerror}; choose another folder") from error
        try:
            with whole_bytes(path / CHANNEL) as file:
                file.write(channel.read_bytes())
            write_new(path / KEY, secure_bytes(_KEY_BYTES), anywhere=True)
            write_private_json(path / SETTINGS, asdict(settings))
            folder = cls(path)
            folder.open_store(new=True).close()
        except PrivetError:
            rmtree(path)  # nobody has seen it, and the next try may have the same name
            raise
        return folder

    @property
    def settings(self) -> Settings:
        """The settings as they are on the disk, so that several servers agree."""
        file = self.path / SETTINGS
        try:
            found = file.stat()
        except OSError:
            if self._read_at is None:
                raise
            raise StoreUnavailable from None  # somebody moved the folder
        if (found.st_mtime_ns, found.st_ino) != self._read_at:
            try:
                self._settings = Settings(**read_json(file))
            except (ValueError, TypeError):
                raise DataError(_DAMAGED.format(SETTINGS)) from None
            self._read_at = (found.st_mtime_ns, found.st_ino)
        return self._settings

    @property
    def model_file(self) -> Path:
        """The model that was trained last."""
        return self.path / MODEL

    @property
    def trained(self) -> dict[str, Any] | None:
        """What is told of that model: its method, number of answers and guarantee, and whether it is published."""
        try:
            found = read_json(self.path / TRAINED)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def save_trained(self, model: "PrivateClassifier", **told: Any) -> None:
        """Keep a model and what is told of it; killed in between, there is none."""
        (self.path / TRAINED).unlink(missing_ok=True)
        model.save(self.model_file)
        self._tell({**told, "published": False})

    def mark_published(self) -> None:
        """Note that respondents have the trained model."""
        self._tell({**(self.trained or {}), "published": True})

    def _tell(self, told: dict[str, Any]) -> None:
        with whole_file(self.path / TRAINED) as file:
            json.dump(told, file)

    def published(self, kind: str) -> Path:
        """Return the file of the published model, as ``js`` or ``json``."""
        return self.path / f"published.{kind}"

    @property
    def channel_sha256(self) -> str:
        """The channel file's fingerprint, as ``sha256sum`` prints it."""
        return hashlib.sha256(self.channel_bytes).hexdigest()

    def change(self, **changes: Any) -> None:
        """Change settings on the disk."""
        write_private_json(self.path / SETTINGS, asdict(replace(self.settings, **changes)))

    def close(self, store: AnswerStore) -> int:
        """Take no more reports, and release what waits where it is a batch at least; return how many that were."""
        self.change(open=False)
        return store.release(self.settings.batch, last=True)

    def open_store(self, *, new: bool = False) -> AnswerStore:
        """Open the store of the answers, or make a ``new`` one."""
        if self.settings.store:
            from privet.service.collect.postgres_store import PostgresStore, url_to_use

            return PostgresStore(url_to_use(self.settings.store), self.key, new=new)
        from privet.service.collect.store import SQLiteStore

        return SQLiteStore(self.path / STORE, new=new)


def _agreed_wave(channel: Channel, wave: str | None) -> str | None:
    """Return the wave of the channel, which decides whether people pay again; another name would hide that."""
    own = None if channel.record is None else channel.record.wave
    if wave is not None and wave != own:
        has = "has no wave" if own is None else f"is of wave {own!r}"
        raise ParameterError(f"--wave is {wave!r}, but the channel {has}; make it with `privet perturb --wave`")
    return own
