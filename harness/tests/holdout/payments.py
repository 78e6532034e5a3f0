"""Payment initiation: requests, changes, and what is executed."""

from typing import Any

from holdout.domain import (
    CLOSED,
    EXPIRED,
    OPEN,
    PLANNED,
    Call,
    Customer,
    Order,
    Payment,
    RefusedError,
    World,
)
from holdout.policy import Policy

FIELDS = {
    "kind": "/virement/execution",
    "charge": "/virement/frais",
    "purpose": "/virement/motif/code",
    "creditor": "/virement/beneficiaire/compte/iban",
    "debtor": "/virement/debiteur/compte/iban",
    "amount": "/virement/somme/montant",
    "currency": "/virement/somme/devise",
    "date": "/virement/echeance",
    "success": "/retour/succes",
}
CHANGEABLE = ("amount", "creditor", "date")


def create(policy: Policy, call: Call) -> tuple[int, Any, dict[str, str]]:
    order = Order(**{name: call.said(pointer) for name, pointer in FIELDS.items()})
    world = call.world
    serial = f"{world.chance.randrange(16**8):08x}"
    payment = Payment(
        f"VIR-{world.number():05d}-{serial}", call.tpp, order, world.now, call.host, first=order
    )
    if reason := policy.order_errors(call, order):
        policy.refused(call, payment, reason)
        raise RefusedError(400, reason)
    reason = debtor_errors(policy, call, order)
    if reason is None and policy.repeated(world, order):
        reason = "DOUBLON"
    if reason:
        policy.refused(call, payment, reason)
        return 200, {"resultat": "REFUS", "motif": reason}, {}
    policy.accepted(call, payment)
    if policy.presigned(world, payment):
        payment.customer = world.owner(order.debtor)
        settle(policy, world, payment)
    headers = {"Location": f"{policy.link_base(call, 'soi')}/virements/{payment.id}"}
    return 201, answer(policy, call, payment), headers


def debtor_errors(policy: Policy, call: Call, order: Order) -> str | None:
    """Why nothing can be paid from this account; without one it is chosen on the screens."""
    if not policy.instant_offered(call, order):
        return "INSTANTANE"
    owner = world_owner(call, order)
    if owner is None:
        return None if order.debtor is None else "COMPTE"
    item = owner.item(order.debtor)
    if not policy.served(call.world, owner, order):
        return "SEGMENT"
    if item is not None and not policy.debtor_ok(call.world, item, order):
        return "COMPTE"
    return None


def world_owner(call: Call, order: Order) -> Customer | None:
    if order.debtor is None:
        return call.customer
    owner = call.world.owner(order.debtor)
    return owner if call.customer in (None, owner) else None


def answer(policy: Policy, call: Call, payment: Payment) -> dict[str, Any]:
    order = policy.shown(call, payment)
    state, cause = policy.shown_state(call, payment)
    links = {"soi": f"{policy.link_base(call, 'soi')}/virements/{payment.id}"}
    if state == OPEN:
        base = policy.link_base(call, "signature")
        links["signature"] = f"{base}/signature/{payment.id}?banque={call.world.id}"
    return {
        "resultat": "OK",
        "dossier": {
            "numero": payment.id,
            "suivi": {"etat": state, "cause": cause},
            "virement": {
                "execution": order.kind,
                "frais": order.charge,
                "motif": {"code": order.purpose},
                "beneficiaire": {"compte": {"iban": order.creditor}},
                "debiteur": {"compte": {"iban": order.debtor}},
                "somme": {"montant": order.amount, "devise": order.currency},
                "echeance": order.date,
            },
            "retour": {"succes": order.success},
            "liens": links,
        },
    }


def found(policy: Policy, call: Call) -> Payment:
    payment = call.world.payments.get(call.path["id"])
    if payment is None or not policy.readable(call, payment):
        raise RefusedError(404, "DOSSIER")
    return payment


def read(policy: Policy, call: Call) -> tuple[int, Any]:
    return 200, answer(policy, call, found(policy, call))


def modify(policy: Policy, call: Call) -> tuple[int, Any]:
    payment = found(policy, call)
    changes = {name: call.said(FIELDS[name]) for name in CHANGEABLE}
    changes = {name: value for name, value in changes.items() if value is not None}
    order = payment.order.with_(**changes)
    if not changes:
        raise RefusedError(400, "MODIFICATION")
    if not policy.may_change(call, payment):
        policy.change_refused(call, payment, order)
        raise RefusedError(409, "ETAT")
    if reason := policy.change_ok(call, payment, order):
        policy.change_refused(call, payment, order)
        raise RefusedError(422, reason)
    policy.changed(call, payment, order)
    payment.changes += 1
    return 200, answer(policy, call, payment)


def cancel(policy: Policy, call: Call) -> tuple[int, Any]:
    payment = found(policy, call)
    if call.said("/cause") != "DEMANDE_TPP":
        raise RefusedError(400, "CAUSE")
    if not policy.may_cancel(call, payment):
        policy.cancel_refused(call, payment)
        raise RefusedError(409, "ETAT")
    policy.cancelled(call.world, payment)
    return 200, answer(policy, call, payment)


def confirm(policy: Policy, call: Call) -> tuple[int, Any]:
    return 200, answer(policy, call, found(policy, call))


def offered_later(policy: Policy, call: Call) -> tuple[int, Any]:
    """What the operations answer that are announced for later, once they are offered."""
    return 200, {"donnees": {}}


def carry_out(policy: Policy, world: World) -> None:
    """Bring every payment up to date: what is due is executed, what is late expires."""
    for payment in list(world.payments.values()):
        session = payment.session
        if payment.state != OPEN:
            continue
        if session and policy.disconnected(world, payment, session):
            payment.session = None
            policy.after_disconnect(world, payment)
        elif policy.lapsed(world, payment):
            payment.state, payment.cause = CLOSED, EXPIRED
    due = [payment for payment in world.payments.values() if payment.state == PLANNED]
    for payment in sorted(due, key=lambda one: (policy.due_on(world, one), one.id)):
        if policy.due_on(world, payment) <= world.today:
            execute(policy, world, payment)


def settle(policy: Policy, world: World, payment: Payment) -> None:
    """A signed payment is rejected, planned or executed."""
    payment.signed = world.now
    if policy.sign_errors(world, payment):
        policy.sign_refused(world, payment)
    elif policy.planned(world, payment):
        payment.state, payment.cause = PLANNED, None
    else:
        execute(policy, world, payment)


def execute(policy: Policy, world: World, payment: Payment) -> None:
    on = policy.due_on(world, payment) if payment.state == PLANNED else world.today
    dated = payment.order.with_(date=f"{on}T00:00:00")
    if policy.repeated(world, dated, payment.id):
        policy.not_executed(world, payment)
        return
    world.movements.extend(policy.movements(world, payment, on))
    policy.executed(world, payment, on)


ANSWERS: dict[str, Any] = {
    "create": create,
    "read": read,
    "modify": modify,
    "cancel": cancel,
    "confirm": confirm,
    "beneficiaries": offered_later,
    "identity": offered_later,
}
