"""Draft or check the schema: what is public about a table before anyone looks at a row.

Example:  privet schema init rows.csv --target class
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.options import reads_csv
from privet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privet.schema import Attribute, Label, Numeric, Schema
    from privet.schema.encoding import Encoder
    from privet.schema.infer import Draft

_ADVICE = (
    "this draft was read from the rows, types and columns left out included: `privet schema review` asks for each "
    'entry what is publicly known, and takes its "inferred" mark off; until then a model\'s guarantee records a leak'
)
_CODES_ADVICE = (
    "columns with more than a few numbers are drafted as continuous; where the numbers are codes (postcodes), answer "
    "`categories A, B, C` in the review, and `drop` for row numbers and identifiers"
)
_ROWS_ADVICE = "if the size of the table is public, pass --rows: about how many; if not, a fit buys a noisy number"
_MISSING_ADVICE = (
    "where every row has a value by design, answer `never missing` in the review, and no leaf is spent on it"
)
_REMINDER = "these findings are exact: they are for the owner of the rows, and not part of a release"
SHOWN_CATEGORIES = 4


@reads_csv
def init(
    rows: options.RowsFile,
    schema_file: Annotated[Path, typer.Option("--output", "-o", help="The schema file.")] = Path("schema.json"),
    target: Annotated[str, typer.Option("--target", help="The column that holds the label.")] = "class",
    number: Annotated[
        bool, typer.Option("--number", help="The label is a number to be predicted: it has bounds, not classes.")
    ] = False,
    n_rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            metavar="N",
            min=1,
            help="About how many rows there are, if that is public: a round number. Never read from the table.",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Draft a schema from a table, for you to correct.

    Numbers become bounds, text and a few whole numbers become categories: each marked "inferred" until you have gone
    through it, such as by `privet schema review`.

    Example:  privet schema init rows.csv --target class --rows 50000 -o schema.json
    """
    check_output(schema_file, force=force, inputs=(rows,))
    with output.working("reading the rows"):
        draft = _draft(rows, target, is_number=number)
    replace(draft.schema, rows=n_rows).save(schema_file)
    for name, why in draft.left_out.items():
        output.say(f"column {name!r} is left out: {why}")
    output.say(_ADVICE)
    output.say(_CODES_ADVICE)
    if n_rows is None:
        output.say(_ROWS_ADVICE)
    output.say(_MISSING_ADVICE)
    output.answer(_draft_summary(draft, schema_file), f"schema: {schema_file}", as_json=as_json)


def _draft_summary(draft: "Draft", schema_file: Path) -> dict[str, Any]:
    return {
        "schema": str(schema_file),
        "target": draft.schema.target,
        "attributes": list(draft.schema.names),
        "left_out": draft.left_out,
        "notice": _ADVICE,
    }


def _draft(rows: Path, target: str, *, is_number: bool) -> "Draft":
    from privet.counting.files import file_columns, read_whole
    from privet.schema.infer import draft_schema

    if target not in file_columns(rows):
        raise ParameterError(
            f"{str(rows)!r} has no column {target!r}; pass the label's name with --target, and check that its first "
            "line names the columns"
        )
    return draft_schema(read_whole(rows), target, is_number=is_number)


# How a share is put in words: it is below the first limit that it does not reach.
_SHARES = ((0.01, "under 1 % of the rows"), (0.1, "1 to 10 % of the rows"), (2.0, "10 % of the rows or more"))


@dataclass
class _Findings:
    """Which columns have values that a fit reads differently; of unknown categories, roughly how many."""

    missing: set[str] = field(default_factory=set)
    unknown: dict[str, int] = field(default_factory=dict)
    clipped: set[str] = field(default_factory=set)
    cut_off: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    n_rows: int = 0

    def share_of_unknown(self, name: str) -> str:
        """Return in words which share of a column's values is in none of its categories."""
        share = self.unknown[name] / self.n_rows
        return next(words for limit, words in _SHARES if share < limit)


@reads_csv
def check(
    schema_file: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A schema file.")],
    rows: Annotated[Path | None, typer.Argument(metavar="[ROWS]", help="A table to check against it.")] = None,
    as_json: options.Json = False,
) -> None:
    """Check a schema, and whether a table fits it.

    With a table, every batch is read and encoded as a fit would do it; nothing is trained.

    Example:  privet schema check schema.json rows.csv
    """
    schema = options.load_schema(schema_file)
    findings = None
    if rows is not None:
        with output.working("reading the rows"):
            findings = _examine(rows, schema)
    if as_json:
        output.print_json(_check_summary(schema, findings))
    else:
        _print_schema(schema)
        output.print_text(_verdict(schema))
    if findings is not None:
        _say_findings(schema, findings)
        if findings.refused:
            raise typer.Exit(output.EXIT_DATA)


def check_rows(rows: Path, schema: "Schema", *, as_json: bool) -> None:
    """Read a table as a fit would, say what does not fit the schema, and exit with an error if a fit would refuse."""
    with output.working("reading the rows"):
        findings = _examine(rows, schema)
    if as_json:
        output.print_json(_check_summary(schema, findings))
    _say_findings(schema, findings)
    if findings.refused:
        raise typer.Exit(output.EXIT_DATA)


def _examine(rows: Path, schema: "Schema") -> _Findings:
    from privet.counting.files import read_batches
    from privet.schema.encoding import encoder_of

    encoder, findings = encoder_of(schema), _Findings()
    for batch in read_batches(rows, schema, [*schema.names, schema.target]):
        findings.n_rows += batch.num_rows
        encoder.encode_labels(batch.column(schema.target))
        _note(batch, encoder, findings)
    return findings


