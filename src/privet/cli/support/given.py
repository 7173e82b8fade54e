"""Which options a command line gives, and the refusal of those that do not go with something."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import typer

from privet.errors import ParameterError

# Options as they are written, by the names of their parameters.
Given: TypeAlias = Mapping[str, str]


def given_options(context: typer.Context) -> Given:
    """Return the options that the command line gives, whatever their defaults."""
    written = {own.name: next((option for option in own.opts if option.startswith("--")), own.opts[0])
               for own in context.command.params}  # fmt: skip
    return {name: written[name] for name in context.params if _is_given(context, name)}


def refuse_given(given: Given, parameters: Iterable[str], why: str) -> None:
    """Refuse the first of these parameters that is given: its option, and ``why``."""
    for name in parameters:
        if name in given:
            raise ParameterError(f"{given[name]} {why}")


def _is_given(context: typer.Context, name: str) -> bool:
    return context.get_parameter_source(name).name == "COMMANDLINE"  # type: ignore[union-attr]
