"""Tokens of a provider: one that is right names its analyst, and each single fault makes it name nobody."""

import base64
import hmac
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.hashes import SHA256

from privet.errors import ParameterError
from privet.service.gateway.jwt import Issuer

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


RSA_KEY = rsa.generate_private_key(65537, 2048)


def rsa_issuer(folder, key=RSA_KEY, **more):
    numbers = key.public_key().public_numbers()
    size = (numbers.n.bit_length() + 7) // 8
    jwk = {"kty": "RSA", "n": b64(numbers.n.to_bytes(size)), "e": b64(numbers.e.to_bytes(3)), **more}
    (folder / "rsa.json").write_text(json.dumps({"keys": [jwk]}))
    return Issuer.load("https://id.example", "privet", folder / "rsa.json")


def signed_by_rsa(header, key=RSA_KEY):
    text = ".".join(b64(json.dumps(each).encode()) for each in (header, CLAIMS))
    return f"{text}.{b64(key.sign(text.encode(), padding.PKCS1v15(), SHA256()))}"


def test_a_token_signed_with_rsa_names_its_analyst(tmp_path):
    assert rsa_issuer(tmp_path).subject(signed_by_rsa({"alg": "RS256"}), now=lambda: NOW) == "ana"


def test_a_token_that_names_another_key_names_nobody(tmp_path):
    issuer = rsa_issuer(tmp_path, kid="one")
    assert issuer.subject(signed_by_rsa({"alg": "RS256", "kid": "one"}), now=lambda: NOW) == "ana"
    assert issuer.subject(signed_by_rsa({"alg": "RS256", "kid": "two"}), now=lambda: NOW) is None


def test_the_public_key_is_no_secret_to_sign_with(tmp_path):
    issuer = rsa_issuer(tmp_path)
    text = ".".join(b64(json.dumps(each).encode()) for each in ({"alg": "HS256"}, CLAIMS))
    mac = hmac.digest((tmp_path / "rsa.json").read_bytes(), text.encode(), "sha256")
    assert issuer.subject(f"{text}.{b64(mac)}", now=lambda: NOW) is None


def test_a_weak_key_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="has no key for RS256 or ES256"):
        rsa_issuer(tmp_path, key=rsa.generate_private_key(65537, 1024))  # noqa: S505
