"""``privet sign`` and ``privet verify``: whose model a file is, in a document beside it."""

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.errors import ParameterError


def sign(
    model_file: options.ModelFile,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="Your private key, as `privet party keygen` made it.")
    ],
    until: Annotated[
        str | None, typer.Option("--until", metavar="DAY", help="To be trusted up to this day: 2027-12-31.")
    ] = None,
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The signature; by default beside the model, as .sig.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Sign a model, so that others can tell that it is yours and unchanged.

    The model file stays as it is. Send the signature along, and your public key by another way.

    Example:  privet sign model.privet --key clinic.key --until 2027-12-31
    """
    from privet.signing import ModelSignature, PrivateKey
    from privet.signing.model_signature import read_day, signature_file

    last = None if until is None else read_day(until)
    made_file = destination or signature_file(model_file)
    check_output(made_file, force=force, inputs=(model_file, key))
    own = PrivateKey.load(key)
    with output.working("reading the model"):
        from privet.model_file import read_document
        from privet.registry import model_of

        document = read_document(model_file)
        promise = model_of(document, model_file).guarantee_.sentence  # a file that does not hold together is not signed
    made = ModelSignature.make(str(document["checksum"]), own, until=last)
    made.save(made_file)
    output.answer(
        {"signature": str(made_file), **made.document, "fingerprint": own.public.hex},
        f"signed by {made.signer}: {promise}",
        "",
        f"signature: {made_file}",
        f"fingerprint of the key: {own.public.hex}",
        as_json=as_json,
    )


def verify(
    model_file: options.ModelFile,
    keys: options.Keys = None,
    keys_hash: options.KeysHash = None,
    signature: options.SignatureFile = None,
    as_json: options.Json = False,
) -> None:
    """Check who signed a model, and that nothing in it was changed since.

    Get the public keys from their owners, not with the model: whoever forges a model can make a key for it.

    Example:  privet verify model.privet --keys clinic.pub

    Example:  privet verify model.privet --keys roster.json
    """
    if not keys:
        raise ParameterError("no key to check against; pass the public key of whoever should have signed with --keys")
    with output.working("reading the model"):
        from privet.model_file import read_document
        from privet.registry import model_of
        from privet.signing.model_signature import ModelSignature, signature_file

        known = options.trusted(keys, keys_hash)
        document = read_document(model_file)
        found = ModelSignature.load(signature or signature_file(model_file))
        key = found.check(str(document["checksum"]), known)
        promise = model_of(document, model_file).guarantee_.sentence
    if as_json:
        told = {"signer": found.signer, "signed": found.signed, "until": found.until}
        output.print_json({**told, "checksum": found.model, "fingerprint": key.hex, "guarantee": promise})
        return
    until = "" if found.until is None else f", to be trusted until {found.until}"
    output.print_text(f"{model_file} is a model of {found.signer}, signed on {found.signed}{until}, and unchanged")
    output.print_text(f"fingerprint of the key: {key.hex}")
    output.print_text()
    output.print_text(promise)
