"""Certificates and keys: what is wrong with a file is told before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from assay.binding.model.target import Target
from assay.errors import InputError
from assay.running.environment import set_up
from assay.sandbox.guard.certificates import CertificateFolder
from assay.transport.auth.keys import check

TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
"""
SIGNATURE = "signature:\n  kind: {}\n  key_file: {}\n  key_id: k\n  algorithm: {}\n"


@pytest.fixture(scope="module", autouse=True)
def odd(folder: CertificateFolder) -> None:
    """Put some files beside the certificates that are not what they are named for."""
    there = folder.folder
    (there / "empty.pem").write_bytes(b"")
    (there / "note.pem").write_text("hush hush, no PEM at all")
    (there / "broken.pem").write_text(
        "-----BEGIN CERTIFICATE-----\naHVzaA==\n-----END CERTIFICATE-----\n"
    )
    key = load_pem_private_key(folder.key("client").read_bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open"))
    (there / "locked.pem").write_bytes(locked)
    both = folder.certificate("client").read_bytes() + folder.key("client").read_bytes()
    (there / "both.pem").write_bytes(both)
    p384 = ec.generate_private_key(ec.SECP384R1())
    (there / "p384.pem").write_bytes(
        p384.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )


def told(target: Target, **secrets: str) -> list[str]:
    """Return what is wrong, without the folder."""
    with pytest.raises(InputError) as caught:
        check(target, secrets)
    return [
        f"{one.path.rpartition('/')[2]}:{one.line}: {one.what.replace(one.path[:-9], '')}"
        for one in caught.value.problems
    ]


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        (
            ["ca_file: gone.pem"],
            ["6: tls.ca_file: cannot read gone.pem: No such file or directory"],
        ),
        (["ca_file: note.pem"], ["6: tls.ca_file: note.pem contains no certificate in PEM format"]),
        (
            ["ca_file: empty.pem"],
            ["6: tls.ca_file: empty.pem contains no certificate in PEM format"],
        ),
        (
            ["ca_file: broken.pem"],
            ["6: tls.ca_file: broken.pem contains no certificate in PEM format"],
        ),
        (
            ["certificate_file: client.pem"],
            ["6: tls.certificate_file: client.pem contains no private key in PEM format"],
        ),
        (
            ["certificate_file: client.pem", "key_file: server-key.pem"],
            ["7: tls.key_file: the key does not belong to the certificate"],
        ),
        (
            ["certificate_file: client.pem", "key_file: note.pem"],
            ["7: tls.key_file: note.pem contains no private key in PEM format"],
        ),
        (
            ["certificate_file: client.pem", "key_file: locked.pem"],
            ["7: tls.key_file: the key in locked.pem is encrypted"],
        ),
        (
            ["certificate_file: client.pem", "key_file: locked.pem", "key_password_env: T_WRONG"],
            [
                "8: tls.key_password_env: the password in T_WRONG does not decrypt the key in locked.pem"
            ],
        ),
        (
            [
                "certificate_file: client.pem",
                "key_file: client-key.pem",
                "key_password_env: T_OPEN",
            ],
            ["8: tls.key_password_env: the key is not encrypted"],
        ),
        (
            ["ca_file: gone.pem", "certificate_file: gone.pem", "key_file: note.pem"],
            [
                "6: tls.ca_file: cannot read gone.pem: No such file or directory",
                "7: tls.certificate_file: cannot read gone.pem: No such file or directory",
                "8: tls.key_file: note.pem contains no private key in PEM format",
            ],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    read: Callable[[str], Target], tls: list[str], said: list[str]
) -> None:
    """Each file that cannot be used is named, all at once, and nothing in it is quoted."""
    target = read(TEXT + "tls:\n" + "".join(f"  {line}\n" for line in tls))
    assert [f"bank.yaml:{one}" for one in said] == told(target, T_WRONG="hush", T_OPEN="open")


@pytest.mark.parametrize(
    "tls",
    [
        "{ca_file: ca.pem}",
        "{certificate_file: both.pem}",
        "{certificate_file: client.pem, key_file: client-key.pem}",
        "{certificate_file: client.pem, key_file: locked.pem, key_password_env: T_OPEN}",
    ],
)
def test_good_files(
    read: Callable[[str], Target], tls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can be used is, with the password of a key that has one."""
    monkeypatch.setenv("T_OPEN", "open")
    environment = set_up(read(TEXT + f"tls: {tls}\n"))
    environment.close()
    assert environment.token_store is None


def test_a_certificate_of_another_time(read: Callable[[str], Target]) -> None:
    """An expired certificate is told with its day; and so is one that is not valid yet."""
    expired = read(TEXT + "tls: {certificate_file: expired.pem, key_file: expired-key.pem}\n")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    what = f"tls.certificate_file: the certificate expired on {yesterday:%Y-%m-%d}"
    assert [f"bank.yaml:5: {what}"] == told(expired)
    good = read(TEXT + "tls: {certificate_file: client.pem, key_file: client-key.pem}\n")
    with pytest.raises(InputError, match="certificate is not valid before"):
        check(good, {}, datetime(2020, 1, 1, tzinfo=UTC))
    assert check(good, {}) is None


@pytest.mark.parametrize(
    ("kind", "file", "algorithm", "said"),
    [
        ("cavage", "seal-rsa-key.pem", "rsa-sha256", ""),
        ("cavage", "seal-ec-key.pem", "hs2019", ""),
        ("rfc9421", "seal-rsa-key.pem", "rsa-pss-sha512", ""),
        ("rfc9421", "seal-ec-key.pem", "ecdsa-p256-sha256", ""),
        ("rfc9421", "seal-ed25519-key.pem", "ed25519", ""),
        ("cavage", "seal-ec-key.pem", "rsa-sha256", "rsa-sha256 requires an RSA key"),
        ("rfc9421", "seal-rsa-key.pem", "ed25519", "ed25519 requires an Ed25519 key"),
        ("rfc9421", "p384.pem", "ecdsa-p256-sha256", "requires a key on the curve P-256"),
        (
            "cavage",
            "seal-rsa.pem",
            "rsa-sha256",
            "seal-rsa.pem contains no private key in PEM format",
        ),
        ("cavage", "gone.pem", "rsa-sha256", "cannot read gone.pem"),
    ],
)
def test_keys_to_sign_with(
    read: Callable[[str], Target], kind: str, file: str, algorithm: str, said: str
) -> None:
    """A key that is none for the algorithm is refused on its line; one that is, is not."""
    target = read(TEXT + SIGNATURE.format(kind, file, algorithm))
    if said:
        (one,) = told(target)
        assert one.startswith("bank.yaml:7: signature.key_file: ")
        assert said in one
    else:
        assert check(target, {}) is not None
