"""Messages as files in a folder that all parties can write to. This is the default, and needs no server.

A file is complete or absent. Everyone who can write to the folder can stop a round, and nothing more: every message is
signed.
"""

import json
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

from privet.errors import ParameterError, PartyError
from privet.files.whole_file import whole_bytes
from privet.partitioned.secure_sum.messages import SURVIVORS, UNMASK, check_attempt, longest_message
from privet.partitioned.secure_sum.terms import Terms

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Directory:
    """The messages of one attempt, in a folder of their own below ``folder``.

    Parameters
    ----------
    folder : path
        Where all parties can write.
    terms : Terms
    attempt : int
        All parties use the same number; after an abort, the next one.
    timeout : float
        Seconds to wait for the others, for each kind of message.
    say : function, optional
        Called with a text that names the parties that are missing.
    """

    def __init__(
        self,
        folder: str | Path,
        terms: Terms,
        attempt: int = 1,
        *,
        timeout: float = 600.0,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._names, self._attempt = terms.roster.names, check_attempt(attempt)
        if not 0 < timeout < float("inf"):
            raise ParameterError(f"timeout={timeout!r} is not a number of seconds; pass one above 0, such as 600")
        self._timeout, self._say, self._longest = timeout, say, longest_message(terms)
        self._shared = Path(folder)
        if not self._shared.is_dir():
            raise ParameterError(f"there is no folder {str(folder)!r}; make it where all parties can write")
        self.folder = self._shared / f"sum-{terms.hash[:32]}" / f"attempt-{attempt}"

    def send(self, kind: str, party: str, message: bytes) -> None:
        """Write a message. The same one may exist already."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(f"cannot write to {str(self._shared)!r}: {error.strerror}; choose another") from error
        path = self._path(kind, party)
        if path.is_symlink() or (path.exists() and self._read(kind, party) != message):
            raise PartyError(
                f"the folder has another {kind} message under the name of {party!r}, which this party did not send; "
                f"find out who did, and begin attempt {self._attempt + 1} in a clean folder"
            )
        self._put(path, message)

    def collect(
        self, kind: str, of: Collection[str] | None = None, *, least: int | None = None, same: bool = False
    ) -> dict[str, bytes]:
        """Wait for the messages of all parties ``of`` and return them; give up after the timeout.

        With ``least``, so many are enough, and all that are there are returned. With ``same``, so many are enough after
        the timeout only: the first party that has waited writes down whose messages these are, and all others take the
        same ones.
        """
        names = self._names if of is None else of
        messages = self._wait(kind, names, len(names) if least is None else least, listed=same)
        if least is None:
            return {name: messages[name] for name in names}
        return self._listed(kind, messages, least) if same else messages

    def _wait(self, kind: str, names: Collection[str], least: int, *, listed: bool) -> dict[str, bytes]:
        end, pause, said = time.monotonic() + self._timeout, _FIRST_PAUSE, ""
        while missing := [name for name in names if not self._path(kind, name).is_file()]:
            enough = sum(self._path(kind, name).is_file() for name in self._names) >= least
            if self._list_path(kind).is_file() if listed else enough:
                break
            left = end - time.monotonic()
            if left <= 0:
                if not enough:
                    raise self._gave_up(kind, missing)
                self._say(f"going on without {', '.join(missing)}")
                break
            waiting = f"waiting for the {kind} message of {', '.join(missing)}"
            if waiting != said:
                self._say(said := waiting)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        return self.present(kind)

    def _listed(self, kind: str, messages: dict[str, bytes], least: int) -> dict[str, bytes]:
        """Return those of ``messages`` that the folder's list names; the first who comes writes the list."""
        path = self._list_path(kind)
        try:
            # Made only where there is none, so that two cannot write different ones.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(sorted(messages)).encode())
        except FileExistsError:
            pass
        except OSError as error:
            raise ParameterError(f"cannot write to {str(self._shared)!r}: {error.strerror}; choose another") from error
        names = self._read_list(path)
        end = time.monotonic() + self._timeout
        while names is None and time.monotonic() < end:  # another party is writing it
            time.sleep(_FIRST_PAUSE)
            names = self._read_list(path)
        if names is None or len(names) < least or not set(names) <= set(self.present(kind)):
            raise PartyError(
                f"the folder's list of {kind} messages is damaged or names one that is not there; begin attempt "
                f"{self._attempt + 1} in a clean folder"
            )
        return {name: self._read(kind, name) for name in names}

    def _read_list(self, path: Path) -> list[str] | None:
        try:
            with path.open("rb") as file:
                names = json.loads(file.read(self._longest))
        except (OSError, ValueError):
            return None
        known = isinstance(names, list) and all(name in self._names for name in names)
        return sorted(set(names)) if known else None

    def _list_path(self, kind: str) -> Path:
        # No party's name has a dot.
        return self.folder / f"list.of.{kind}.json"

    def present(self, kind: str) -> dict[str, bytes]:
        """Return the messages that have arrived."""
        return {name: self._read(kind, name) for name in self._names if self._path(kind, name).is_file()}

    def _gave_up(self, kind: str, missing: list[str]) -> PartyError:
        late, following = ", ".join(map(repr, missing)), self._attempt + 1
        if kind in (SURVIVORS, UNMASK):  # others may have gone on, and will not begin another attempt
            return PartyError(
                f"no {kind} message came from {late} within {self._timeout:g} s; nothing was opened; when more parties "
                f"are there, run attempt {self._attempt} again, which goes on where it stopped"
            )
        return PartyError(
            f"no {kind} message came from {late} within {self._timeout:g} s; nothing was opened; when all are ready, "
            f"all parties run attempt {following} (--attempt {following}), with the same noised counts"
        )

    def _put(self, path: Path, message: bytes) -> None:
        """Write a complete message or none. A link that others may have put there is replaced, not followed."""
        with whole_bytes(path, follow=False) as file:
            file.write(message)

    def _path(self, kind: str, party: str) -> Path:
        return self.folder / f"{party}.{kind}.json"

    def _read(self, kind: str, party: str) -> bytes:
        try:
            with self._path(kind, party).open("rb") as file:
                message = file.read(self._longest + 1)
        except OSError as error:
            raise PartyError(
                f"cannot read the {kind} message of {party!r}: {error.strerror}; check the folder"
            ) from error
        if len(message) > self._longest:
            raise PartyError(
                f"the {kind} message of {party!r} is longer than any of this sum; ask the party for its own"
            )
        return message
