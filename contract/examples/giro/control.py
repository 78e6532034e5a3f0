"""The test side of the bank: what its test system can do, and nothing that production has."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from secrets import token_hex
from zoneinfo import ZoneInfo

from bank import Bank, Branch, Customer

from assay.fixtures.middleware import ControlledBank, ControlMiddleware, ControlRefusal
from assay.fixtures.spi import Access, Effect, Entry, Owned

START = datetime(2026, 9, 16, 10, 0, tzinfo=ZoneInfo("Europe/Paris"))


class GiroControl(ControlledBank[Branch]):
    """Every world is a branch of the bank with a clock that stands still."""

    traits: Mapping[str, Sequence[str]] = {"account": ()}
    declares = frozenset({"roster", "consent"})

    def __init__(self, bank):
        self.bank, self.names = bank, count(1)

    def open_world(self, seed, offers, bank):
        branch = Branch(clock=START + timedelta(hours=seed % 1000))
        self.bank.branches.append(branch)
        return branch

    def close_world(self, branch):
        self.bank.branches.remove(branch)

    def read_clock(self, branch):
        return branch.now

    def move_clock(self, branch, to):
        branch.end_of_day(to.astimezone(START.tzinfo).date())
        branch.clock = to.astimezone(START.tzinfo)

    def create_customer(self, branch, holdings, segment):
        if segment is not None:
            raise ControlRefusal("this bank has only one kind of customers", 400)
        owned = {
            f"GB{next(self.names):08}": [(token_hex(6), day) for day in holding.entries or ()]
            for holding in holdings
            for _ in range(holding.count)
        }
        customer = Customer(id=f"c{next(self.names)}", accounts=owned)
        branch.customers[customer.id] = customer
        items = [
            Owned(
                key=number,
                resource="account",
                entries=tuple(Entry(key=key, on=day) for key, day in entries),
            )
            for number, entries in owned.items()
        ]
        return items, Access(id=customer.id, token=self.token(branch, customer.id))

    def create_tpp(self, branch):
        name = f"t{next(self.names)}"
        return Access(id=name, token=self.token(branch, name))

    def renew_token(self, branch, name, *, of_tpp):
        branch.tokens = {token: who for token, who in branch.tokens.items() if who != name}
        return self.token(branch, name)

    def token(self, branch, name):
        token = token_hex(16)
        branch.tokens[token] = name
        return token

    def register(self, branch, customer, iban, since):
        payees = branch.customers[customer].payees
        payees[iban] = min(since, payees.get(iban, since))

    def executions(self, branch):
        for day, done in branch.executed:
            fields = {"payee": done.payee, "account": done.account, "amount": done.amount}
            yield Effect(request=done.id, on=day, fields=fields)

    def sign(self, branch, payment, customer, factor, *, confirm):
        transfer = self.transfer(branch, payment)
        if transfer.state != "new" or branch.owner(transfer.account).id != customer:
            raise ControlRefusal(f"a transfer that is {transfer.state} cannot be signed so")
        if confirm:
            branch.sign(transfer)
        else:
            transfer.state = "ended"
        return transfer.state

    def cancel(self, branch, payment):
        transfer = self.transfer(branch, payment)
        if transfer.state not in {"new", "signed"}:
            raise ControlRefusal(f"a transfer that is {transfer.state} cannot be cancelled")
        transfer.state = "ended"
        return transfer.state

    def transfer(self, branch, id):
        if id not in branch.transfers:
            raise ControlRefusal("there is no such transfer", 404)
        return branch.transfers[id]


def controlled_bank():
    """Return the bank as its test system runs it."""
    bank = Bank()
    return ControlMiddleware(bank, GiroControl(bank), key=os.environ.get("GIRO_CONTROL_KEY"))


if __name__ == "__main__":
    from waitress import serve

    print("Giro Bank: http://127.0.0.1:8783", flush=True)
    serve(controlled_bank(), host="127.0.0.1", port=8783)
