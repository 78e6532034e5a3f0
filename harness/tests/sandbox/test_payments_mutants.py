"""Mutants of payment initiation break what they say, seen from outside.

As for the other mutants, a facet is a small probe: True when the bank keeps it, False
when not, None when its control fails and nothing can be told.
"""

import json

import pytest

from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND

CREDITORS = ("FR7630006000011234567890189", "DE89370400440532013000")
FACETS = {}
MANDATORY = ("chargeBearer", "categoryPurpose", "creditorAccount", "successfulReportUrl")
WAYS = {"missing": (...,), "null": (None,), "empty": ("",), "type": (17, True, ["SLEV"], {})}
DEFERRED = {"paymentType": "deferred", "requestedExecutionDate": "2026-09-18"}
EXECUTION = "2026-09-18T06:30:00+02:00"
AFTER = "2026-09-18T07:00:00+02:00"


def facet(*ids):
    """Enter a probe; a probe of several facets is told which."""

    def enter(probe):
        FACETS.update({f"pis/{name}": (probe, name) for name in ids})
        return probe

    return enter


def ready(bank, segment="PART", **how):
    """Make a world, a provider, and somebody who pays."""
    world = bank.world(**how)
    return world, world.provider(), world.payer(segment)


@facet("payments.create/answers", "payments.read/answers", "payments.modify/answers")
def answers(bank, id):
    _, provider, payer = ready(bank)
    operation = id.partition("/")[0].partition(".")[2]
    made = provider.create(payer, **DEFERRED)
    if operation == "create" or not made.is_success:
        return made.status_code < 500 if operation == "create" else None
    path = f"/payment-requests/{made.json()['paymentRequestResourceId']}"
    if operation == "read":
        return provider.call("GET", path).status_code < 500
    return provider.call("PUT", path, json={"amount": "1.00"}).status_code < 500


def malformed(whole):
    """Spoil a good body in every way."""
    text = json.dumps(whole).encode()
    deep = b'{"deep":' + b"[" * 100 + b"]" * 100 + b"}"
    return (b"hello", text[:-9], b"", b"[]", b'"x"', deep, b'{"x":"' + b"x" * 70_000 + b'"}')


@facet(*(f"payments.{one}/survives-malformed" for one in ("create", "modify")))
@facet("payments.create/refuses-malformed")
def survives(bank, id):
    _, provider, payer = ready(bank)
    made = provider.pay(payer, **DEFERRED)
    if made is None:
        return None
    method, path, body = "POST", "/payment-requests", provider.body(payer)
    if "modify" in id:
        method, path, body = "PUT", f"/payment-requests/{made.id}", {"amount": "1.00"}
        if not provider.call(method, path, json=body).is_success:
            return None
    sent = [provider.call(method, path, content=one) for one in malformed(body)]
    if "refuses" in id:
        return not any(one.is_success for one in sent)
    return all(one.status_code < 500 for one in sent)


@facet("payments.read/gives-back")
def gives_back(bank, _):
    _, provider, payer = ready(bank)
    sent = {**DEFERRED, "amount": "31.45", "reference": "née <17>"}
    made = provider.pay(payer, **sent)
    if made is None or not made.read().is_success:
        return None
    return provider.body(payer, **sent).items() <= made.read().json().items()


@facet(*(f"payments.{one}/unknown-refused" for one in ("read", "modify")))
@facet(*(f"payments.{one}/foreign-refused" for one in ("read", "modify")))
def not_found(bank, id):
    world, provider, payer = ready(bank)
    made = provider.pay(payer, **DEFERRED)
    if made is None or not made.read().is_success or not made.modify(amount="7.00").is_success:
        return None
    other = provider
    if "foreign" in id:
        other = world.provider()
    else:
        made.id = "0123456789abcdef01234567"
    answer = made.read(other) if "read" in id else made.modify(other, amount="8.00")
    return not answer.is_success


