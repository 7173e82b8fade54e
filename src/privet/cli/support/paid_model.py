"""A model that has been paid for: where its file cannot be written, it is put elsewhere, never thrown away."""

import tempfile
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support.stopped import tell_what_waits, was_settled
from privet.entropy import unforeseeable_name
from privet.errors import ParameterError, PrivetError
from privet.files.file_lock import file_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.shelf import Shelf

_PATIENCE_SECONDS = 10.0


@contextmanager
def kept_until_saved(ledger: "Ledger | None") -> "Iterator[None]":
    """Within, a model is on the ledger's shelf before its price is settled; a command that is stopped leaves it there.

    That is said, by this command if it still can, and by the next. Without a ledger there is no price to lose.
    """
    if ledger is None:
        yield
        return
    from privet.privacy.ledger.shelf import Shelf

    ledger.shelf = shelf = Shelf(ledger.path)
    try:
        yield
        shelf.take_away()
    except BaseException as error:
        with suppress(PrivetError, OSError):  # the first error is the one to tell
            _leave(shelf, ledger, is_refusal=isinstance(error, PrivetError))
        raise
    finally:
        ledger.shelf = None


def _leave(shelf: "Shelf", ledger: "Ledger", *, is_refusal: bool) -> None:
    """Leave a model for the next command, and say so; what was refused though it was settled is withheld."""
    if not shelf.holds_a_model:
        return
    if is_refusal and was_settled(ledger, shelf.reservation):
        shelf.take_away()
    elif shelf.leave() is not None:
        tell_what_waits(ledger.path, ledger.dataset)


def save_paid(model: Any, path: Path, *, replace: bool, check: "Callable[[], None]" = lambda: None) -> None:
    """Save a fitted model, unless ``check`` refuses; ``replace`` says whether a file that is there may go.

    Where it cannot be saved the error says where else it is: a second run would be a second release, at a second price.
    """
    try:
        # Somebody else may look for the name and take it at this moment.
        with nullcontext(True) if replace else file_lock(path.resolve().parent, seconds=_PATIENCE_SECONDS) as is_mine:
            _check_free(path, replace=replace, is_mine=is_mine)
            check()
            model.save(path)
    except (PrivetError, OSError) as error:
        raise ParameterError(f"{_trouble(error, path)}; {_put_elsewhere(model, path)}") from error


def _check_free(path: Path, *, replace: bool, is_mine: bool) -> None:
    if path.exists() and not replace:
        raise ParameterError(f"{str(path)!r} was made by another process meanwhile; it is left as it is")
    if not is_mine:
        raise ParameterError(f"another process keeps the folder of {str(path)!r} to itself")


def _trouble(error: Exception, path: Path) -> str:
    """Return what went wrong, without the advice to choose another path."""
    disk = error if isinstance(error, OSError) else error.__cause__
    return f"cannot write to {str(path)!r}: {disk.strerror}" if isinstance(disk, OSError) else str(error)


def _put_elsewhere(model: Any, path: Path) -> str:
    """Save the model beside its own place, leave it beside the ledger, or put it where temporary files are."""
    ending = "".join(path.suffixes)
    name = f"{path.name.removesuffix(ending)}-{unforeseeable_name()}{ending}"
    places: tuple[Callable[[], Path | None], ...] = (
        lambda: _saved(model, path.parent / name),
        lambda: _left_on_shelf(model),
        lambda: _saved(model, _private_folder() / name),
    )
    for put in places:
        with suppress(ParameterError, OSError):
            place = put()
            if place is not None:
                return f"the model is paid for, and was put in {str(place)!r}: move it from there"
    spent = "" if model.ledger is None else ", and its price counts as spent (`privet ledger show`)"
    return f"the model could not be put elsewhere either{spent}: make room, or choose another output with -o"


def _saved(model: Any, place: Path) -> Path:
    model.save(place)
    shelf = _shelf_of(model)
    if shelf is not None:
        shelf.take_away()
    return place


def _left_on_shelf(model: Any) -> Path | None:
    from privet.privacy.ledger.shelf import handed_out

    shelf = _shelf_of(model)
    left = None if shelf is None else shelf.leave()
    return None if left is None else handed_out(left)


def _shelf_of(model: Any) -> "Shelf | None":
    return None if model.ledger is None else model.ledger.shelf


def _private_folder() -> Path:
    """Return a folder for temporary files that its owner alone can read: not every model promises something."""
    return Path(tempfile.mkdtemp(prefix="privet-"))
