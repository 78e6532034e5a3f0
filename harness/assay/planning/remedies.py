"""Missing requirements of obligations, and the target-file keys that provide them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.contract.model import Capability

__all__ = ["ALLOW_WRITES", "REMEDIES", "Remedy", "needs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What is missing, and what to do about it in the target file.

    `fix` says which key to set. `offer` is a word of `fixtures.offers` instead; `arranged`
    ones are for fixtures of kind `control` or `python` only.
    """

    missing: str
    fix: str = ""
    offer: str = ""
    arranged: bool = False

    def __str__(self) -> str:
        """Return the phrase that follows "needs" where nothing else is missing."""
        comma = "," if self.arranged else ""
        return f"{self.missing} ({self.fix or _offered([self])}{comma} in the target file)"


def needs(remedies: Sequence[Remedy]) -> str:
    """Return the reason for everything that is missing; it names the target file once."""
    if len(remedies) == 1:
        return f"needs {remedies[0]}"
    offers = [remedy for remedy in remedies if remedy.offer]
    fixes = [_offered(offers)] if offers else []
    fixes += [remedy.fix for remedy in remedies if remedy.fix]
    missing = _listed([remedy.missing for remedy in remedies])
    return f"needs {missing} (in the target file: {'; '.join(fixes)})"


def _offered(remedies: Sequence[Remedy]) -> str:
    offers = _listed([f"`{remedy.offer}`" for remedy in remedies])
    if any(remedy.arranged for remedy in remedies):
        return f"set `fixtures.kind` to `control` or `python`, with {offers} in `fixtures.offers`"
    return f"add {offers} to `fixtures.offers`"


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


#: What the fixtures of a target can provide, by the word that `fixtures.offers` has for it.
_OFFERS: Mapping[Capability, str] = {
    Capability.PSU: "a test customer",
    Capability.TWO_PSU: "a second test customer",
    Capability.CONSENT: "permission to transmit consents",
    Capability.ROSTER: "a complete list of what the customer owns",
    Capability.CREDENTIALS: "fictitious customer credentials",
    Capability.ENTRIES: "dated entries of the items that the customer owns",
    Capability.WRITE: "permission to make requests",
    Capability.SEGMENTS: "customers of segments",
    Capability.REGISTRATIONS: "creditors registered by a customer",
    Capability.TPPS: "a second TPP",
    Capability.TPP_TOKENS: "a token of each customer for the second TPP",
}
#: The same for what only fixtures of kind `control` or `python` can provide.
_ARRANGED: Mapping[Capability, str] = {
    Capability.CLOCK: "a clock that can be moved",
    Capability.BANKS: "a bank of the group that does not offer it",
    Capability.EFFECTS: "a record of the requests that the bank executed",
    Capability.DIRECT_ACCESS: "a customer who acts through direct access",
    Capability.RENEWAL: "tokens that can be renewed",
}
#: The same for what a key of its own provides.
_KEYS: Mapping[Capability, tuple[str, str]] = {
    Capability.BATCH: ("a marker for calls without the customer", "set `presence`"),
    Capability.ZONE: ("the time zone of the bank's calendar day", "set `zone`"),
    Capability.TOGETHER: ("several calls at one moment", "set `safety.concurrency` above 1"),
    Capability.HOSTS: ("the other hosts of the target", "set `hosts`"),
    Capability.SCA: ("an SCA signer", "set `sca`"),
    Capability.SCREENS: (
        "an SCA signer that fills in the bank's screens",
        "set `sca.kind` to `forms` or `browser`",
    ),
}

#: What an obligation needs where the target lacks a capability.
REMEDIES: Mapping[Capability, Remedy] = {
    **{
        capability: Remedy(missing=what, offer=capability.value)
        for capability, what in _OFFERS.items()
    },
    **{
        capability: Remedy(missing=what, offer=capability.value, arranged=True)
        for capability, what in _ARRANGED.items()
    },
    **{capability: Remedy(missing=what, fix=fix) for capability, (what, fix) in _KEYS.items()},
}
#: What an obligation needs where a live target must not be changed.
ALLOW_WRITES = Remedy(missing="permission to write to a live bank", fix="set `safety.allow_writes`")