@facet(
    "payments.confirmation/refused-before-signing", "payments.confirmation/refused-after-signing"
)
def confirmation(bank, id):
    _, provider, payer = ready(bank)
    made = provider.pay(payer)
    if made is None or ("after" in id and made.sign().status() != "executed"):
        return None
    return not made.confirmation().is_success


@facet(*(f"mandatory-fields/{field}-{way}" for field in MANDATORY for way in WAYS))
def mandatory(bank, id):
    field, _, way = id.partition("/")[2].partition("-")
    _, provider, payer = ready(bank)
    if provider.pay(payer) is None:
        return None
    return not any(provider.create(payer, **{field: value}).is_success for value in WAYS[way])


@facet("charge-bearer/other-code", "charge-bearer/lower-case", "charge-bearer/padded")
@facet("euro/other-currency", "single/two-transfers")
def one_wrong_value(bank, id):
    transfers = [{"amount": "1.00"}, {"amount": "2.00"}]
    field, values = {
        "other-code": ("chargeBearer", ("SHAR", "DEBT", "CRED", "XXXX")),
        "lower-case": ("chargeBearer", ("slev", "Slev")),
        "padded": ("chargeBearer", ("SLEV ", " SLEV", "SLEV\n")),
        "other-currency": ("currency", ("USD", "GBP", "CHF", "JPY")),
        "two-transfers": ("transfers", (transfers,)),
    }[id.partition("/")[2]]
    _, provider, payer = ready(bank)
    if provider.pay(payer) is None:
        return None
    return not any(provider.create(payer, **{field: value}).is_success for value in values)


@facet("payment-types/immediate", "payment-types/deferred")
@facet("payment-types/instant-offered", "payment-types/instant-not-offered")
def payment_types(bank, id):
    world = bank.world(offers={"instant": "not" not in id})
    provider, payer = world.provider(), world.payer()
    kind = id.partition("/")[2].partition("-")[0]
    kinds = ("immediate", "deferred", "instant")
    made = {one: provider.create(payer, paymentType=one) for one in kinds}
    if made[kind].status_code >= 500 or not any(one.is_success for one in made.values()):
        return None
    if "not" in id:
        return None if not made["immediate"].is_success else not made[kind].is_success
    return made[kind].is_success


@facet(
    *(
        f"segments/{one}"
        for one in ("PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN")
    )
)
def segments(bank, id):
    segment = id.partition("/")[2]
    world, provider, payer = ready(bank, segment)
    sent = [provider.create(payer), provider.create(payer, **DEFERRED)]
    if any(one.status_code >= 500 for one in sent):
        return None
    if segment in ("PART", "PRO"):
        return any(one.is_success for one in sent)
    control = provider.pay(world.payer())
    return None if control is None else not any(one.is_success for one in sent)


@facet(*(f"eligible-accounts/refuses-{one}" for one in ("savings", "inactive", "offline")))
def eligible(bank, id):
    world, provider, payer = ready(bank)
    if provider.pay(payer) is None:
        return None
    return not provider.create(world.payer(**{id.rpartition("-")[2]: True})).is_success


@facet("modify.deferred-only/immediate-refused", "modify.deferred-only/instant-refused")
def modify_other_types(bank, id):
    _, provider, payer = ready(bank)
    control = provider.pay(payer, **DEFERRED)
    made = provider.pay(payer, paymentType=id.partition("/")[2].partition("-")[0])
    if None in (control, made) or not control.modify(amount="3.00").is_success:
        return None
    return not made.modify(amount="3.00").is_success


@facet("modify.deferred-only/executed-refused", "modify.deferred-only/cancelled-refused")
@facet("modify.deferred-only/signed-accepted")
def modify_later(bank, id):
    world, provider, payer = ready(bank)
    made = provider.pay(payer, **DEFERRED)
    if made is None or not made.modify(amount="2.00").is_success:
        return None
    state = id.partition("/")[2].partition("-")[0]
    if state == "cancelled":
        reached = made.cancel(by="provider")
    else:
        reached = made.sign().status() == "pending"
    if state == "executed":
        world.at(AFTER)
        reached = made.status() == "executed"
    if not reached:
        return None
    return made.modify(amount="3.00").is_success is (state == "signed")


