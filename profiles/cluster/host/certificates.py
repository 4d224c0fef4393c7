"""Certificates for one run of a host: an authority that signs three, and is then forgotten."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = timedelta(days=365)
SKEW = timedelta(days=1)  # that a clock elsewhere may be behind


class KeyPair(NamedTuple):
    """A certificate and its private key, as PEM."""

    certificate: str
    key: str


class Certificates(NamedTuple):
    """What a host, those that join it and its clients prove themselves with.

    Attributes:
        ca: The authority's certificate. Its key is kept nowhere: there will never be another of its clients.
        host: Of scheduler and workers, which call each other.
        client: Of whoever measures; it cannot stand for the host.
        joining: Of the devices of another host that joins: clients' calls come to them.
    """

    ca: str
    host: KeyPair
    client: KeyPair
    joining: KeyPair


def make_certificates(name: str) -> Certificates:
    """New ones, of which no others are signed; `name` is the host's."""
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = _named(f"Flashscope on {name}")
    usages = x509.BasicConstraints(ca=True, path_length=0)
    root = _builder(issuer, issuer, authority).add_extension(usages, critical=True)
    signed = root.sign(authority, hashes.SHA256())
    both = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)

    def pair(subject: str, uses: Sequence[x509.ObjectIdentifier]) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _builder(_named(subject), issuer, key)
        unsigned = unsigned.add_extension(x509.ExtendedKeyUsage(uses), critical=True)
        unsigned = unsigned.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        return KeyPair(_pem(unsigned.sign(authority, hashes.SHA256())), _key_pem(key))

    return Certificates(_pem(signed), pair(name, both), pair("client", both[1:]), pair("joining", both))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALID)
    )


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    kind, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, kind, plain).decode()
