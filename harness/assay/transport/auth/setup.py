"""The channels to a target, built from its target file: for calls, screens and tokens.

Calls are signed; requests that a customer's browser would make are not. OAuth endpoints
and screens may have hosts of their own, to which no link of an answer leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.binding.model.security import ISSUING
from assay.binding.model.target import Auth, Target
from assay.binding.wire.encode import Access
from assay.transport.auth.tokens import TokenStore
from assay.transport.protocol import Application, Embedded, Transport
from assay.transport.secrets import KnownSecrets

__all__ = ["Channels", "endpoints", "open_channels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The transports for calls and for screens, and the store of tokens, if there is one.

    `common` are the credentials of all customers' calls, `party` those of the TPP's
    calls, where the target file has them.
    """

    client: Transport
    screens: Transport
    token_store: TokenStore | None
    common: Access
    party: Access | None


def open_channels(
    target: Target,
    secrets: Mapping[str, str],
    app: Application | None,
    known: KnownSecrets | None = None,
) -> Channels:
    """Open the channels to a target; `app` is a bank in this process, if it is one.

    `known` learns the secrets that the token endpoints issue.

    Raises:
        InputError: certificates or keys cannot be used.

    """
    key, sign_request = None, None
    if target.has_keys:
        from assay.transport.auth.keys import check, request_signer  # noqa: PLC0415 -- cryptography, seldom needed

        key, sign_request = check(target, secrets), request_signer(target, secrets)
    client, screens = _embedded(target, app) if app else _networked(target, secrets)
    token_store: TokenStore | None = None
    if any(auth.kind in ISSUING for auth in _auths(target)):
        token_store = TokenStore(
            target=target,
            transport=screens,
            secrets=secrets,
            known=known or KnownSecrets(),
            sign_request=sign_request,
        )
    if key is not None:
        from assay.transport.auth.keys import signed  # noqa: PLC0415 -- as above

        client = signed(client, target, key)
        if token_store:
            token_store.transport = signed(screens, target, key)
    return Channels(
        client=client,
        screens=screens,
        token_store=token_store,
        common=_common(target.auth, secrets) or Access(),
        party=_common(target.auth.tpp, secrets),
    )


def _embedded(target: Target, app: Application) -> tuple[Transport, Transport]:
    hosts = (*target.called_urls, *endpoints(target), *target.sca.hosts)
    return (
        Embedded(app, target.base_url, target.called_urls),
        Embedded(app, target.base_url, hosts),
    )


def _networked(target: Target, secrets: Mapping[str, str]) -> tuple[Transport, Transport]:
    from assay.transport.http import (  # noqa: PLC0415 -- only for a network
        HttpClient,
        explainer,
        tls_context,
    )

    fixtures = target.fixtures
    screens = (*endpoints(target), *target.sca.hosts)
    urls = (target.base_url, *target.called_urls, *screens, *filter(None, [fixtures.url]))
    client = HttpClient(
        base_url=target.base_url,
        timeout=target.timeout,
        control_url=fixtures.url,
        control_key=secrets[fixtures.key_env] if fixtures.key_env else None,
        hosts=target.called_urls,
        nearby=target.nearby,
        tls=tls_context(target, secrets, urls),
        explain=explainer(target),
    )
    return client, client.with_hosts(*screens)


def _auths(target: Target) -> Iterator[Auth]:
    yield target.auth
    if target.auth.tpp:
        yield target.auth.tpp


def endpoints(target: Target) -> tuple[str, ...]:
    """Return the OAuth endpoints, whose hosts need not be the bank's."""
    settings = [auth.oauth for auth in _auths(target) if auth.oauth]
    urls = ((each.token_url, each.authorize_url, each.par_url) for each in settings)
    return tuple(url for own in urls for url in own if url)


def _common(auth: Auth | None, secrets: Mapping[str, str]) -> Access | None:
    return Access(token=secrets[auth.token_env]) if auth and auth.token_env else None
