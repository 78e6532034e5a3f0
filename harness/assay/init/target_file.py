"""The text of a whole target file: answers, guesses and gaps."""

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

__all__ = ["TargetDraft", "render_target_file"]

#: The default offers of a control API (for reading, and for payments) and of listed customers.
CONTROL = ("psu", "two-psu", "consent", "roster", "clock", "credentials", "entries")
CONTROL_WRITES = ("write", "providers", "segments", "registrations", "banks", "effects")
ROLES = ("psu", "consent")
#: The URLs that the OAuth kinds need, and what each is for.
ADDRESS = {
    "authorize_url": "the URL where customers log in",
    "token_url": "the URL of the token endpoint",
    "redirect_uri": "the URL to which the browser returns",
}
ADDRESSES = {
    "client-credentials": ("token_url",),
    "authorization-code": ("authorize_url", "token_url", "redirect_uri"),
}
EXAMPLE_IBAN = "FR7630001007941234567890185"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDraft:
    """Everything that a target file is written from: answers, and matches in a document.

    `whys` gives the reason for each answer that the user did not give.
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
        """The prefix of this target's environment variables."""
        return "".join(one if one.isalnum() else "_" for one in self.name.upper())


def render_target_file(draft: TargetDraft) -> str:
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
            says=("", "The operations are inherited from this target, and corrected below."),
        )
    else:
        yield YamlEntry(key="contracts", value=names, why=draft.whys.get("contracts", ""))
    yield YamlEntry(key="transport", value="http", says=("",))
    yield YamlEntry(key="base_url", value=draft.base_url, why=draft.whys.get("base_url", ""))
    yield YamlEntry(key="environment", value=draft.environment)
    if draft.zone:
        yield YamlEntry(key="zone", value=draft.zone, why=draft.whys.get("zone", ""))
    else:
        yield gap("zone", "the time zone of the bank's calendar day", "Europe/Paris")
    if draft.extends:
        # What the extended file says of its own bank does not hold for this one.
        says = ("Inherited values that describe another bank are removed.",)
        yield YamlEntry(key="hosts", value=None, says=says)
        if draft.extends != "sandbox":
            yield YamlEntry(key="dialect", value=None)
    yield from _calls(draft)
    yield from _fixtures(draft)
    yield from _operations(draft)


def _head(draft: TargetDraft) -> Iterator[str]:
    source = " from an OpenAPI document" if draft.document else ""
    yield f"Target file for {draft.name}, drafted by `assay init`{source}."
    yield "Review each line marked `guessed`: guesses are based on names only. A line marked"
    yield "`missing` is a gap: obligations that need it stay unverified. Then run `assay check` on"
    yield "this file, and `assay plan` to see what would be tested. Do not put secrets in this file."


