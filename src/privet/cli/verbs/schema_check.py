"""``privet schema check``: what a schema says, in words, and whether a table fits it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privet.schema import Attribute, Label, Schema
    from privet.schema.encoding import Encoder

_SHOWN_CATEGORIES = 4
_REMINDER = "what is said about the rows speaks to their owner; it is exact, and no part of a release"


@dataclass
class _Findings:
    """Which columns have values that a fit reads differently; yes or no, never how many."""

    missing: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    clipped: set[str] = field(default_factory=set)


def check(
    schema_file: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A schema file.", show_default=False)],
    rows: Annotated[
        Path | None, typer.Argument(metavar="[ROWS]", help="A table to check against it.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check a schema, and whether a table fits it.

    With a table, every batch is read and encoded as a fit would do it; nothing is trained.
    """
    schema = options.load_schema(schema_file)
    findings = None
    if rows is not None:
        with output.working("reading the rows"):
            findings = _examine(rows, schema)
    if as_json:
        output.print_json(_summary(schema, findings))
    else:
        _print_schema(schema)
        output.print_text(_verdict(schema))
    if findings is not None:
        _say_findings(schema, findings)


def _examine(rows: Path, schema: "Schema") -> _Findings:
    from privet.counting.files import read_batches
    from privet.schema.encoding import Encoder

    encoder, findings = Encoder(schema), _Findings()
    for batch in read_batches(rows, schema, [*schema.names, schema.target]):
        encoder.encode_labels(batch.column(schema.target))
        _note(batch, encoder, findings)
    return findings


def _note(batch: Any, encoder: "Encoder", findings: _Findings) -> None:
    from privet.schema import Numeric
    from privet.schema.encoding import numbers_of

    schema = encoder.schema
    codes = encoder.encode(batch.select(list(schema.names)))
    for j, attribute in enumerate(schema.attributes):
        column = batch.column(attribute.name)
        empty, unread = column.null_count > 0, codes[:, j] == attribute.missing_code
        if isinstance(attribute, Numeric):
            numbers = numbers_of(column, attribute.name)
            clipped = ((numbers < attribute.low) | (numbers > attribute.high)).any()
            findings.clipped |= {attribute.name} if clipped else set()
            findings.missing |= {attribute.name} if unread.any() else set()
        else:
            findings.unknown |= {attribute.name} if unread.sum() > column.null_count else set()
            findings.missing |= {attribute.name} if empty else set()


def _say_findings(schema: "Schema", findings: _Findings) -> None:
    kinds = {
        "missing values, which get a code of their own": findings.missing,
        "values that are not in their categories, which are read as missing": findings.unknown,
        "values beyond their bounds, which are clipped": findings.clipped,
    }
    output.say("all columns of the schema are there and hold values of its types")
    for what, names in kinds.items():
        listed = ", ".join(repr(name) for name in schema.names if name in names)
        output.say(f"columns with {what}: {listed or 'none'}")
    output.say(_REMINDER)


def _summary(schema: "Schema", findings: _Findings | None) -> dict[str, Any]:
    data = {"schema": schema.to_json(), "inferred": list(schema.leaks), "verdict": _verdict(schema)}
    if findings is None:
        return data
    columns = {kind: sorted(names) for kind, names in vars(findings).items()}
    return {**data, "table": {"columns": columns, "notice": _REMINDER}}


def _print_schema(schema: "Schema") -> None:
    cells = [
        (attribute.name, attribute.kind, _domain(attribute), "inferred" if attribute.inferred else "")
        for attribute in schema.attributes
    ]
    classes = f"{len(schema.classes)} classes: {_few(schema.classes)}"
    cells.append((schema.target, "label", classes, "inferred" if schema.classes_inferred else ""))
    output.print_table(["column", "type", "domain", "mark"], cells)
    output.print_text()
    about = (
        f"about {schema.rows:,}"
        if schema.rows
        else "not declared; a fit may spend a share of epsilon on a noisy number"
    )
    output.print_text(f"rows: {about}")


def _domain(attribute: "Attribute") -> str:
    from privet.schema import Numeric

    if not isinstance(attribute, Numeric):
        n = len(attribute.categories)
        return f"{n} {'category' if n == 1 else 'categories'}: {_few(attribute.categories)}"
    width = "equal cells" if attribute.uniform else "cells of its own edges"
    return f"{attribute.low:,.12g} to {attribute.high:,.12g} in {attribute.n_values:,} {width}"


def _few(labels: "Sequence[Label]") -> str:
    shown = ", ".join(str(label) for label in labels[:_SHOWN_CATEGORIES])
    return f"{shown}, ..." if len(labels) > _SHOWN_CATEGORIES else shown


def _verdict(schema: "Schema") -> str:
    if not schema.leaks:
        return "The schema is in order, and nothing in it is marked as read from the rows."
    return (
        f"The schema is in order, but {len(schema.leaks)} of its entries are marked as read from the rows; "
        "until they are replaced by what is publicly known and the marks deleted, a model's guarantee "
        "records a leak."
    )
