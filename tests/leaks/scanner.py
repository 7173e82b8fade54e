"""Searches anything for marks: text, bytes and what is packed in them, files, arrays, and objects part by part."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from tests.leaks.marks import Kind, Mark
from tests.leaks.needles import needles
from tests.leaks.unpacking import inside

_DEEPEST = 40
# An integer beyond it is none of the marks, and no float.
_LARGEST = 1e300
_CLOSED = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type, type(None), bool, np.dtype)


class Finding(NamedTuple):
    """A mark, how it was written, where in the thing, and whether it cannot be another's."""

    mark: Mark
    encoding: str
    where: str
    sure: bool

    def __str__(self) -> str:
        return f"{self.mark.what} ({self.encoding}) in {self.where}"


@dataclass(frozen=True)
class Scanner:
    """Looks for ``marks``."""

    marks: Sequence[Mark]

    def search(self, thing: Any, where: str = "it") -> list[Finding]:
        """Return every mark that is in ``thing``, each once a place and encoding."""
        return list(dict.fromkeys(self._found(thing, where, {}, 0)))

    def _found(self, thing: Any, where: str, seen: dict[int, Any], depth: int) -> Iterator[Finding]:
        if isinstance(thing, _CLOSED) or depth > _DEEPEST:
            return
        if isinstance(thing, str):
            yield from self._in_bytes(thing.encode(errors="surrogatepass"), where, seen, depth)
        elif isinstance(thing, (bytes, bytearray, memoryview)):
            yield from self._in_bytes(bytes(thing), where, seen, depth)
        elif isinstance(thing, Path):
            yield from self._in_path(thing, where, seen, depth)
        elif isinstance(thing, (int, float, complex, np.number)):
            yield from self._in_numbers(np.array([thing]), where)
        elif isinstance(thing, np.ndarray) and thing.dtype.kind in "iufc":
            yield from self._in_numbers(thing, where)
        elif id(thing) not in seen:
            # Kept, so that nothing made later gets its number.
            seen[id(thing)] = thing
            for name, part in parts_of(thing):
                yield from self._found(part, f"{where}{name}", seen, depth + 1)

    def _in_bytes(self, data: bytes, where: str, seen: dict[int, Any], depth: int) -> Iterator[Finding]:
        for mark in self.marks:
            for needle in needles(mark):
                if needle.is_in(data):
                    yield Finding(mark, needle.encoding, where, needle.sure)
        if len(data) > 16:
            for wrapping, part in inside(data):
                yield from self._found(part, f"{where} > {wrapping}", seen, depth + 1)

    def _in_path(self, path: Path, where: str, seen: dict[int, Any], depth: int) -> Iterator[Finding]:
        files = [path] if path.is_file() else sorted(own for own in path.rglob("*") if own.is_file())
        for file in files:
            own = f"{where} {file.name}"
            yield from self._found(file.name, f"the name of {own}", seen, depth + 1)
            yield from self._found(file.read_bytes(), own, seen, depth + 1)

    def _in_numbers(self, numbers: np.ndarray, where: str) -> Iterator[Finding]:
        for mark in self.marks:
            if mark.kind is Kind.TEXT:
                continue
            # A count is a whole number; others may have been rounded to half their bits.
            near = 0.0 if mark.kind is Kind.COUNT else 1e-7 * float(mark.value)
            apart = np.abs(numbers - float(mark.value))
            if (apart <= near).any():
                yield Finding(mark, "a number", where, mark.kind is Kind.NUMBER and bool((apart == 0).any()))


def parts_of(thing: Any) -> Iterable[tuple[str, Any]]:
    """Return an object's parts by name: elements, columns, attributes, whatever their class hides."""
    if isinstance(thing, np.ndarray):
        return [("[]", list(thing.ravel().tolist()))]
    if isinstance(thing, Mapping):
        return [(".keys", list(thing)), *((f"[{_short(key)}]", own) for key, own in thing.items())]
    if isinstance(thing, (list, tuple, set, frozenset)):
        return _elements(thing)
    if hasattr(thing, "columns") and hasattr(thing, "index"):  # a data frame of pandas
        return [("", thing.to_dict("list")), (".index", list(thing.index)), (".columns", list(thing.columns))]
    if hasattr(thing, "to_pylist"):
        return [("", thing.to_pylist())]
    own = dict(getattr(thing, "__dict__", {}))
    slots = [name for cls in type(thing).__mro__ for name in _slots(cls)]
    own |= {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
    if isinstance(thing, BaseException):
        own["args"] = thing.args
    return [(f".{name}", value) for name, value in own.items()]


def _slots(cls: type) -> Iterable[str]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def _elements(things: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """Return elements; plain numbers as one array and texts as one text, since there may be a million."""
    elements = list(things)
    numbers = [float(own) for own in elements if isinstance(own, (int, float)) and abs(own) <= _LARGEST]
    texts = [own for own in elements if isinstance(own, str)]
    rest = [own for own in elements if not isinstance(own, (int, float, str))]
    together = [np.array(numbers)] if numbers else []
    return [("[]", own) for own in [*together, *(["\n".join(texts)] if texts else []), *rest]]


def _short(key: Any) -> str:
    return repr(key)[:40]
