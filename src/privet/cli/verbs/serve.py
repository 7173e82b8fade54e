"""Let analysts fit private models to a table within budgets, over HTTP: they get releases, and never see a row.

Example:  privet serve init gate --rows rows.csv --schema schema.json --ledger ledger.db
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.ledger import Dataset, kept_heads, open_ledger
from privet.errors import DataError, ParameterError

if TYPE_CHECKING:
    from privet.service.gateway.folder import GatewayFolder

Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the gateway.")]
Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The analyst.")]
_PASSWORD = "the owner's password, shown this once: {}"  # noqa: S105 - a sentence
_TOKEN = "the token of {}, shown this once: {}"  # noqa: S105 - a sentence
_RUNS = "a server runs on this folder already; stop it first"


def init(
    folder: Folder,
    rows: Annotated[Path, typer.Option("--rows", metavar="FILE", help="The table: .csv, .parquet, .arrow.")],
    schema: Annotated[Path, typer.Option("--schema", metavar="FILE", help="What is public about the table.")],
    ledger: Annotated[Path, typer.Option("--ledger", metavar="FILE", help="Its budget, in a strict account.")],
    dataset: Dataset = None,
    max_rows: options.MaxRows = 1,
    as_json: options.Json = False,
) -> None:
    """Make the folder of a gateway, and print the owner's password.

    The account must be strict, and its unit says who is protected. Every row is read once, as a fit reads it: a table
    that fits makes no fit fail.

    Example:  privet serve init gate --rows rows.csv --schema schema.json --ledger ledger.db --dataset patients
    """
    from privet.service.gateway.folder import GatewayFolder
    from privet.service.sessions import hash_password, new_password

    account, password = open_ledger(ledger, dataset, None), new_password()
    with output.working("reading the rows"):
        GatewayFolder.make(
            folder, rows=rows, schema=schema, ledger=account, max_rows=max_rows, password=hash_password(password)
        )
    output.answer(
        {"folder": str(folder), "password": password},
        f"gateway made in {str(folder)!r}",
        _PASSWORD.format(password),
        as_json=as_json,
    )


def analyst(
    folder: Folder,
    name: Name,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What all fits of theirs may cost together.")],
    delta: Annotated[float, typer.Option("--delta", help="0 for pure differential privacy.")] = 0.0,
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="SUB", help="Known to the issuer by this, without a token.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Add an analyst and print the token, of which only a digest is kept.

    An analyst who is there gets the new budget and a new token. What the name has spent stays spent.

    Example:  privet serve analyst gate ana --epsilon 2
    """
    from privet.service.gateway.analysts import Analyst, digest, new_token

    opened = _opened(folder)
    if subject is not None and opened.issuer() is None:
        raise ParameterError(
            "there is no issuer yet, so nobody can vouch for a subject; add one by `privet serve issuer`"
        )
    token = None if subject is not None else new_token()
    opened.analysts.put(Analyst(name, epsilon, delta, None if token is None else digest(token), subject))
    if as_json:
        output.print_json({"analyst": name, "epsilon": epsilon, "delta": delta, "token": token, "subject": subject})
    elif token is None:
        output.print_text(f"{name} may spend epsilon={output.amount(epsilon)}, as the issuer's {subject!r}")
    else:
        output.print_text(f"{name} may spend epsilon={output.amount(epsilon)}")
        output.print_text(_TOKEN.format(name, token))


def issuer(
    folder: Folder,
    url: Annotated[str, typer.Option("--url", help="What its tokens have as `iss`.")],
    audience: Annotated[str, typer.Option("--audience", help="What its tokens have as `aud`.")],
    jwks: Annotated[Path, typer.Option("--jwks", metavar="FILE", help="Its public keys, as JSON.")],
    as_json: options.Json = False,
) -> None:
    """Trust the tokens of an OpenID provider. Its keys are copied, and nothing is fetched.

    Example:  privet serve issuer gate --url https://id.example --audience privet --jwks jwks.json
    """
    _opened(folder).set_issuer(url, audience, jwks)
    output.answer(
        {"issuer": url, "audience": audience},
        f"tokens of {url} for {audience!r} are trusted from now on",
        as_json=as_json,
    )


def revoke(folder: Folder, name: Name, as_json: options.Json = False) -> None:
    """Let nobody ask in an analyst's name any more, from the next request on.

    Example:  privet serve revoke gate ana
    """
    _opened(folder).analysts.revoke(name)
    output.answer({"revoked": name}, f"nobody can ask as {name} any more; what was spent stays spent", as_json=as_json)


