"""The registry of verbs. It imports nothing heavy, so that ``privet --help`` stays quick."""

from typing import Annotated

import typer

from privet import __version__
from privet.cli.demo import demo
from privet.cli.evaluate import evaluate
from privet.cli.fit import fit
from privet.cli.predict import predict
from privet.cli.program import Program
from privet.cli.schema_check import check
from privet.cli.schema_init import init

app = typer.Typer(cls=Program, pretty_exceptions_enable=False, rich_markup_mode="rich")
schema_app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True, epilog="Start with:  privet demo")
def privet(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    # Read off the command line by Program, which must know it even where parsing fails.
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; it may quote values of rows.")
    ] = False,
) -> None:
    """Train decision trees on tables about people without giving the people away."""
    if version:
        typer.echo(f"privet {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@schema_app.callback(invoke_without_command=True, epilog="Example:  privet schema init rows.csv --target class")
def schema(context: typer.Context) -> None:
    """Draft or check the schema: what is public about a table before anyone looks at a row."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog="Example:  privet demo --epsilon 0.5")(demo)
app.add_typer(schema_app, name="schema")
schema_app.command(epilog="Example:  privet schema init rows.csv --target class -o schema.json")(init)
schema_app.command(epilog="Example:  privet schema check schema.json rows.csv")(check)
app.command(epilog="Example:  privet fit rows.csv --schema schema.json --epsilon 1 -o model.privet")(fit)
app.command(epilog="Example:  privet predict model.privet new.csv --proba -o predictions.csv")(predict)
app.command(epilog="Example:  privet evaluate rows.csv --schema schema.json --epsilon 0.1,1,inf")(evaluate)


def main() -> None:
    """Run the command line and exit."""
    app()
