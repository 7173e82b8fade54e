"""Options of verbs that check whose model a file is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from privet.signing import Roster

Keys: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="The public key of whoever may have signed, or a roster; repeat for more.",
        show_default=False,
    ),
]
KeysHash: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--keys-hash", metavar="HASH", help="Refuse keys that together have another hash.", show_default=False
    ),
]
SignatureFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--signature", metavar="FILE", help="By default beside the model, as .sig.", show_default=False),
]


def trusted(keys: list[Path], pin: str | None) -> "Roster":
    """Return those whose keys are in the files, if they have the hash that was agreed on."""
    from privet.signing import Roster
    from privet.signing.documents import check_pin

    found = Roster.gather(keys)
    check_pin(found.hash, pin, "the roster of these keys")
    return found
