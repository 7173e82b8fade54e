"""A Dask cluster on the command line: where its scheduler is, and the files for TLS."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from privet.cli.support import output
from privet.errors import ParameterError

_PANEL = "On a cluster"

Dask: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Count on the workers of this Dask scheduler, tls://host:8786.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip
DaskCa: TypeAlias = Annotated[
    Path | None,
    typer.Option("--dask-tls-ca", metavar="FILE", help="The certificate authority.", rich_help_panel=_PANEL),
]
DaskCert: TypeAlias = Annotated[
    Path | None, typer.Option("--dask-tls-cert", metavar="FILE", help="Your certificate.", rich_help_panel=_PANEL)
]
DaskKey: TypeAlias = Annotated[
    Path | None, typer.Option("--dask-tls-key", metavar="FILE", help="Its private key.", rich_help_panel=_PANEL)
]


@dataclass(frozen=True)
class Cluster:
    """The cluster that was asked for, or none."""

    address: str | None
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        tls = {"--dask-tls-ca": self.ca, "--dask-tls-cert": self.cert, "--dask-tls-key": self.key}
        given = [option for option, path in tls.items() if path is not None]
        if given and self.address is None:
            raise ParameterError(f"{given[0]} is for a cluster; name its scheduler with --dask tls://host:port")
        if given and not str(self.address).startswith("tls://"):
            raise ParameterError(f"{given[0]} needs an encrypted scheduler; name it with --dask tls://host:port")

    @contextmanager
    def executor(self) -> Iterator[Executor | None]:
        """Connect, and yield what counts there; None where no cluster was asked for."""
        if self.address is None:
            yield None
            return
        from privet.counting.engines.dask import cluster_executor
        from privet.service.server import is_loopback

        host = self.address.partition("://")[2].rpartition(":")[0].strip("[]") or self.address
        if not (self.address.startswith(("tls://", "inproc://")) or is_loopback(host)):
            output.say(
                "exact counts travel to this cluster and back unencrypted, and anyone on the way can read them; use tls://"
            )
        with cluster_executor(self.address, ca=self.ca, cert=self.cert, key=self.key) as executor:
            yield executor
