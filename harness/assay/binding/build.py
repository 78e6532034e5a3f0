"""Builder of a `Target` from the valid data of a target file.

What the operations mean is not known here, for that needs a contract (`binding.join`);
names of secrets stay names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from zoneinfo import ZoneInfo

from assay.binding.build_operations import operation, outcomes
from assay.binding.security import (
    Auth,
    AuthKind,
    Budget,
    ClientAuth,
    OAuth,
    Safety,
    Signature,
    SignatureKind,
    Tls,
)
from assay.binding.target import (
    FixtureKind,
    Fixtures,
    Presence,
    Role,
    RoleHolding,
    Sca,
    ScaKind,
    Target,
    TransportKind,
    Waiver,
)
from assay.contract.files.document import Document, Pointer
from assay.contract.model import Capability

_Raw: TypeAlias = Mapping[str, Any]


def build(document: Document, lines: Mapping[str, int]) -> Target:
    """Return the target; `lines` are those of its parts, by their dotted names."""
    raw = cast("_Raw", document.data)

    def beside(section: str, name: str) -> Path:
        """Return a named file, relative to the target file that names it."""
        named: str = raw[section][name]
        return Path(document.place((section, name))[0]).parent / named

    return Target(
        name=raw["target"],
        contracts=frozenset(raw.get("contracts", ())),
        transport=TransportKind(raw["transport"]),
        base_url=raw["base_url"].rstrip("/"),
        environment=raw.get("environment", "sandbox"),
        dialect=raw.get("dialect", ""),
        zone=ZoneInfo(raw["zone"]) if "zone" in raw else None,
        headers=raw.get("headers", {}),
        auth=auth(raw.get("auth", {})),
        tls=tls(raw["tls"], beside) if "tls" in raw else None,
        signature=(signature(raw["signature"], beside) if "signature" in raw else None),
        budget=budget(raw.get("budget", {})),
        safety=safety(raw.get("safety", {})),
        presence=_presence(raw["presence"]) if "presence" in raw else None,
        fixtures=_fixtures(raw.get("fixtures", {}), lines),
        sca=_sca(raw.get("sca", {})),
        hosts=tuple(one.rstrip("/") for one in raw.get("hosts", ())),
        operations={
            name: operation(one, lines[f"operations.{name}"], raw.get("outcomes", {}))
            for name, one in raw.get("operations", {}).items()
        },
        outcomes=outcomes(raw.get("outcomes", {})),
        outside=tuple(raw.get("outside", ())),
        not_offered=raw.get("not_offered", {}),
        waivers=tuple(
            Waiver(**one, line=_line_of(document, ("waivers", n), lines))
            for n, one in enumerate(raw.get("waivers", ()))
        ),
        timeout=float(raw.get("timeout", 10)),
        path=document.path,
        digest=document.digest,
        lines=lines,
        document=document,
    )


def _line_of(document: Document, pointer: Pointer, lines: Mapping[str, int]) -> int:
    path, line = document.place(pointer)
    return line if path == document.path else lines["extends"]


def _presence(raw: _Raw) -> Presence:
    return Presence(
        header=raw["header"], value=raw["value"], absent=raw.get("when", "present") == "absent"
    )


def _fixtures(raw: _Raw, lines: Mapping[str, int]) -> Fixtures:
    return Fixtures(
        kind=FixtureKind(raw.get("kind", FixtureKind.NONE.value)),
        url=raw.get("url"),
        key_env=raw.get("key_env"),
        adapter=raw.get("adapter", ""),
        options=raw.get("options", {}),
        offers=frozenset(Capability(one) for one in raw.get("offers", ())),
        roles=tuple(
            Role(
                name=name,
                token_env=one.get("token_env"),
                segment=one.get("segment"),
                login_env=one.get("login_env"),
                password_env=one.get("password_env"),
                code_envs=one.get("code_envs", {}),
                owns=tuple(_holding(each) for each in one["owns"]),
                line=lines[f"fixtures.roles.{name}"],
            )
            for name, one in raw.get("roles", {}).items()
        ),
        segments=raw.get("segments", {}),
        effects=raw.get("effects", {}),
    )


def _sca(raw: _Raw) -> Sca:
    given = {name: raw[name] for name in ("factors", "decisions", "callback") if name in raw}
    return Sca(
        kind=ScaKind(raw.get("kind", ScaKind.NONE.value)),
        screens=tuple(raw.get("screens", ())),
        wait=float(raw.get("wait", Sca().wait)),
        **given,
    )


def _holding(raw: _Raw) -> RoleHolding:
    entries = raw.get("entries")
    return RoleHolding(
        resource=raw["resource"],
        key=raw["key"],
        traits=raw.get("traits", {}),
        entries=None if entries is None else tuple((one["key"], one["on"]) for one in entries),
    )


#: Finds a file by the section and the key that name it.
Beside: TypeAlias = Callable[[str, str], Path]

#: The components and algorithm of a signature by default.
COVERS: Mapping[SignatureKind, tuple[str, ...]] = {
    SignatureKind.CAVAGE: ("(request-target)", "host", "date", "digest", "x-request-id"),
    SignatureKind.RFC9421: ("@method", "@target-uri", "content-digest"),
}
ALGORITHMS: Mapping[SignatureKind, str] = {
    SignatureKind.CAVAGE: "rsa-sha256",
    SignatureKind.RFC9421: "rsa-pss-sha512",
}
#: The keys of `auth` for OAuth.
_OAUTH = frozenset(
    [
        "token_url",
        "authorize_url",
        "redirect_uri",
        "client_id",
        "client_id_env",
        "client_secret_env",
        "scope",
        "pkce",
    ]
)


def auth(raw: _Raw) -> Auth:
    """Return how calls are authenticated."""
    kind = AuthKind(raw.get("kind", AuthKind.NONE.value))
    return Auth(
        kind=kind,
        header=raw.get("header", ""),
        token_env=raw.get("token_env"),
        oauth=_oauth(raw) if kind in {AuthKind.CLIENT, AuthKind.CODE} else None,
        provider=auth(raw["provider"]) if "provider" in raw else None,
    )


def _oauth(raw: _Raw) -> OAuth:
    given = {name: raw[name] for name in _OAUTH if name in raw}
    return OAuth(client_auth=ClientAuth(raw.get("client_auth", ClientAuth.BASIC.value)), **given)


def tls(raw: _Raw, beside: Beside) -> Tls:
    """Return the settings of TLS."""
    files = {
        name: beside("tls", name)
        for name in ("ca_file", "certificate_file", "key_file")
        if name in raw
    }
    return Tls(key_password_env=raw.get("key_password_env"), **files)


def signature(raw: _Raw, beside: Beside) -> Signature:
    """Return how calls are signed."""
    kind = SignatureKind(raw["kind"])
    return Signature(
        kind=kind,
        key_file=beside("signature", "key_file"),
        key_id=raw["key_id"],
        algorithm=raw.get("algorithm", ALGORITHMS[kind]),
        covers=tuple(raw.get("covers", COVERS[kind])),
        key_password_env=raw.get("key_password_env"),
    )


def budget(raw: _Raw) -> Budget:
    """Return the limits on calls."""
    return Budget(calls=raw.get("calls"), batch=raw.get("batch"))


def safety(raw: _Raw) -> Safety:
    """Return the safety settings."""
    return Safety(
        allow_writes=raw.get("allow_writes", False),
        only={name: tuple(values) for name, values in raw.get("only", {}).items()},
        most={name: str(value) for name, value in raw.get("most", {}).items()},
        breaker=raw.get("breaker"),
    )