def run(
    folder: Folder,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8080,
    certificate: options.Certificate = None,
    key: options.TlsKey = None,
    without_tls: options.WithoutTls = False,
    workers: Annotated[int, typer.Option("--workers", min=1, max=16, help="So many fits at a time.")] = 1,
    signing_key: Annotated[
        Path | None,
        typer.Option(
            "--signing-key",
            metavar="FILE",
            help="Sign the models with your private key, as `privet party keygen` made it.",
        ),
    ] = None,
) -> None:
    """Start the server.

    Example:  privet serve run gate --host 0.0.0.0 --port 443 --certificate chain.pem --key key.pem

    Example:  privet serve run gate --signing-key clinic.key
    """
    from privet.service.server import check_binding, check_installed, serve

    check_installed()
    check_binding(host, certificate, key, without_tls=without_tls)
    from privet.files.file_lock import file_lock
    from privet.service.gateway.app import make_app
    from privet.signing import PrivateKey

    opened, signer = _opened(folder), None if signing_key is None else PrivateKey.load(signing_key)
    with file_lock(opened.lock_file, seconds=0) as is_mine:
        if not is_mine:
            raise ParameterError(_RUNS)
        app = make_app(opened, opened.open_ledger(kept_heads()), workers=workers, signer=signer)
        scheme = "http" if certificate is None else "https"
        if signer is not None:
            output.say(f"models are signed by {signer.name}; give analysts its public key, {signer.public.hex}")
        output.say(f"serving at {scheme}://{host}:{port}/ ; the owner's page is at /owner")
        serve(app, host, port, certificate, key)


def spending(folder: Folder, as_json: options.Json = False) -> None:
    """Print what was spent, by whom and on what, and whether the audit log is whole.

    Example:  privet serve spending gate
    """
    from privet.service.gateway.audit import AuditLog
    from privet.service.gateway.fits import spending as told_of

    opened = _opened(folder)
    told = told_of(opened, opened.open_ledger(kept_heads()))
    broken = AuditLog(opened.audit_file).first_broken()
    if as_json:
        output.print_json({**told, "audit_broken_at": broken})
    else:
        _print_spending(told)
    if broken is not None:
        raise DataError(
            f"line {broken} of the audit log was changed, or one before it removed: its hash does not fit; take the "
            "file from a backup, and find out what happened"
        )


def backup(
    folder: Folder,
    destination: Annotated[Path, typer.Option("--output", "-o", help="The archive.")] = Path("gateway.tar"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write settings, analysts, the audit log, released models and the ledger to one file; the server may go on.

    The rows are not in it.

    Example:  privet serve backup gate -o gateway.tar
    """
    from privet.service.gateway.backup import back_up

    check_output(destination, force=force)
    back_up(_opened(folder), destination, kept_heads())
    output.answer({"output": str(destination)}, f"backup written to {str(destination)!r}", as_json=as_json)


def restore(
    archive: Annotated[Path, typer.Argument(metavar="BACKUP", help="The archive.")],
    folder: Folder,
    rows: Annotated[Path, typer.Option("--rows", metavar="FILE", help="The table.")],
    ledger: Annotated[
        Path, typer.Option("--ledger", metavar="FILE", help="The ledger; the backup's is put where none is.")
    ],
    nothing_spent_since: Annotated[
        bool, typer.Option("--nothing-spent-since", help="Take the backup's ledger: nothing was spent after it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Make the folder of a gateway from its backup.

    A ledger that is there is used as it is. The backup's own does not know what was spent after it, so it is taken on
    your word only. Fits that had not ended stay charged and are not made again. Tokens and passwords stay as they were.

    Example:  privet serve restore gateway.tar gate --rows rows.csv --ledger ledger.db
    """
    from privet.service.gateway.backup import restore as unpack

    with output.working("reading the rows"):
        unpack(archive, folder, rows=rows, ledger=ledger, nothing_spent_since=nothing_spent_since, heads=kept_heads())
    output.answer({"folder": str(folder)}, f"gateway restored in {str(folder)!r}", as_json=as_json)


def _print_spending(told: dict[str, Any]) -> None:
    of = f"epsilon={output.amount(told['spent'])} of {output.amount(told['epsilon'])}"
    output.print_text(f"{told['dataset']!r}: {of} spent per {told['unit']}, {output.left_over(told['left'])} left")
    output.print_text()
    cells = [
        (each["name"], output.amount(each["spent"]), output.amount(each["epsilon"]), output.left_over(each["left"]),
         str(each["fits"]), each["access"])
        for each in told["analysts"]
    ]  # fmt: skip
    output.print_table(["analyst", "spent", "of", "left", "fits", "access"], cells, right=[1, 2, 3, 4])
    output.print_text()
    fits = [
        (each["receipt"]["time"], each["analyst"], each["method"], output.amount(each["receipt"]["epsilon"]),
         each["receipt"]["state"], each["fit"])
        for each in told["fits"]
    ]  # fmt: skip
    output.print_table(["when", "analyst", "method", "epsilon", "state", "fit"], fits, right=[3])


def _opened(folder: Path) -> "GatewayFolder":
    from privet.service.gateway.folder import GatewayFolder

    return GatewayFolder(folder)
