"""Packages that only some work needs: imported when that is done, and missed in one sentence that says what to install.

Their groups are the extras in pyproject.toml.
"""

import importlib
from typing import Any

from privet.errors import ParameterError


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
