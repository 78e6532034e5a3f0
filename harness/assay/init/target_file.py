"""A whole target file as text: what was asked, what was found, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from assay.contract.model import Contract, Json
from assay.init.openapi_operations import OpenApiOperation
from assay.init.operation_bindings import Found, operations, outcomes
from assay.init.operation_match import OperationMatch
from assay.init.safe_load import ForeignDocument
from assay.init.security import headers, protection
from assay.init.yaml_writer import YamlEntry, gap, render

__all__ = ["TargetDraft", "written"]

#: What a world with a control API is thought to arrange, and one of known customers.
CONTROL = ("psu", "two-psu", "consent", "roster", "clock", "credentials", "entries")
CONTROL_WRITES = ("write", "providers", "segments", "registrations", "banks", "effects")
ROLES = ("psu", "consent")
#: What the kinds of OAuth 2.0 cannot do without.
ADDRESS = {
    "authorize_url": "where customers sign in",
    "token_url": "where tokens are asked for",
    "redirect_uri": "where customers are sent back to",
}
ADDRESSES = {
    "client-credentials": ("token_url",),
    "authorization-code": ("authorize_url", "token_url", "redirect_uri"),
}
EXAMPLE_IBAN = "FR7630001007941234567890185"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDraft:
    """What a target file is written from: answers to questions, and perhaps a document.

    `whys` say of an answer why it was taken, where nobody gave it.
    """

    name: str
    base_url: str
    environment: str = "sandbox"
    zone: str = ""
    auth: str = "bearer"
    presence: str = ""
    fixtures: str = "roles"
    extends: str = ""
    given: dict[str, Json] = field(default_factory=dict[str, Json])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    contracts: tuple[Contract, ...] = ()
    document: ForeignDocument | None = None
    offers: tuple[OpenApiOperation, ...] = ()
    found: Found = field(default_factory=dict[str, Mapping[str, OperationMatch]])

    @property
    def prefix(self) -> str:
        """What the names of this target's environment variables begin with."""
        return "".join(one if one.isalnum() else "_" for one in self.name.upper())


def written(draft: TargetDraft) -> str:
    """Return the text of a target file."""
    return "\n".join(render(tuple(_entries(draft)))) + "\n"


def _entries(draft: TargetDraft) -> Iterator[YamlEntry]:
    names = [one.id for one in draft.contracts]
    yield YamlEntry(key="assay", value=1, says=tuple(_head(draft)))
    yield YamlEntry(key="target", value=draft.name)
    if draft.extends:
        yield YamlEntry(
            key="extends",
            value=draft.extends,
            says=("", "How the operations are spelt is taken from here, and corrected below."),
        )
    else:
        yield YamlEntry(key="contracts", value=names, why=draft.whys.get("contracts", ""))
    yield YamlEntry(key="transport", value="http", says=("",))
    yield YamlEntry(key="base_url", value=draft.base_url, why=draft.whys.get("base_url", ""))
    yield YamlEntry(key="environment", value=draft.environment)
    if draft.zone:
        yield YamlEntry(key="zone", value=draft.zone, why=draft.whys.get("zone", ""))
    else:
        yield gap("zone", "whose calendar day it is", "Europe/Paris")
    if draft.extends:
        # What it says of another bank is not said of this one.
        says = ("What is extended says these of its own bank.",)
        yield YamlEntry(key="hosts", value=None, says=says)
        if draft.extends != "sandbox":
            yield YamlEntry(key="dialect", value=None)
    yield from _calls(draft)
    yield from _world(draft)
    yield from _operations(draft)


def _head(draft: TargetDraft) -> Iterator[str]:
    source = " from an OpenAPI document" if draft.document else ""
    yield f"A target file for {draft.name}, begun by `assay init`{source}."
    yield "Look at each line that says `guessed`: names are all that it goes by. Each line that"
    yield "says `missing` is a gap: what needs it stays unverified. Then run `assay check` on this"
    yield "file, and `assay plan` to see what would be asked. Nothing secret belongs in here."


