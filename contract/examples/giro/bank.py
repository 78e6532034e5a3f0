"""A small bank: customers read their accounts, TPPs make transfers that customers sign."""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from secrets import token_hex

from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

#: A transfer of more than this needs a payee who has been on file for longer than that.
LARGE, KNOWN_FOR = 100, timedelta(hours=24)
DEPTH = timedelta(days=90)


@dataclass
class Customer:
    """A customer: the entries (key, day) of each account, and since when payees are on file."""

    id: str
    accounts: dict[str, list[tuple[str, date]]]
    payees: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Transfer:
    """A transfer; its state is `new`, `signed`, `done`, `rejected` or `ended`."""

    id: str
    tpp: str
    account: str
    payee: str
    amount: str
    day: date | None
    state: str = "new"


@dataclass
class Branch:
    """All that the bank knows. `clock` is the time if it stands still, as in a test system."""

    clock: datetime | None = None
    customers: dict[str, Customer] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    transfers: dict[str, Transfer] = field(default_factory=dict)
    executed: list[tuple[date, Transfer]] = field(default_factory=list)

    @property
    def now(self):
        return self.clock or datetime.now(UTC).astimezone()

    def owner(self, account):
        return next((one for one in self.customers.values() if account in one.accounts), None)

    def sign(self, transfer):
        """Execute a transfer, or keep it for its day; a payee who is new is not paid much."""
        since = self.owner(transfer.account).payees.get(transfer.payee, self.now)
        if Decimal(transfer.amount) > LARGE and self.now - since <= KNOWN_FOR:
            transfer.state = "rejected"
        elif transfer.day is not None and transfer.day > self.now.date():
            transfer.state = "signed"
        else:
            self.execute(transfer, self.now.date())

    def execute(self, transfer, day):
        transfer.state = "done"
        self.executed.append((day, transfer))

    def end_of_day(self, until):
        """Execute what is due up to a day, each transfer on its own day."""
        due = [one for one in self.transfers.values() if one.state == "signed" and one.day <= until]
        for transfer in sorted(due, key=lambda one: one.day):
            self.execute(transfer, transfer.day)


class Bank:
    """The WSGI application; a token belongs to one branch."""

    routes = Map(
        [
            Rule("/accounts", methods=["GET"], endpoint="accounts"),
            Rule("/accounts/<number>/entries", methods=["GET"], endpoint="entries"),
            Rule("/transfers", methods=["POST"], endpoint="transfer"),
            Rule("/transfers/<id>", methods=["GET"], endpoint="show"),
            Rule("/transfers/<id>", methods=["DELETE"], endpoint="cancel"),
        ]
    )

    def __init__(self):
        self.branches = [Branch()]

    def __call__(self, environ, start_response):
        request = Request(environ)
        try:
            method, named = self.routes.bind_to_environ(environ).match()
            branch, who = self.caller(request)
            status, content = getattr(self, method)(branch, who, request, **named)
        except HTTPException as error:
            status, content = error.code, {"error": error.name}
        answer = Response(json.dumps(content), status, mimetype="application/json")
        return answer(environ, start_response)

    def caller(self, request):
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        for branch in self.branches:
            if token in branch.tokens:
                return branch, branch.tokens[token]
        raise Refused(401)

    def accounts(self, branch, who, _request):
        return 200, {"accounts": [{"number": one} for one in self.customer(branch, who).accounts]}

    def customer(self, branch, who):
        if who not in branch.customers:
            raise Refused(403)
        return branch.customers[who]

    def entries(self, branch, who, _request, number):
        owned, today = self.customer(branch, who).accounts, branch.now.date()
        if number not in owned:
            raise Refused(404)
        shown = [(key, day) for key, day in owned[number] if today - DEPTH <= day <= today]
        return 200, {"entries": [{"id": key, "day": day.isoformat()} for key, day in shown]}

    def transfer(self, branch, who, request):
        content = request.get_json(silent=True)
        names = ("account", "payee", "amount")
        if not isinstance(content, dict) or not all(isinstance(content.get(n), str) for n in names):
            raise Refused(400)
        if who in branch.customers or branch.owner(content["account"]) is None:
            raise Refused(403)
        try:
            day = date.fromisoformat(content["day"]) if content.get("when") == "later" else None
            in_past = day is not None and day <= branch.now.date()
        except (KeyError, TypeError, ValueError):
            raise Refused(400) from None
        amount = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{2})?", content["amount"])
        if in_past or not amount or not content["payee"]:
            raise Refused(400)
        texts = {name: content[name] for name in names}
        made = Transfer(id=token_hex(8), tpp=who, day=day, **texts)
        branch.transfers[made.id] = made
        return 201, shown(made)

    def find(self, branch, who, id):
        transfer = branch.transfers.get(id)
        if transfer is None or transfer.tpp != who:
            raise NotFound
        return transfer

    def show(self, branch, who, _request, id):
        return 200, shown(self.find(branch, who, id))

    def cancel(self, branch, who, _request, id):
        transfer = self.find(branch, who, id)
        if transfer.state not in {"new", "signed"}:
            raise Refused(409)
        transfer.state = "ended"
        return 200, shown(transfer)


class Refused(HTTPException):
    """A refusal with a status."""

    def __init__(self, status):
        super().__init__()
        self.code = status


def shown(transfer):
    """Return a transfer as it is shown."""
    day = {} if transfer.day is None else {"day": transfer.day.isoformat()}
    names = ("id", "account", "payee", "amount", "state")
    link = {"sign": f"/sign/{transfer.id}"} if transfer.state == "new" else {}
    return {**{name: getattr(transfer, name) for name in names}, **day, **link}
