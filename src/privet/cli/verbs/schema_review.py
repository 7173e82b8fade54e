"""``privet schema review``: what is marked as inferred in a draft is replaced or accepted, entry by entry."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.support import options, output
from privet.cli.support.options import reads_csv
from privet.cli.verbs.schema import SHOWN_CATEGORIES, bounds_text, domain_text
from privet.errors import ParameterError
from privet.files.documents import read_json
from privet.files.whole_file import whole_file

if TYPE_CHECKING:
    from privet.schema import Attribute, Schema
    from privet.schema.review import Review

_HELP = (
    ("0 to 120", "bounds that are publicly known; they take the place of what was read"),
    ("0 to 120 whole", "the same of numbers that are whole by design, such as years and counts"),
    ("2020-01-01 to 2025-12-31", "the first and last date that are publicly known to be possible"),
    ("categories A, B, C", "categories that are publicly known; quotes around one with a comma in it"),
    ("classes A, B", "the same for the label"),
    ("accept", "you declare that it was public before anybody looked at the rows; the guarantee says so"),
    ("1", "accept that proposal instead; it was read from the rows as well"),
    ("bins 10", "cut the range into so many cells, if the method should not choose"),
    ("edges 20, 40", "cut the range there"),
    ("whole, fractions", "whether numbers are whole by design, with the bounds that are there"),
    ("log scale", "cells equally wide in the logarithm, for incomes and durations"),
    ("ordered, unordered", "whether the categories have an order, in which they are listed"),
    ("never missing", "every row has a value, by the table's design"),
    ("drop", "leave the column out of the schema"),
    ("skip", "leave the mark; so does an empty answer"),
    ("quit", "stop here; what was answered is kept, and the next review goes on"),
)
_ABOUT = (
    "What you replace is public. What you accept was read from the rows: every model will say that {} declared on {} "
    "that it was public before. Answer accept, skip, quit, or with what is publicly known; ? lists all answers."
)
_KEPT = "what was answered before is kept"
# Who accepts categories should have seen them.
_SHOWN = 200
_OUTCOMES = ("replaced", "accepted", "dropped")


@reads_csv
def review(
    draft: Annotated[Path, typer.Argument(metavar="SCHEMA", help="The draft; it is written anew.")],
    rows: Annotated[
        Path | None, typer.Argument(metavar="[ROWS]", help="The table: for proposals, and a check at the end.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who answers: a name or a role. It is public.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept all that is left: the table is public anyway, and you say so.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Go through a draft entry by entry: replace what was read from the rows, or accept it by name.

    The draft is saved after each answer, so it can be stopped and continued. Answers may be piped in, one a line.

    Example:  privet schema review schema.json rows.csv --by "Ann Meier, data protection officer"

    Example:  privet schema review schema.json --accept --by "UCI repository"
    """
    from privet.cli.verbs.schema import check_rows
    from privet.schema.acceptance import Acceptance
    from privet.schema.review import Review

    schema, became = options.load_schema(draft), dict[str, str]()
    if schema.leaks:
        talk = _Talk(draft, is_piped=not sys.stdin.isatty(), is_quiet=as_json)
        under = Acceptance((by or talk.ask_name()).strip(), datetime.now().astimezone().date().isoformat())
        asked = Review(schema, under, {} if rows is None else _few_numbers(rows, schema))
        became = talk.accept_all(asked) if accept else talk.go_through(asked)
        schema = asked.schema
    _tell(schema, became, draft, as_json=as_json)
    if rows is not None:
        check_rows(rows, schema, as_json=False)


