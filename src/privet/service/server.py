"""How a service starts: on this machine alone, or with TLS."""

import asyncio
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError
from privet.lazy import of_extra

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

_PLAIN = (
    "{!r} can be reached from other machines, and without TLS tokens and models cross the line in clear; pass "
    "--certificate and --key, bind to 127.0.0.1 behind a proxy with TLS, or say --without-tls"
)


def check_installed() -> None:
    """Refuse to go on where the libraries of a server are missing."""
    of_extra("starlette", "serve", "a server")
    of_extra("uvicorn", "serve", "a server")


def check_binding(host: str, certificate: Path | None, key: Path | None, *, without_tls: bool) -> None:
    """Refuse an address that others can reach, unless there is TLS or its absence is asked for by name."""
    if (certificate is None) != (key is None):
        raise ParameterError("--certificate and --key go together; pass both files, or none")
    for path in (certificate, key):
        if path is not None and not path.is_file():
            raise ParameterError(f"there is no file {str(path)!r}; check --certificate and --key")
    if certificate is None and not without_tls and not is_loopback(host):
        raise ParameterError(_PLAIN.format(host))


def is_loopback(host: str) -> bool:
    """Return whether an address leads to this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(app: Any, host: str, port: int, certificate: Path | None = None, key: Path | None = None) -> None:
    """Answer requests until stopped; what was begun is finished, and addresses are not logged."""
    import uvicorn

    uvicorn.Server(configuration(app, host, port, certificate, key)).run()


def configuration(
    app: Any,
    host: str,
    port: int,
    certificate: Path | None = None,
    key: Path | None = None,
    *,
    most_connections: int = 200,
    header_seconds: float = 15.0,
) -> "uvicorn.Config":
    """Return how `serve` runs: so many connections at once, each of which must say in time what it asks for."""
    import uvicorn

    return uvicorn.Config(
        app, host=host, port=port, access_log=False, log_level="warning", server_header=False, date_header=False,
        ssl_certfile=None if certificate is None else str(certificate), ssl_keyfile=None if key is None else str(key),
        http=_hurried(header_seconds), ws="none", lifespan="auto", limit_concurrency=most_connections,
        timeout_keep_alive=5, timeout_graceful_shutdown=30,
    )  # fmt: skip


def _hurried(seconds: float) -> "type[H11Protocol]":
    """Return uvicorn's protocol with a limit: it waits for a body, but not for ever for a header."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Hurried(H11Protocol):
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._late = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            if self._late is None and (before is None or before.response_complete):
                self._late = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self.cycle is not before:
                self._unhurry()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unhurry()
            super().connection_lost(exc)

        def _unhurry(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    return Hurried
