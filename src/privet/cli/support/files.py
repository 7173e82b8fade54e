"""Files that verbs write: never unasked over one that is there, never over an input, never half.

A model whose noise is drawn counts as spent, so it is put elsewhere where its file cannot be written.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.cli.support.ledger import heads_path
from privet.entropy import unforeseeable_name
from privet.errors import ParameterError, PrivetError
from privet.files.file_lock import file_lock
from privet.lazy import matplotlib

_PICTURES = (".png", ".svg", ".pdf")
# What SQLite calls the files that it makes and removes beside a database.
_JOURNALS = ("-journal", "-wal", "-shm")
_PATIENCE_SECONDS = 10.0


def beside(model_file: Path, suffix: str) -> Path:
    """Return the file beside the model with the model's name and another ending."""
    return model_file.parent / f"{Path(model_file.name.removesuffix('.gz')).stem}{suffix}"


def check_output(
    path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "-o", ledger: Path | None = None
) -> None:
    """Refuse an output file that cannot or should not be written, before any work is done.

    With a ledger, that is also a file that would be taken for the ledger's own, and be lost.
    """
    if path.is_dir():
        raise ParameterError(f"cannot write to {str(path)!r}: it is a folder; name a file with {option}")
    if not path.parent.is_dir():
        raise ParameterError(
            f"cannot write to {str(path)!r}: there is no such folder; make it, or choose another with {option}"
        )
    if ledger is not None:
        _check_not_of_ledger(path, ledger, option)
        inputs = (*inputs, ledger)
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise ParameterError(f"{str(path)!r} is read by this command; choose another output with {option}")
    if path.exists() and not force:
        raise ParameterError(f"{str(path)!r} exists; choose another output with {option}, or replace it with --force")
    if not os.access(path.parent, os.W_OK):
        raise ParameterError(f"cannot write to {str(path)!r}: its folder is read-only; choose another with {option}")


def _check_not_of_ledger(path: Path, ledger: Path, option: str) -> None:
    heads = heads_path()
    journals = [_folded(Path(f"{ledger.resolve()}{ending}")) for ending in _JOURNALS]
    # The name itself and, where it is a link, what it leads to.
    for place in (_folded(path.parent.resolve() / path.name), _folded(path.resolve())):
        if place in journals or (heads is not None and place.is_relative_to(_folded(heads.resolve()))):
            raise ParameterError(
                f"{str(path)!r} would be taken for one of the ledger's own files, and be lost; choose another output "
                f"with {option}"
            )


def _folded(path: Path) -> Path:
    # Some file systems do not tell cases apart.
    return Path(str(path).casefold())


def check_picture(path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "-o") -> None:
    """Refuse a picture of a kind that cannot be drawn, or that `check_output` refuses."""
    if path.suffix.lower() not in _PICTURES:
        raise ParameterError(f"a picture is written as {', '.join(_PICTURES)}; name it so instead of {path.name!r}")
    matplotlib("figure")  # before anything is asked or paid for
    check_output(path, force=force, inputs=inputs, option=option)


def write_picture(path: Path, draw: Callable[..., object], *, height: float = 4.2) -> None:
    """Write what ``draw`` draws on the axes that it is given as ``ax``."""
    from privet.files.whole_file import whole_bytes

    # Of its own: pyplot would look for a screen.
    figure = matplotlib("figure").Figure(figsize=(6.5, height), layout="constrained")
    draw(ax=figure.subplots())
    with whole_bytes(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=150)


def stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when another file takes a name, or None where there is none that can be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class PendingModel:
    """A model that has a place in a file: `save` writes it there, or elsewhere if that fails.

    ``replace`` says whether a file that is there may go. ``check`` may refuse, by raising, just before the file is
    written.
    """

    path: Path
    replace: bool
    check: Callable[[], None] = lambda: None

    def save(self, model: Any) -> None:
        """Save a fitted model. The error where that fails says where else it is: a second run would cost as much."""
        # Somebody else may look for the name and take it at this moment.
        lock = nullcontext(True) if self.replace else file_lock(self.path.resolve().parent, seconds=_PATIENCE_SECONDS)
        try:
            with lock as is_mine:
                self._check_free(is_mine=is_mine)
                self.check()
                model.save(self.path)
        except (PrivetError, OSError) as error:
            raise ParameterError(f"{self._trouble(error)}; {self._put_elsewhere(model)}") from error

    def _check_free(self, *, is_mine: bool) -> None:
        if self.path.exists() and not self.replace:
            raise ParameterError(f"{str(self.path)!r} was made by another process meanwhile; it is left as it is")
        if not is_mine:
            raise ParameterError(f"another process keeps the folder of {str(self.path)!r} locked")

    def _trouble(self, error: Exception) -> str:
        """Return what went wrong, without the advice to choose another path."""
        disk = error if isinstance(error, OSError) else error.__cause__
        return f"cannot write to {str(self.path)!r}: {disk.strerror}" if isinstance(disk, OSError) else str(error)

    def _put_elsewhere(self, model: Any) -> str:
        """Save the model beside its own place, or in a folder for temporary files that its owner alone can read."""
        ending = "".join(self.path.suffixes)
        name = f"{self.path.name.removesuffix(ending)}-{unforeseeable_name()}{ending}"
        for folder in (self.path.parent, None):
            with suppress(ParameterError, OSError):
                place = (folder or Path(tempfile.mkdtemp(prefix="privet-"))) / name
                model.save(place)
                return f"the model is whole, and was put in {str(place)!r}: move it from there"
        return "the model could not be put elsewhere either: make room, or choose another output with -o"
