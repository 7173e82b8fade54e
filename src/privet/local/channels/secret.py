"""The secret that stays with a respondent and fixes every answer once.

The 64 bits that decide an answer are HMAC-SHA256 of the person and the value, under a key that is itself HMAC-SHA256
of the field's channel under the secret key. Without the key they look like coin tosses. The same question gets the same
answer again. A second channel for a field would be a second answer, and several answers average the noise
away: a secret remembers which channel a field was answered through, and refuses another.
"""

import errno
import hashlib
import hmac
import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.entropy import secure_bytes
from privet.errors import ChannelError, ParameterError
from privet.files.documents import read_json
from privet.files.file_lock import file_lock
from privet.files.whole_file import whole_file, write_new

_FORMAT, _VERSION = "privet-secret", 1
_KEY_BYTES = 32
_WORDS_A_DIGEST = 4
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}
# The mark of a field that is given as it is; it is not remembered, since nothing is left to hide.
CLEAR = "clear"
# The mark of fields that are asked about in waves: each wave has a channel of its own, and their epsilons add up.
WAVES = "waves"


class Secret:
    """A key, and the channels that it has answered through.

    Parameters
    ----------
    path : str or Path, optional
        Where the secret is kept. A file that is there is opened; else one is made that its owner alone can read.
        Without a path the secret lives as long as this object; nobody can ask again after that.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._key, self._answered = secure_bytes(_KEY_BYTES), dict[str, str]()
        self._people: str | None = None
        # What each wave costs, by the fingerprint of its channel.
        self._spent = dict[str, float]()
        # How often the file was used; and how often when it was made here and nobody else had used it, else None.
        self._uses, self._has_recorded_use = 0, False
        self._uses_if_alone: int | None = None
        if self.path is not None:
            if self.path.exists():
                self._read(self.path)
            else:
                self._create(self.path)

    @classmethod
    def of_key(cls, key: bytes) -> Self:
        """Return the secret with this key, for tests and figures that must come out the same again."""
        if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
            raise ParameterError(f"a key has {_KEY_BYTES} bytes; take them from os.urandom({_KEY_BYTES})")
        secret = cls()
        secret._key = key
        return secret

    def __repr__(self) -> str:
        return f"Secret({'' if self.path is None else repr(str(self.path))})"

    def __sklearn_clone__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a copy would not know what the other has answered

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise ParameterError(
                "a secret without a file stays where it is; make it with Secret(path) to take it along"
            )
        return type(self), (str(self.path.resolve()),)

    def pin(
        self, fingerprints: Mapping[str, str], costs: Mapping[str, float] | None = None, max_epsilon: float = math.inf
    ) -> None:
        """Remember the channel of every field, or refuse where a field was answered through another one.

        A field that is given as it is has the mark `CLEAR`. ``costs`` is what a wave costs each person, by its
        fingerprint; all waves together may not cost more than ``max_epsilon``.
        """
        with self._lock():
            self._pin(fingerprints, costs or {}, max_epsilon)

    @property
    def spent(self) -> float:
        """What all waves that were answered with this secret cost each person together."""
        return _sum_of(self._spent)

    def remove_if_unused(self) -> bool:
        """Remove the file and return True, if this object made it and nobody else has used it."""
        with self._lock():
            if self.path is None or not self._is_alone(self.path):
                return False
            try:
                self.path.unlink()
            except OSError:
                return False
            return True

    def _is_alone(self, path: Path) -> bool:
        if self._uses_if_alone is not None and path.exists():
            self._reload()
            return self._uses_if_alone is not None
        return False

    def _pin(self, fingerprints: Mapping[str, str], costs: Mapping[str, float], max_epsilon: float) -> None:
        self._reload()
        changed = [field for field, mark in fingerprints.items() if self._answered.get(field, mark) != mark]
        named = f"the field {changed[0]!r}" if changed and changed[0] else "the record"
        if changed and fingerprints[changed[0]] == CLEAR:
            raise ChannelError(
                f"{named} was disturbed with this secret before, and this channel gives it as it is; "
                "leave it out, or take a new secret if it need not be hidden any more"
            )
        if changed:
            raise ChannelError(
                f"{named} was answered through another channel with this secret, and a second answer "
                "would let the collector average the noise away; give the channel of the first time, or take a new "
                "secret if you accept that both answers together say more"
            )
        spent = {**self._spent, **costs}
        if costs and _sum_of(spent) > max_epsilon:
            raise ParameterError(
                f"with the waves that were answered before, this one would cost epsilon = {_sum_of(spent)!r} in all, "
                f"more than the limit of {max_epsilon!r}; leave this wave out"
            )
        new = {field: mark for field, mark in fingerprints.items() if mark != CLEAR and field not in self._answered}
        changed_spending = spent != self._spent
        self._answered.update(new)
        self._spent = spent
        self._record_use(changed=bool(new) or changed_spending)

    def pin_people(self, how: str) -> None:
        """Remember how people are identified, or refuse another way: the same person could answer again."""
        with self._lock():
            self._pin_people(how)

    def _pin_people(self, how: str) -> None:
        self._reload()
        if self._people not in (None, how):
            raise ChannelError(
                "this secret has answered for people who were told apart in another way: by another column, or by "
                "their place in another table; name the same column again, or take a new secret for other people"
            )
        changed, self._people = self._people is None, how
        self._record_use(changed=changed)

    def words(self, fingerprint: str, persons: Sequence[str], codes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the 64 bits that decide each person's answer about a value, for a channel with this fingerprint."""
        told = (f"[{person},{code}]" for person, code in zip(persons, codes.tolist(), strict=True))
        return self._digests(fingerprint, told)[:, 0]

    def many_words(self, fingerprint: str, told: Sequence[str], n_words: int) -> NDArray[np.uint64]:
        """Return ``n_words`` such words for each person and value ``told``, a line each; the first is that of `words`.

        A digest has four words; the number of the digest stands where a value's code would.
        """
        n_digests = -(-n_words // _WORDS_A_DIGEST)
        blocks = (f"[{own},{block}]" for own in told for block in range(n_digests))
        return self._digests(fingerprint, blocks).reshape(len(told), n_digests * _WORDS_A_DIGEST)[:, :n_words]

    def _digests(self, fingerprint: str, messages: Iterable[str]) -> NDArray[np.uint64]:
        """Return the four words of each message's digest, a line each."""
        # A key of the channel's own: answers through one channel say nothing about another's bits.
        started = hmac.new(hmac.digest(self._key, fingerprint.encode(), "sha256"), digestmod="sha256")
        digests = bytearray()
        for message in messages:
            answer = started.copy()
            answer.update(message.encode())
            digests += answer.digest()
        return np.frombuffer(digests, dtype=">u8").astype(np.uint64).reshape(-1, _WORDS_A_DIGEST)

    def _read(self, path: Path) -> None:
        try:
            data = read_json(path)
            self._key = bytes.fromhex(data["key"])
            self._answered = {str(field): str(mark) for field, mark in data["answered"].items()}
            self._people = None if data["people"] is None else str(data["people"])
            self._uses = data.get("uses", 0)
            self._spent = {str(wave): float(epsilon) for wave, epsilon in data.get("spent", {}).items()}
            fits = data["format"] == _FORMAT and data["version"] == _VERSION and len(self._key) == _KEY_BYTES
            fits = fits and type(self._uses) is int and all(epsilon > 0 for epsilon in self._spent.values())
        except OSError as error:
            raise ChannelError(f"cannot read the secret {str(path)!r}: {error.strerror}; check the path") from error
        except (ValueError, KeyError, TypeError, AttributeError):  # their text may quote the key
            fits = False
        if not fits:
            raise ChannelError(
                f"{str(path)!r} holds no secret of privet's, or a damaged one; restore it, or name another file"
            )

    def _lock(self) -> AbstractContextManager[object]:
        """Lock the secret: two processes at once could each answer through a channel of its own."""
        # The folder's lock, since a new file takes the secret's place with every change.
        folder = None if self.path is None else self.path.resolve().parent
        return nullcontext() if folder is None or not folder.is_dir() else file_lock(folder)

    def _reload(self) -> None:
        """Read the file in this object's turn: others may have answered with the same secret meanwhile."""
        if self.path is not None:
            self._read(self.path)
            self._uses_if_alone = self._uses_if_alone if self._uses_if_alone == self._uses else None

    def _record_use(self, *, changed: bool) -> None:
        """Write what has changed, and once that this object used the file: its maker must see that another did."""
        if self.path is None or (self._has_recorded_use and not changed):
            return
        self._uses += 1
        try:
            self._write(self.path)
        except ParameterError as error:
            # In a read-only folder its maker cannot remove the secret either.
            if changed or not isinstance(error.__cause__, OSError) or error.__cause__.errno not in _READ_ONLY:
                raise
        self._has_recorded_use = True
        self._uses_if_alone = None if self._uses_if_alone is None else self._uses

    def _create(self, path: Path) -> None:
        """Make the file, whole from its first moment: an empty one would be taken for a lost secret."""
        try:
            with self._lock():
                write_new(path, json.dumps(self._document(), ensure_ascii=False).encode(), anywhere=True)
                self._uses_if_alone = self._uses
        except FileExistsError:
            self._read(path)  # another process has made it meanwhile, and there is one secret
        except OSError as error:
            raise ChannelError(f"cannot write the secret {str(path)!r}: {error.strerror}; check the path") from error

    def _write(self, path: Path) -> None:
        with whole_file(path, private=True) as file:
            json.dump(self._document(), file, ensure_ascii=False)

    def _document(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "key": self._key.hex(),
            "answered": self._answered,
            "people": self._people,
            "uses": self._uses,
            **({"spent": self._spent} if self._spent else {}),
        }


def _sum_of(spent: Mapping[str, float]) -> float:
    """Return the sum of stated epsilons, to twelve digits: each was rounded up to ten."""
    return float(f"{math.fsum(spent.values()):.12g}")


def persons_in_json(persons: Iterable[Any]) -> list[str]:
    """Return each person's name as it enters the key: as JSON text, which no name can imitate."""
    return [json.dumps(str(person), ensure_ascii=False) for person in persons]


def fingerprint_of(document: Any) -> str:
    """Return the fingerprint of a channel: SHA-256 of its JSON, with numbers written bit by bit."""
    text = json.dumps(_canonical(document), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    """Return JSON values with sorted keys, and numbers as the hexadecimal digits of a double: alike in any language."""
    if isinstance(value, Mapping):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_canonical(part) for part in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"": struct.pack(">d", value).hex()}  # which no text can imitate
    return value
