"""What the text of options means: lists of epsilons, classes and their weights, strengths."""

from typing import TYPE_CHECKING

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
