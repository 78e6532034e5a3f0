"""Mutants of the consent scope, of the customer's name, and of the redirect approach.

Each scope fault is limited to balances, outstandings, transactions or slips. A consent
also discloses the customer's name. A fault of the redirect approach honours customers'
own credentials.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.sandbox.access import (
    AccessRequest,
    ConsentRequest,
    Decision,
    RefusedConsent,
    Scope,
    all_or_none,
    consented_only,
)
from assay.sandbox.accounts import Row
from assay.sandbox.messages import (
    KINDS,
    OPERATIONS,
    Fault,
    Kind,
    Malformed,
    Operation,
    Table,
    consented_keys,
)
from assay.sandbox.mutants.mutant import breaking, only_when
from assay.sandbox.policies import SOUND, Approach, put


def _outside(request: AccessRequest) -> bool:
    """Return whether an own item is outside the consent."""
    return request.own and request.consent is not None and request.item.key not in request.consent


def _before(request: AccessRequest) -> bool:
    """Return whether an own item is requested before any consent."""
    return request.own and request.consent is None


def _owner_consented(request: AccessRequest) -> bool:
    """Return whether it is another customer's item, to which that customer consented."""
    return not request.own and request.item.key in (request.owners_consent or ())


def _decided(when: Callable[[AccessRequest], bool], decision: Decision) -> Scope:
    """Return one decision in some situations, and the right one in all others."""
    return only_when(when, lambda _: decision, consented_only)


def _all_or_nothing(request: AccessRequest) -> Decision:
    """Serve the consented items only if the consent names all of the customer's items."""
    if request.owned <= (request.consent or frozenset()):
        return consented_only(request)
    return Decision.REFUSED


def _takes_strangers(request: ConsentRequest) -> frozenset[str] | None:
    """Grant what is not the customer's as well."""
    mine = replace(request, named=request.named & request.owned)
    return None if all_or_none(mine) is None else request.named


def _named(request: AccessRequest) -> Decision:
    """Serve whatever the caller's consent names, whoever owns it."""
    named = request.consent is not None and request.item.key in request.consent
    return Decision.SERVED if named else Decision.REFUSED


def _never(_ask: AccessRequest) -> Decision:
    return Decision.REFUSED


_SCOPES: tuple[tuple[str, str, str, Scope], ...] = (
    (
        "all-or-nothing",
        "granted",
        "refused unless the consent names all items of the customer",
        _all_or_nothing,
    ),
    (
        "any-consent",
        "refused",
        "any consent grants access to all items",
        _decided(_outside, Decision.SERVED),
    ),
    (
        "leaks-outside",
        "refused",
        "the refusal contains the data",
        _decided(_outside, Decision.LEAKED),
    ),
    (
        "before-any",
        "before",
        "served as long as there is no consent",
        _decided(_before, Decision.SERVED),
    ),
    ("leaks-before", "before", "the refusal contains the data", _decided(_before, Decision.LEAKED)),
    (
        "owners-consent",
        "foreign",
        "another customer's consent counts",
        _decided(_owner_consented, Decision.SERVED),
    ),
    (
        "leaks-foreign",
        "foreign",
        "the refusal contains the data",
        _decided(_owner_consented, Decision.LEAKED),
    ),
)
#: What else shows a fault: a link to a page is served to another customer, too.
_ALSO: Mapping[tuple[Kind, str], str] = {
    ("transaction", "owners-consent"): " own-data/transaction",
}
_CARDS: tuple[Kind, ...] = ("outstanding", "slip")


def _never_named(_name: str, _consented: bool) -> Row:
    return {}


def _misnamed(name: str, consented: bool) -> Row:
    return {"psuIdentity": name} if consented else {}


def _named_alike(_name: str, consented: bool) -> Row:
    return {"PsuIdentity": "Zoé Exemple"} if consented else {}


def _always_named(name: str, _consented: bool) -> Row:
    return {"PsuIdentity": name}


def _named_the_wrong_way_round(name: str, consented: bool) -> Row:
    return {} if consented else {"PsuIdentity": name}


CONSENT = (
    *(
        breaking(
            f"consent.{kind}-{name}",
            f"consent.scope/{kind}-{facet}{_ALSO.get((kind, name), '')}",
            f"{kind}: {says}",
            scope=put(SOUND.scope, **{kind: scope}),
        )
        for kind in KINDS.values()
        for name, facet, says, scope in _SCOPES
    ),
    *(
        breaking(
            f"consent.{kind}-usurped",
            f"consent.scope/{kind}-usurped",
            f"{kind}: served to whoever names the item in a consent of his own",
            granted=_takes_strangers,
            scope=put(SOUND.scope, **{kind: _named}),
        )
        for kind in KINDS.values()
    ),
    *(
        breaking(
            f"consent.{kind}-never",
            f"consent.scope/{kind}-granted",
            f"{kind}: refused despite the consent",
            scope=put(SOUND.scope, **{kind: _never}),
        )
        for kind in _CARDS
    ),
    breaking(
        "identity.never",
        "psu-identity/disclosed-after",
        "the customer is never named",
        identity=_never_named,
    ),
    breaking(
        "identity.of-another",
        "psu-identity/own-value",
        "every customer is shown the same name",
        identity=_named_alike,
    ),
    breaking(
        "identity.misnamed",
        "psu-identity/disclosed-after",
        "the customer's name is in the member psuIdentity instead of PsuIdentity",
        identity=_misnamed,
    ),
    breaking(
        "identity.always",
        "psu-identity/withheld-before",
        "the customer is named without a consent",
        identity=_always_named,
    ),
    breaking(
        "identity.wrong-way-round",
        "psu-identity/disclosed-after psu-identity/withheld-before",
        "the customer is named before the consent, but not after it",
        identity=_named_the_wrong_way_round,
    ),
)


