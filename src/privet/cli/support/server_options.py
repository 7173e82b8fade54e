"""The options of commands that start a server."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Host: TypeAlias = Annotated[str, typer.Option("--host", help="The address to listen at.")]
Port: TypeAlias = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen at.")]
Certificate: TypeAlias = Annotated[
    Path | None, typer.Option("--certificate", metavar="FILE", help="For https: the chain.", show_default=False)
]
Key: TypeAlias = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="For https: its key.", show_default=False)
]
WithoutTls: TypeAlias = Annotated[
    bool, typer.Option("--without-tls", help="Listen to other machines without TLS, as behind a proxy.")
]
