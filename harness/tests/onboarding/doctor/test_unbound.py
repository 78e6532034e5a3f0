"""What the answers show and the file lacks is proposed: `unbound`, and the commands that write it."""

import json
import re
from textwrap import dedent
from types import SimpleNamespace

import pytest
from command_line import assay
from rows import for_each

from assay.binding.model.pointer import MISSING
from assay.binding.model.spelling import OperationBinding
from assay.files.load import load
from assay.history import Wire
from assay.onboarding.doctor import examination
from assay.onboarding.doctor.examination import examine
from assay.onboarding.doctor.unbound import _address, _first_screen, _key, _shape
from assay.parsing.parse import parse_contracts
from assay.preparation.target_file import shipped_file
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

READS = ("accounts", "transactions")
#: Names that lead astray: the day of each entry stands beside another one.
NAMES = {
    '"iban"': '"number"',
    '"bookingDate"': '"valueDate"',
    '"accounts"': '"products"',
    '"next"': '"following"',
}


class Renamed:
    """The sandbox, whose answers have other names for things, and a date that is a day too early."""

    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start):
        lines = []
        body = b"".join(self.app(environ, lambda *given: lines.extend(given)))
        if environ["PATH_INFO"].startswith("/accounts") and body.startswith(b"{"):
            text = body.decode()
            for name, other in NAMES.items():
                text = text.replace(name, other)
            shown = json.loads(text)
            for entry in shown.get("transactions", ()):
                entry["bookingDate"] = "2020-01-01"
            body = json.dumps(shown).encode()
        headers = [line for line in lines[1] if line[0].lower() != "content-length"]
        start(lines[0], [*headers, ("Content-Length", str(len(body)))])
        return [body]


def lacking(folder, *keys):
    """Write a target file for the sandbox in which an operation lacks some keys."""
    path = folder / "bank.yaml"
    rows = [f"    {key}" for key in keys]
    path.write_text("assay: 1\ntarget: bank\nextends: sandbox\noperations:\n" + "\n".join(rows))
    return path


def proposals(path, contract="aisp"):
    """Return the value that is proposed for each key, and whether it is certain."""
    findings = examine(str(path), (contract,)).findings
    edits = (finding.edit for finding in findings if finding.edit)
    return {".".join(map(str, edit.at[1:])): (edit.new, edit.certain) for edit in edits}


def test_the_sandbox_lacks_nothing(tmp_path):
    """Nor is anything proposed for what no rule needs."""
    path = lacking(tmp_path)
    path.write_text("assay: 1\ntarget: bank\nextends: sandbox\n")
    assert {} == proposals(path) | proposals(path, "pis")


@for_each(
    ("contract", "row", "key"),
    [
        ("aisp", "accounts: {list: null}", "accounts.list"),
        ("aisp", "accounts: {next: null}", "accounts.next"),
        ("aisp", "accounts: {item: {fields: {iban: null}}}", "accounts.item.fields.iban"),
        ("aisp", "transactions: {list: null}", "transactions.list"),
        ("aisp", "transactions: {item: {on: null}}", "transactions.item.on"),
        ("pis", "create-payment: {approval: null}", "create-payment.approval"),
        ("pis", "create-payment: {item: {key: null}}", "create-payment.item.key"),
        (
            "pis",
            "read-payment: {item: {fields: {amount: null}}}",
            "read-payment.item.fields.amount",
        ),
    ],
)
def test_what_is_missing_is_proposed_as_it_was(contract, row, key, tmp_path):
    """The value is that of the sandbox's own file."""
    sound = load(shipped_file("sandbox")).data["operations"]
    for step in key.split("."):
        sound = sound[step]
    found = proposals(lacking(tmp_path, row), contract)
    assert found[key][0] == (sound if key != "transactions.list" else "/transactions")


def test_items_without_a_resource_are_named(tmp_path):
    """Nothing that a rule says of an account is known to be about one."""
    path = lacking(tmp_path, "accounts: {item: {resource: null}}")
    findings = examine(str(path), ("aisp",)).findings
    (note,) = (each for each in findings if each.key == "operations.accounts.item.resource")
    assert "account, card" in note.hint


def test_another_list_is_proposed_where_it_has_what_customers_own(tmp_path):
    """A pointer that finds nothing is replaced, whatever the list is called."""
    assert proposals(lacking(tmp_path, "accounts: {list: /data}"))["accounts.list"] == (
        "/accounts",
        True,
    )


def test_a_state_has_the_words_that_were_seen(tmp_path):
    """Sorted by what is usual; the bank may have more."""
    found = proposals(lacking(tmp_path, "read-payment: {item: {state: null}}"), "pis")
    value, certain = found["read-payment.item.state"]
    assert value["at"] == "/status"
    assert value["values"]["done"] == ["executed"]
    assert not certain


