"""Whose outputs a call can use: those of its customer and TPP."""

from assay.binding.model.spelling import OperationBinding, OutputAt
from assay.history import Accepted, Call, Exchange, Wire
from assay.running.trial_state import KeptOutputs

MAKES = OperationBinding(outputs={"consent-id": OutputAt(at=("/id",))})
SOURCES = {"consent-id": "permit"}


def kept(by):
    """Keep the output of a consent that a TPP made for the customer."""
    outputs = KeptOutputs()
    call = Call(operation="permit", subject="psu", by=by)
    answer = Accepted(items=(), outputs={"consent-id": "K-1"})
    outputs.keep(
        Exchange(n=1, at=None, call=call, wire=Wire(method="POST", url=""), outcome=answer), MAKES
    )
    return outputs


def test_a_call_of_the_customer_uses_the_consent_of_whichever_tpp():
    """The customer's token is not that of a TPP; a TPP uses its own consents alone."""
    read = Call(operation="accounts", subject="psu")

    assert {"consent-id": "K-1"} == kept("other").values_for(read, SOURCES, by_tpp=False).values
    assert {} == kept("other").values_for(read, SOURCES, by_tpp=True).values
    assert {"consent-id": "K-1"} == kept("").values_for(read, SOURCES, by_tpp=True).values


def test_a_consent_of_another_customer_is_never_used():
    """Not even where the customer has none."""
    read = Call(operation="accounts", subject="stranger")

    assert {} == kept("").values_for(read, SOURCES, by_tpp=False).values
