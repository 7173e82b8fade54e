"""Which options a command line gives, and what their text means: lists of epsilons, classes, weights, strengths."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import typer

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.schema import Label, Schema


def parse_epsilons(text: str) -> list[float]:
    """Return the epsilons of a list such as 0.1,1,inf."""
    try:
        epsilons = [float(word) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"--epsilon {text!r} is not a number or a list such as 0.1,1,inf") from None
    # NaN equals nothing, and is refused later with the other values that are out of range.
    return list(dict.fromkeys(epsilons))


def label_of(schema: "Schema", text: str) -> "Label":
    """Return the class that ``text`` spells, else the text itself, which is none."""
    by_text = {str(label).lower() if isinstance(label, bool) else str(label): label for label in schema.classes}
    return by_text.get(text, by_text.get(text.lower(), text))


def class_weight_of(schema: "Schema", given: list[str] | None) -> "dict[Label, float] | str | None":
    """Return the class weights that ``--class-weight`` was given: a word, or a number for each of some classes."""
    if not given:
        return None
    return given[0] if given == ["balanced"] else dict(_class_and_weight(schema, text) for text in given)


def _class_and_weight(schema: "Schema", text: str) -> "tuple[Label, float]":
    label, _, number = text.rpartition("=")
    try:
        return label_of(schema, label), float(number)
    except ValueError:
        raise ParameterError(
            f"--class-weight {text!r} is neither balanced nor LABEL=NUMBER; write --class-weight balanced, or "
            f"--class-weight {schema.classes[-1]}=5"
        ) from None


def number_or_word(text: str) -> float | str:
    """Return a number where the text is one, such as a strength, else the text itself."""
    try:
        return float(text)
    except ValueError:
        return text


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
