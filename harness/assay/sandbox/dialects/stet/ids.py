"""Opaque identifiers: what stands in a path for an IBAN or an encrypted PAN.

An identifier is a keyed digest of what it stands for, so it is the same in every answer
of one application and tells nobody anything; what was issued is remembered, for a digest
cannot be read back. Not a secret: whoever has one may not read anything by it.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from hmac import digest
from secrets import token_bytes
from threading import Lock

from assay.sandbox.reading import Malformed, read_identifier

__all__ = ["Ids"]

#: The oldest make room for new ones.
_MOST = 200_000
#: Of 35 characters that the standard allows.
_LENGTH = 32
#: Reads well, and is nobody's.
_NOBODYS = "UNKNOWN"


@dataclass(slots=True)
class Ids:
    """The identifiers of one application."""

    _secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    _keys: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    _lock: Lock = field(default_factory=Lock)

    def issue(self, key: str) -> str:
        """Give the identifier that stands for a key."""
        opaque = digest(self._secret, key.encode("utf-8", "replace"), "sha256").hex()[:_LENGTH]
        with self._lock:
            self._keys[opaque] = key
            self._keys.move_to_end(opaque)
            while len(self._keys) > _MOST:
                self._keys.popitem(last=False)
        return opaque

    def key(self, id: str) -> str:
        """Give what an identifier stands for.

        One that was never issued stands for a key that nobody has; were it passed on as
        it is, an IBAN would do as well. One that the bank cannot even read is passed on,
        for the bank to refuse.
        """
        known = self._keys.get(id)
        if known is not None:
            return known
        try:
            read_identifier(id)
        except Malformed:
            return id
        return _NOBODYS
