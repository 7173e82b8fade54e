"""Tokens of a provider: one that is right names its analyst, and each single fault makes it name nobody."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from privet.errors import ParameterError
from privet.service.jwt import Issuer
from privet.service.tokens import digest, matches, new_token

NOW = 1_000_000.0
KEY = ec.generate_private_key(ec.SECP256R1())
CLAIMS = {"iss": "https://id.example", "aud": "privet", "sub": "ana", "exp": NOW + 60}


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(claims: dict, header: dict | None = None, key=KEY) -> str:
    text = ".".join(b64(json.dumps(each).encode()) for each in (header or {"alg": "ES256"}, claims))
    r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
    return f"{text}.{b64(r.to_bytes(32) + s.to_bytes(32))}"


@pytest.fixture
def issuer(tmp_path) -> Issuer:
    numbers = KEY.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": "P-256", "x": b64(numbers.x.to_bytes(32)), "y": b64(numbers.y.to_bytes(32))}
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [jwk]}))
    return Issuer.load("https://id.example", "privet", tmp_path / "jwks.json")


def test_a_token_that_is_right_names_its_analyst(issuer):
    assert issuer.subject(signed(CLAIMS), now=lambda: NOW) == "ana"


FAULTS = {
    "expired": signed({**CLAIMS, "exp": NOW}),
    "never expires": signed({name: value for name, value in CLAIMS.items() if name != "exp"}),
    "not yet": signed({**CLAIMS, "nbf": NOW + 1_000}),
    "NaN": signed({**CLAIMS, "exp": float("nan")}),
    "other audience": signed({**CLAIMS, "aud": "another"}),
    "other issuer": signed({**CLAIMS, "iss": "https://evil.example"}),
    "no subject": signed({**CLAIMS, "sub": ""}),
    "alg none": ".".join(b64(json.dumps(each).encode()) for each in ({"alg": "none"}, CLAIMS)) + ".",
    "alg none, signed": signed(CLAIMS, {"alg": "none"}),
    "alg HS256": signed(CLAIMS, {"alg": "HS256"}),
    "alg of another kind of key": signed(CLAIMS, {"alg": "RS256"}),
    "critical extension": signed(CLAIMS, {"alg": "ES256", "crit": ["b64"]}),
    "other key": signed(CLAIMS, key=ec.generate_private_key(ec.SECP256R1())),
    "half a signature": signed(CLAIMS)[:-40],
    "no token": "abc",
    "very long": "a" * 10_000,
}


@pytest.mark.parametrize("token", FAULTS.values(), ids=FAULTS.keys())
def test_a_token_with_one_fault_names_nobody(issuer, token):
    assert issuer.subject(token, now=lambda: NOW) is None


def test_a_file_without_keys_is_refused(tmp_path):
    (tmp_path / "jwks.json").write_text('{"keys": []}')
    with pytest.raises(ParameterError, match="has no key for RS256 or ES256"):
        Issuer.load("https://id.example", "privet", tmp_path / "jwks.json")


def test_a_token_matches_its_own_digest_alone():
    token = new_token()
    assert matches(token, digest(token))
    assert not matches(new_token(), digest(token))
