"""HTTP message signatures (RFC 9421), made by the library `http-message-signatures`."""

# The library's exports are not declared in a way that pyright recognises.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageSigner,
    HTTPSignatureAlgorithm,
    MappingKeyResolver,
    algorithms,
)

from assay.binding.target import Signature
from assay.transport.auth.certificates import Key
from assay.transport.auth.signing import Message

__all__ = ["sign"]

WAYS: Mapping[str, type[HTTPSignatureAlgorithm]] = {
    "rsa-v1_5-sha256": algorithms.RSA_V1_5_SHA256,
    "rsa-pss-sha512": algorithms.RSA_PSS_SHA512,
    "ecdsa-p256-sha256": algorithms.ECDSA_P256_SHA256,
    "ed25519": algorithms.ED25519,
}
#: The label of this signature in the message.
LABEL = "assay"


@dataclass(slots=True, kw_only=True)
class _Request:
    """A request in the form that the library expects; it adds headers."""

    method: str
    url: str
    headers: dict[str, str]


def sign(message: Message, said: Signature, key: Key) -> list[tuple[str, str]]:
    """Return the headers `Signature-Input` and `Signature` of a message.

    Raises:
        ValueError: its URL cannot be signed.

    """
    names = [name for name in said.covers if name.startswith("@") or name in message.headers]
    request = _Request(method=message.method, url=message.url, headers=dict(message.headers))
    signer = HTTPMessageSigner(
        signature_algorithm=WAYS[said.algorithm],
        key_resolver=MappingKeyResolver(public_keys={}, private_keys={said.key_id: key}),
    )
    try:
        signer.sign(
            request,
            key_id=said.key_id,
            created=message.now,
            label=LABEL,
            covered_component_ids=names,
            use_existing_digest="content-digest" in request.headers,
        )
    except HTTPMessageSignaturesException as error:
        raise ValueError(type(error).__name__) from None
    added = {name.lower(): value for name, value in request.headers.items()}
    return [(name, added[name.lower()]) for name in ("Signature-Input", "Signature")]
