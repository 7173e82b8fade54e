"""``privet verify``: find out whose model a file is."""

from privet.cli.support import options, output
from privet.errors import ParameterError


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
