"""The test certificates: their issuers, subjects and file permissions."""

import stat
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from rows import for_each

from assay.sandbox.guard.certificates import (
    FILES,
    IncompleteFolder,
    open_certificates,
    organization,
)


def read(folder, name):
    return x509.load_pem_x509_certificate(folder.certificate(name).read_bytes())


def test_keys_are_private(folder):
    """Only the owner can read the keys, and the authority's is not kept."""
    keys = sorted(path.name for path in folder.folder.glob("*-key.pem"))
    assert sorted(f"{name}-key.pem" for name in FILES if name != "ca") == keys
    for name in keys:
        assert 0o600 == stat.S_IMODE((folder.folder / name).stat().st_mode)


@for_each("name", [name for name in FILES if name not in ("ca", "stranger")])
def test_the_authority_signed_all_but_one(folder, name):
    """The authority issued each certificate except the stranger's."""
    authority = read(folder, "ca")
    read(folder, name).verify_directly_issued_by(authority)
    with pytest.raises(ValueError, match="does not match"):
        read(folder, "stranger").verify_directly_issued_by(authority)


def test_one_has_expired(folder):
    """The expired client certificate is invalid, and all others are valid now."""
    now = datetime.now(UTC)
    for name in FILES:
        certificate = read(folder, name)
        assert certificate.not_valid_before_utc < now
        assert (name == "expired") == (certificate.not_valid_after_utc < now)


def test_whose_they_are(folder):
    """The TPP's certificates contain its organization identifier; the bank's has none."""
    organizations = {name: organization(folder.certificate(name).read_text()) for name in FILES}
    assert ("", "") == (organizations.pop("ca"), organizations.pop("server"))
    assert {"PSDFR-ACPR-12345"} == set(organizations.values())
    attribute = read(folder, "client").subject.get_attributes_for_oid(
        NameOID.ORGANIZATION_IDENTIFIER
    )
    assert "PSDFR-ACPR-12345" == attribute[0].value
    assert "" == organization("no certificate")


def test_keys_to_verify_with(folder):
    """Signing certificates are identified by URL, one for each algorithm."""
    kinds = {name: type(key) for name, key in folder.signers().items()}
    assert [
        "https://tpp.example/seal-rsa.pem",
        "https://tpp.example/seal-ec.pem",
        "https://tpp.example/seal-ed25519.pem",
    ] == list(kinds)
    wanted = (rsa.RSAPublicKey, ec.EllipticCurvePublicKey, ed25519.Ed25519PublicKey)
    assert all(issubclass(kind, key) for kind, key in zip(kinds.values(), wanted, strict=True))


def test_made_once(folder, tmp_path):
    """Existing certificates are used again; an incomplete folder is left unchanged."""
    before = folder.certificate("server").read_bytes()
    assert folder == open_certificates(folder.folder)
    assert before == folder.certificate("server").read_bytes()
    (tmp_path / "ca.pem").write_bytes(before)
    with pytest.raises(IncompleteFolder, match=r"server\.pem"):
        open_certificates(tmp_path)
    assert ["ca.pem"] == [path.name for path in tmp_path.iterdir()]
