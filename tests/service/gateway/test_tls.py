"""TLS: tokens and models cross the line encrypted, and the owner's cookie goes no other way."""

import datetime as dt
import ipaddress
import ssl

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.service.gateway.conftest import ENOUGH, PASSWORD, Gateway
from tests.service.gateway.running import RunningServer


@pytest.fixture
def certified(tmp_path):
    """A certificate of 127.0.0.1 and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gate")])
    place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(
        issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1, not_valid_before=now,
        not_valid_after=now + dt.timedelta(days=1),
    ).add_extension(place, critical=False).sign(key, hashes.SHA256())  # fmt: skip
    chain, own = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    own.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )  # fmt: skip
    return chain, own


def test_analysts_and_owner_are_served_over_tls_alone(tmp_path, certified):
    chain, key = certified
    gateway = Gateway(tmp_path / "one")
    ana = gateway.analyst()
    server = RunningServer(gateway.folder.path, "--certificate", str(chain), "--key", str(key))
    trusting = ssl.create_default_context(cafile=str(chain))
    server.start(verify=trusting)
    try:
        with httpx.Client(verify=trusting, base_url=server.url, timeout=ENOUGH) as client:
            told = client.get("/v1/budget", headers={"Authorization": f"Bearer {ana.token}"})
            assert told.json()["analyst"] == "ana"
            login = client.post("/owner/login", data={"password": PASSWORD})
            assert "Secure" in login.headers["Set-Cookie"]
        with pytest.raises(httpx.TransportError):
            httpx.get(server.url.replace("https", "http") + "/v1/schema")
    finally:
        server.kill()
