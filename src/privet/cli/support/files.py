"""Files that verbs write: never unasked over one that is there, never over an input, never half."""

import os
from pathlib import Path

from privet.errors import ParameterError

_PICTURES = (".png", ".svg", ".pdf")


def beside(model_file: Path, suffix: str) -> Path:
    """Return the file beside the model with the model's name and another ending."""
    return model_file.parent / f"{Path(model_file.name.removesuffix('.gz')).stem}{suffix}"


def check_output(path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "-o") -> None:
    """Refuse an output file that cannot or should not be written, before any work is done."""
    if path.is_dir():
        raise ParameterError(f"cannot write to {str(path)!r}: it is a folder; name a file with {option}")
    if not path.parent.is_dir():
        raise ParameterError(
            f"cannot write to {str(path)!r}: there is no such folder; make it, or choose another with {option}"
        )
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise ParameterError(f"{str(path)!r} is read by this command; choose another output with {option}")
    if path.exists() and not force:
        raise ParameterError(f"{str(path)!r} exists; choose another output with {option}, or replace it with --force")
    if not os.access(path.parent, os.W_OK):
        raise ParameterError(f"cannot write to {str(path)!r}: its folder is read-only; choose another with {option}")


def check_picture(path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "-o") -> None:
    """Refuse a picture of a kind that cannot be drawn, or that `check_output` refuses."""
    if path.suffix.lower() not in _PICTURES:
        raise ParameterError(f"a picture is written as {', '.join(_PICTURES)}; name it so instead of {path.name!r}")
    check_output(path, force=force, inputs=inputs, option=option)


def stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when another file takes a name, or None where there is none that can be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
