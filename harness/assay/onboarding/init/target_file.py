"""The text of a whole target file: answers, guesses and gaps.

A comment about a key is the title of the key in the schema of target files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from assay.binding.model.features import describe
from assay.binding.model.secret_names import secret_header, secret_kind
from assay.binding.read.contract_names import ContractNames
from assay.contract.model import Contract, Json
from assay.history import ERROR_CODE
from assay.onboarding.init.defaults import GuessedAuth, TargetDraft, token_endpoint
from assay.onboarding.init.fixture_template import ADAPTER_CLASS, adapter_module
from assay.onboarding.init.foreign_document import text
from assay.onboarding.init.openapi_operations import EACH, OpenApiOperation, SchemaLeaf, schemes
from assay.onboarding.init.operation_bindings import operations, outcomes, sent_outputs
from assay.onboarding.init.synonyms import called, is_unique_header
from assay.onboarding.init.yaml_writer import YamlEntry, gap, render
from assay.onboarding.signer_guess import guessed_signer
from assay.rules.rule import facts_of
from assay.sca.html_forms import Form, forms

__all__ = ["auth_section", "render_target_file", "used_auth"]

#: The default offers of a control API (for reading, and for payments) and of listed customers.
CONTROL: Final = ("psu", "two-psu", "consent", "roster", "clock", "credentials", "entries")
CONTROL_WRITES: Final = (
    *("write", "tpps", "segments", "registrations", "banks", "effects"),
    *("direct-access", "renewal"),
)
ROLES: Final = ("psu", "consent")
CONSENT: Final = "consent"
#: In place of a signer that is not known: the file can be checked before it is complete.
SIGNER: Final[Json] = {
    "kind": "forms",
    "screens": [{"login": "login", "password": "password"}, {"decision": "decision"}],
}
#: The first line of a file, for editors; `assay schema target` prints the schema.
MODELINE: Final = "yaml-language-server: $schema=assay-target.schema.json"
#: The value of a header for calls with the customer present, and the header of a key, where none is given.
ADDRESS: Final = "192.0.2.10"
KEY_HEADER: Final = "X-Api-Key"
EXAMPLE_IBAN: Final = "FR7630001007941234567890185"
#: Headers that other sections set, and headers of signatures.
_ELSEWHERE: Final = frozenset(
    ["authorization", "content-type", "accept", "accept-encoding", "cookie", "host"]
)
_SIGNED: Final = frozenset(
    ["signature", "digest", "tpp-signature-certificate", "content-digest", "signature-input"]
)
_VALUE: Final = re.compile(r"[!-z|~]+( [!-z|~]+)*")
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def render_target_file(draft: TargetDraft) -> str:
    """Return the text of a target file."""
    return "\n".join(render(tuple(_entries(draft)))) + "\n"


def _entries(draft: TargetDraft) -> Iterator[YamlEntry]:
    yield YamlEntry(key="assay", value=1, says=tuple(_head(draft)))
    yield YamlEntry(key="target", value=draft.name)
    if draft.extends:
        says = ("", "The operations are inherited from this target and adjusted below.")
        why = draft.whys.get("extends", "")
        yield YamlEntry(key="extends", value=draft.extends, says=says, why=why)
    else:
        files = draft.start.files
        names: Json = [files.get(contract.id, contract.id) for contract in draft.contracts]
        yield YamlEntry(key="contracts", value=names, why=draft.whys.get("contracts", ""))
    yield YamlEntry(key="transport", value="http", says=("",))
    yield YamlEntry(key="base_url", value=draft.base_url, why=draft.whys.get("base_url", ""))
    yield YamlEntry(key="environment", value=draft.environment)
    if draft.zone:
        yield YamlEntry(key="zone", value=draft.zone, why=draft.whys.get("zone", ""))
    else:
        yield gap("zone")
    if draft.extends:
        removed = ("These inherited values describe another bank and are removed.",)
        yield YamlEntry(key="hosts", value=None, says=removed)
        if draft.extends != "sandbox":
            yield YamlEntry(key="dialect", value=None)
    yield from _calls(draft)
    yield from _fixtures(draft)
    yield from _operations(draft)


def _head(draft: TargetDraft) -> Iterator[str]:
    source = " from an OpenAPI document" if draft.start.document else ""
    yield MODELINE
    yield f"Target file for {draft.name}, drafted by `assay init`{source}."
    yield "Review each line marked `guessed`: it is a default, or based on names only. A line marked"
    yield "`TODO` is a gap: obligations that need it stay unverified. Then run `assay check` on"
    yield "this file, and `assay plan` to see what would be tested. Do not put secrets in this file."


def _calls(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield what each call carries: credentials, headers, and the mark of the customer's presence."""
    yield auth_section(draft)
    if draft.start.document:
        yield from _protection(draft)
        yield from _headers(draft)
    says = ("", _sentence("presence"))
    inherited = draft.start.inherited.raw.get("presence") or {}
    if inherited and draft.presence.partition("=")[0] in {"", inherited.get("header")}:
        return
    if draft.presence:
        name, given, value = draft.presence.partition("=")
        header: dict[str, Json] = {"header": name.strip(), "value": value.strip() or ADDRESS}
        why = draft.whys.get("presence", "" if given else "the value is a usual one")
        yield YamlEntry(key="presence", value=header, why=why, says=says)
    elif any(facts_of(contract).limits(attended=False) for contract in draft.contracts):
        yield replace(
            gap(
                "presence",
                what="the header, the query parameter or the member of the body that says so",
            ),
            says=says,
        )
    if not draft.presence and draft.extends:
        yield YamlEntry(key="presence", value=None)