CHANGES = {
    "amount": "3.00",
    "creditorAccount": CREDITORS[1],
    "requestedExecutionDate": "2026-09-21",
    "reference": "Other",
}


@facet("modify.deferred-only/persists", "modify.deferred-only/executes-as-modified")
def modified(bank, id):
    world, provider, payer = ready(bank)
    made = provider.pay(payer, **DEFERRED)
    if made is None or not made.read().is_success or not made.modify(**CHANGES).is_success:
        return None
    kept = CHANGES.items() <= made.read().json().items()
    if id.endswith("persists"):
        return kept
    if not kept or made.sign().status() != "pending":
        return None
    world.at("2026-09-21T07:00:00+02:00")
    found = [(row["amount"], row["creditor"], row["date"]) for row in made.executed()]
    return found == [("3.00", CREDITORS[1], "2026-09-21")] if found else None


@facet("cancel/accepted", "cancel/by-provider-shown", "cancel/by-customer-shown")
@facet("cancel/by-provider-never-executes", "cancel/by-customer-never-executes")
def cancels(bank, id):
    world, provider, payer = ready(bank)
    made = provider.pay(payer, **DEFERRED)
    if made is None or made.sign().status() != "pending":
        return None
    if not made.modify(amount="3.00").is_success:
        return None
    accepted = made.cancel(by="customer" if "customer" in id else "provider")
    if id.endswith("accepted") or not accepted:
        return accepted if id.endswith("accepted") else None
    if id.endswith("shown"):
        return made.status() in (None, "cancelled")
    world.at(AFTER)
    return not made.executed()


@facet("sca.required/nothing-before-signing", "sca.required/small-amounts")
def nothing_before(bank, id):
    world, provider, payer = ready(bank)
    amounts = ("0.01", "10.00", "29.99") if "small" in id else ("250.00",)
    kinds = ({}, DEFERRED) if "before" in id else ({},)
    made = [provider.pay(payer, amount=one, **kind) for one in amounts for kind in kinds]
    if None in made:
        return None
    world.at("2026-09-30T10:00:00+02:00")
    return not world.executions()


@facet("sca.required/nothing-after-refusal")
def nothing_after_refusal(bank, _):
    world, provider, payer = ready(bank)
    made = [provider.pay(payer), provider.pay(payer, **DEFERRED)]
    if None in made:
        return None
    for one in made:
        browser = one.screens().walk("confirm")
        if browser.screen != "confirm":
            return None
        browser.submit(decision="refuse")
    world.at(AFTER)
    return not world.executions()


@facet("sca.required/only-the-owner")
def only_the_owner(bank, _):
    world, provider, payer = ready(bank)
    made = provider.pay(payer)
    if made is None or provider.pay(payer, amount="7.00").screens().walk("factor").screen is None:
        return None
    browser = made.screens()
    browser.guest = world.payer()
    return browser.submit(**browser.fill()).screen == "password"


@facet("sca.factors/PART-offered", "sca.factors/PRO-offered")
def offered(bank, id):
    segment = id.partition("/")[2].partition("-")[0]
    _, provider, payer = ready(bank, segment)
    made = provider.pay(payer)
    browser = made and made.screens().walk("factor")
    if not browser or browser.screen != "factor":
        return None
    factors = set(browser.page.fields["factor"])
    return factors == {"sms", "cap"} | ({"soft-token"} if segment == "PART" else set())


@facet("sca.factors/password-alone", "sca.factors/code-checked")
def password_alone(bank, id):
    _, provider, payer = ready(bank)
    made = provider.pay(payer)
    if made is None:
        return None
    browser = made.screens()
    if "alone" in id:
        if browser.screen != "password":
            return None
        seen = set()
        for _ in range(5):
            if browser.screen is None:
                break
            seen.add(browser.screen)
            browser.submit(**browser.fill("cap"))
        return "code" in seen
    if browser.walk("code").screen != "code":
        return None
    half = payer.factors["sms"][:4] + "xx"
    return browser.submit(code=half).screen == browser.submit(code="111").screen == "code"