def test_what_customers_own_is_recognised_whatever_its_name(tmp_path, monkeypatch):
    """A number, a day and a list by their values; the link to the next page by what it is called."""

    def renamed(target, **given):
        return set_up(target, bank=lambda url: Renamed(make_app(SOUND, base_url=url)), **given)

    monkeypatch.setattr(examination, "set_up", renamed)
    rows = [f"{name}: {{list: null, next: null, links: null, item: null}}" for name in READS]
    assert proposals(lacking(tmp_path, *rows))["accounts.list"] == ("/products", True)
    item = "item: {key: null, on: null, fields: null}"
    rows = [
        "accounts: {list: /products, next: null, links: null, item: null}",
        f"transactions: {{list: /transactions, next: null, links: null, {item}}}",
    ]
    found = proposals(lacking(tmp_path, *rows))
    assert found["accounts.item.key"] == ("/number", True)
    assert "accounts.next" not in found
    # Accounts cannot be asked for their entries before their key is known.
    rows[0] = "accounts: {list: /products, item: {key: /number, fields: null}}"
    found = proposals(lacking(tmp_path, *rows))
    assert found["transactions.item.on"] == ("/valueDate", True)


def sandboxed(monkeypatch, change=lambda path, text: text):
    """Let the doctor examine a sandbox whose answers are changed; return the calls of its screens."""
    screens = []

    def bank(url):
        app = make_app(SOUND, base_url=url)

        def changed(environ, start):
            if environ["PATH_INFO"].startswith("/consent-approval"):
                screens.append(environ["REQUEST_METHOD"])
            lines = []
            text = b"".join(app(environ, lambda *given: lines.extend(given))).decode()
            body = change(environ["PATH_INFO"], text).encode()
            headers = [line for line in lines[1] if line[0].lower() != "content-length"]
            start(lines[0], [*headers, ("Content-Length", str(len(body)))])
            return [body]

        return changed

    monkeypatch.setattr(
        examination, "set_up", lambda target, **given: set_up(target, bank=bank, **given)
    )
    return screens


def test_a_field_is_recognised_by_what_was_sent_for_it(tmp_path, monkeypatch):
    """Whatever it is called; not where two members show it."""

    def renamed(path, text):
        if path.count("/") == 1 or not path.startswith("/payment-requests"):
            return text
        text = text.replace('"creditorAccount"', '"toWhom"')
        return re.sub(r'"currency": ?"EUR"', '"unit": "EUR", "of": "EUR"', text)

    sandboxed(monkeypatch, renamed)
    row = "read-payment: {item: {fields: {creditorAccount: null, currency: null}}}"
    found = proposals(lacking(tmp_path, row), "pis")
    assert found["read-payment.item.fields.creditorAccount"] == ("/toWhom", True)
    assert "read-payment.item.fields.currency" not in found


def test_the_first_screen_is_looked_at_and_left(tmp_path, monkeypatch):
    """Its fields are proposed as a guess, and no form is sent."""
    screens = sandboxed(monkeypatch)
    path = lacking(tmp_path)
    path.write_text(
        "assay: 1\ntarget: bank\nextends: sandbox\nsca: {kind: none, screens: null, factors: null}\n"
    )
    new = {"kind": "forms", "screens": [{"login": "login", "password": "password"}]}
    assert proposals(path, "pis")[""] == (new, False)
    assert ["GET"] == screens
    path.write_text(path.read_text() + "environment: live\n")
    assert "" not in proposals(path, "pis")
    assert ["GET"] == screens


PAGE = """<form method=post action=/x><input name=customerNumber><input name=password type=password>
<select name=device><option>sms<option>cap_reader<option>none</select><input name=oneTimeCode>
<button name=action value=approve>A</button><button name=action value=decline>R</button></form>"""


@for_each(
    ("page", "secret"),
    [
        (PAGE, "password"),
        (PAGE.replace("password ", "word "), "word"),
        (PAGE.replace("oneTimeCode", "pin"), ""),
        ("<p>Open the app", ""),
    ],
)
def test_all_that_one_screen_asks_for(page, secret):
    """With the words for factors and decisions; of two secrets, none is known."""
    (contract,) = parse_contracts(("pis",))
    record = SimpleNamespace(
        contracts_bound=(contract,),
        page=Wire(method="GET", url="x", body=page.encode()),
        finding=lambda *_, edit, **__: edit,
    )
    parts = {"customerNumber": "login", secret: "password", "device": "factor"}
    parts |= {"oneTimeCode": "code", "action": "decision"}
    assert [edit.new for edit in _first_screen(record)] == [
        {
            "kind": "forms",
            "screens": [parts],
            "factors": {"sms": "sms", "cap": "cap_reader"},
            "decisions": {"confirm": "approve", "refuse": "decline"},
        }
    ] * bool(secret)


