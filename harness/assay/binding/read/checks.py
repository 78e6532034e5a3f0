"""Checks of a target file that its schema cannot express: URLs, dates, names, SCA, authentication.

What needs a contract is checked in `binding.contract_names`, what a fixture provider needs in
`fixtures.providers`. Files are not opened and secrets not looked up here: see
`transport.auth.keys` and `transport.secrets`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.model.origin import origin
from assay.binding.model.pointer import own_conditions, texts
from assay.binding.model.secret_names import secret_kind
from assay.binding.model.security import (
    ALGORITHMS,
    AUTHORIZE,
    COVERS,
    ISSUING,
    AuthKind,
    ClientAuth,
    OAuth,
    SignatureKind,
)
from assay.binding.model.submission import all_bindings
from assay.binding.model.target import ScaKind, TransportKind
from assay.binding.wire.date_formats import is_numeric
from assay.binding.wire.links import NAMED, RESERVED
from assay.binding.wire.values import wrong_days
from assay.contract.model import Capability
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found, spell
from assay.files.load import read_zone

_Raw: TypeAlias = Mapping[str, Any]

OAUTH_URLS = ("token_url", "authorize_url", "par_url", "redirect_uri")
#: The keys of OAuth, and those of authorization codes only.
OAUTH_KEYS = tuple(field.name for field in fields(OAuth))
CODE_KEYS = ("authorize_url", "par_url", "redirect_uri", "pkce", "request_object")
#: The parameters of token requests that other keys set.
TOKEN_PARAMETERS = frozenset(
    {"grant_type", "client_id", "scope", "code", "redirect_uri", "username"}
)
#: The signers that fill in the screens.
SCREEN_SIGNERS = frozenset({ScaKind.FORMS.value, ScaKind.BROWSER.value})

#: The algorithms of each kind of signature.
KNOWN_ALGORITHMS: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"rsa-sha256", "hs2019"}),
    SignatureKind.RFC9421: frozenset(
        {"rsa-v1_5-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519"}
    ),
}
#: The components of each kind that are no headers.
DERIVED_COMPONENTS: Mapping[SignatureKind, frozenset[str]] = {
    SignatureKind.CAVAGE: frozenset({"(request-target)", "(created)"}),
    SignatureKind.RFC9421: frozenset(
        {"@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"}
    ),
}
#: Headers that every call has, or gets for its signature.
COMMON_HEADERS = frozenset({"accept", "host", "date", "x-request-id"})
#: The name of the other kind for the digest of a body, and the right one.
DIGEST_NAMES: Mapping[SignatureKind, tuple[str, str]] = {
    SignatureKind.CAVAGE: ("content-digest", "digest"),
    SignatureKind.RFC9421: ("digest", "content-digest"),
}

#: Parameters that are the same in every authorization request, or made for each, by what sets them.
OWN_PARAMETERS: Mapping[str, str] = {
    "client_id": "auth.client_id",
    "redirect_uri": "auth.redirect_uri",
    "state": "every request has its own",
    "code_challenge": "auth.pkce",
    "code_challenge_method": "auth.pkce",
}


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find the problems that the schema cannot express."""
    for at, url in (
        (("base_url",), raw["base_url"]),
        (("fixtures", "url"), raw.get("fixtures", {}).get("url")),
        *((("hosts", index), url) for index, url in enumerate(raw.get("hosts", ()))),
        *_bank_urls(raw),
    ):
        if url is not None and (wrong := bad_url(url)):
            yield at, *wrong
    yield from _banks(raw)
    yield from _security(raw)
    yield from _live(raw)
    if "zone" in raw and isinstance(hint := read_zone(raw["zone"]), str):
        yield ("zone",), f"unknown time zone {found(raw['zone'])}", hint
    yield from waiver_findings(raw.get("waivers", ()))
    yield from _sca(raw)
    if raw.get("outcomes", {}).get("accepted") == []:
        hint = "add at least one matcher, or remove the key"
        yield ("outcomes", "accepted"), "no answer would ever be accepted", hint
    yield from _modes(raw)
    for at, text in texts({name: raw.get(name) for name in ("headers", "queries", "operations")}):
        for day in wrong_days(text)[:1]:
            hint = (
                "write {today}, {today+90} or {today-1}: the bank's calendar day, and days from it"
            )
            yield at, f"not a day: {found(day)}", hint
    for at, _, binding in all_bindings(raw.get("operations", {})):
        yield from own_conditions(binding.get("item"), (*at, "item"))
        yield from _beside_list(binding, at)
        yield from _formats(binding, at)
    yield from own_conditions(raw.get("error"), ("error",))
    yield from names_in_braces(raw)
    yield from _authorizations(raw)