def _calls(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield what each call carries: credentials, headers, and the presence header."""
    yield _auth(draft)
    if draft.document:
        offers = _used(draft)
        yield from protection(draft.document, offers)
        yield from headers(offers, draft.presence)
    says = ["", "The header that marks a call as made with the customer present."]
    if draft.presence:
        header: dict[str, Json] = {"header": draft.presence, "value": "192.0.2.10"}
        why = draft.whys.get("presence", "")
        yield YamlEntry(key="presence", value=header, why=why, says=tuple(says))
    else:
        example = "{header: PSU-IP-Address, value: 192.0.2.10}"
        missing = gap("presence", "the name of this header", example)
        yield replace(missing, says=tuple(says))
        if draft.extends:
            yield YamlEntry(key="presence", value=None)


def _auth(draft: TargetDraft) -> YamlEntry:
    says = ["", "How calls are authenticated; secrets are read from environment variables."]
    value: dict[str, Json] = {"kind": draft.auth}
    unknown = [one for one in ADDRESSES.get(draft.auth, ()) if one not in draft.given]
    if draft.auth in ADDRESSES:
        value |= draft.given
        value |= {"client_id_env": f"{draft.prefix}_CLIENT_ID"}
        value |= {"client_secret_env": f"{draft.prefix}_CLIENT_SECRET"}
    elif draft.auth == "key":
        value |= {"header": "X-Api-Key"} | draft.given
    if draft.auth in {"bearer", "key"} and draft.fixtures == "none":
        value["token_env"] = f"{draft.prefix}_TOKEN"
    elif draft.auth in {"bearer", "key"}:
        says.append("Each customer under `fixtures` has its own token.")
    below = tuple(YamlEntry(key=key, value=one) for key, one in value.items())
    for name in unknown:
        missing = gap(name, f"{ADDRESS[name]}, instead of the line below", "https://…")
        below += (missing, YamlEntry(key=name, value="https://bank.example/unknown"))
    why = draft.whys.get("auth", "")
    if len(value) == 1 or draft.auth == "key":
        return YamlEntry(key="auth", value=value, why=why, says=tuple(says))
    return YamlEntry(key="auth", below=below, why=why, says=tuple(says))


def _used(draft: TargetDraft) -> Sequence[OpenApiOperation]:
    return [one.offered for each in draft.found.values() for one in each.values()]


def _fixtures(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield the fixture provider and the SCA signer."""
    writes = any(one.writes for each in draft.contracts for one in each.operations.values())
    signs = draft.fixtures == "control" and writes
    if draft.fixtures == "control":
        offers = CONTROL + (CONTROL_WRITES if writes else ())
        yield YamlEntry(
            key="fixtures",
            says=(
                "",
                "A control API (assay-control/1) creates customers and moves the clock.",
                "Remove from the offers what it cannot do.",
            ),
            below=tuple(_control(draft, offers)),
        )
    elif draft.fixtures == "roles":
        yield YamlEntry(
            key="fixtures",
            says=(
                "",
                "Existing test customers. Add `roster` to the offers if the lists of what they",
                "own are complete, and `two-psu` with a second customer.",
            ),
            below=tuple(_roles(draft)),
        )
    else:
        missing = gap("fixtures", "the source of test customers", "{kind: roles, offers: [psu]}")
        yield replace(missing, says=("", "Without fixtures, nearly everything stays unverified."))
        if draft.extends:
            yield YamlEntry(key="fixtures", value=None)
    if signs:
        yield YamlEntry(
            key="sca", value={"kind": "control"}, says=("", "The SCA signer of payments.")
        )
    elif draft.extends:
        yield YamlEntry(key="sca", value=None)
    elif draft.auth == "authorization-code":
        example = "{kind: browser, screens: [{login: login, password: password}]}"
        yield gap("sca", "the signer that logs in for a token, and its screens", example)


def _control(draft: TargetDraft, offers: Sequence[str]) -> Iterator[YamlEntry]:
    yield YamlEntry(key="kind", value="control")
    parts = urlsplit(draft.base_url)
    if parts.path:
        what = "the URL of the control API, if it is not below the base URL"
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
    customer.append(
        gap("owns", "the accounts this test customer really has, instead of the line below", "[…]")
    )
    customer.append(YamlEntry(key="owns", value=owns))
    yield YamlEntry(key="roles", below=(YamlEntry(key="alice", below=tuple(customer)),))


def _operations(draft: TargetDraft) -> Iterator[YamlEntry]:
    if draft.extends and draft.document is None:
        below = tuple(_corrected(draft))
        says = ("", "Inherited settings that are not known for this bank are removed.")
        if below:
            yield YamlEntry(key="operations", below=below, says=says)
        return
    offers = None if draft.document is None else draft.offers
    below = tuple(operations(draft.contracts, offers, draft.found))
    says = ("", "How each operation is bound; what is left out is as in the contract.")
    yield YamlEntry(key="operations", below=below, says=says)
    yield from (replace(one, says=("",)) for one in outcomes(draft.found))


def _corrected(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield the inherited settings that are removed."""
    for contract in draft.contracts:
        for one in contract.operations.values():
            if one.lists and one.available:
                yield YamlEntry(key=one.id, value={"item": {"volatile": None}})