@for_each(
    ("body", "place"),
    [({"paymentId": "42"}, None), ({"approval": "x"}, "Location"), (MISSING, "Location")],
)
def test_the_key_of_a_new_request_is_the_end_of_its_location(body, place):
    """For certain, unless the body has it."""
    (contract,) = parse_contracts(("pis",))
    wire = Wire(method="POST", url="x", headers=(("location", "https://x.example/payments/42"),))
    seen = SimpleNamespace(
        operation=contract.operations["create-payment"],
        binding=OperationBinding(),
        answers=[SimpleNamespace(wire=wire)],
        bodies=[] if body is MISSING else [body],
    )
    found = [each.value for each in _key(seen, _shape(seen, contract))]
    assert found == ([{"header": place}] if place else [])


@for_each(
    ("link", "path", "argument"),
    [
        ("https://bank.example/v1/saldo?nr=K1", "/saldo", {"query": "nr"}),
        ("/v1/saldo?nr=id-7", "/saldo", {"query": "nr", "found": "accounts"}),
        (
            "/v1/accounts/id%2D7/saldo",
            "/accounts/{iban}/saldo",
            {"path": "iban", "found": "accounts"},
        ),
        ("/v1/saldo?nr=other", None, None),
    ],
)
def test_a_link_of_the_list_says_where_an_operation_is(link, path, argument):
    """By its key or by the bank's own name of the item; a link that names neither says nothing."""
    record = SimpleNamespace(
        target=SimpleNamespace(base_url="https://bank.example/v1"),
        binding=lambda _: SimpleNamespace(path=None),
        finding=lambda *_, edit, **__: edit,
    )
    operation = SimpleNamespace(id="balances", about="iban")
    edits = [*_address(record, operation, SimpleNamespace(id="accounts"), link, ("K1", "id-7"))]
    assert [edit.new for edit in edits] == ([] if path is None else [path, argument])


# -- the commands ------------------------------------------------------------------
CALLS = dedent(
    """\
    2.1 Accounts
    GET /accounts
    GET /accounts/balances?iban=FR7630001007941234567890185
    200 {"balances": [ ... ]}
    GET /accounts/transactions?iban=FR7630001007941234567890185&dateFrom=2026-01-01&dateTo=2026-02-01
    PUT /consents
    {"accounts": ["FR7630001007941234567890185"]}
    """
)


@pytest.fixture(scope="module")
def url():
    with serving(make_app()) as served:
        yield served


def test_from_calls_of_a_manual_and_a_bank_to_a_file(url, tmp_path, monkeypatch):
    """What the manual shows is drafted; what the bank answers takes the place of the gaps."""
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger"))
    (tmp_path / "calls.txt").write_text(CALLS)
    given = ("--yes", "--fixtures", "control", "-c", "aisp", "--openapi", "calls.txt")
    given = (*given, "--presence", "PSU-IP-Address")
    code, out, err = assay("init", "--probe", url, *given, cwd=tmp_path)
    written = (tmp_path / "my-bank.yaml").read_text("utf-8")
    operations = load(tmp_path / "my-bank.yaml").data["operations"]
    assert operations["accounts"]["item"]["key"] == "/iban"
    assert operations["transactions"]["item"]["on"] == "/bookingDate"
    assert operations["transactions"]["arguments"]["iban"] == {"query": "iban"}
    assert operations["balances"]["list"] == "/balances"
    assert "example `list:" not in written
    assert "accounts answers 200:" in err
    assert "FR76" not in err
    assert "The bank is called" in out
    assert code == 3


def test_nobody_is_called_who_does_not_agree(url, tmp_path, monkeypatch):
    """The draft is there, as without --probe."""
    monkeypatch.setattr("assay.cli.doctor.asks", lambda: True)
    monkeypatch.setattr("assay.cli.doctor.click.confirm", _no)
    answers = ("--environment", "sandbox", "--zone", "-", "--auth", "bearer", "--presence", "-")
    given = (*answers, "--fixtures", "control", "--extends", "none", "--name", "bank")
    code, out, err = assay("init", "--probe", url, *given, cwd=tmp_path)
    assert (tmp_path / "my-bank.yaml").exists()
    assert "doctor: about" not in out + err
    assert code != 0


def _no(*_, abort, **__):
    assert abort
    raise KeyboardInterrupt


def test_a_class_is_completed_first(tmp_path):
    """Before it can prepare anything, nothing can be asked."""
    given = ("--yes", "--fixtures", "python", "-c", "aisp")
    code, out, _ = assay("init", "--probe", "http://127.0.0.1:9", *given, cwd=tmp_path)
    assert "assay doctor --target my-bank.yaml --fix" in out
    assert code == 0
