"""``privet schema init``: a first draft of a schema, read from the rows and marked as such."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.errors import DataError, ParameterError

if TYPE_CHECKING:
    from privet.schema import Attribute, Schema

# More distinct texts than this look like names or free text; no domain of that kind is publicly known.
MANY_VALUES = 1_000
# Below it, a text column of a small table may have a new value in every row without being an identifier.
FEW_VALUES = 20
_ADVICE = (
    "this draft was read from the rows, types and columns left out included: go through every entry, replace it with "
    'what is publicly known, and delete its "inferred" mark (and "classes_inferred"); until then a model\'s guarantee '
    "records a leak"
)
_CODES_ADVICE = (
    "columns of numbers are drafted as continuous; where the numbers are codes (flags, postcodes), write "
    '"categorical" with their categories, and take row numbers and identifiers out'
)
_ROWS_ADVICE = 'if the size of the table is public, add "rows": about how many; if not, a fit buys a noisy number'


@dataclass(frozen=True)
class _Draft:
    schema: "Schema"
    left_out: dict[str, str]


def init(
    rows: options.RowsFile,
    schema_file: Annotated[Path, typer.Option("--output", "-o", help="The schema file.")] = Path("schema.json"),
    target: Annotated[str, typer.Option("--target", help="The column that holds the label.")] = "class",
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Draft a schema from a table, for you to correct.

    Numbers become bounds, text becomes categories: each marked "inferred" until you have gone through it.
    """
    check_output(schema_file, force=force, inputs=(rows,))
    with output.working("reading the rows"):
        draft = _draft(rows, target)
    draft.schema.save(schema_file)
    for name, why in draft.left_out.items():
        output.say(f"column {name!r} is left out: {why}")
    output.say(_ADVICE)
    output.say(_CODES_ADVICE)
    output.say(_ROWS_ADVICE)
    if as_json:
        output.print_json(_summary(draft, schema_file))
    else:
        output.print_text(f"schema: {schema_file}")


def _summary(draft: _Draft, schema_file: Path) -> dict[str, Any]:
    return {
        "schema": str(schema_file),
        "target": draft.schema.target,
        "attributes": list(draft.schema.names),
        "left_out": draft.left_out,
        "notice": _ADVICE,
    }


def _draft(rows: Path, target: str) -> _Draft:
    from privet.counting.files import file_columns, read_whole
    from privet.schema import Schema, infer_schema

    names = file_columns(rows)
    if target not in names:
        raise ParameterError(
            f"{str(rows)!r} has no column {target!r}; pass the label's name with --target, and check that its first "
            "line names the columns"
        )
    table = read_whole(rows)
    reasons = {name: _why_left_out(name, table) for name in dict.fromkeys(names) if name != target}
    left_out = {name: why for name, why in reasons.items() if why is not None}
    labels = _checked_labels(table, target)
    drafted = infer_schema(table.drop_columns([target, *left_out]), labels, target=target)
    rounded = [_rounded(attribute) for attribute in drafted.attributes]
    return _Draft(Schema(rounded, classes=drafted.classes, target=target, classes_inferred=True), left_out)


def _why_left_out(name: str, table: Any) -> str | None:
    from privet.schema.encoding import arrow_kind
    from privet.schema.infer import distinct_values

    if not name:
        return "it has no name (the index of a data frame?); name it if it matters"
    column = _only(table, name)
    kind = arrow_kind(column.type)
    if kind == "nothing":
        return "it is empty"
    if kind not in {"text", "numbers", "true/false"}:
        return "it holds neither text nor numbers (dates?); convert it"
    if kind == "text" and len(distinct_values(column, name)) > min(MANY_VALUES, max(FEW_VALUES, len(column) // 2)):
        return "it has very many different texts, like an identifier or free text; group them if it matters"
    return None


def _checked_labels(table: Any, target: str) -> Any:
    from privet.schema.infer import distinct_values

    labels = _only(table, target)
    if len(distinct_values(labels, target)) > MANY_VALUES:
        raise DataError(f"column {target!r} has too many different values for classes; choose another with --target")
    return labels


def _only(table: Any, name: str) -> Any:
    from privet.schema.table import check_present

    check_present(table.column_names, [name])
    return table.column(name)


def _rounded(attribute: "Attribute") -> "Attribute":
    from privet.schema import Numeric

    if not isinstance(attribute, Numeric):
        return attribute
    low, high = Decimal(repr(attribute.low)), Decimal(repr(attribute.high))
    # Two significant digits of the range: the extremes themselves are somebody's values.
    digit = (high - low).adjusted() - 1
    return replace(
        attribute,
        low=float(low.scaleb(-digit).to_integral_value(ROUND_FLOOR).scaleb(digit)),
        high=float(high.scaleb(-digit).to_integral_value(ROUND_CEILING).scaleb(digit)),
    )
