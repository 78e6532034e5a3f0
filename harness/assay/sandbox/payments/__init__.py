"""Payment initiation: single payments in euro, and their signing by the customer.

A TPP creates a payment with its own token, the customer signs it on the bank's screens,
and the bank executes it when it is due. The decisions of the bank are one value
(:mod:`assay.sandbox.payments.policies`), and only the control API advances time. Balances
are not checked: no account ever lacks funds.
"""

__all__: list[str] = []
