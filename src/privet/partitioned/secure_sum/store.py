"""What one party stores for a secure sum: its noised counts, drawn once, and the messages of each attempt.

Noised counts and mask keys are secret: with them and the messages, the sum can be taken apart.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError, PartyError
from privet.files.whole_file import remove_unfinished, whole_bytes, write_new
from privet.partitioned.secure_sum.masks import KEY_BYTES, AgreementKey
from privet.signing.documents import check_owner_only, make_store

_SECRET = "secret"  # noqa: S105 - how a file's name ends
_UNMASKING = "unmasking"  # one file for all attempts
_NUMBER = np.dtype("<i8")
NEW_ROUND = "let all parties begin a new round, with a new structure"


class SumStore:
    """The folder of one party and one set of terms."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self) -> None:
        """Make the folder and try to write to it, before anything is spent."""
        make_store(self._folder, what="noised counts")

    @property
    def nothing_sent(self) -> bool:
        """Whether the folder shows that no message was sent. A lost folder shows nothing."""
        return self._folder.is_dir() and self.newest() == 0

    def noised(self, size: int) -> NDArray[np.int64] | None:
        """Return the noised counts, if they have been drawn."""
        data = self._read_secret(self._folder / "noised")
        if data is not None and len(data) != size * _NUMBER.itemsize:
            raise PartyError(f"the noised counts in the store are damaged; put a copy back, or {NEW_ROUND}")
        return None if data is None else np.frombuffer(data, dtype=_NUMBER).astype(np.int64)

    def keep_noised(self, noised: NDArray[np.int64]) -> None:
        """Store the noised counts for all attempts. A second set is refused."""
        self._write_secret(self._folder / "noised", noised.astype(_NUMBER).tobytes(), "noised counts")

    def agreement(self, attempt: int) -> AgreementKey | None:
        """Return the key for the masks of ``attempt``, if there is one that has not been used."""
        data = self.secret(attempt, KEY_BYTES)
        return None if data is None else AgreementKey(data)

    def keep_agreement(self, attempt: int, key: AgreementKey) -> None:
        """Store the key for the masks of a new attempt, and remove those of earlier ones."""
        self.keep_secret(attempt, key.secret)

    def secret(self, attempt: int, n_bytes: int) -> bytes | None:
        """Return the secrets of ``attempt``, unless they have been used or a later attempt has begun."""
        data = self._read_secret(self._path(attempt, _SECRET))
        if data is not None and len(data) != n_bytes:
            raise PartyError(f"the key for the masks of attempt {attempt} is damaged; begin attempt {attempt + 1}")
        return data

    def keep_secret(self, attempt: int, data: bytes) -> None:
        """Store the secrets of a new attempt, and remove those of earlier ones."""
        for earlier in self._folder.glob(f"attempt-*.{_SECRET}"):
            _remove_key(earlier)
        self._write_secret(self._path(attempt, _SECRET), data, "key for the masks")

    def forget_agreement(self, attempt: int) -> None:
        """Remove a mask key that is no longer needed, and what a killed process has left: nothing is written after."""
        _remove_key(self._path(attempt, _SECRET))
        remove_unfinished(self._folder)

    def message(self, kind: str, attempt: int) -> bytes | None:
        """Return the message of this kind that was sent in ``attempt``, if one was."""
        path = self._path(attempt, kind)
        return path.read_bytes() if path.exists() else None

    def keep_message(self, kind: str, attempt: int, message: bytes) -> None:
        """Store a message before it is sent."""
        with whole_bytes(self._path(attempt, kind)) as file:
            file.write(message)

    def keep_message_once(self, kind: str, attempt: int, message: bytes) -> None:
        """Store a message before it is sent. A second one is refused, even if two processes make it at once."""
        self._write_secret(self._path(attempt, kind), message, f"{kind} message and what belongs to it")

    def unmasking(self) -> bytes | None:
        """Return the message with which this party has taken masks off, if it has done so in any attempt."""
        path = self._folder / _UNMASKING
        return path.read_bytes() if path.exists() else None

    def keep_unmasking(self, message: bytes) -> None:
        """Store the only unmasking of these terms. A second one is refused, in whatever attempt it is."""
        self._write_secret(self._folder / _UNMASKING, message, "unmasking and what belongs to it")

    def newest(self) -> int:
        """Return the last attempt that was begun; 0 before the first."""
        names = [path.name.split(".")[0].removeprefix("attempt-") for path in self._folder.glob("attempt-*.*")]
        return max((int(name) for name in names if name.isdecimal()), default=0)

    def _path(self, attempt: int, kind: str) -> Path:
        return self._folder / f"attempt-{attempt}.{kind}"

    def _read_secret(self, path: Path) -> bytes | None:
        if not path.exists():
            return None
        check_owner_only(path, f"{path.name!r} in the store")
        return path.read_bytes()

    def _write_secret(self, path: Path, data: bytes, what: str) -> None:
        """Write a new secret file, complete or not at all."""
        try:
            write_new(path, data)
        except FileExistsError:
            raise PartyError(f"the {what} of this party are being made by another process; run one at a time") from None
        except OSError as error:
            raise ParameterError(
                f"cannot keep the {what} in {str(self._folder)!r}: {error.strerror}; choose another store"
            ) from error


def _remove_key(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise PartyError(
            f"cannot remove the used mask key {str(path)!r}: {error.strerror}; remove it, and run this again, which "
            "costs nothing"
        ) from error
