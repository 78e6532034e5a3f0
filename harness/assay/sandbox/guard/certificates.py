"""Test certificates of an authority, the bank and a TPP, as PEM files in a folder.

The TPP has one certificate for TLS (like a QWAC) and several for signing (like a QSEAL),
under one organization identifier. Two further client certificates must be rejected. The
authority's key is not kept, so the certificates are useless elsewhere.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from assay.sandbox.guard.calls import ORGANIZATION
from assay.sandbox.guard.signatures import PublicKey

__all__ = [
    "FILES",
    "KEY_IDS",
    "CertificateFolder",
    "IncompleteFolder",
    "open_certificates",
    "organization",
]

#: Purpose of each file (name without suffix); all but the authority have a key file.
FILES: Mapping[str, str] = {
    "ca": "the authority that issued the others: trust it to trust the bank",
    "server": "the bank's TLS certificate, for 127.0.0.1 and localhost",
    "client": "the TPP's TLS client certificate (like a QWAC)",
    "expired": "an expired client certificate of the same TPP",
    "stranger": "a client certificate from an authority that the bank does not trust",
    "seal-rsa": "the TPP's signing certificate (like a QSEAL): rsa-sha256, rsa-pss-sha512, ...",
    "seal-ec": "another signing certificate: ecdsa-p256-sha256",
    "seal-ed25519": "another signing certificate: ed25519",
}
#: Key identifiers of the signing certificates: the URLs where they would be found.
KEY_IDS: Mapping[str, str] = {
    f"https://tpp.example/{name}.pem": name for name in FILES if name.startswith("seal-")
}

_Key: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_VALID = timedelta(days=730)
_DAY = timedelta(days=1)


class IncompleteFolder(Exception):  # noqa: N818 - the folder is at fault
    """A folder contains only some of the files; carries the name of a missing one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateFolder:
    """A folder with all certificates and keys."""

    folder: Path

    def certificate(self, name: str) -> Path:
        """Return the path of a certificate; names are those of `FILES`."""
        return self.folder / f"{name}.pem"

    def key(self, name: str) -> Path:
        """Return the path of a certificate's key; the authority's is not kept."""
        return self.folder / f"{name}-key.pem"

    def signers(self) -> dict[str, PublicKey]:
        """Return the public keys of signers by key identifier."""
        keys: dict[str, PublicKey] = {}
        for key_id, name in KEY_IDS.items():
            read = x509.load_pem_x509_certificate(self.certificate(name).read_bytes())
            key = read.public_key()
            if isinstance(key, PublicKey):
                keys[key_id] = key
        return keys


def open_certificates(folder: Path) -> CertificateFolder:
    """Open the certificates in a folder, or create them if there are none.

    Raises:
        IncompleteFolder: only some files exist; nothing is created then.
        OSError: the folder cannot be read or written.

    """
    certificates = CertificateFolder(folder=folder)
    wanted = [certificates.certificate(name) for name in FILES]
    wanted += [certificates.key(name) for name in FILES if name != "ca"]
    missing = [path for path in wanted if not path.is_file()]
    if len(missing) == len(wanted):
        _make(certificates, datetime.now(UTC))
    elif missing:
        raise IncompleteFolder(missing[0].name)
    return certificates


def organization(certificate: str) -> str:
    """Return the organization identifier of a PEM certificate; empty if it has none."""
    try:
        subject = x509.load_pem_x509_certificate(certificate.encode()).subject
    except ValueError:
        return ""
    attributes = subject.get_attributes_for_oid(NameOID.ORGANIZATION_IDENTIFIER)
    return str(attributes[0].value) if attributes else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Authority:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


def _make(certificates: CertificateFolder, now: datetime) -> None:
    certificates.folder.mkdir(parents=True, exist_ok=True)
    valid = (now - _DAY, now + _VALID)
    authority = _authority("Sandbox authority", valid)
    certificates.certificate("ca").write_bytes(_pem(authority.certificate))
    bank = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    party, seal = _third_party("Assay TPP"), _third_party("Assay TPP, seal")
    client, server = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH

    def issue(
        name: str,
        subject: x509.Name,
        use: x509.ObjectIdentifier | None = None,
        *,
        key: _Key | None = None,
        by: _Authority = authority,
        during: tuple[datetime, datetime] = valid,
    ) -> None:
        key = key or ec.generate_private_key(ec.SECP256R1())
        built = _begun(subject, key, during, by)
        if use is not None:
            built = built.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        if use == server:
            ips = [x509.IPAddress(ip_address(address)) for address in ("127.0.0.1", "::1")]
            names = x509.SubjectAlternativeName([x509.DNSName("localhost"), *ips])
            built = built.add_extension(names, critical=False)
        certificates.certificate(name).write_bytes(_pem(built.sign(by.key, hashes.SHA256())))
        _write_key(certificates.key(name), key)

    issue("server", bank, server)
    issue("client", party, client)
    issue("expired", party, client, during=(now - 60 * _DAY, now - _DAY))
    issue("stranger", party, client, by=_authority("Another authority", valid))
    # Slow to generate: one RSA key is enough.
    issue("seal-rsa", seal, key=rsa.generate_private_key(65537, 2048))
    issue("seal-ec", seal)
    issue("seal-ed25519", seal, key=ed25519.Ed25519PrivateKey.generate())


def _third_party(name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "FR"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Assay TPP"),
            x509.NameAttribute(NameOID.ORGANIZATION_IDENTIFIER, ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _authority(name: str, during: tuple[datetime, datetime]) -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    built = _begun(subject, key, during, None)
    return _Authority(key=key, certificate=built.sign(key, hashes.SHA256()))


def _begun(
    subject: x509.Name, key: _Key, during: tuple[datetime, datetime], by: _Authority | None
) -> x509.CertificateBuilder:
    """Begin a certificate; it is that of an authority if none issues it."""
    public = key.public_key()
    own = x509.SubjectKeyIdentifier.from_public_key(public)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(during[0])
        .not_valid_after(during[1])
        .add_extension(own, critical=False)
        .add_extension(
            x509.BasicConstraints(ca=by is None, path_length=None if by else 0), critical=True
        )
        .add_extension(_usage(signs=by is None), critical=True)
    )
    if by is None:
        return built
    issuer = by.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    known = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer.value)
    return built.add_extension(known, critical=False)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _usage(*, signs: bool) -> x509.KeyUsage:
    """Return the key usage: signing certificates for an authority, signing data for others."""
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(path: Path, key: _Key) -> None:
    """Write a key file that is never readable by other users."""
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
