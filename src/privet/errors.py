"""Everything privet refuses to do, and how it says so.

::

    PrivetError
    ├── ParameterError       an argument is out of its range
    ├── SchemaError          a schema contradicts itself, or its file cannot be read
    ├── DataError            a table or its labels do not fit the schema
    ├── ExecutorError        an executor lost, repeated or broke a part of the counting
    ├── DiskFull             coded rows do not fit into the folder for temporary files
    ├── StructureTooLarge    the trees asked for would not fit in memory
    ├── ChannelError         a channel or a secret is damaged, or does not fit what is asked of it
    ├── ModelFileError       a model file is damaged, or of a later format
    ├── PartyError           a structure, key, roster or message between parties is damaged, or fits no other
    ├── SignatureError       a model is not signed, or not by whom it should be
    ├── LedgerError          a ledger is damaged, missing or busy, or contradicts what is asked of it
    ├── BudgetExceeded       a release would cost more than the ledger has left
    ├── EntropyError         the system's secure generator gave no random bytes
    └── DatasetUnavailable   an example data set cannot be found or fetched

Every sentence says what is wrong and the way out. Parameters and names of columns may be quoted; a value, a row
number or a count from the table never is.
"""

from typing import Any

_CONTEXT: Any = vars(BaseException)["__context__"]


class PrivetError(Exception):
    """The root of privet's errors."""

    @property
    def __context__(self) -> BaseException | None:
        """What was being handled, but not what ``from None`` has cut off: that may quote a value.

        Printers leave it out by themselves. What sends errors elsewhere, such as Dask's tblib, would take it along.
        """
        context: BaseException | None = _CONTEXT.__get__(self)
        return None if self.__suppress_context__ else context

    @__context__.setter
    def __context__(self, error: BaseException | None) -> None:
        _CONTEXT.__set__(self, error)


class ParameterError(PrivetError, ValueError):
    """An argument is out of its range."""


class SchemaError(PrivetError, ValueError):
    """A schema contradicts itself, or its file cannot be read."""


class DataError(PrivetError, ValueError):
    """A table or its labels do not fit the schema."""


class ExecutorError(PrivetError, RuntimeError):
    """An executor lost, repeated or broke a part of the counting; nothing was released."""


class DiskFull(PrivetError, RuntimeError):
    """Coded rows do not fit into the folder for temporary files; no model was made."""

    def __init__(self, folder: str, reason: str) -> None:
        self.folder, self.reason = folder, reason
        super().__init__(
            f"the coded rows of this fit cannot be kept in {folder!r} ({reason}), and no model was made; free space "
            "there, or let the environment variable TMPDIR name a folder with more"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder, self.reason)


class StructureTooLarge(PrivetError, ValueError):
    """The trees asked for would hold more class counts than the cap allows."""


class ChannelError(PrivetError, ValueError):
    """The description of a channel, or a respondent's secret, is damaged or does not fit what is asked of it."""


class ModelFileError(PrivetError, ValueError):
    """A model file is damaged, or of a format this version does not know."""


class PartyError(PrivetError, ValueError):
    """A structure, a key, a roster or a message between parties is damaged, or does not fit the others."""


class SignatureError(PrivetError, ValueError):
    """A model is not signed, or not by one of the keys that were given."""


class LedgerError(PrivetError, ValueError):
    """A ledger is damaged, missing or busy, or contradicts what is asked of it."""


class BudgetExceeded(PrivetError, ValueError):
    """A release would cost more than its data set has left; raised before any data are read."""

    def __init__(self, asked: float, left: float, dataset: str, delta: float = 0.0) -> None:
        self.asked, self.left, self.dataset, self.delta = asked, left, dataset, delta
        way_out = f"ask for epsilon<={left!r}" if left > 0 else "use a model that was released already"
        costs = f"epsilon={asked!r}"
        if delta > 0:
            costs, way_out = f"{costs} and delta={delta!r}", f"{way_out} without delta"
        super().__init__(
            f"this release costs {costs}, but {left!r} is left of the budget of {dataset!r}; {way_out}; "
            "another account is for other rows only"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.asked, self.left, self.dataset, self.delta)


class EntropyError(PrivetError, RuntimeError):
    """The operating system's secure generator failed; nothing takes its place."""

    def __init__(self) -> None:
        super().__init__(
            "the operating system's secure generator gave no random bytes, or too few, and nothing else may take its "
            "place; run this where os.urandom works: a sandbox may forbid it"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), ()


class DatasetUnavailable(PrivetError, OSError):
    """An example data set is neither on this machine nor can it be fetched."""


class Note(str):
    """What privet notes on an error, its own or another's: it quotes no value, so it may be told with any of them."""

    __slots__ = ()


def notes_of(error: BaseException) -> list[str]:
    """Return what privet has noted on an error; other notes may quote a value."""
    return [note for note in getattr(error, "__notes__", []) if isinstance(note, Note)]


class NoGuaranteeWarning(UserWarning):
    """A method is used in a form for which no privacy is proven, because the caller asked for it by name."""


class PrivacyLeakWarning(UserWarning):
    """Rows may show beyond the promise: they were read without noise, as was asked, or one person may have several."""
