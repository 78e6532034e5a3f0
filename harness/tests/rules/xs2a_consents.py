"""Consents of the example contract XS2A: how they are made, signed, used and ended."""

from functools import cache

from assay._resources import contract_dir
from assay.history import Authorise, Call, Ending, Item, Owned, State, Subject
from assay.testing import START, accepted, exchange, kind_in, signature

XS2A = contract_dir() / "examples" / "xs2a" / "xs2a.yaml"
PSU = Subject(name="psu", now=START, owns=(Owned(key="A", resource="account"),))


@cache
def clause(id_):
    """Return a clause of the example."""
    return kind_in(XS2A, id_)


def made(key="c", mode=None, *, keys=("A",), subject="psu", by="", **arguments):
    """Write down that a consent was made, in a mode or in none."""
    sent = {"access": list(keys), "validUntil": "2027-06-01", **arguments}
    call = Call(operation="make-consent", subject=subject, by=by, mode=mode, arguments=sent)
    return exchange(call, accepted(Item(key=key, state=State.OPEN)))


def signed(key="c", *, subject="psu", ending=Ending.CONFIRMED, **how):
    """Write down that a consent was signed."""
    step = Authorise(subject=subject, request=key, approval=None, **how)
    return signature(step, ending=ending, at=START)


def consent(key="c", mode=None, **how):
    """Write down that a consent was made and signed."""
    return made(key, mode, **how), signed(key, subject=how.get("subject", "psu"))


def ended(key):
    """Write down that a consent was ended."""
    call = Call(operation="end-consent", subject="psu", arguments={"consentId": key})
    return exchange(call, accepted())


def read(answer, operation="balances", *, at=None, subject="psu", **call):
    """Write down that the balances of the account were read, or something else about it."""
    arguments = {"iban": "A", **call.pop("arguments", {})}
    asked = Call(operation=operation, subject=subject, arguments=arguments, **call)
    return exchange(asked, answer, at=at)
