"""``--sep``, ``--decimal`` and ``--encoding``, for every verb that reads rows."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from privet.counting.csv_format import CsvFormat, reading_csv

_OPTIONS = {
    "sep": Annotated[str, typer.Option("--sep", metavar="MARK", help="Of a CSV: what separates fields; or tab.")],
    "decimal": Annotated[str, typer.Option("--decimal", metavar="MARK", help="Of a CSV: its decimal mark.")],
    "encoding": Annotated[str, typer.Option("--encoding", metavar="NAME", help="Of a CSV: such as latin-1.")],
}


def reads_csv(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of how its CSV files are written."""

    @wraps(verb)
    def with_format(*args: Any, sep: str = ",", decimal: str = ".", encoding: str = "utf-8", **others: Any) -> None:
        with reading_csv(CsvFormat(sep, decimal, encoding)):
            verb(*args, **others)

    defaults, signature = CsvFormat(), inspect.signature(verb)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    with_format.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    with_format.__annotations__ = {**verb.__annotations__, **_OPTIONS}
    return with_format
