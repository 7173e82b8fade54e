"""Bearer tokens of an OpenID provider, checked against keys in a file; nothing is fetched. Argued in gateway.md."""

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.checks import is_number
from privet.errors import ParameterError
from privet.files.documents import parse_json, read_json

_ALGORITHMS = ("RS256", "ES256")
_LONGEST = 8_192
_LEAST_RSA_BITS = 2_048
_ES256_BYTES = 32
_LEEWAY_SECONDS = 60.0
_NO_KEYS = "the JWKS file has no key for RS256 or ES256; export the provider's public keys as JSON"


@dataclass(frozen=True)
class Issuer:
    """A provider that is trusted to name analysts: who it is, whom its tokens are for, and its public keys."""

    url: str
    audience: str
    keys: tuple[dict[str, Any], ...]

    @classmethod
    def load(cls, url: str, audience: str, jwks: Path) -> "Issuer":
        """Read the keys of a provider from a JWKS file."""
        try:
            document = read_json(jwks)
            found = [key for key in document["keys"] if key.get("kty") in ("RSA", "EC") and key.get("use") != "enc"]
            for key in found:
                _public_key(key)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ParameterError(_NO_KEYS) from None
        if not found:
            raise ParameterError(_NO_KEYS)
        return cls(url, audience, tuple(found))

    def subject(self, token: str, now: Callable[[], float] = time.time) -> str | None:
        """Return whom a token names; None where any part of it is not as it must be."""
        try:
            header, claims, signed, signature = _parts(token)
            if header.get("alg") not in _ALGORITHMS or "crit" in header:
                return None
            fits = any(_verifies(key, header, signed, signature) for key in self.keys)
            return str(claims["sub"]) if fits and self._accepts(claims, now()) else None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def _accepts(self, claims: dict[str, Any], now: float) -> bool:
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        begins = claims.get("nbf", now)
        in_time = is_number(claims["exp"]) and is_number(begins)
        in_time = in_time and begins - _LEEWAY_SECONDS <= now < claims["exp"]
        named = isinstance(claims["sub"], str) and claims["sub"] != ""
        return in_time and named and claims["iss"] == self.url and self.audience in audiences


def _parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    if len(token) > _LONGEST:
        raise ValueError
    first, second, third = token.split(".")
    header, claims = parse_json(_decoded(first)), parse_json(_decoded(second))
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TypeError
    return header, claims, f"{first}.{second}".encode(), _decoded(third)


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _public_key(key: dict[str, Any]) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if key["kty"] == "RSA":
        numbers = rsa.RSAPublicNumbers(_whole(key["e"]), _whole(key["n"]))
        public = numbers.public_key()
        if public.key_size < _LEAST_RSA_BITS:
            raise ValueError
        return public
    if key["crv"] != "P-256":
        raise ValueError
    return ec.EllipticCurvePublicNumbers(_whole(key["x"]), _whole(key["y"]), ec.SECP256R1()).public_key()


def _verifies(key: dict[str, Any], header: dict[str, Any], signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    # The key decides which algorithm may be used, never the token alone.
    if header["alg"] != ("RS256" if key["kty"] == "RSA" else "ES256"):
        return False
    if "kid" in header and "kid" in key and header["kid"] != key["kid"]:
        return False
    try:
        if key["kty"] == "RSA":
            _public_key(key).verify(signature, signed, padding.PKCS1v15(), SHA256())
            return True
        if len(signature) != 2 * _ES256_BYTES:
            return False
        halves = (int.from_bytes(signature[:_ES256_BYTES]), int.from_bytes(signature[_ES256_BYTES:]))
        _public_key(key).verify(utils.encode_dss_signature(*halves), signed, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _whole(text: str) -> int:
    return int.from_bytes(_decoded(text))
