"""``privet report``: one page about a model that a privacy officer can read and sign, and other forms of it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import beside, check_output
from privet.cli.support.ledger import kept_heads
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.report.about import About
    from privet.report.page.page import Report


class Form(StrEnum):
    """What is written."""

    PAGE = "page"
    CARD = "card"
    REGISTRY = "registry"


_ENDINGS = {Form.PAGE: (".html", ".htm"), Form.CARD: (".md",), Form.REGISTRY: (".yaml", ".yml")}
_AS = {Form.PAGE: "HTML", Form.CARD: "Markdown", Form.REGISTRY: "YAML"}


def _print_template(asked: bool) -> None:
    if asked:
        from privet.report.about import TEMPLATE

        typer.echo(TEMPLATE, nl=False)
        raise typer.Exit


def report(
    model_file: options.ModelFile,
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page; by default beside the model, as .html.")
    ] = None,
    form: Annotated[
        Form,
        typer.Option(
            "--format", help="A page to sign, a model card (.md), or a record of the DP Deployments Registry (.yaml)."
        ),
    ] = Form.PAGE,
    about: Annotated[
        Path | None, typer.Option("--about", metavar="FILE", help="Whose rows, for what, from when, whom to ask: TOML.")
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="NAME=TEXT",
            help="The same without a file: owner='City Hospital'; also purpose, period and contact, and any other "
            "field of the template.",
        ),
    ] = None,
    attach: Annotated[
        list[Path] | None,
        typer.Option(
            "--attach",
            metavar="FILE",
            help="What was run on this model, as JSON of `privet audit --model` or `privet score`; repeat for more.",
        ),
    ] = None,
    keys: options.Keys = None,
    keys_hash: options.KeysHash = None,
    signature: options.SignatureFile = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", metavar="FILE", help="Also say whose budget paid, and what is left.")
    ] = None,
    about_template: Annotated[  # noqa: ARG001 - its callback prints, and ends the command
        bool,
        typer.Option(
            "--about-template",
            help="Print an about.toml to fill in, and stop.",
            callback=_print_template,
            is_eager=True,
        ),
    ] = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write a page about a model: its promise, what an attacker can gain, what it has learnt, its noise.

    It needs no network, and is the same for the same model file and what is given with it.

    With --keys the model's signature is checked, and the page says whose model it is. With --json its facts are printed
    instead. Then a page is written only if -o names one.

    Example:  privet report model.privet -o report.html

    Example:  privet report a.privet --state owner=Bank --state purpose=calls --state period=2025 --state contact=Ann

    Example:  privet report model.privet --about about.toml --attach audit.json --keys clinic.pub --ledger ledger.db

    Example:  privet report model.privet --format registry --about about.toml -o our_model.yaml
    """
    written = _written(model_file, destination, form, as_json=as_json)
    attached, stated = tuple(attach or ()), _stated(about, state)
    given = [each for each in (about, signature, *attached, *(keys or ())) if each is not None]
    if written is not None:
        check_output(written, force=force, inputs=(model_file, *given), ledger=ledger)
    with output.working("reading the model"):
        from privet.privacy.ledger.account import accounts
        from privet.report.page.page import Report

        if ledger is not None:
            accounts(ledger, kept_heads())  # refuses one that was cut short
        signed = _signed(keys, keys_hash, signature)
        made = Report.of(model_file, ledger=ledger, about=stated, attach=attached, **signed)
    open_fields: list[str] = []
    if written is not None:
        with output.working("writing the report"):
            open_fields = _write(made, form, written)
    if as_json:
        told = {"open_fields": open_fields} if form is Form.REGISTRY else {}
        output.print_json({**made.facts, **told, "report": str(written) if written else None})
        return
    output.print_text(made.model.guarantee_.sentence)
    output.print_text()
    if open_fields:
        output.print_text(f"not answered: {', '.join(path.removeprefix('deployment.') for path in open_fields)}")
    output.print_text(f"report: {written}")


def _stated(about: Path | None, pairs: list[str] | None) -> "Path | About | None":
    """Return what the owner states: the file, or what was typed."""
    if not pairs:
        return about
    if about is not None:
        raise ParameterError("--state is for what no file says; write it into the file of --about, or leave that out")
    from privet.report.about import About

    return About.from_pairs(pairs)


def _signed(keys: list[Path] | None, pin: str | None, signature: Path | None) -> dict[str, Any]:
    """Return the keys to check a signature with, and the signature where it is not beside the model."""
    if not keys:
        if signature is not None or pin is not None:
            raise ParameterError("a signature says nothing without a key to check it; pass --keys too")
        return {}
    from privet.signing import ModelSignature

    read = None if signature is None else ModelSignature.load(signature)
    return {"signature": read, "keys": options.trusted(keys, pin)}


def _write(made: "Report", form: Form, path: Path) -> list[str]:
    """Write the report in a form, and return what a record of the registry leaves open."""
    from privet.files.whole_file import whole_file

    if form is Form.PAGE:
        made.write(path)
        return []
    if form is Form.CARD:
        from privet.report.model_card import model_card

        text, left = model_card(made.model, made.facts), []
    else:
        from privet.report.registry_record import open_fields, registry_record, to_yaml

        record = registry_record(made.facts, made.model.schema_)
        text, left = to_yaml(record), open_fields(record)
    with whole_file(path) as file:
        file.write(text)
    return left


def _written(model_file: Path, destination: Path | None, form: Form, *, as_json: bool) -> Path | None:
    """Return the file to write; its ending is that of its form."""
    if destination is None:
        return None if as_json else beside(model_file, _ENDINGS[form][0])
    if destination.suffix.lower() not in _ENDINGS[form]:
        other = f"take --format {Form.CARD} or {Form.REGISTRY}" if form is Form.PAGE else "take another --format"
        raise ParameterError(
            f"a {'report' if form is Form.PAGE else form} is written as {_AS[form]}; name the output "
            f"{_ENDINGS[form][0]} instead of {destination.name!r}, {other}, or take --json"
        )
    return destination