def _beside_list(binding: _Raw, at: Pointer) -> Iterator[Finding]:
    """Find pointers from the body that are the same for all items, and pages after an unnamed item."""
    turned: Any = binding.get("next")
    named = {"key", "id"} & {*(binding.get("item") or {})}
    if isinstance(turned, Mapping) and "last" in turned and not named:
        yield (*at, "next", "last"), "no item has an id", "add item.id or item.key"
    links: Any = turned.get("link") if isinstance(turned, Mapping) else turned
    for pointer in links if isinstance(links, list) else [links or ""]:
        if "/*/" in pointer:
            hint = "give a list of pointers: [/current/next, /cards/next]"
            yield (*at, "next"), "`*` stands for each element in `list` only", hint
    given: Any = binding.get("list", [])
    given = [given["at"]] if isinstance(given, Mapping) else given
    listed: list[str] = [given] if isinstance(given, str) else (given or [])
    for place, pointer in _from_body(binding.get("item") or {}, (*at, "item")) if listed else ():
        if place[len(at) + 1] in {"key", "id"}:
            hint = "point at what identifies one item, such as /id"
            yield place, "the items of a list would all be the same", hint
        elif inside := next(
            (each for each in listed if f"{pointer}/".startswith(f"{each.partition('/*')[0]}/")), ""
        ):
            hint = "point at what stands beside the list, or write the pointer without `body`"
            yield place, f"it leads into the list {found(inside)}, to the same place for all", hint