def _note(batch: Any, encoder: "Encoder", findings: _Findings) -> None:
    from privet.schema import Numeric
    from privet.schema.encoding import values_of

    schema = encoder.schema
    if (target := schema.number) is not None:
        numbers = values_of(batch.column(target.name), target)
        findings.clipped |= {target.name} if ((numbers < target.low) | (numbers > target.high)).any() else set()
    codes = encoder.encode(batch.select(list(schema.names)), allow_missing=True)
    for j, attribute in enumerate(schema.attributes):
        column = batch.column(attribute.name)
        empty, unread = column.null_count > 0, codes[:, j] == attribute.missing_code
        if isinstance(attribute, Numeric):
            numbers = values_of(column, attribute)
            clipped = ((numbers < attribute.low) | (numbers > attribute.high)).any()
            findings.clipped |= {attribute.name} if clipped else set()
            cut_off = attribute.whole and (numbers % 1 > 0).any()
            findings.cut_off |= {attribute.name} if cut_off else set()
        if attribute.never_missing:
            findings.refused |= {attribute.name} if unread.any() else set()
        elif isinstance(attribute, Numeric):
            findings.missing |= {attribute.name} if unread.any() else set()
        else:
            n_unknown = int(unread.sum()) - column.null_count
            if n_unknown:
                findings.unknown[attribute.name] = findings.unknown.get(attribute.name, 0) + n_unknown
            findings.missing |= {attribute.name} if empty else set()


def _say_findings(schema: "Schema", findings: _Findings) -> None:
    from privet.schema import Numeric

    kinds: dict[str, Any] = {
        "missing values, which get a code of their own": findings.missing,
        "values that are not in their categories, which are read as missing": findings.unknown,
        "values beyond their bounds, which are clipped": findings.clipped,
    }
    if any(isinstance(attribute, Numeric) and attribute.whole for attribute in schema.attributes):
        kinds["fractions although declared whole, which are cut off"] = findings.cut_off
    if schema.never_missing:
        kinds["missing or unknown values although declared never_missing, so that a fit refuses the table"] = (
            findings.refused
        )
    output.say("all columns of the schema are there and hold values of its types")
    for what, names in kinds.items():
        listed = ", ".join(
            f"{name!r} ({findings.share_of_unknown(name)})" if names is findings.unknown else repr(name)
            for name in (*schema.names, schema.target)
            if name in names
        )
        output.say(f"columns with {what}: {listed or 'none'}")
    output.say(_REMINDER)


def _check_summary(schema: "Schema", findings: _Findings | None) -> dict[str, Any]:
    data = {"schema": schema.to_json(), "inferred": list(schema.leaks), "verdict": _verdict(schema)}
    if findings is None:
        return data
    columns: dict[str, Any] = {kind: sorted(names) for kind, names in vars(findings).items() if kind != "n_rows"}
    columns["unknown_share"] = {name: findings.share_of_unknown(name) for name in columns["unknown"]}
    return {**data, "table": {"columns": columns, "notice": _REMINDER}}


def _print_schema(schema: "Schema") -> None:
    cells = [
        (attribute.name, attribute.kind, domain_text(attribute), _marks(attribute)) for attribute in schema.attributes
    ]
    if schema.number is None:
        classes = f"{len(schema.classes)} classes: {few_labels(schema.classes)}"
        mark = "inferred" if schema.classes_inferred else "accepted" if schema.classes_accepted is not None else ""
        cells.append((schema.target, "label", classes, mark))
    else:
        cells.append((schema.target, "label, a number", bounds_text(schema.number), _marks(schema.number)))
    output.print_table(["column", "type", "domain", "mark"], cells)
    output.print_text()
    about = (
        f"about {schema.rows:,}"
        if schema.rows
        else "not declared; a fit may spend a share of epsilon on a noisy number"
    )
    output.print_text(f"rows: {about}")


def _marks(attribute: "Attribute") -> str:
    marks = {
        "inferred": attribute.inferred, "accepted": attribute.accepted is not None,
        "never missing": attribute.never_missing,
    }  # fmt: skip
    return ", ".join(mark for mark, holds in marks.items() if holds)


def _verdict(schema: "Schema") -> str:
    if not schema.leaks:
        return "The schema is in order, and nothing in it is marked as read from the rows."
    return (
        f"The schema is in order, but {len(schema.leaks)} of its entries are marked as read from the rows; "
        "until they are replaced by what is publicly known and the marks deleted, a model's guarantee "
        "records a leak."
    )


def domain_text(attribute: "Attribute", most: int = SHOWN_CATEGORIES) -> str:
    """Return an attribute's domain in words, with at most so many categories."""
    from privet.schema import Date, Numeric

    if not isinstance(attribute, Numeric):
        n = len(attribute.categories)
        noun = "ordered categories" if attribute.ordered else "category" if n == 1 else "categories"
        return f"{n} {noun}: {few_labels(attribute.categories, most)}"
    if isinstance(attribute, Date):
        low, high = attribute.written(attribute.low), attribute.written(attribute.high)
        return f"dates from {low} to {high} in {attribute.n_values:,} cells"
    width = "cells" if attribute.whole else "equal cells"
    width = "cells of its own edges" if attribute.edges is not None else width
    width = "cells on a log scale" if attribute.is_log and attribute.edges is None else width
    noun = "whole numbers from " if attribute.whole else ""
    return f"{noun}{bounds_text(attribute)} in {attribute.n_values:,} {width}"


def bounds_text(number: "Numeric") -> str:
    """Return a number's bounds; a label has no cells."""
    return f"{number.low:,.12g} to {number.high:,.12g}"


def few_labels(labels: "Sequence[Label]", most: int = SHOWN_CATEGORIES) -> str:
    """Return the first few labels."""
    shown = ", ".join(str(label) for label in labels[:most])
    return f"{shown}, ..." if len(labels) > most else shown
