"""The payment initiation half of the bank: single payments in euro, and their signing.

A third party asks for a payment with a token of its own, the customer signs it on the
bank's screens, and the bank's calendar executes it. As in the other half, what the bank
decides is one value (:mod:`assay.sandbox.payments.policies`) and time only moves by the
control API. Not a ledger: no balance is looked at, and no money is ever short.
"""

__all__: list[str] = []