class _Talk:
    """Questions and answers: in a terminal, or line by line from a pipe."""

    def __init__(self, path: Path, *, is_piped: bool, is_quiet: bool) -> None:
        from privet.schema.schema import DESCRIPTION

        self.path, self.is_piped, self.is_quiet = path, is_piped, is_quiet
        document = read_json(path)
        self._described = {key: document[key] for key in document if key in DESCRIPTION}

    def ask_name(self) -> str:
        """Return who answers."""
        if self.is_piped:
            raise ParameterError("say who answers with --by: a name or a role, which every model will show")
        return self._line("Who answers? A name or a role; every model will show it: ")

    def accept_all(self, review: "Review") -> dict[str, str]:
        """Accept all open entries, and return what became of them."""
        became = dict.fromkeys(review.accept_all(), "accepted")
        self._save(review.schema)
        return became

    def go_through(self, review: "Review") -> dict[str, str]:
        """Ask about every open entry, save after each answer, and return what became of those that were answered."""
        names, became = review.open, {}
        self._print(_ABOUT.format(review.acceptance.by, review.acceptance.on))
        for number, name in enumerate(names, 1):
            self._show(review, name, f"{number} of {len(names)}")
            outcome = self._answer(review, name)
            if outcome is None:
                break
            if outcome:
                became[name] = outcome
        self._print()
        return became

    def _answer(self, review: "Review", name: str) -> str | None:
        """Return what became of an entry, "" if it is left as it is, None to stop."""
        while True:
            line = self._line("> ")
            text = line.strip()
            if not line or text.lower() in {"quit", "q"}:
                return None
            if text.lower() in {"", "skip", "s"}:
                return ""
            if text == "?":
                output.print_table(["", ""], _HELP)
                continue
            outcome = self._try(review, name, text)
            if outcome in _OUTCOMES:
                return outcome

    def _try(self, review: "Review", name: str, text: str) -> str | None:
        """Return what an answer does, None where it is none; from a pipe that is an error."""
        try:
            outcome = review.answer(name, text)
        except ParameterError as error:
            if self.is_piped:
                raise ParameterError(f"{error}; {_KEPT}") from None
            output.say(str(error))
            return None
        self._save(review.schema)
        now = f": {_domain(review, review.attribute(name), SHOWN_CATEGORIES)}" if review.has(name) else ""
        self._print(f"  {outcome}{now}")
        return outcome

    def _show(self, review: "Review", name: str, place: str) -> None:
        noun = "" if name != review.schema.target else "classes, " if review.schema.number is None else "label, "
        self._print()
        self._print(f"{place}  {name!r}, {noun}read from the rows: {_domain(review, review.attribute(name), _SHOWN)}")
        for number, other in enumerate(review.proposals(name), 1):
            self._print(f"  {number}: {_domain(review, other, _SHOWN)}")

    def _save(self, schema: "Schema") -> None:
        """Write the schema in place of the draft, whole or not at all; what describes the table stays."""
        with whole_file(self.path) as file:
            file.write(json.dumps({**self._described, **schema.to_json()}, indent=1, ensure_ascii=False) + "\n")

    def _print(self, text: str = "") -> None:
        if not self.is_quiet:
            output.print_text(text)

    def _line(self, prompt: str) -> str:
        """Return a line with its end, "" where there is no more."""
        if self.is_piped:
            return sys.stdin.readline()
        try:
            return f"{input(prompt)}\n"
        except EOFError:
            return ""


def _domain(review: "Review", attribute: "Attribute", most: int) -> str:
    from privet.schema import Numeric

    if attribute.name == review.schema.target and isinstance(attribute, Numeric):
        return bounds_text(attribute)
    return domain_text(attribute, most)


def _few_numbers(rows: Path, schema: "Schema") -> dict[str, list[int]]:
    """Return the whole numbers of columns that hold few of them."""
    from privet.counting.files import read_whole
    from privet.schema import Numeric
    from privet.schema.infer import MOST_PROPOSED, few_numbers
    from privet.schema.table import check_present

    with output.working("reading the rows"):
        table = read_whole(rows)
        names = [a.name for a in schema.attributes if a.kind == Numeric.kind and a.inferred]
        check_present(table.column_names, names)
        found = {name: few_numbers(table.column(name), name, MOST_PROPOSED) for name in names}
    return {name: values for name, values in found.items() if values is not None}


def _tell(schema: "Schema", became: dict[str, str], path: Path, *, as_json: bool) -> None:
    left, assumes = list(schema.leaks), list(schema.assumptions)
    if as_json:
        answers = {what: [name for name, own in became.items() if own == what] for what in _OUTCOMES}
        output.print_json({"schema": str(path), **answers, "left": left, "assumes": assumes})
        return
    counted = ", ".join(f"{list(became.values()).count(what)} {what}" for what in _OUTCOMES)
    output.print_text(f"{counted}, {len(left)} left")
    for assumption in assumes:
        output.say(f"every model's guarantee will hold provided that {assumption}")
    if left:
        output.say("what is left is still marked as read from the rows; the same command goes on with it")
    output.print_text(f"schema: {path}")
