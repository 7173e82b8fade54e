"""Collect disturbed answers by a page: people open a link, and what leaves their phone is disturbed already.

Example:  privet collect init smokers --schema schema.json --epsilon 2 --title Smoking --people 1000
"""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.errors import ParameterError

Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the collection.")]
Store: TypeAlias = Annotated[
    str,
    typer.Option("--store", metavar="URL", help="PostgreSQL instead of a file in the folder, without its password."),
]
_PASSWORD = "the collector's password, shown this once: {}"  # noqa: S105 - a sentence
_MOST_LINKS = 1_000_000


def init(
    folder: Folder,
    title: Annotated[str, typer.Option("--title", help="What respondents read first.")],
    people: Annotated[int, typer.Option("--people", min=1, help="How many are asked.")],
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE", help="What is asked: a question each.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="With --schema: what an answer costs its owner.")
    ] = None,
    channel: Annotated[
        Path | None, typer.Option("--channel", metavar="FILE", help="Instead: what happens to every answer.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who asks.")] = "",
    purpose: Annotated[str, typer.Option("--purpose", help="What for, in a sentence.")] = "",
    batch: Annotated[
        int, typer.Option("--batch", min=2, help="So many answers are shuffled together before anyone reads them.")
    ] = 50,
    minimum: Annotated[int, typer.Option("--minimum", min=1, help="So many answers train a model.")] = 100,
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Your words for fields and values, by language.")
    ] = None,
    wave: Annotated[
        str | None, typer.Option("--wave", metavar="NAME", help="Each wave asks anew, and costs anew.")
    ] = None,
    store: Store = "",
    as_json: options.Json = False,
) -> None:
    """Make the folder of a collection, and print the collector's password.

    A file of texts holds titles, names of fields and of their values by language, and may add whole languages.

    Example:  privet collect init smokers --schema schema.json --epsilon 2 --title Smoking --people 1000
    """
    from privet.local import Channel
    from privet.service.collect.folder import CollectFolder, Settings
    from privet.service.collect.texts import read_texts
    from privet.service.sessions import hash_password, new_password

    if store:
        from privet.service.collect.postgres_store import check_store_url

        check_store_url(store)
    password = new_password()
    settings = Settings(
        title, people, by=by, purpose=purpose, wave=wave, batch=batch, minimum=minimum, store=store,
        password=hash_password(password),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        file = _channel_file(schema, epsilon, channel, wave, Path(scratch))
        if texts is not None:
            settings = replace(settings, texts=read_texts(texts, Channel.load(file).schema))
        made = CollectFolder.make(folder, file, settings)
    output.answer(
        {"folder": str(folder), "password": password, "channel_sha256": made.channel_sha256},
        f"collection made in {str(folder)!r}; channel {made.channel_sha256}",
        _PASSWORD.format(password),
        as_json=as_json,
    )


def _channel_file(
    schema: Path | None, epsilon: float | None, channel: Path | None, wave: str | None, scratch: Path
) -> Path:
    """Return the channel's file; one question of many is asked where no channel is given."""
    if channel is not None and schema is None and epsilon is None:
        return channel
    if channel is not None or schema is None or epsilon is None:
        raise ParameterError("say what is asked: --schema with --epsilon, or a --channel; and not both")
    from privet.local import FieldSampling

    made = scratch / "channel.json"
    FieldSampling(options.load_schema(schema).for_answers(), epsilon=epsilon, wave=wave).channel.save(made)
    return made


def links(
    folder: Folder,
    number: Annotated[int, typer.Option("--number", min=1, max=_MOST_LINKS, help="How many, one a person.")],
    base_url: Annotated[str, typer.Option("--base-url", metavar="URL", help="Where phones find the page.")],
    destination: Annotated[Path, typer.Option("--output", "-o", help="The links, a line each.")] = Path("links.csv"),
    qr: Annotated[Path | None, typer.Option("--qr", metavar="FILE", help="Also a page of QR codes to print.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Make one-time links. The server keeps hashes of them, so the file is the only copy.

    Example:  privet collect links smokers --number 1000 --base-url https://ask.example --qr sheet.html
    """
    from privet.service.collect import tokens as made
    from privet.service.collect.folder import CollectFolder

    made.check_base_url(base_url)
    for path in (destination, qr):
        if path is not None:
            check_output(path, force=force)
    opened = CollectFolder(folder)
    tokens = [made.new_token() for _ in range(number)]
    urls = [made.link_of(base_url, token) for token in tokens]
    # The file first: links that no server knows do no harm, and tokens that nobody has are lost.
    made.write_links(destination, urls)
    if qr is not None:
        from privet.service.collect.assets import script_fingerprint

        made.write_sheet(
            qr, urls, title=opened.settings.title, channel=opened.channel_sha256, scripts=script_fingerprint()
        )
    with closing(opened.open_store()) as store:
        store.add_tokens([made.token_hash(token) for token in tokens])
    output.answer(
        {"links": str(destination), "number": number, "qr": None if qr is None else str(qr)},
        f"links written to {str(destination)!r}",
        as_json=as_json,
    )


def run(
    folder: Folder,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    certificate: options.Certificate = None,
    key: options.TlsKey = None,
    without_tls: options.WithoutTls = False,
    per_minute: Annotated[int, typer.Option("--per-minute", min=1, help="Reports looked at a minute.")] = 6000,
    address_per_minute: Annotated[
        int, typer.Option("--address-per-minute", min=1, help="Reports a minute from one address.")
    ] = 600,
) -> None:
    """Start the server. Nothing is logged about who asks.

    Example:  privet collect run smokers --host 0.0.0.0 --port 443 --certificate chain.pem --key key.pem
    """
    from privet.service.server import check_binding, check_installed, serve

    check_installed()
    check_binding(host, certificate, key, without_tls=without_tls)
    from privet.service.collect.app import make_app
    from privet.service.collect.folder import CollectFolder

    opened = CollectFolder(folder)
    store = opened.open_store()
    app = make_app(opened, store, per_minute=per_minute, address_per_minute=address_per_minute)
    scheme = "http" if certificate is None else "https"
    output.say(f"collecting at {scheme}://{host}:{port}/ ; the collector's page is at /collector")
    try:
        serve(app, host, port, certificate, key)
    finally:
        store.close()


def close(folder: Folder, as_json: options.Json = False) -> None:
    """Take no more reports, and release what still waits.

    What waits is released where it is a batch at least; it joins no batch that somebody has read. Servers that run
    need not be restarted.

    Example:  privet collect close smokers
    """
    from privet.service.collect.folder import CollectFolder

    opened = CollectFolder(folder)
    with closing(opened.open_store()) as store:
        opened.close(store)
        n = store.n_released()
    output.answer(
        {"folder": str(folder), "answers": n}, f"collection closed; {n:,} answers are released", as_json=as_json
    )


def train(
    folder: Folder,
    publish: Annotated[
        bool, typer.Option("--publish", help="Also offer the model to respondents, whose page predicts with it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train a model on the released answers, as the collector's page does.

    Example:  privet collect train smokers --publish
    """
    from privet.service.collect import training
    from privet.service.collect.folder import CollectFolder
    from privet.service.requests import Refusal

    opened = CollectFolder(folder)
    with closing(opened.open_store()) as store:
        try:
            training.check_ready(opened, store)
            training.train(opened, store)
        except Refusal as refusal:
            raise ParameterError(str(refusal)) from None
    if publish:
        training.publish(opened)
    told = opened.trained or {}
    output.answer(
        told, f"{told['method']} trained on {told['answers']:,} answers; {told['guarantee']}", as_json=as_json
    )


def offline(
    folder: Folder,
    destination: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("answer.html"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write the respondent's page as one file, which works without a network and cannot be altered unnoticed.

    People open it, answer, and hand over the text that it shows; `privet collect add` takes it.

    Example:  privet collect offline smokers -o answer.html
    """
    from privet.service.collect.assets import write_offline_page
    from privet.service.collect.folder import CollectFolder

    check_output(destination, force=force)
    sha256 = write_offline_page(CollectFolder(folder), destination)
    output.answer(
        {"output": str(destination), "sha256": sha256},
        f"page written to {str(destination)!r}; SHA-256 {sha256}",
        as_json=as_json,
    )


def add(
    folder: Folder,
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT...", help="What people handed over.")],
    token: Annotated[
        str | None, typer.Option("--token", help="The link of a person whose text names none, or its code.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Add texts that people handed over from the offline page. A text that is added again counts once.

    Example:  privet collect add smokers handed/*.json
    """
    from privet.service.collect.folder import CollectFolder
    from privet.service.collect.reports import add_report

    if token is not None and len(texts) > 1:
        raise ParameterError("--token is for one report; add the other texts without it")
    opened = CollectFolder(folder)
    with closing(opened.open_store()) as store:
        code = None if token is None else token.rpartition("#")[2]
        added = sum(add_report(opened, store, text, code) for text in texts)
    output.answer(
        {"added": added, "there_before": len(texts) - added},
        f"{added:,} added; {len(texts) - added:,} were there before",
        as_json=as_json,
    )


def export(
    folder: Folder,
    destination: Annotated[Path, typer.Option("--output", "-o", help="The table.")] = Path("answers.csv"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write the released answers as a table that `privet fit` takes; later exports only add lines at the end.

    Example:  privet collect export smokers -o answers.csv
    """
    from privet.service.collect.folder import CollectFolder
    from privet.service.collect.training import write_answers

    check_output(destination, force=force)
    opened = CollectFolder(folder)
    with closing(opened.open_store()) as store:
        n = write_answers(opened.channel, store, destination)
    output.answer(
        {"output": str(destination), "answers": n}, f"{n:,} answers written to {str(destination)!r}", as_json=as_json
    )


def backup(
    folder: Folder,
    destination: Annotated[Path, typer.Option("--output", "-o", help="The archive.")] = Path("backup.tar"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write settings, key, tokens, answers and models to one file; the server may go on meanwhile.

    Example:  privet collect backup smokers -o backup.tar
    """
    from privet.service.collect.backup import back_up
    from privet.service.collect.folder import CollectFolder

    check_output(destination, force=force)
    back_up(CollectFolder(folder), destination)
    output.answer({"output": str(destination)}, f"backup written to {str(destination)!r}", as_json=as_json)


def restore(
    archive: Annotated[Path, typer.Argument(metavar="BACKUP", help="The archive.")],
    folder: Folder,
    store: Store = "",
    as_json: options.Json = False,
) -> None:
    """Make the folder of a collection from its backup.

    Tokens that were used after the backup count as unused again, and their answers are lost.

    Example:  privet collect restore backup.tar smokers
    """
    from privet.service.collect.backup import restore as unpack

    unpack(archive, folder, store)
    output.answer({"folder": str(folder)}, f"collection restored in {str(folder)!r}", as_json=as_json)
