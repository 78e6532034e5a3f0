"""The ways to a target, made of what its profile says: for calls, for screens, for tokens.

Calls are signed; what a customer's browser would ask for is not. Endpoints of OAuth may
have hosts of their own, to which no link of an answer leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.binding.encode import Access
from assay.binding.target import Auth, Profile
from assay.transport.auth.tokens import ISSUING, Desk
from assay.transport.embedded import Application, Embedded
from assay.transport.protocol import Carrier

__all__ = ["Ways", "endpoints", "opened"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What carries calls, and what shows screens; where tokens come from, if from anywhere.

    `common` is what all customers' calls are authorised with, `party` those of the third
    party, where the profile has that.
    """

    client: Carrier
    screens: Carrier
    desk: Desk | None
    common: Access
    party: Access | None


def opened(profile: Profile, secrets: Mapping[str, str], app: Application | None) -> Ways:
    """Open the ways to a target; `app` is a bank in this process, if it is one.

    Raises:
        InputError: certificates or keys cannot be used.

    """
    key = None
    if profile.tls or profile.signature:
        from assay.transport.auth.certificates import check  # noqa: PLC0415 -- cryptography, seldom needed

        key = check(profile, secrets)
    client, screens = _embedded(profile, app) if app else _networked(profile, secrets)
    desk: Desk | None = None
    if any(one.kind in ISSUING for one in _auths(profile)):
        desk = Desk(profile=profile, carrier=screens, secrets=secrets)
    if profile.signature and key is not None:
        from assay.transport.auth.signing import signed  # noqa: PLC0415 -- as above

        client = signed(client, profile, key)
        if desk:
            desk.carrier = signed(screens, profile, key)
    return Ways(
        client=client,
        screens=screens,
        desk=desk,
        common=_common(profile.auth, secrets) or Access(),
        party=_common(profile.auth.provider, secrets),
    )


def _embedded(profile: Profile, app: Application) -> tuple[Carrier, Carrier]:
    hosts = (*profile.hosts, *endpoints(profile))
    return (
        Embedded(app, profile.base_url, profile.hosts),
        Embedded(app, profile.base_url, hosts),
    )


def _networked(profile: Profile, secrets: Mapping[str, str]) -> tuple[Carrier, Carrier]:
    from assay.transport.auth.tls import context, explainer  # noqa: PLC0415 -- only for a network
    from assay.transport.http import Client  # noqa: PLC0415 -- httpx only for a network

    world = profile.world
    client = Client(
        base_url=profile.base_url,
        timeout=profile.timeout,
        control_url=world.url,
        control_key=secrets[world.key_env] if world.key_env else None,
        hosts=profile.hosts,
        nearby=profile.nearby,
        tls=context(profile, secrets),
        explain=explainer(profile),
    )
    return client, client.beyond(*endpoints(profile))


def _auths(profile: Profile) -> Iterator[Auth]:
    yield profile.auth
    if profile.auth.provider:
        yield profile.auth.provider


def endpoints(profile: Profile) -> tuple[str, ...]:
    """Return the endpoints of OAuth, whose hosts need not be the bank's."""
    said = [one.oauth for one in _auths(profile) if one.oauth]
    return tuple(url for one in said for url in (one.token_url, one.authorize_url) if url)


def _common(auth: Auth | None, secrets: Mapping[str, str]) -> Access | None:
    return Access(token=secrets[auth.token_env]) if auth and auth.token_env else None
