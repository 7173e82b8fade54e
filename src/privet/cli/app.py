"""The registry of verbs. It imports nothing heavy, so that ``privet --help`` stays quick."""

from typing import Annotated

import typer

from privet import __version__
from privet.cli.support.program import Program
from privet.cli.verbs.audit import audit
from privet.cli.verbs.combine import combine
from privet.cli.verbs.demo import demo
from privet.cli.verbs.evaluate import evaluate
from privet.cli.verbs.explain import explain
from privet.cli.verbs.export import export
from privet.cli.verbs.fit import fit
from privet.cli.verbs.ledger import add, verify
from privet.cli.verbs.ledger import init as init_ledger
from privet.cli.verbs.ledger_show import show
from privet.cli.verbs.papers import list_ as list_papers
from privet.cli.verbs.papers import run as run_paper
from privet.cli.verbs.party import keygen, roster, structure
from privet.cli.verbs.party import verify as verify_releases
from privet.cli.verbs.party_release import release
from privet.cli.verbs.party_sum import open_, sum_
from privet.cli.verbs.perturb import perturb
from privet.cli.verbs.plan import plan
from privet.cli.verbs.predict import predict
from privet.cli.verbs.reconstruct import reconstruct
from privet.cli.verbs.report import report
from privet.cli.verbs.rules import rules
from privet.cli.verbs.schema_check import check
from privet.cli.verbs.schema_init import init
from privet.cli.verbs.update import update

# One paragraph an example: Typer joins the lines of a paragraph.
_FIT_EXAMPLES = """Example:  privet fit rows.csv --schema schema.json --epsilon 1 -o model.privet

Example:  privet fit answers.csv --channel channel.json --method reconstruction-tree"""
_PREDICT_EXAMPLES = """Example:  privet predict model.privet new.csv --proba

Example:  privet predict model.privet new.parquet --keep id -o out.parquet"""
_PERTURB_EXAMPLES = """\
Example:  privet perturb rows.csv --schema schema.json --noise uniform --privacy 100 --id person --secret key

Example:  privet perturb rows.csv --channel channel.json --id person --secret key -o answers.csv

Example:  privet perturb --schema schema.json --noise laplace --epsilon 4 --explain"""
_STRUCTURE_EXAMPLES = """Example:  privet party structure --schema schema.json --epsilon 0.5 --rows 50000

Example:  privet party structure --schema schema.json --split split.json --epsilon 1 --rows 50000"""
_RELEASE_EXAMPLES = "Example:  privet party release rows.csv --structure s.json --key bank.key --ledger bank.db"
_SUM_EXAMPLES = "Example:  privet party sum rows.csv --structure s.json --roster r.json --key bank.key --folder shared"
_OPEN_EXAMPLES = """Example:  privet party open --structure s.json --roster r.json --folder shared -o model.privet"""
_COMBINE_EXAMPLES = "Example:  privet combine a.json b.json --structure structure.json --roster roster.json"
_PAPERS_EXAMPLES = """Example:  privet papers run jagannathan2012 --quick

Example:  privet papers run all --full --jobs 2 --output papers"""
_RECONSTRUCT_EXAMPLE = "Example:  privet reconstruct answers.csv --channel channel.json --column age --class yes"
_RULES_EXAMPLES = """Example:  privet rules model.privet --merge --leaves --class yes

Example:  privet rules model.privet --min-confidence 0.8 -o rules.csv"""
_AUDIT_EXAMPLES = """Example:  privet audit --method private-rdt --trees 1 --epsilon 1 --picture audit.png

Example:  privet audit --method private-rdt --trees 1 --one-run 20000"""
_UPDATE_EXAMPLES = """Example:  privet update model.privet november.parquet --ledger ledger.db

Example:  privet update models november.parquet --dated 2026-11-01 --ledger ledger.db"""

app = typer.Typer(cls=Program, pretty_exceptions_enable=False, rich_markup_mode="rich")
ledger_app = typer.Typer(rich_markup_mode="rich")
papers_app = typer.Typer(rich_markup_mode="rich")
party_app = typer.Typer(rich_markup_mode="rich")
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


@ledger_app.callback(invoke_without_command=True, epilog="Example:  privet ledger show ledger.db")
def ledger(context: typer.Context) -> None:
    """Keep the account book: what may be spent on a data set, and what has been."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@party_app.callback(invoke_without_command=True, epilog="Example:  privet party keygen bank")
def party(context: typer.Context) -> None:
    """Train with others who keep their rows: agree on trees, count, add noise, sign, send one file."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@papers_app.callback(invoke_without_command=True, epilog="Example:  privet papers list")
def papers(context: typer.Context) -> None:
    """Reproduce the five papers, and see which of their claims hold."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog="Example:  privet demo --epsilon 0.5")(demo)
app.add_typer(schema_app, name="schema")
schema_app.command(epilog="Example:  privet schema init rows.csv --target class -o schema.json")(init)
schema_app.command(epilog="Example:  privet schema check schema.json rows.csv")(check)
app.command(epilog="Example:  privet plan --schema schema.json --rows 50000 --epsilon 1")(plan)
app.command(epilog=_FIT_EXAMPLES)(fit)
app.command(epilog=_UPDATE_EXAMPLES)(update)
app.command(epilog=_PREDICT_EXAMPLES)(predict)
app.command(epilog="Example:  privet explain model.privet new.csv --class yes")(explain)
app.command(epilog=_RULES_EXAMPLES)(rules)
app.command(epilog="Example:  privet evaluate rows.csv --schema schema.json --epsilon 0.1,1,inf")(evaluate)
app.command(epilog=_PERTURB_EXAMPLES)(perturb)
app.command(epilog=_RECONSTRUCT_EXAMPLE)(reconstruct)
app.command(epilog="Example:  privet report model.privet -o report.html")(report)
app.command(epilog=_AUDIT_EXAMPLES)(audit)
app.command(epilog="Example:  privet export model.privet --format js -o model.js")(export)
app.add_typer(ledger_app, name="ledger")
ledger_app.command("init", epilog="Example:  privet ledger init ledger.db --dataset patients --epsilon 3")(init_ledger)
ledger_app.command(epilog="Example:  privet ledger show ledger.db")(show)
ledger_app.command(epilog="Example:  privet ledger verify ledger.db --head 5f0c...")(verify)
ledger_app.command(epilog="Example:  privet ledger add ledger.db --what 'a histogram of ages' --epsilon 0.2")(add)

app.add_typer(party_app, name="party")
party_app.command(epilog=_STRUCTURE_EXAMPLES)(structure)
party_app.command(epilog="Example:  privet party keygen bank")(keygen)
party_app.command(epilog="Example:  privet party roster bank.pub clinic.pub -o roster.json")(roster)
party_app.command(epilog=_RELEASE_EXAMPLES)(release)
party_app.command(
    "verify", epilog="Example:  privet party verify bank.release.json --structure structure.json --roster roster.json"
)(verify_releases)
party_app.command("sum", epilog=_SUM_EXAMPLES)(sum_)
party_app.command("open", epilog=_OPEN_EXAMPLES)(open_)
app.command(epilog=_COMBINE_EXAMPLES)(combine)

app.add_typer(papers_app, name="papers")
papers_app.command("list", epilog="Example:  privet papers list")(list_papers)
papers_app.command("run", epilog=_PAPERS_EXAMPLES)(run_paper)


def main() -> None:
    """Run the command line and exit."""
    app()