def _calls(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield what stands in each call: who calls, and whether the customer is there."""
    yield _auth(draft)
    if draft.document:
        offers = _used(draft)
        yield from protection(draft.document, offers)
        yield from headers(offers, draft.presence)
    says = ["", "What says that the customer is there; without it, it cannot be told who asks."]
    if draft.presence:
        told: dict[str, Json] = {"header": draft.presence, "value": "192.0.2.10"}
        why = draft.whys.get("presence", "")
        yield YamlEntry(key="presence", value=told, why=why, says=tuple(says))
    else:
        example = "{header: PSU-IP-Address, value: 192.0.2.10}"
        missing = gap("presence", "the header by which it is said", example)
        yield replace(missing, says=tuple(says))
        if draft.extends:
            yield YamlEntry(key="presence", value=None)


def _auth(draft: TargetDraft) -> YamlEntry:
    says = ["", "How calls are authenticated; secrets come from the environment."]
    value: dict[str, Json] = {"kind": draft.auth}
    lacking = [one for one in ADDRESSES.get(draft.auth, ()) if one not in draft.given]
    if draft.auth in ADDRESSES:
        value |= draft.given
        value |= {"client_id_env": f"{draft.prefix}_CLIENT_ID"}
        value |= {"client_secret_env": f"{draft.prefix}_CLIENT_SECRET"}
    elif draft.auth == "key":
        value |= {"header": "X-Api-Key"} | draft.given
    if draft.auth in {"bearer", "key"} and draft.fixtures == "none":
        value["token_env"] = f"{draft.prefix}_TOKEN"
    elif draft.auth in {"bearer", "key"}:
        says.append("A token comes with each customer of the world below.")
    below = tuple(YamlEntry(key=key, value=one) for key, one in value.items())
    for name in lacking:
        missing = gap(name, f"{ADDRESS[name]}, in place of this", "https://…")
        below += (missing, YamlEntry(key=name, value="https://bank.example/nobody-said"))
    why = draft.whys.get("auth", "")
    if len(value) == 1 or draft.auth == "key":
        return YamlEntry(key="auth", value=value, why=why, says=tuple(says))
    return YamlEntry(key="auth", below=below, why=why, says=tuple(says))


def _used(draft: TargetDraft) -> Sequence[OpenApiOperation]:
    return [one.offered for each in draft.found.values() for one in each.values()]


def _world(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield who arranges what a check needs, and who signs."""
    writes = any(one.writes for each in draft.contracts for one in each.operations.values())
    signs = draft.fixtures == "control" and writes
    if draft.fixtures == "control":
        offers = CONTROL + (CONTROL_WRITES if writes else ())
        yield YamlEntry(
            key="fixtures",
            says=(
                "",
                "A control API (assay-control/1) makes customers and moves the clock.",
                "Take out what it cannot arrange.",
            ),
            below=tuple(_control(draft, offers)),
        )
    elif draft.fixtures == "roles":
        yield YamlEntry(
            key="fixtures",
            says=(
                "",
                "Test customers that exist already; add `roster` to the offers if the lists",
                "are complete, and `two-psu` with a second customer.",
            ),
            below=tuple(_roles(draft)),
        )
    else:
        missing = gap("fixtures", "who arranges what a check needs", "{kind: roles, offers: [psu]}")
        yield replace(missing, says=("", "Without a world, nearly everything stays unverified."))
        if draft.extends:
            yield YamlEntry(key="fixtures", value=None)
    if signs:
        yield YamlEntry(key="sca", value={"kind": "control"}, says=("", "Who signs payments."))
    elif draft.extends:
        yield YamlEntry(key="sca", value=None)
    elif draft.auth == "authorization-code":
        example = "{kind: browser, screens: [{login: login, password: password}]}"
        yield gap("sca", "who signs in for a token, and on which screens", example)


def _control(draft: TargetDraft, offers: Sequence[str]) -> Iterator[YamlEntry]:
    yield YamlEntry(key="kind", value="control")
    parts = urlsplit(draft.base_url)
    if parts.path:
        what = "where the control API stands, if not below the base URL"
        yield gap("url", what, f"{parts.scheme}://{parts.netloc}")
    yield YamlEntry(key="offers", value=list(offers))


def _roles(draft: TargetDraft) -> Iterator[YamlEntry]:
    resource = next(
        (
            one
            for each in draft.contracts
            for one in each.resources.values()
            if one.key and not one.of
        ),
        None,
    )
    live = draft.environment == "live"
    yield YamlEntry(key="kind", value="roles")
    yield YamlEntry(key="offers", value=["psu"] if live else list(ROLES))
    owns: list[Json] = []
    if resource:
        owns = [{"resource": resource.id, "key": EXAMPLE_IBAN}]
    customer = [YamlEntry(key="token_env", value=f"{draft.prefix}_ALICE_TOKEN")]
    if draft.auth not in {"bearer", "key"}:
        customer = []
    customer.append(gap("owns", "what the customer really owns, in place of this", "[…]"))
    customer.append(YamlEntry(key="owns", value=owns))
    yield YamlEntry(key="roles", below=(YamlEntry(key="alice", below=tuple(customer)),))


def _operations(draft: TargetDraft) -> Iterator[YamlEntry]:
    if draft.extends and draft.document is None:
        below = tuple(_corrected(draft))
        says = ("", "What is said there of the bank itself, and nobody knows of this one yet.")
        if below:
            yield YamlEntry(key="operations", below=below, says=says)
        return
    offers = None if draft.document is None else draft.offers
    below = tuple(operations(draft.contracts, offers, draft.found))
    says = ("", "How each operation is spelt; what is not here is as in the contract.")
    yield YamlEntry(key="operations", below=below, says=says)
    yield from (replace(one, says=("",)) for one in outcomes(draft.found))


def _corrected(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield what is taken back of what a file says that is extended."""
    for contract in draft.contracts:
        for one in contract.operations.values():
            if one.lists and one.available:
                yield YamlEntry(key=one.id, value={"item": {"volatile": None}})
