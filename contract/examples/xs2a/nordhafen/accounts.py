"""Accounts, balances and transactions: what a consent opens, and how often."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Response

from nordhafen.consents import day_of, owner_of, used
from nordhafen.domain import Account, Consent, Entry, RefusedError

if TYPE_CHECKING:
    from nordhafen.application import Call

BOOKING_STATUSES = ("booked", "pending", "both")


def listed(call: "Call") -> Response:
    """List the accounts that the consent names."""
    consent = used(call)
    count(call, consent, "accounts", "")
    owner = owner_of(call.world, consent)
    owned = owner.accounts if owner else []
    named = [
        account
        for account in owned
        if call.policy.accounts_listed == "all"
        or consent.names(account.iban, "accounts", "balances", "transactions")
    ]
    if call.policy.accounts_listed == "first":
        named = named[:1]
    name = owner.name if owner else ""
    return call.json({"accounts": [shown(call, consent, account, name) for account in named]})


def shown(call: "Call", consent: Consent, account: Account, name: str) -> dict[str, Any]:
    """Return an account as it is shown."""
    members = {
        "resourceId": account.resource_id,
        "iban": account.iban,
        "currency": "EUR",
    }
    body: dict[str, Any] = {member: members[member] for member in call.policy.account_members}
    if owner_given(call, consent, account):
        body["ownerName"] = name
    own = f"/v1/accounts/{account.resource_id}"
    body["_links"] = {
        "balances": call.link(f"{own}/balances"),
        "transactions": call.link(f"{own}/transactions"),
    }
    return body


def owner_given(call: "Call", consent: Consent, account: Account) -> bool:
    """Whether the owner's name is given."""
    policy, owner = call.policy, owner_of(call.world, consent)
    others = owner is not None and account is not owner.accounts[0]
    if "others" in policy.owner_always and others:
        return True
    if "absent" in policy.owner_always and not call.present:
        return True
    consents = [consent]
    if policy.owner_name == "once":
        consents = [each for each in call.world.consents.values() if each.authorised_at]
    further = [each.content["access"].get("additionalInformation", {}) for each in consents]
    references = [each for names in further for each in names.get("ownerName", [])]
    asked = any(reference["iban"] == account.iban for reference in references)
    return policy.owner_name == "always" or (policy.owner_name != "never" and asked)


def balances(call: "Call", key: str) -> Response:
    """Show the balances of an account."""
    account, consent = opened(call, key, call.policy.balance_kinds)
    count(call, consent, "balances", key)
    types = call.policy.balance_types
    amounts = [
        {"balanceType": kind, "balanceAmount": {"currency": "EUR", "amount": f"{100 + number}.00"}}
        for number, kind in enumerate(types)
    ]
    return call.json({"account": {"iban": account.iban}, "balances": amounts})


def transactions(call: "Call", key: str) -> Response:
    """Show one page of the transactions of an account."""
    account, consent = opened(call, key, ("transactions",))
    status = call.request.args.get("bookingStatus")
    if status is None and not call.policy.booking_status_required:
        status = "booked"
    if status not in BOOKING_STATUSES:
        raise RefusedError(400, "FORMAT_ERROR", "bookingStatus: booked, pending or both")
    start = start_of(call)
    if start == 0:
        count(call, consent, "transactions", key)
    entries = chosen(call, consent, account, status)
    page = entries[start : start + call.policy.page_size]
    following = start + call.policy.page_step
    links = {"account": call.link(f"/v1/accounts/{key}")}
    if following < len(entries):
        links["next"] = next_link(call, following)
    groups = {"booked": [entry for entry in page if entry.booked]} if status != "pending" else {}
    pending = [entry for entry in page if not entry.booked]
    if status != "booked" or pending:
        groups["pending"] = pending
    if status == "pending" and any(entry.booked for entry in page):
        groups["booked"] = [entry for entry in page if entry.booked]
    body = {name: [entry_shown(entry) for entry in group] for name, group in groups.items()}
    return call.json({"account": {"iban": account.iban}, "transactions": {**body, "_links": links}})


def chosen(call: "Call", consent: Consent, account: Account, status: str) -> list[Entry]:
    """Return the entries that were asked for, the latest first and the pending ones at the end."""
    policy, args = call.policy, call.request.args
    begin = day_of(args["dateFrom"], "dateFrom") if "dateFrom" in args else date.min
    end = day_of(args["dateTo"], "dateTo") if "dateTo" in args else date.max
    recent = call.today - timedelta(days=policy.recent_days)
    since = consent.authorised_at
    deep = since is not None and call.world.now - since <= policy.history_window
    booked = [
        entry
        for entry in account.entries
        if status in policy.shows_booked
        and entry.booked is not None
        and entry.booked <= call.today
        and (deep or entry.booked >= recent)
        and (begin <= entry.booked if policy.from_included else begin < entry.booked)
        and (entry.booked <= end if policy.to_included else entry.booked < end)
    ]
    booked.sort(key=lambda entry: entry.booked or date.min, reverse=True)
    if status in policy.shows_pending:
        return booked + [entry for entry in account.entries if entry.booked is None]
    return booked


def start_of(call: "Call") -> int:
    """Return where the page begins that was asked for."""
    start = call.request.args.get("start", "0")
    if not start.isascii() or not start.isdigit() or len(start) > len("100000"):
        raise RefusedError(400, "FORMAT_ERROR", "start: a number")
    return int(start)


def next_link(call: "Call", start: int) -> dict[str, str]:
    """Return the link to the next page."""
    names = ("bookingStatus", "dateFrom", "dateTo")
    kept = [f"{name}={call.request.args[name]}" for name in names if name in call.request.args]
    return call.link(f"{call.request.path}?{'&'.join([*kept, f'start={start}'])}")


def entry_shown(entry: Entry) -> dict[str, Any]:
    """Return an entry as it is shown."""
    day = {} if entry.booked is None else {"bookingDate": entry.booked.isoformat()}
    amount = {"currency": "EUR", "amount": entry.amount}
    status = "pending" if entry.booked is None else "booked"
    return {
        "transactionId": entry.id,
        **day,
        "bookingStatus": status,
        "transactionAmount": amount,
    }


def opened(call: "Call", key: str, kinds: tuple[str, ...]) -> tuple[Account, Consent]:
    """Return an account that the consent opens for this kind of data."""
    consent = used(call)
    owner = owner_of(call.world, consent)
    owned = owner.accounts if owner else []
    account = next((account for account in owned if account.resource_id == key), None)
    if account is None:
        raise RefusedError(404, "RESOURCE_UNKNOWN")
    if not consent.names(account.iban, *kinds):
        raise RefusedError(403, "RESOURCE_NOT_COVERED")
    return account, consent


def count(call: "Call", consent: Consent, endpoint: str, account: str) -> None:
    """Count an access, and refuse it beyond the limit."""
    policy = call.policy
    owner = owner_of(call.world, consent)
    slot = {
        "consent": consent.id,
        "customer": owner.id if owner else "",
        "tpp": consent.tpp,
        "endpoint": endpoint,
        "account": account,
        "day": call.today.isoformat(),
        "present": "present" if call.present else "",
    }
    counted = tuple(slot[part] for part in ("present", *policy.absent_counts))
    limit = policy.absent_limit
    if policy.absent_uses_frequency:
        limit = min(limit, int(consent.content["frequencyPerDay"]) + policy.absent_more)
    if call.present:
        limit = policy.present_limit
    if limit is not None and call.world.calls.count(counted) >= limit:
        raise RefusedError(policy.exceeded_status, policy.exceeded_code)
    call.world.calls.append(counted)