def _from_body(value: object, at: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the pointers from the body, each with its place."""
    if isinstance(value, list):
        for index, each in enumerate(cast("list[object]", value)):
            yield from _from_body(each, (*at, index))
    for name, each in cast("_Raw", value).items() if isinstance(value, Mapping) else ():
        if name == "body" and at[-1] != "fields":
            yield (*at, name), str(each.get("in", "")) if isinstance(each, Mapping) else str(each)
        yield from _from_body(each, (*at, name))


def _formats(binding: _Raw, at: Pointer) -> Iterator[Finding]:
    """Find formats of dates that write no number where one is wanted, and amounts that are dates."""
    sections: dict[Pointer, _Raw] = {
        ("arguments",): binding.get("arguments") or {},
        ("item", "fields"): (binding.get("item") or {}).get("fields") or {},
    }
    named = (((*key, name), part[name]) for key, part in sections.items() for name in part)
    for place, each in named:
        own: _Raw = cast("_Raw", each) if isinstance(each, Mapping) else {}
        if own.get("number") and not is_numeric(own["format"]):
            hint = "for example YYYYMMDD, or remove `number`"
            yield (*at, *place, "number"), f"{found(own['format'])} writes no number", hint
        if "format" in own and "unit" in own:
            yield (*at, *place, "unit"), "a date has no unit", "keep one of unit and format"


def _bank_urls(raw: _Raw) -> Iterator[tuple[Pointer, str]]:
    for name, bank in raw.get("banks", {}).items():
        yield ("banks", name, "base_url"), bank["base_url"]


def _banks(raw: _Raw) -> Iterator[Finding]:
    """Find banks of the group at a base URL that another key gives to this bank, or another."""
    known = {raw["base_url"].rstrip("/"): "base_url"}
    known |= {url.rstrip("/"): "hosts" for url in raw.get("hosts", ())}
    for at, url in _bank_urls(raw):
        key = known.setdefault(url.rstrip("/"), spell(at))
        if key != spell(at):
            hint = "each bank of the group has its own; `hosts` are further URLs of this bank"
            yield at, f"the same URL as {key}", hint


def _modes(raw: _Raw) -> Iterator[Finding]:
    """Check the modes that are a scope of tokens, or another bank."""
    auth: _Raw = raw.get("auth", {})
    kinds = {auth.get("kind"), auth.get("tpp", {}).get("kind")}
    issuing = kinds & {kind.value for kind in ISSUING}
    for place, _, binding in all_bindings(raw.get("operations", {})):
        for name, mode in binding.get("modes", {}).items():
            at: Pointer = (*place, "modes", name)
            if "scope" in mode and not issuing:
                hint = "set auth.kind to client-credentials or authorization-code"
                yield (*at, "scope"), "no token is requested that could have this scope", hint
            if mode.get("body") == "" and not isinstance(mode.get("value"), Mapping):
                hint = "its members are merged into the body; a single member has a pointer"
                yield (*at, "value"), 'expected an object at `body: ""`', hint
            if "base_url" in mode and (wrong := bad_url(mode["base_url"])):
                yield (*at, "base_url"), *wrong


def names_in_braces(raw: _Raw) -> Iterator[Finding]:
    """Find outputs whose name has another meaning, and names in braces that mean nothing."""
    known = {*RESERVED}
    bindings = [*all_bindings(raw.get("operations", {}))]
    for at, _, binding in bindings:
        for name in binding.get("outputs", {}):
            if name in RESERVED:
                hint = "choose another name, for example consent-id"
                yield (*at, "outputs", name), f"{{{name}}} is taken", hint
            known.add(name)
    for section in ("headers", "queries"):
        yield from _unknown(raw.get(section), (section,), known)
    for at, _, binding in bindings:
        for section in ("headers", "queries", "template"):
            yield from _unknown(binding.get(section), (*at, section), known)
        for section, whole in (("arguments", ()), ("modes", binding.get("arguments", ()))):
            for name, spelling in binding.get(section, {}).items():
                where: Pointer = (*at, section, name, "value")
                yield from _unknown((spelling or {}).get("value"), where, known, whole)
        if isinstance(approval := binding.get("approval"), Mapping):
            yield from _unknown(cast("_Raw", approval), (*at, "approval"), known)


def _unknown(
    value: object, place: Pointer, known: set[str], whole: Collection[str] = ()
) -> Iterator[Finding]:
    """Find names in braces that mean nothing; those of `whole` must be the whole text."""
    for at, text in texts(value, place):
        names: list[str] = NAMED.findall(text)
        for name in () if text[1:-1] in whole and names == [text[1:-1]] else names:
            if name in known or name.startswith("today"):  # a day, or written wrongly
                continue
            every = known | {*whole}
            hint = did_you_mean(name, every) or f"known: {', '.join(sorted(every))}"
            if name in whole:
                hint = f'an argument is the whole text: write "{{{name}}}"'
            yield at, f"nothing has the name {found(f'{{{name}}}')}", hint


def _authorizations(raw: _Raw) -> Iterator[Finding]:
    """Find authorization requests that cannot be made, or that do not say what is authorised."""
    operations: Mapping[str, _Raw | None] = raw.get("operations", {})
    for name, binding in operations.items():
        parameters = authorization_parameters(binding or {})
        if parameters is None or binding is None:
            continue
        at: Pointer = ("operations", name, *AUTHORIZE)
        if raw.get("auth", {}).get("kind") != AuthKind.CODE.value:
            hint = "set auth.kind to authorization-code, with authorize_url and redirect_uri"
            yield at, "there is no authorization server at which customers log in", hint
        for parameter in sorted(OWN_PARAMETERS.keys() & parameters.keys()):
            what = f"the parameter {found(parameter)} is set by Assay"
            yield (*at, parameter), what, f"remove it ({OWN_PARAMETERS[parameter]})"
        own: list[str] = [*binding.get("outputs", {})]
        if not any(f"{{{output}}}" in str(parameters) for output in own):
            example = own[0] if own else "consent-id"
            hint = f'for example consent_id: "{{{example}}}"'
            hint += "" if own else f", with `outputs: {{{example}: /id}}` at the operation"
            what = (
                "no parameter identifies what is authorised: none uses an output of the operation"
            )
            yield at, what, hint


def authorization_parameters(binding: _Raw) -> _Raw | None:
    """Return the parameters of the authorization request in the raw binding of an operation."""
    approval = binding.get("approval")
    return cast("_Raw", approval).get("authorize") if isinstance(approval, Mapping) else None


def waiver_findings(waivers: Sequence[_Raw]) -> Iterator[Finding]:
    """Check that each waiver names one thing, until a day, and that no other one names it."""
    first: dict[str, int] = {}
    for index, waiver in enumerate(waivers):
        at: Pointer = ("waivers", index)
        yield from bad_day((*at, "expires"), waiver["expires"])
        names = [waiver[key] for key in ("obligation", "clause") if key in waiver]
        if len(names) != 1:
            what = "obligation and clause are both set" if names else "'obligation' is missing"
            hint = "keep one" if names else "name an obligation, or a clause with `clause`"
            yield at, what, hint
            continue
        if first.setdefault(names[0], index) != index:
            yield at, f"a second waiver of {found(names[0])}", "keep one of the two"


def _live(raw: _Raw) -> Iterator[Finding]:
    """Check that writes on a live bank are limited by payee and amount."""
    safety = raw.get("safety", {})
    if raw.get("environment") == "live" and safety.get("allow_writes"):
        for name, hint in (
            ("only", "for example only: {creditorAccount: [FR7630006000011234567890189]}"),
            ("most", 'for example most: {amount: "1.00"}'),
        ):
            if not safety.get(name):
                what = f"writes on a live bank need a limit: {name} is missing"
                yield ("safety", "allow_writes"), what, hint


def bad_url(url: str) -> tuple[str, str] | None:
    """Return the problem of a URL and a hint; the URL itself may contain secrets."""
    example = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
        parts = urlsplit("")
    if "@" in parts.netloc:
        return (
            "the URL contains credentials",
            "set credentials under auth",
        )
    if not valid or any(character.isspace() or not character.isprintable() for character in url):
        return "expected an http or https URL", example
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "the URL has a query or a fragment", example
    return None


def bad_day(at: Pointer, text: str) -> Iterator[Finding]:
    """Find a date that no calendar has."""
    try:
        date.fromisoformat(text)
    except ValueError:
        yield at, f"not a date: {found(text)}", "for example 2026-12-31"


def _sca(raw: _Raw) -> Iterator[Finding]:
    """Check that an SCA signer has what its kind needs."""
    sca = raw.get("sca", {})
    kind, at = sca.get("kind"), ("sca", "kind")
    yield from _screen_hosts(raw, sca.get("hosts", ()))
    if kind in SCREEN_SIGNERS and not sca.get("screens"):
        hint = "for example screens: [{user: login, secret: password}, {answer: decision}]"
        yield at, f"`kind: {kind}` needs screens", hint
    yield from _decision(raw, sca)
    if kind == ScaKind.MANUAL.value and "callback" not in sca:
        hint = "for example callback: http://127.0.0.1:8765"
        yield at, "callback is missing: the URL to which the browser returns", hint
    port = sca.get("callback", ":1").strip().rpartition(":")[2]
    if len(port) > len("65535") or int(port) not in range(1, 65536):
        hint = "ports are numbers from 1 to 65535"
        yield ("sca", "callback"), f"no such port: {found(sca['callback'])}", hint
    shown = kind in {ScaKind.BROWSER.value, ScaKind.MANUAL.value}
    if shown and raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "write `transport: http` with the base_url that `assay serve` prints"
        yield at, "a browser cannot reach an embedded bank", hint


def _decision(raw: _Raw, sca: _Raw) -> Iterator[Finding]:
    """Check that the file says with which form a customer decides, where a program signs."""
    asked = {meaning for screen in sca.get("screens", ()) for meaning in screen.values()}
    by = sca.get("confirmed_by")
    signs = any("approval" in binding for binding in raw.get("operations", {}).values())
    if by and "decision" in asked:
        hint = "remove it, or the field with the decision"
        yield ("sca", "confirmed_by"), "a screen asks for the decision", hint
    elif by and by not in asked:
        yield ("sca", "confirmed_by"), f"no screen asks for the {by}", "add the field to a screen"
    elif not by and asked and "decision" not in asked and signs and sca["kind"] in SCREEN_SIGNERS:
        hint = "add it, such as {answer: decision}; if there is none, write which form confirms,"
        hint += " such as `confirmed_by: code`, and, if a link refuses, `refuse_link: Cancel`"
        yield ("sca", "screens"), "no screen asks for the decision about a request", hint


def _screen_hosts(raw: _Raw, hosts: Sequence[str]) -> Iterator[Finding]:
    """Check the hosts that have only screens; one that differs in its port is another host."""
    if hosts and raw["sca"]["kind"] not in SCREEN_SIGNERS:
        hint = "remove it, or write `kind: forms` or `kind: browser`"
        yield ("sca", "hosts"), f"`kind: {raw['sca']['kind']}` follows no links", hint
    called = {origin(url): "base_url" for url in [raw["base_url"]]}
    called |= {origin(url): "hosts" for url in raw.get("hosts", ()) if not bad_url(url)}
    for index, url in enumerate(hosts):
        at: Pointer = ("sca", "hosts", index)
        if wrong := bad_url(url):
            yield at, *wrong
        elif urlsplit(url).path.strip("/"):
            yield at, "a host has no path", "for example https://login.bank.example"
        elif origin(url) in called:
            yield (
                at,
                f"links to this host are followed already ({called[origin(url)]})",
                "remove it",
            )


# -- authentication, TLS and signatures ------------------------------------------
def _security(raw: _Raw) -> Iterator[Finding]:
    """Find the problems of authentication, TLS and signatures."""
    auth = raw.get("auth", {})
    yield from _auth(auth, ("auth",))
    code = auth.get("kind") == AuthKind.CODE.value
    if code and raw.get("sca", {}).get("kind", ScaKind.NONE.value) not in SCREEN_SIGNERS:
        hint = "set sca.kind to forms or browser, with the screens to log in and to consent"
        yield ("auth", "kind"), "authorization codes need an SCA signer that logs in", hint
    renews = Capability.RENEWAL.value in raw.get("fixtures", {}).get("offers", ())
    for at, each in ((("auth",), auth), (("auth", "tpp"), auth.get("tpp", {}))):
        fixed = each.get("kind") not in {kind.value for kind in ISSUING}
        if "expires_in" in each and fixed and not renews:
            hint = "add `renewal` to fixtures.offers if the fixtures can, or remove it"
            yield (*at, "expires_in"), "nothing renews these tokens", hint
    yield from _tls(raw)
    if "signature" in raw:
        yield from _signature(raw["signature"])


def _auth(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    """Check how calls are authenticated, or those of the TPP."""
    kind = auth.get("kind")
    yield from _token_places(auth, at)
    for name in OAUTH_URLS:
        if name in auth and (wrong := bad_url(auth[name])):
            yield (*at, name), *wrong
    if kind in {AuthKind.CLIENT.value, AuthKind.CODE.value}:
        yield from _oauth(auth, at)
    else:
        hint = "write `kind: client-credentials` or `kind: authorization-code`, or remove it"
        for name in OAUTH_KEYS:
            if name in auth:
                yield (*at, name), f"`kind: {kind}` does not use this key", hint
    if {"client_id", "client_id_env"} <= auth.keys():
        yield (*at, "client_id_env"), "client_id and client_id_env are both set", "keep one"
    if "tpp" in auth:
        if len(at) > 1:
            yield (*at, "tpp"), "auth.tpp cannot be nested", "remove it"
        else:
            yield from _tpp(auth["tpp"], (*at, "tpp"))


def _token_places(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    kind = auth.get("kind")
    if "header" in auth and kind != AuthKind.KEY.value:
        instead = "write `kind: key`, or remove it"
        yield (*at, "header"), "only `kind: key` has a header of its own", instead
    if "token_in" in auth and (kind == AuthKind.NONE.value or "header" in auth):
        what = "header is set as well" if "header" in auth else "`kind: none` sends no token"
        yield (*at, "token_in"), what, "remove one of the two"
    own = "tpp" if len(at) > 1 else "customer"
    taken = {*_places(auth.get("token_in", {"header": auth.get("header", "Authorization")}))}
    for index, each in enumerate(auth.get("further", ())):
        where: Pointer = (*at, "further", index)
        (place,) = _places(each)
        if place in taken:
            hint = "write where the token stands under `token_in`, or another place here"
            yield where, "the token, or another credential, stands at the same place", hint
        elif each.get("of") == own:
            yield (*where, "of"), f"the token of these calls is that of the {own}", "remove it"
        taken.add(place)


def _places(raw: object) -> Iterator[tuple[str, str]]:
    """Yield each place of a credential: its key and its name there."""
    for each in cast("list[_Raw]", raw if isinstance(raw, list) else [raw]):
        for key in ("header", "query", "body"):
            if key in each:
                yield key, each[key].lower() if key == "header" else each[key]


def _tpp(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    if auth.get("kind") == AuthKind.CODE.value:
        hint = "write `kind: client-credentials`"
        yield (*at, "kind"), "the TPP's own calls have no customer to log in", hint
    yield from _auth(auth, at)


def _oauth(auth: _Raw, at: Pointer) -> Iterator[Finding]:
    if "token_env" in auth:
        what = "an OAuth token is requested, not read from a variable"
        yield (*at, "token_env"), what, "write `kind: bearer`, or remove it"
    for name in auth.get("parameters", ()):
        if name in TOKEN_PARAMETERS or secret_kind(name):
            hint = "remove it; secrets stand in variables (`client_secret_env`)"
            yield (*at, "parameters", name), "set by Assay, or a secret", hint
    if auth["kind"] == AuthKind.CLIENT.value:
        for name in CODE_KEYS:
            if name in auth:
                hint = "write `kind: authorization-code`, or remove it"
                yield (*at, name), "client credentials need no customer", hint
    none = auth.get("client_auth") == ClientAuth.NONE.value
    named = next((name for name in ("client_id", "client_id_env") if name in auth), None)
    if named and not none and "client_secret_env" not in auth:
        hint = "add `client_secret_env: NAME`, or `client_auth: none`"
        yield (*at, named), "client_secret_env is missing", hint
    if none and "client_secret_env" in auth:
        hint = "write `client_auth: basic` or `client_auth: post`, or remove the secret"
        yield (*at, "client_secret_env"), "`client_auth: none` sends no secret", hint
    if "client_secret_env" in auth and not named:
        hint = "add client_id or client_id_env"
        yield (*at, "client_secret_env"), "client_id is missing", hint


def _tls(raw: _Raw) -> Iterator[Finding]:
    if "tls" not in raw:
        return
    if raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "write `transport: http` with an https base_url"
        yield ("tls",), "an embedded bank has no connection", hint
    elif urlsplit(raw["base_url"]).scheme != "https":
        yield ("tls",), "TLS needs an https base_url", "https://…"


def _signature(signature: _Raw) -> Iterator[Finding]:
    kind = SignatureKind(signature["kind"])
    known = KNOWN_ALGORITHMS[kind]
    algorithm = signature.get("algorithm", ALGORITHMS[kind])
    if algorithm not in known:
        hint = f"known: {', '.join(sorted(known))}"
        yield (
            ("signature", "algorithm"),
            f"unknown algorithm of a {kind.value} signature: {found(algorithm)}",
            hint,
        )
    covers = signature.get("covers", COVERS[kind])
    derived = DERIVED_COMPONENTS[kind]
    for index, name in enumerate(covers):
        at: Pointer = ("signature", "covers", index)
        wrong, right = DIGEST_NAMES[kind]
        if name[0] in "(@" and name not in derived:
            hint = did_you_mean(name, derived)
            yield at, f"a {kind.value} signature cannot cover {found(name)}", hint
        elif name == wrong:
            hint = f"did you mean {right!r}?"
            yield at, f"a {kind.value} signature cannot cover {found(name)}", hint
        elif name == "(created)" and algorithm != "hs2019":
            what = f"(created) cannot be used with {algorithm}"
            yield at, what, "write `algorithm: hs2019`, or cover date"
    if not derived & set(covers) and not COMMON_HEADERS & set(covers):
        hint = f"for example {', '.join(COVERS[kind])}"
        yield ("signature", "covers"), "some calls have none of these components", hint