def repeated(bank, **changes):
    """Execute a payment, and sign another that differs so much; None without the first."""
    _, provider, payer = ready(bank)
    first = provider.pay(payer)
    if first is None or first.sign().status() != "executed":
        return None
    again = provider.pay(payer, **changes)
    return None if again is None else again.sign().status()


def reads(payment, sent):
    """Tell whether a payment, still unsigned, is what was sent."""
    answer = payment.read()
    return answer.is_success and {"status": "received", **sent}.items() <= answer.json().items()


def differing(bank, parameter):
    world = bank.world()
    account = {"resource": "account", "entries": [], "count": 2}
    provider, payer = world.provider(), world.customer(account)
    change = {
        "debtor": {"debtorAccount": payer.keys()[1]},
        "creditor": {"creditorAccount": CREDITORS[1]},
        "amount": {"amount": "250.01"},
        "purpose": {"categoryPurpose": "SUPP"},
        "reference": {"reference": "Invoice 18"},
        "type": {"paymentType": "instant"},
    }[parameter]
    first, again = provider.pay(payer), provider.pay(payer, **change)
    if None in (first, again) or not reads(again, change):
        return None
    if first.sign().status() != "executed":
        return None
    return again.sign().status()


@facet("duplicate/repeat-refused")
def repeat(bank, _):
    status = repeated(bank)
    return None if status is None else status == "rejected"


@facet(
    *(
        f"duplicate/{one}-changed-accepted"
        for one in ("debtor", "creditor", "amount", "purpose", "reference", "type")
    )
)
def changed(bank, id):
    status = differing(bank, id.partition("/")[2].partition("-")[0])
    return None if status is None else status == "executed"


@facet("duplicate/next-day-accepted")
def next_day(bank, _):
    world, provider, payer = ready(bank)
    first = provider.pay(payer)
    if first is None or first.sign().status() != "executed":
        return None
    world.at("2026-09-17T10:00:00+02:00")
    return provider.pay(payer).sign().status() == "executed"


@facet(
    *(
        f"duplicate/after-{one}-accepted"
        for one in ("cancelled", "refused", "unsigned", "expired", "rejected")
    )
)
def after(bank, id):
    world, provider, payer = ready(bank)
    state = id.partition("/")[2].split("-")[1]
    change = DEFERRED if state == "cancelled" else {}
    change = {"categoryPurpose": "CASH"} if state == "rejected" else change
    first = provider.pay(payer, **change)
    if first is None or not reads(first, change):
        return None
    match state:
        case "cancelled":
            first.sign("cap").cancel(by="provider")
        case "refused":
            first.sign("cap", "refuse")
        case "rejected":
            first.sign("cap")
        case "expired":
            first.screens()
            world.at("2026-09-16T10:10:00+02:00")
    if first.status() != {"unsigned": "received"}.get(state, state):
        return None
    factor = "soft-token" if state == "rejected" else "cap"
    expected = "pending" if state == "cancelled" else "executed"
    other = {**change, "amount": "251.00", "creditorAccount": CREDITORS[1]}
    if provider.pay(payer, **other).sign(factor).status() != expected:
        return None
    return provider.pay(payer, **change).sign(factor).status() == expected


AGES = {
    "just-under": "2026-09-13T10:00:01+02:00",
    "at-72-hours": "2026-09-13T10:00:00+02:00",
    "just-over": "2026-09-13T09:59:59+02:00",
    "long-registered": "2026-08-01T10:00:00+02:00",
}


