"""Imports on first use: of a package's names, of modules that a dependency imports needlessly, and of extras.

An extra is a group of packages in pyproject.toml that only some work needs. What is missing is missed in one sentence
that says what to install.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from privet.errors import ParameterError


def lazy_names(
    package: str, homes: Mapping[str, str], *there: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``homes`` says which module has a name; the names in ``there`` the package has itself.
    """
    names = sorted([*homes, *there])

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return find, lambda: list(names), names


class LaterModule(ModuleType):
    """Stands in ``sys.modules`` for a module that nobody has used yet.

    The first use of an attribute imports the module in the ordinary way, under the import lock, and puts it in this
    one's place. `importlib.util.LazyLoader` would import the parent package at once, and on older Pythons two threads
    may see half of a module (gh-114763).
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def import_later(*modules: str) -> None:
    """Import ``modules`` when they are first used, not when they are named.

    For a program that owns its process. A library leaves other people's modules alone.
    """
    for name in modules:
        sys.modules.setdefault(name, LaterModule(name))


def of_extra(module: str, extra: str, work: str, *, way_out: str = "") -> Any:
    """Import a module of an extra, or say that ``work`` needs its package, how to install it, and another ``way_out``.

    A package that is there but broken fails in its own words.
    """
    package = module.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as missing:
        if missing.name != package:
            raise
        raise ParameterError(
            f"{work} needs the package {package.replace('_', '-')}, which is not installed; "
            f"install it with `pip install 'privet[{extra}]'`{way_out}"
        ) from None
    return importlib.import_module(module)


def matplotlib(part: str) -> Any:
    """Import a part of matplotlib."""
    return of_extra(f"matplotlib.{part}", "plot", "a picture")
