"""Account information consents: made, shown, authorised, expired, replaced and ended."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Response

from nordhafen.domain import Authorisation, Consent, Customer, RefusedError, World
from nordhafen.policy import Policy

if TYPE_CHECKING:
    from nordhafen.application import Call

#: What a consent's access may name, each as a list of accounts.
KINDS = ("accounts", "balances", "transactions")


def make(call: "Call") -> Response:
    """Make a consent, which the customer is to authorise."""
    policy, content = call.policy, call.body
    check(policy, content)
    asked = day_of(content["validUntil"], "validUntil") if "validUntil" in content else call.today
    if asked < call.today:
        raise RefusedError(400, "FORMAT_ERROR", "validUntil: a day to come")
    consent = Consent(
        id=call.world.new_id(),
        tpp=call.caller.tpp,
        content={**dict.fromkeys(policy.consent_members), **content},
        valid_until=min(asked, call.today + timedelta(days=policy.longest_validity)),
        authorisation=Authorisation(redirect_uri=call.request.headers.get("TPP-Redirect-URI")),
    )
    if policy.reduced_shown:
        consent.content["validUntil"] = consent.valid_until.isoformat()
    call.world.consents[consent.id] = consent
    if policy.replaces == "made":
        owner = owner_of(call.world, consent)
        replace_former(policy, call.world, consent, owner)
    own = f"/v1/consents/{consent.id}"
    links = {"self": call.link(own), "status": call.link(f"{own}/status")}
    if policy.consent_link:
        links["scaRedirect"] = call.screens(f"/sca/consents/{consent.id}")
    status = word(call, consent)
    return call.json({"consentId": consent.id, "consentStatus": status, "_links": links}, 201)


def check(policy: Policy, content: dict[str, Any]) -> None:
    """Refuse a consent that lacks something, or has something in a wrong form."""
    forms = {
        "access": is_access,
        "recurringIndicator": lambda value: isinstance(value, bool),
        "validUntil": lambda value: isinstance(value, str),
        "frequencyPerDay": lambda value: type(value) is int and value > 0,
        "combinedServiceIndicator": lambda value: isinstance(value, bool),
    }
    for name, fits in forms.items():
        if name not in policy.consent_members and content.get(name) is None:
            content.setdefault("frequencyPerDay", 1)
            content[name] = {"validUntil": "2999-12-31", "frequencyPerDay": 1}.get(name, {})
        elif not fits(content.get(name)):
            raise RefusedError(400, "FORMAT_ERROR", name)
    if (
        content["recurringIndicator"] is False
        and policy.one_off_frequencies
        and content["frequencyPerDay"] not in policy.one_off_frequencies
    ):
        raise RefusedError(400, "FORMAT_ERROR", "frequencyPerDay: 1 for a single access")


def is_access(value: Any) -> bool:
    """Whether a value lists accounts, and at least one."""
    if not isinstance(value, dict) or not any(value.get(kind) for kind in KINDS):
        return False
    further = value.get("additionalInformation", {})
    if not isinstance(further, dict) or not set(value) <= {*KINDS, "additionalInformation"}:
        return False
    lists = [*(value.get(kind, []) for kind in KINDS), further.get("ownerName", [])]
    return all(
        isinstance(references, list)
        and all(
            isinstance(reference, dict) and isinstance(reference.get("iban"), str)
            for reference in references
        )
        for references in lists
    )


def day_of(value: Any, name: str) -> date:
    """Return a day of a request."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise RefusedError(400, "FORMAT_ERROR", f"{name}: a day") from None


def owner_of(world: World, consent: Consent) -> Customer | None:
    """Return the customer whose accounts a consent names."""
    return next((customer for customer in world.customers if may_sign(consent, customer)), None)


def may_sign(consent: Consent, customer: Customer) -> bool:
    """Whether all accounts that a consent names are the customer's."""
    access = consent.content["access"]
    named = [reference["iban"] for kind in KINDS for reference in access.get(kind) or ()]
    return all(customer.owns(iban) for iban in named)


def authorised(policy: Policy, world: World, consent: Consent, customer: Customer) -> None:
    """Make a consent usable: its customer has authorised it."""
    consent.status, consent.authorised_at = policy.authorised_status, world.now
    consent.authorisation.customer = customer
    if policy.replaces == "authorised":
        replace_former(policy, world, consent, customer)


def replace_former(
    policy: Policy, world: World, consent: Consent, customer: Customer | None
) -> None:
    """End the former recurring consents of the same customer for the same TPP."""
    for former in world.consents.values():
        same = former.customer is customer and former.tpp == consent.tpp
        if same and former is not consent and former.recurring and consent.recurring:
            end_if_alive(former, "terminatedByTpp")


def end_if_alive(consent: Consent, status: str) -> None:
    """End a consent, unless it has ended before."""
    if consent.status in ("received", "valid"):
        consent.status = status


def status_of(call: "Call", consent: Consent) -> str:
    """Return what a consent is today."""
    last = consent.valid_until + timedelta(days=call.policy.days_after_valid_until)
    if consent.status in ("received", "valid") and call.today > last:
        return "expired"
    return consent.status


def word(call: "Call", consent: Consent) -> str:
    """Return the status as it is shown."""
    status = status_of(call, consent)
    if status == "expired" and not call.policy.expired_shown:
        status = "valid"
    return str(dict(call.policy.consent_words).get(status, status))


def found(call: "Call", key: str) -> Consent:
    """Return the consent of the caller."""
    consent = call.world.consents.get(key)
    if consent is None:
        raise RefusedError(404, "RESOURCE_UNKNOWN", "no such consent")
    if not call.policy.foreign_consents and consent.tpp != call.caller.tpp:
        raise RefusedError(404, "RESOURCE_UNKNOWN", "no such consent")
    return consent


def show(call: "Call", key: str) -> Response:
    """Show what was agreed."""
    consent = found(call, key)
    names = ("access", "recurringIndicator", "validUntil", "frequencyPerDay")
    agreed = {name: consent.content[name] for name in names} | dict(call.policy.consent_changes)
    own = {"self": call.link(f"/v1/consents/{key}")}
    return call.json({**agreed, "consentStatus": word(call, consent), "_links": own})


def show_status(call: "Call", key: str) -> Response:
    """Show the status alone."""
    return call.json({"consentStatus": word(call, found(call, key))})


def end(call: "Call", key: str) -> Response:
    """End a consent for the TPP."""
    consent = found(call, key)
    consent.deleted = consent.status in ("received", "valid")
    end_if_alive(consent, call.policy.deleted_status)
    return Response(status=204)


def used(call: "Call") -> Consent:
    """Return the consent of a call about accounts, if it opens anything."""
    consent = call.world.consents.get(call.request.headers.get("Consent-ID", ""))
    if consent is None:
        raise RefusedError(403, "CONSENT_UNKNOWN")
    # The token of a customer stands for whichever TPP has it; any other token for its TPP alone.
    own = consent.tpp == call.caller.tpp or call.caller.customer is not None
    if not own or call.caller.customer not in (None, owner_of(call.world, consent)):
        raise RefusedError(403, "CONSENT_UNKNOWN")
    status = status_of(call, consent)
    if status == "expired":
        raise RefusedError(401, call.policy.expired_code)
    deleted = consent.deleted and call.policy.deleted_opens
    if status not in call.policy.usable and not deleted:
        raise RefusedError(403, "CONSENT_INVALID")
    return consent