def _stores_the_known(refused: RefusedConsent) -> frozenset[str] | None:
    """Store what is the customer's own of a consent that names something unknown."""
    known = refused.named & refused.owned
    return refused.former if known == refused.named else known | (refused.former or frozenset())


def _clears(refused: RefusedConsent) -> frozenset[str] | None:
    return frozenset[str]() if refused.former else None


def _stores_over_quota(refused: RefusedConsent) -> frozenset[str] | None:
    return refused.named if refused.why == "quota" else refused.former


def _keys_or_none(body: bytes) -> Sequence[str]:
    """Parse the identifiers that a consent names; none of a list that is no list of them."""
    try:
        return consented_keys(body)
    except Malformed as exc:
        if exc.fault in ("list-empty", "body-type"):
            return ()
        raise


def _empty_is_all(request: ConsentRequest) -> frozenset[str] | None:
    return all_or_none(request) if request.named else request.owned


def _first_alone(body: bytes) -> Sequence[str]:
    return consented_keys(body)[:1]


def _former_stays(former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    return former or new


def _fails_on_empty(fault: Fault) -> int:
    return 500 if fault == "list-empty" else 400


EFFECT = (
    breaking(
        "effect.first-alone",
        "consent.effect/each-named",
        "a consent covers only the first account that it names",
        body=_first_alone,
    ),
    breaking(
        "effect.former-stays",
        "consent.effect/later-served",
        "a second consent is accepted, and the first one stays in force",
        renew=_former_stays,
    ),
    breaking(
        "effect.stores-the-known",
        "consent.effect/refused-grants-nothing",
        "a consent that names an unknown account is refused, and the rest of it is stored",
        after_refusal=_stores_the_known,
    ),
    breaking(
        "effect.clears",
        "consent.effect/refused-keeps",
        "a consent that is refused ends the former one",
        after_refusal=_clears,
    ),
    breaking(
        "effect.stores-over-quota",
        "consent.effect/beyond-limit-grants-nothing",
        "the fifth consent of a day is refused, and stored",
        after_refusal=_stores_over_quota,
    ),
    breaking(
        "effect.empty-is-all",
        "consent.effect/malformed-grants-nothing",
        "a consent without accounts covers all of them",
        body=_keys_or_none,
        granted=_empty_is_all,
    ),
    breaking(
        "effect.fails-on-empty",
        "consent.effect/survives-lists",
        "an empty list of accounts makes the bank fail",
        malformed=put(SOUND.malformed, consents=_fails_on_empty),
    ),
)


_ANYBODY: tuple[tuple[Approach, str, str], ...] = (
    ("none", "without-token", "to a call without a token"),
    ("invented", "invented-token", "to a call with a token that was never issued"),
)


_PAGED: tuple[Operation, ...] = ("accounts", "transactions")
_PARTS: tuple[Approach, ...] = ("beginning", "ending")
_LOGINS: tuple[tuple[Approach, str], ...] = (
    ("basic", "as HTTP Basic"),
    ("query", "in the query"),
)


def _honours(operation: Operation, approach: Approach) -> Table[Operation, frozenset[Approach]]:
    honoured: frozenset[Approach] = frozenset({"token", approach})
    return put(SOUND.honours, **{operation: honoured})


CREDENTIALS = (
    *(
        breaking(
            f"token.{operation}-later-pages",
            f"token-required/{operation}-invented-token",
            f"{operation}: every page after the first is served with any token",
            honours=_honours(operation, "any-later"),
        )
        for operation in _PAGED
    ),
    *(
        breaking(
            f"token.{operation}-{approach}",
            f"token-required/{operation}-{facet}",
            f"{operation} serves whoever was there last {says}",
            honours=_honours(operation, approach),
        )
        for operation in OPERATIONS
        for approach, facet, says in _ANYBODY
    ),
    *(
        breaking(
            f"token.{operation}-{approach}-alone",
            f"token-required/{operation}-invented-token",
            f"{operation} looks at the {approach} of a token alone",
            honours=_honours(operation, approach),
        )
        for operation in OPERATIONS
        for approach in _PARTS
    ),
    *(
        breaking(
            f"credentials.{approach}-for-{operation}",
            f"redirect-only/{operation}",
            f"{operation}: login and password {says} replace a token",
            honours=_honours(operation, approach),
        )
        for operation in OPERATIONS
        for approach, says in _LOGINS
    ),
    breaking(
        "credentials.body-for-consents",
        "redirect-only/consents",
        "a consent is accepted with login and password in the body",
        honours=_honours("consents", "body"),
    ),
)
