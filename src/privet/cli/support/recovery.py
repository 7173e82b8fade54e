"""A model whose noise is drawn counts as spent, so it is put elsewhere where its file cannot be written."""

import tempfile
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.entropy import unforeseeable_name
from privet.errors import ParameterError, PrivetError
from privet.files.file_lock import file_lock

_PATIENCE_SECONDS = 10.0


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
