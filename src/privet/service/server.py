"""How a service starts: on this machine alone, or with TLS."""

import ipaddress
from pathlib import Path
from typing import Any

from privet.errors import ParameterError

_NEEDS = "this needs starlette and uvicorn; install them with `pip install privet[serve]`"
_PLAIN = (
    "{!r} can be reached from other machines, and without TLS tokens and models cross the line in clear; pass "
    "--certificate and --key, bind to 127.0.0.1 behind a proxy with TLS, or say --without-tls"
)


def check_installed() -> None:
    """Refuse to go on where the libraries of a server are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ParameterError(_NEEDS) from None


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
    """Answer requests until stopped; addresses are not logged."""
    import uvicorn

    uvicorn.run(
        app, host=host, port=port, access_log=False, log_level="warning", server_header=False, date_header=False,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key), limit_concurrency=200, timeout_keep_alive=5,
    )  # fmt: skip
