"""A model that has been paid for: where its file cannot be written, it is put elsewhere, never thrown away."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from privet.entropy import unforeseeable_name
from privet.errors import ParameterError
from privet.file_lock import held


def save_paid(model: Any, path: Path, *, replace: bool) -> None:
    """Save a fitted model; ``replace`` says whether a file that is there may go.

    Where it cannot be saved the error says where else it is: a second run would be a second release, at a second price.
    """
    try:
        # Somebody else may look for the name and take it at this moment.
        with nullcontext() if replace else held(path.resolve().parent):
            _check_free(path, replace=replace)
            model.save(path)
    except ParameterError as error:
        trouble = str(error).removesuffix("; choose another path")
        raise ParameterError(f"{trouble}; {_put_elsewhere(model, path)}") from error


def _check_free(path: Path, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise ParameterError(f"{str(path)!r} was made by another process meanwhile; it is left as it is")


def _put_elsewhere(model: Any, path: Path) -> str:
    ending = "".join(path.suffixes)
    name = f"{path.name.removesuffix(ending)}-{unforeseeable_name()}{ending}"
    for folder in (path.parent, Path(tempfile.gettempdir())):
        try:
            model.save(folder / name)
        except ParameterError:
            continue
        return f"the model is paid for, and was put in {str(folder / name)!r}: move it from there"
    spent = "" if model.ledger is None else ", and its price counts as spent (`privet ledger show`)"
    return f"the model could not be put elsewhere either{spent}: make room, or choose another output with -o"
