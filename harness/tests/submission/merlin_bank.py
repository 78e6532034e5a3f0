"""A bank where a consent precedes a payment: the sandbox bank behind other paths, and a second call.

A TPP sends the whole payment to `/payment-consents`, and the customer signs that. Nothing is carried
out until the TPP sends the same to `/payments`, with the id of the consent; the payment that this
makes has an id of its own. What faults change is in methods of its own.
"""

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from assay.sandbox.app import make_app
from assay.sandbox.payments.lifecycle import PaymentContext, execute_if_due
from assay.sandbox.payments.records import Payment
from assay.sandbox.policies import SOUND, Policies
from assay.sandbox.world import Registry, World

Reply = tuple[int, Any]
OWN, CONSENTS, PAYMENTS = "/payment-requests", "/payment-consents", "/payments"
CONTROL = "/assay-control/"


class Merlin:
    """The bank; one instance is one run. `names` are the ids of payments, by those of consents."""

    sound = SOUND

    def __init__(self, policies: Policies | None = None) -> None:
        policies = policies or self.sound
        self.names: dict[str, str] = {}
        self.sent: dict[str, dict[str, Any]] = {}
        self.registry = Registry()
        payments = policies.payments
        self.policies = replace(payments, executable=self.executable(payments.executable))
        self.app = make_app(replace(policies, payments=self.policies), registry=self.registry)

    def executable(self, sound: Callable[[Payment], bool]) -> Callable[[Payment], bool]:
        """Return whether a payment is executed when it is due: once it is submitted."""
        return lambda payment: payment.id in self.names and sound(payment)

    # -- what faults change ----------------------------------------------------------
    def caller(self, token: str) -> Any:
        """Return the world and the TPP of a token; None for a wrong one."""
        return self.registry.by_tpp_token(token)

    def may_submit(self, payment: Payment) -> bool:
        """Whether a payment can be submitted: its customer has signed it."""
        return payment.status == "pending"

    def carry_out(self, world: World, payment: Payment) -> None:
        """Carry out a payment that was submitted, if it is due."""
        execute_if_due(PaymentContext(world=world, policies=self.policies), payment)

    def refuse(self, payment: Payment) -> Reply:
        """Answer the submission of a payment that a rule of the bank rejects."""
        return 403, {"error": payment.reason}

    # -- the interface ---------------------------------------------------------------
    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        if (environ["REQUEST_METHOD"], path) == ("POST", PAYMENTS):
            status, shown = self.submit(environ, read(body))
            start(f"{status} .", [("Content-Type", "application/json")])
            return [json.dumps(shown).encode()]
        if path.startswith((CONSENTS, PAYMENTS, CONTROL)):
            return self.translated(environ, start, path, read(body))
        return self.app(environ, start)

    def translated(
        self, environ: dict[str, Any], start: Callable[..., Any], path: str, sent: Any
    ) -> Iterable[bytes]:
        """Answer a call of the sandbox bank under this bank's paths and ids."""
        ids = {name: id_ for id_, name in [*self.names.items()]}
        parts = [ids.get(part, part) for part in path.split("/")]
        known = path.startswith(PAYMENTS) and parts[2:3] == [ids.get(path.split("/")[2])]
        if path.startswith(CONSENTS) or known:
            parts[1] = OWN[1:]
        elif not path.startswith(CONTROL):
            parts[1:] = [OWN[1:], "0"]
        environ["PATH_INFO"] = "/".join(parts)
        lines: list[Any] = []
        answer = b"".join(self.app(environ, lambda *given: lines.extend(given)))
        self.remember(environ["REQUEST_METHOD"], lines[0], answer, sent, parts)
        text = answer.decode()
        if path.startswith((PAYMENTS, CONTROL)):
            for id_, name in [*self.names.items()]:
                text = text.replace(f"{OWN}/{id_}", f"{PAYMENTS}/{name}").replace(id_, name)
        content = text.replace(OWN, CONSENTS).encode()
        headers = [line for line in lines[1] if line[0] != "Content-Length"]
        start(lines[0], [*headers, ("Content-Length", str(len(content)))])
        return [content]

    def remember(self, method: str, status: str, answer: bytes, sent: Any, parts: Any) -> None:
        """Remember what a consent says, as it was made and then changed."""
        if parts[1] != OWN[1:] or not status.startswith("2") or method not in {"POST", "PUT"}:
            return
        shown = read(answer)
        id_ = shown.get("paymentRequestResourceId") if isinstance(shown, dict) else parts[-1]
        if isinstance(sent, dict):
            self.sent[id_] = {**self.sent.get(id_, {}), **sent}

    def submit(self, environ: dict[str, Any], sent: Any) -> Reply:
        """Make the payment of a consent that says the same."""
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        caller = self.caller(token)
        if caller is None:
            return 401, {}
        world, tpp = caller
        if self.policies.closed(world.now):
            return 503, {}
        id_ = sent.pop("consent", None) if isinstance(sent, dict) else None
        payment = world.payments.payments.get(id_ or "")
        if payment is None or payment.tpp != tpp.id or payment.id in self.names:
            return 400, {}
        if sent != self.sent[payment.id] or not self.may_submit(payment):
            return 403, {}
        with world.lock:
            self.names[payment.id] = f"P-{payment.id[::-1]}"
            self.carry_out(world, payment)
        if payment.status == "rejected":
            del self.names[payment.id]
            return self.refuse(payment)
        return 201, {
            "paymentId": self.names[payment.id],
            "status": self.policies.shown(payment),
        }


def read(body: bytes) -> Any:
    """Return a body as JSON; None for anything else."""
    try:
        return json.loads(body)
    except ValueError:
        return None