@facet("cash/unregistered-rejected", "cash/cap-rejected", "cash/registered-by-another-rejected")
@facet(*(f"cash/{one}-rejected" for one in ("just-under", "at-72-hours")))
@facet(*(f"cash/{one}-accepted" for one in ("just-over", "long-registered", "soft-token")))
@facet("cash/other-purposes-accepted")
def cash(bank, id):
    world, provider, payer = ready(bank)
    name, _, expected = id.partition("/")[2].rpartition("-")
    owner = world.payer() if name == "registered-by-another" else payer
    creditor = CREDITORS[0]
    if name in AGES or owner is not payer:
        creditor = world.register(owner, AGES.get(name, AGES["long-registered"]))
    purposes = ("SALA", "SUPP", "DVPM") if name == "other-purposes" else ("CASH",)
    factor = name if name in ("cap", "soft-token") else "sms"
    made = [
        provider.pay(payer, creditorAccount=creditor, categoryPurpose=one, amount=f"7{at}.00")
        for at, one in enumerate(purposes)
    ]
    if None in made or not all(reads(one, {"creditorAccount": creditor}) for one in made):
        return None
    found = {one.sign(factor).status() for one in made}
    if None in found or "received" in found:
        return None
    return found == {"executed" if expected == "accepted" else "rejected"}


def minutes(count, seconds=0):
    return f"2026-09-16T10:{count:02d}:{seconds:02d}+02:00"


def confirming(bank):
    """Walk to the last screen, at the first moment of all."""
    world, provider, payer = ready(bank)
    made = provider.pay(payer)
    browser = made and made.screens().walk("confirm")
    return world, browser if browser and browser.screen == "confirm" else None


@facet(*(f"redirect.idle/{one}" for one in ("alive-before", "dead-after", "activity-renews")))
@facet("redirect.idle/no-redirection", "redirect.idle/nothing-executes")
def idle(bank, id):
    world, browser = confirming(bank)
    if browser is None:
        return None
    part = id.partition("/")[2]
    at = {"alive-before": minutes(3, 59), "dead-after": minutes(4)}.get(part, minutes(10))
    if part == "activity-renews":
        for count in (2, 4, 6):
            world.at(minutes(count, 30))
            if browser.screen:
                browser.submit()
        at = minutes(7)
    world.at(at)
    if browser.screen:
        browser.submit(decision="confirm")
    return {
        "alive-before": bool(browser.location or world.executions()),
        "dead-after": browser.location is None or not world.executions(),
        "activity-renews": bool(browser.location or world.executions()),
        "no-redirection": browser.location is None,
        "nothing-executes": not world.executions(),
    }[part]


@facet(*(f"redirect.overall/{one}" for one in ("alive-before", "dead-after")))
@facet("redirect.overall/no-redirection", "redirect.overall/nothing-executes")
def overall(bank, id):
    world, browser = confirming(bank)
    if browser is None:
        return None
    part = id.partition("/")[2]
    moments = [minutes(2 * count, 30) for count in range(1, 14)] + [minutes(29)]
    if part not in ("alive-before", "dead-after"):
        moments += [minutes(2 * count) for count in range(15, 20)]
    for moment in moments:
        world.at(moment)
        if browser.submit().screen is None:
            break
    if part in ("alive-before", "dead-after"):
        world.at(minutes(29, 59) if part == "alive-before" else minutes(30))
        if browser.screen:
            browser.submit(decision="confirm")
    return {
        "alive-before": bool(browser.location or world.executions()),
        "dead-after": browser.location is None or not world.executions(),
        "no-redirection": browser.location is None,
        "nothing-executes": not world.executions(),
    }[part]


@facet("report-url/after-signing", "report-url/after-refusal", "report-url/only-there")
def report_url(bank, id):
    _, provider, payer = ready(bank)
    made = provider.pay(payer)
    if made is None:
        return None
    sent = provider.body(payer)
    browser = made.screens().walk("confirm")
    if browser.screen != "confirm":
        return None
    if "refusal" in id:
        return sent["unsuccessfulReportUrl"] == browser.submit(decision="refuse").location
    if "only" not in id:
        return sent["successfulReportUrl"] == browser.submit(decision="confirm").location
    control = provider.pay(payer, amount="9.00").screens().walk()
    asked = "https://tpp.example.evil.example/"
    found = browser.submit(decision="confirm", returnUrl=asked)
    return None if control.location is None else found.location == control.location