def _sentence(*key: str) -> str:
    """Return the title of a key as a sentence."""
    title = describe(*key).title
    return f"{title[0].upper()}{title[1:]}."


def _used(draft: TargetDraft) -> Sequence[OpenApiOperation]:
    """Return the operations of the document that match one of the contracts."""
    return [match.offered for matches in draft.start.found.values() for match in matches.values()]


def _required_headers(draft: TargetDraft) -> dict[str, list[OpenApiOperation]]:
    """Return each header that the document requires, with the operations that require it."""
    required: dict[str, list[OpenApiOperation]] = {}
    for offered in _used(draft):
        for name, parameter in offered.named("header").items():
            if parameter.required:
                required.setdefault(name, []).append(offered)
    return required


def _protection(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield that certificates and signatures are missing, where the document requires them."""
    offered = schemes(draft.start.document) if draft.start.document else {}
    if any(text(scheme.get("type")) == "mutualTLS" for scheme in offered.values()):
        yield gap("tls")
    if _SIGNED & {name.lower() for name in _required_headers(draft)}:
        yield gap("signature")


def _headers(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield the headers of every call, and those that are missing."""
    present = draft.presence.partition("=")[0].strip().lower()
    known = _ELSEWHERE | _SIGNED | {present} | _said_elsewhere(draft)
    required = {
        name: offers
        for name, offers in _required_headers(draft).items()
        if _TOKEN.fullmatch(name) and name.lower() not in known
    }
    inherited = {name.lower() for name in draft.start.inherited.raw.get("headers") or ()}
    required = {name: offers for name, offers in required.items() if name.lower() not in inherited}
    known_values = {
        name: "{unique}" if is_unique_header(name) else _only_value(offers[0], name)
        for name, offers in required.items()
    }
    values = {name: value for name, value in known_values.items() if value}
    if values:
        why = "required; values guessed from their names and from the document"
        yield YamlEntry(key="headers", value={**values}, why=why)
    for name, offers in required.items():
        if name not in values:
            rest = f" and {len(offers) - 1} more" if len(offers) > 1 else ""
            what = f"{name} is required by {offers[0]}{rest}"
            yield gap("headers", what=what, example=f"{{{name}: …}}")


def _said_elsewhere(draft: TargetDraft) -> set[str]:
    """Return the headers that the operations of the file set, in lower case."""
    names: set[str] = set()
    for contract in draft.contracts:
        names |= sent_outputs(contract, draft.start.found[contract.id]).names
        for operation in contract.operations.values():
            names |= {name.lower() for name in operation.arguments}
    return names


def _only_value(offered: OpenApiOperation, header: str) -> str:
    """Return the first of the values that a document allows in a header; empty if it has none."""
    leaf = offered.named("header")[header].leaf
    secret = secret_kind(header) or secret_header(header.lower())
    usable = leaf.fixed and leaf.values and not secret
    return leaf.values[0] if usable and _VALUE.fullmatch(leaf.values[0]) else ""


def _fixtures(draft: TargetDraft) -> Iterator[YamlEntry]:
    """Yield the fixture provider, and who signs."""
    writes = any(
        operation.writes for each in draft.contracts for operation in each.operations.values()
    )
    says: tuple[str, ...]
    if draft.fixtures == "control":
        says = (
            "",
            "A control API (assay-control/1) creates customers and moves the clock.",
            "Remove offers that it does not support.",
        )
        offers = _offers(draft, CONTROL + (CONTROL_WRITES if writes else ()))
        yield YamlEntry(key="fixtures", says=says, below=tuple(_control(draft, offers)))
    elif draft.fixtures == "roles":
        says = (
            "",
            "Existing test customers. Add `roster` to the offers if the lists of the items they",
            "own are complete, and `two-psu` with a second customer.",
            *(("Add `write` if requests may be made.",) if writes else ()),
        )
        yield YamlEntry(key="fixtures", says=says, below=tuple(_roles(draft)))
    elif draft.fixtures == "python":
        says = (
            "",
            "A Python class prepares test data. Add everything else that it supports to the offers, and",
            "write `customers: existing` if it selects existing customers.",
        )
        below = {
            "kind": "python",
            "adapter": f"{adapter_module(draft.name)}:{ADAPTER_CLASS}",
            "customers": "created",
            "offers": list(_offers(draft, ROLES)),
        }
        entries = tuple(YamlEntry(key=key, value=value) for key, value in below.items())
        yield YamlEntry(key="fixtures", says=says, below=entries)
    else:
        says = ("", "Without fixtures, almost all obligations stay unverified.")
        yield replace(gap("fixtures"), says=says)
        if draft.extends:
            yield YamlEntry(key="fixtures", value=None)
    yield from _signer(draft, writes=writes)


def _signer(draft: TargetDraft, *, writes: bool) -> Iterator[YamlEntry]:
    """Yield who signs: on the screens that a text shows, or on some that are not known."""
    document, shown = draft.start.document, list[Form]()
    for page in document.pages if document and not draft.start.inherited.raw.get("sca") else ():
        shown += forms(page.encode())
    if signer := guessed_signer(shown, draft.contracts, document.content if document else ""):
        entries = tuple(YamlEntry(key=key, value=value) for key, value in signer.items())
        why = "the forms in the text"
        yield YamlEntry(key="sca", below=entries, why=why, says=("", _sentence("sca")))
    elif draft.auth == "authorization-code":
        what = "the signer that logs in for a token, and its screens, instead of the line below"
        yield replace(gap("sca", what=what), says=("", _sentence("sca")))
        yield YamlEntry(key="sca", value=SIGNER)
    elif draft.fixtures == "control" and writes:
        what = "the signer that operates the bank's screens, instead of the line below"
        yield replace(gap("sca", what=what), says=("", _sentence("sca")))
        yield YamlEntry(key="sca", value={"kind": "control"})
    elif draft.extends:
        yield YamlEntry(key="sca", value=None)


def _offers(draft: TargetDraft, offers: Sequence[str]) -> tuple[str, ...]:
    """Return offers without consents where the contracts have none."""
    operations = [each for contract in draft.contracts for each in contract.operations.values()]
    granting = any(operation.grants for operation in operations)
    return tuple(offer for offer in offers if granting or offer != CONSENT)


def _control(draft: TargetDraft, offers: Sequence[str]) -> Iterator[YamlEntry]:
    yield YamlEntry(key="kind", value="control")
    parts = urlsplit(draft.base_url)
    if parts.path:
        yield gap("fixtures", "url", example=f"{parts.scheme}://{parts.netloc}")
    yield YamlEntry(key="offers", value=list(offers))


def _roles(draft: TargetDraft) -> Iterator[YamlEntry]:
    resources = (resource for each in draft.contracts for resource in each.resources.values())
    resource = next(
        (candidate for candidate in resources if candidate.key and not candidate.of), None
    )
    key = EXAMPLE_IBAN if resource and resource.key == "iban" else "…"
    owns: Json = [{"resource": resource.id, "key": key}] if resource else []
    yield YamlEntry(key="kind", value="roles")
    yield YamlEntry(
        key="offers", value=["psu"] if draft.environment == "live" else list(_offers(draft, ROLES))
    )
    place = ("fixtures", "roles", "alice", "owns")
    what = f"{describe(*place).title}, instead of the line below"
    customer = [gap(*place, what=what, example="[…]"), YamlEntry(key="owns", value=owns)]
    if draft.auth in {"bearer", "key"}:
        customer.insert(0, YamlEntry(key="token_env", value=f"{draft.prefix}_ALICE_TOKEN"))
    yield YamlEntry(key="roles", below=(YamlEntry(key="alice", below=tuple(customer)),))


def _operations(draft: TargetDraft) -> Iterator[YamlEntry]:
    if draft.extends and draft.start.document is None:
        below = tuple(
            YamlEntry(key=operation.id, value={"item": {"volatile": None}})
            for contract in draft.contracts
            for operation in contract.operations.values()
            if operation.lists and operation.available
        )
        says = ("", "These inherited settings are unknown for this bank and are removed.")
        if below:
            yield YamlEntry(key="operations", below=below, says=says)
        return
    offers = None if draft.start.document is None else draft.start.offers
    inherited = draft.start.inherited
    auth = used_auth(draft)
    below = tuple(operations(draft.contracts, offers, draft.start.found, inherited, auth))
    left_out = "inherited" if draft.extends else "as in the contract"
    says = ("", f"Bindings of the operations. Keys that are left out are {left_out}.")
    if below:
        yield YamlEntry(key="operations", below=below, says=says)
    yield from (replace(entry, says=("",)) for entry in outcomes(draft.start.found, inherited))
    if "error" not in inherited.raw:
        found = error(draft.contracts, _used(draft))
        yield from (replace(entry, says=("",)) for entry in found)


# -- Auth section --------------------------------------------------------------------------------
# The `auth` section of a target file: how calls are authenticated, and where the token is sent.
#: The URLs that the OAuth kinds need.
ADDRESSES: Final = {
    "client-credentials": ("token_url",),
    "authorization-code": ("authorize_url", "token_url", "redirect_uri"),
}


def auth_section(draft: TargetDraft) -> YamlEntry:
    """Return the section, with what is missing in it."""
    says = ["", "Authentication of calls. Secrets are read from environment variables."]
    if draft.auth in {"bearer", "key"} and draft.fixtures != "none":
        says.append("Each customer under `fixtures` has its own token.")
    guess = used_auth(draft)
    below = tuple(_auth_entries(draft, guess, "" if draft.fixtures != "none" else "TOKEN"))
    by_tpp = tuple(_tpp_entries(draft, guess))
    if by_tpp:
        below += (YamlEntry(key="tpp", below=by_tpp, why=guess.tpp.why if guess.tpp else ""),)
    others = (*guess.others, *(guess.tpp.others if guess.tpp else ()))
    if others:
        first, *more = others
        rest = f" and {len(more)} more" if more else ""
        what = f"the document specifies different authentication for {first}{rest}"
        below += (gap("auth", "tpp", what=what, example="{kind: …}"),)
    why = draft.whys.get("auth", "")
    if not (by_tpp or others) and draft.auth not in ADDRESSES and len(below) <= 2:  # noqa: PLR2004 -- fits a line
        value = {entry.key: entry.value for entry in below}
        why = why or next((entry.why for entry in below if entry.why), "")
        return YamlEntry(key="auth", value=value, why=why, says=tuple(says))
    return YamlEntry(key="auth", below=below, why=why, says=tuple(says))


def used_auth(draft: TargetDraft) -> GuessedAuth:
    """Return what the document says of the kind of authentication that the user chose."""
    guess, document = draft.start.auth, draft.start.document
    if draft.auth == guess.kind:
        return guess
    url = token_endpoint(document, draft.start.offers) if document else ""
    given = {"token_url": url} if url and draft.auth in ADDRESSES else {}
    return GuessedAuth(kind=draft.auth, given=given)


def _tpp_entries(draft: TargetDraft, guess: GuessedAuth) -> Iterator[YamlEntry]:
    """Yield how calls made as the TPP are authenticated, where that must be said."""
    operations = [each for contract in draft.contracts for each in contract.operations.values()]
    if not any(operation.by_tpp and operation.available for operation in operations):
        return
    if guess.tpp:
        yield from _auth_entries(draft, guess.tpp, "TPP_TOKEN", "TPP_")
    elif guess.kind in {"bearer", "key"} and draft.fixtures == "roles":
        # The token of a listed customer is not the TPP's.
        yield from _auth_entries(draft, guess, "TPP_TOKEN", "TPP_")


def _auth_entries(
    draft: TargetDraft, guess: GuessedAuth, token: str, prefix: str = ""
) -> Iterator[YamlEntry]:
    """Yield the settings of one kind of authentication, and what of it is missing."""
    yield YamlEntry(key="kind", value=guess.kind)
    if guess.member:
        yield _token_in(guess)
    elif guess.kind == "key":
        why = "" if "header" in guess.given else "a usual name"
        yield YamlEntry(key="header", value=guess.given.get("header", KEY_HEADER), why=why)
    if guess.kind in {"bearer", "key"} and token:
        yield YamlEntry(key="token_env", value=f"{draft.prefix}_{token}")
    if guess.kind not in ADDRESSES:
        return
    for key, value in guess.given.items():
        yield YamlEntry(key=key, value=value)
    yield YamlEntry(key="client_id_env", value=f"{draft.prefix}_{prefix}CLIENT_ID")
    yield YamlEntry(key="client_secret_env", value=f"{draft.prefix}_{prefix}CLIENT_SECRET")
    for name in ADDRESSES[guess.kind]:
        if name not in guess.given:
            what = f"{describe('auth', name).title}, instead of the line below"
            yield gap("auth", name, what=what, example="https://…")
            yield YamlEntry(key=name, value="https://bank.example/unknown")


def _token_in(guess: GuessedAuth) -> YamlEntry:
    """Return that the token is in the body, besides the usual place."""
    header = guess.given.get("header", KEY_HEADER) if guess.kind == "key" else "Authorization"
    places: Json = [{"header": header}, {"body": guess.member}]
    why = "every body has a member named like a token"
    return YamlEntry(key="token_in", value=places, why=why)


# -- Guess of `error` in a target file: where the refusals of a document have their errors -------
# A list of objects with a code comes first, then a code at the top of the body. Nothing is written
# where no rule of the contracts names a code or a field of errors.
#: The names of codes in the errors of a body: problem details (RFC 9457) have a `type`.
_CODES = (("code",), ("error", "code"), ("type",))


def error(contracts: Sequence[Contract], offers: Iterable[OpenApiOperation]) -> Iterator[YamlEntry]:
    """Yield where most refusals of the document have their errors, if a rule asks for it."""
    names = ContractNames(contracts=contracts)
    if not names.codes | names.error_fields:
        return
    shapes = Counter(offered.refusal for offered in offers if offered.refusal)
    for shape, _ in shapes.most_common(1):
        below = [*_located(shape, names.error_fields - {ERROR_CODE})]
        if any(entry.key == ERROR_CODE for entry in below):
            yield YamlEntry(key="error", below=tuple(below))


def _located(shape: Sequence[SchemaLeaf], fields: Collection[str]) -> Iterator[YamlEntry]:
    """Yield the keys for the errors of one shape."""
    why = "the error responses in the document"
    lists = [leaf for leaf in shape if leaf.kind == "array" and not leaf.is_listed]
    for steps in [*((*leaf.steps, EACH) for leaf in lists), ()]:
        inside = [part for leaf in shape if (part := leaf.below(steps)) is not None]
        code = _code(inside)
        if code is None:
            continue
        if steps:
            place = SchemaLeaf(steps=steps[:-1]).pointer
            yield YamlEntry(key="list", value=place, why=why)
        yield YamlEntry(key=ERROR_CODE, value=code.pointer, why=why)
        found = {name: called(name, inside) for name in sorted(fields)}
        pointers: dict[str, Json] = {name: leaf.pointer for name, leaf in found.items() if leaf}
        if pointers:
            yield YamlEntry(key="fields", value=pointers, why=why)
        return


def _code(inside: Sequence[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the code of an error: a member of its own, not one further below."""
    own = [leaf for leaf in inside if leaf.is_member and leaf.is_value]
    by_name = {leaf.words: leaf for leaf in reversed(own)}
    return next((by_name[name] for name in _CODES if name in by_name), None)
