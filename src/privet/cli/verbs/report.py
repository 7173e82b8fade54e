"""``privet report``: one page about a model that a privacy officer can read and sign."""

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.support import options, output
from privet.cli.support.files import beside, check_output
from privet.cli.support.ledger import kept_heads
from privet.errors import ParameterError


def report(
    model_file: options.ModelFile,
    destination: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page; by default beside the model, as .html.", show_default=False),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger", metavar="FILE", help="Also say whose budget paid, and what is left.", show_default=False
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write a page about a model: its promise, what an attacker can gain, its noise, its trees.

    It needs no network, and is the same for the same model file.

    With --json its facts are printed instead. Then a page is written only if -o names one.

    Example:  privet report model.privet -o report.html
    """
    page_file = _page_file(model_file, destination, as_json=as_json)
    if page_file is not None:
        check_output(page_file, force=force, inputs=(model_file,), ledger=ledger)
    with output.working("reading the model"):
        from privet.privacy.ledger.account import accounts
        from privet.report.page.page import Report

        if ledger is not None:
            accounts(ledger, kept_heads())  # refuses one that was cut short
        about = Report.of(model_file, ledger=ledger)
    if page_file is not None:
        with output.working("writing the report"):
            about.write(page_file)
    if as_json:
        output.print_json({**about.facts, "report": str(page_file) if page_file else None})
    else:
        output.print_text(about.model.guarantee_.sentence)
        output.print_text()
        output.print_text(f"report: {page_file}")


def _page_file(model_file: Path, destination: Path | None, *, as_json: bool) -> Path | None:
    if destination is None:
        return None if as_json else beside(model_file, ".html")
    if destination.suffix.lower() not in {".html", ".htm"}:
        raise ParameterError(
            f"a report is written as HTML; name the output .html instead of {destination.name!r}, or take --json"
        )
    return destination