FORMS = ("www.30001.live.sandbox.example", "www.30001.live.bank.example")


@facet(*(f"host/{one}" for one in ("create-links", "approval-link", "read-links", "modify-links")))
@facet("host/both-forms")
def hosts(bank, id):
    _, provider, payer = ready(bank)
    part, told = id.partition("/")[2], []
    for host in FORMS:
        how = {"headers": {"Host": host}}
        made = provider.create(payer, how=how, **DEFERRED)
        if part == "both-forms" or not made.is_success:
            told.append(made.is_success if part == "both-forms" else None)
            continue
        links = made.json()["links"]
        if part == "create-links":
            found = [links["self"]]
        elif part == "approval-link":
            found = [links["consentApproval"]]
        else:
            verb = "GET" if part == "read-links" else "PUT"
            path = f"/payment-requests/{made.json()['paymentRequestResourceId']}"
            more = {"json": {"amount": "5.00"}} if verb == "PUT" else {}
            answer = provider.call(verb, path, **how, **more)
            if not answer.is_success:
                return None
            found = [answer.json()["links"]["self"]]
        told.append(all(link.startswith(f"http://{host}/") for link in found))
    if part == "both-forms":
        return all(told) if any(told) else None
    return None if None in told else all(told)


@facet(*(f"maintenance/{one}" for one in ("before", "after", "other-days")))
def maintenance(bank, id):
    moments = {
        "before": ("2026-09-21T01:59:30+02:00", "2026-09-21T00:30:00+02:00"),
        "after": ("2026-09-21T06:00:30+02:00",),
        "other-days": ("2026-09-20T03:00:00+02:00", "2026-09-22T03:00:00+02:00"),
    }[id.partition("/")[2]]
    told = []
    for moment in moments:
        world, provider, payer = ready(bank)
        if provider.pay(payer) is None:
            return None
        world.at(moment)
        told.append(provider.create(payer).status_code < 500)
    return all(told)


def holds(bank, obligation):
    """Probe one facet on one bank."""
    probe, name = FACETS[obligation]
    return probe(bank, name)


def by_id(value):
    return getattr(value, "id", None)


def test_ids_are_unique():
    """No two mutants have one id, in either half of the bank."""
    names = [mutant.id for mutant in (*MUTANTS, *PIS_MUTANTS)]
    assert len(names) == len(set(names))
    assert all(mutant.id.startswith("pis.") for mutant in PIS_MUTANTS)


@pytest.mark.parametrize("mutant", PIS_MUTANTS, ids=by_id)
def test_changes_change(mutant):
    """Each makes a bank of its own in this half alone, and says so in one sentence."""
    wrong = mutant.change(SOUND)
    assert wrong.payments != SOUND.payments
    assert wrong.closed == SOUND.closed
    assert mutant.says
    assert "\n" not in mutant.says


def test_every_facet_has_a_mutant():
    """Each probe is of a facet that some mutant breaks, and the other way round."""
    assert set(FACETS) == set().union(*(mutant.breaks for mutant in PIS_MUTANTS))


@pytest.mark.parametrize("obligation", FACETS)
def test_the_sound_bank_keeps_all(bank, obligation):
    """The probes themselves are right: nothing is red, and nothing is silent."""
    assert holds(bank, obligation) is True


@pytest.mark.parametrize("mutant", PIS_MUTANTS, ids=by_id)
def test_mutants_break_what_they_say(open_bank, mutant):
    """Each facet that a mutant names turns red."""
    bank = open_bank(policies=mutant.change(SOUND))
    assert {False} == {holds(bank, obligation) for obligation in mutant.breaks}
