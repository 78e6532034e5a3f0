"""Seventy-seven mistakes in contracts and target files: each is named at its own line, once."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay._resources import contract_dir
from assay.binding.model.target import FixtureKind
from assay.binding.read.without_effect import without_effect
from assay.cli.check import command
from assay.errors import InputError
from assay.preparation.target_file import find_target, read_target

TESTS = Path(__file__).parent.parent
TARGET = (contract_dir() / "targets" / "sandbox.yaml").read_text(encoding="utf-8")
CONTRACT = (TESTS / "elsewhere" / "lab.yaml").read_text(encoding="utf-8")
BALANCES = "    arguments: {iban: {query: iban}}\n"
AMOUNT = 'amount: {body: /amount, value: "12.30", other: "12.31"}'
FACTORS = "factors: {sms: sms, cap: cap, soft-token: soft-token, email: email}"
WAIVER = "waivers: [{obligation: aisp/batch-quota/OBLIGATION, owner: a, reason: b, expires: DAY}]"

#: What is replaced in a target file and by what, and the words that the problem must have.
IN_TARGETS = {
    "operation": ("  accounts:\n", "  acounts:\n", "did you mean 'accounts'?"),
    "argument": ("since: {query", "sinse: {query", "did you mean 'since'?"),
    "mode": ("      several:\n", "      severl:\n", "did you mean 'several'?"),
    "disclosure": ("{PsuIdentity:", "{PsuIdentiti:", "did you mean 'PsuIdentity'?"),
    "field": ("fields: {iban: /iban}\n", "fields: {ibann: /iban}\n", "did you mean 'iban'?"),
    "resource": ("values: {account:", "values: {acount:", "did you mean 'account'?"),
    "fixed value": ("value: SLEV}", "value: SLEB}", "expected 'SLEV', found 'SLEB' (the clause charge-bearer"),
    "found in nothing": (BALANCES, BALANCES.replace("query: iban", "query: iban, found: account"), "did you mean 'accounts'?"),
    "found without id": (BALANCES, BALANCES.replace("query: iban", "query: iban, found: accounts"), "add operations.accounts.item.id"),
    "each without place": ("{body: /accounts}", "{body: /accounts, each: {iban: x}}", 'write "{}"'),
    "each of no resource": ("{body: /accounts}", '{body: /accounts, each: {by: {acount: "{}"}}}', "did you mean 'account'?"),
    "the same other": ("other: SUPP", "other: DVPM", "value and other are both 'DVPM'"),
    "scope": ("zone: Europe/Paris", "zone: Europe/Paris\noutside: [professionals]", "no contract has the scope statement"),
    "waiver": ("zone: Europe/Paris", "zone: Europe/Paris\n" + WAIVER.replace("DAY", "2030-01-01").replace("OBLIGATION", "acounts-next-day"), "did you mean 'aisp/batch-quota/accounts-next-day'?"),
    "zone": ("zone: Europe/Paris", "zone: Europe/Pari", "did you mean 'Europe/Paris'?"),
    "offset": ("zone: Europe/Paris", "zone: UTC+2", "Etc/GMT-2 if it has no summer time"),
    "factor": (FACTORS, FACTORS.replace("sms:", "smss:"), "did you mean 'sms'?"),
    "segment": ("    large-professional:", "    large-profesional:", "did you mean 'large-professional'?"),
    "effect": ("    creditorAccount: /creditor\n", "    creditorAcount: /creditor\n", "did you mean 'creditorAccount'?"),
    "state": ("          done: [executed]", "          executed: [executed]", "done: executed"),
    "safe payee": ("zone: Europe/Paris", "zone: Europe/Paris\nsafety: {only: {creditorAcount: [X]}}", "did you mean 'creditorAccount'?"),
    "safe amount": ("zone: Europe/Paris", "zone: Europe/Paris\nsafety: {most: {amont: '1.00'}}", "did you mean 'amount'?"),
    "pointer": ("next: /links/next\n    links: [/links/self, /links/next]\n    values", "next: links/next\n    links: [/links/self, /links/next]\n    values", "expected a JSON pointer"),
    "presence": (", value: 192.0.2.10}", "}", "'value' is missing"),
    "authentication": ("auth: {kind: bearer}", "auth: {kind: baerer}", "did you mean 'bearer'?"),
    "secret": ("auth: {kind: bearer}", "auth: {kind: bearer, token: abc}", "`token_env: BANK_TOKEN`"),
    "offers": ("  offers:", "  offer:", "did you mean 'offers'?"),
    "offer": ("    - clock\n", "    - clok\n", "expected psu, two-psu"),
    "list in a query": ("value: aisp extended_transaction_history}", "value: [aisp]}", "found a list"),
    "two places": (AMOUNT, AMOUNT.replace("body", "query: amount, body"), "expected exactly one of query, header, body and path"),
    "item key": ("on: /bookingDate", "at: /bookingDate", "unknown key 'at'"),
    "top-level key": ("transport: embedded", "transport: embedded\ntimeot: 5", "did you mean 'timeout'?"),
    "timeout": ("transport: embedded", "transport: embedded\ntimeout: 5s", "expected a number of seconds"),
    "transport": ("transport: embedded", "transport: https", "expected embedded or http"),
    "base URL": ("base_url: https://", "base_url: www.", "expected an http or https URL"),
    "base": ("target: sandbox", "target: sandbox\nextends: sandbx", "did you mean 'sandbox'?"),
    "duplicate key": ("zone: Europe/Paris", "zone: Europe/Paris\nzone: Europe/Berlin", "zone"),
    "misspelt required key": ("base_url: https://", "baseurl: https://", "did you mean 'base_url'?"),
    "no such slot": (BALANCES, BALANCES.replace("query: iban", "path: ibam"), "has no {ibam}"),
    "no such slot of a mode": ("immediate: {body: /paymentType,", "immediate: {path: product,", "has no {product}"),
    "decision": ("  factors: {sms", "  decisions: {reject: no}\n  factors: {sms", "unknown key 'reject' (known: confirm, refuse)"),
    "word of two states": ("ended: [refused, expired, cancelled]", "ended: [refused, executed, cancelled]", "'executed' is also a word for done"),
    "state of a consent": ("          rejected: [rejected]", "          valid: [valid]", "a request has no state 'valid' (write 'done')"),
    "added elsewhere": ("{body: /debtorAccount}", "{body: /debtorAccount, adds: [state]}", "move it to successfulReportUrl"),
    "relative return address": ('value: "https://tpp.example/return?state=4711"', "value: /return", "expected an absolute URL, found '/return'"),
    "amount": (AMOUNT, AMOUNT.replace('"12.30"', "twelve"), "expected an amount, found 'twelve'"),
    "confirmed check": ("zone: Europe/Paris", "zone: Europe/Paris\nconfirmed: {page/base_url: so}", "did you mean 'pages'?"),
    "confirmed operation": ("zone: Europe/Paris", "zone: Europe/Paris\nconfirmed: {pages/operations.acounts.next: so}", "did you mean 'accounts'?"),
    "error code of no rule": ("zone: Europe/Paris", "zone: Europe/Paris\nerror: {code: /code, codes: {X: [Y]}}", "no contract has the code 'X' (remove it: nothing uses it)"),
    "header with a secret": ("presence:", "headers: {Authorization: x}\npresence:", "expected the name of a header that carries no secret"),
}  # fmt: skip
#: The same for contracts.
IN_CONTRACTS = {
    "kind": ("kind: pagination", "kind: paginaton", "did you mean 'pagination'?"),
    "kind of a package": ("kind: quota", "kind: webhooks", "is the package of another kind installed?"),
    "misspelt parameter": ("    size: 6\n", "    sise: 6\n", "did you mean 'size'?"),
    "open bracket": ("lists: [specimen]", "lists: [specimen", "is a bracket, brace or quote left open?"),
    "no-break space": ("    kind: pagination\n", "\u00a0   kind: pagination\n", "no-break spaces"),
    "number": ("    size: 6\n", "    size: six\n", "expected a whole number of at least 1"),
    "parameter": ("    size: 6\n", "    size: 6\n    sise: 6\n", "did you mean 'size'?"),
    "operation": ("operation: specimens\n    size", "operation: specimen\n    size", "did you mean 'specimens'?"),
    "resource": ("resources: [finding]", "resources: [findng]", "did you mean 'finding'?"),
    "zone": ("zone: Asia/Kathmandu", "zone: Asia/Katmandou", "did you mean 'Asia/Katmandu'?"),
    "offset": ("zone: Asia/Kathmandu", "zone: UTC+5", "Etc/GMT-5 if it has no summer time"),
    "source": ("source: {section: Specimens and findings, line: 9,", "source: line 9 #", "expected where the document says so"),
    "no space": ("title: Ordering analyses", "title:Ordering analyses", "write a space after the colon"),
    "colon": ("says: A page holds six specimens.", "says: A page: holds six", "quote text that contains ': '"),
    "colon in braces": ("source: {section: Specimens and findings, line: 9,", "source: {section: Specimens: findings, line: 9,", "quote text that contains ': '"),
    "id": ("id: hourly", "id: unit", "rename one of them"),
    "limit of calls about a request": ("operations: [specimens, findings]\n    limit: 9", "operations: [specimens, look]\n    limit: 9", "'look' lists nothing that belongs to what it is about"),
    "period": ("    per: hour\n", "    per: day\n", "expected calendar-day, clock-hour, rolling-hour, hour or minute"),
    "limit": ("    limit: 9\n", "    limit: 0\n", "expected a whole number of at least 1"),
    "about": ("    about: barcode\n  place", "    about: nummer\n  place", "did you mean 'barcode'?"),
    "slot": ("/specimens/{barcode}/findings", "/specimens/{nummer}/findings", "there is no argument 'nummer'"),
    "indent": ("  - id: specimens.page\n    kind", "  - id: specimens.page\n   kind", "begin in the same column"),
    "tab": ("  - id: specimens.page\n    kind", "  - id: specimens.page\n\tkind", "indent with spaces"),
    "trait": ("refuses: [spoilt]", "refuses: [spoiled]", "did you mean 'spoilt'?"),
    "request": ("    request: order\n    refuses", "    request: oder\n    refuses", "did you mean 'order'?"),
    "version of the language": ("assay: 1", "assay: 2", "expected the version of this language, 1"),
    "name": ("contract: lab", "contract: Lab", "expected a name of small letters"),
    "version": ('version: "4"', "version: 4", "expected a version in quotes"),
    "method": ("method: GET", "method: get", "expected a method: GET"),
    "path": ("path: /specimens\n", "path: specimens\n", "expected a path that begins with /"),
    "makes": ("makes: order", "makes: orders", "did you mean 'order'?"),
    "lists": ("lists: [specimen]", "lists: specimen", "expected a list of resources"),
    "due": ("due: {argument: day,", "due: {argument: dai,", "did you mean 'day'?"),
    "mode of due": ("modes: [booked]}", "modes: [boked]}", "did you mean 'booked'?"),
    "owner": ("    of: specimen\n", "    of: specimens\n", "did you mean 'specimen'?"),
    "atom": ("above: 40}", "below: 40}", "unknown key 'below'"),
    "two conditions": ("above: 40}", "above: 40, is: X}", "or an atom"),
    "day": ("    key: barcode\n", "    key: barcod\n", "did you mean 'barcode'?"),
    "rules": ("rules:\n", "rules: \n  orders:\n", "expected a list of rules"),
    "level": ("    kind: quota\n", "    kind: quota\n    level: should\n", "expected must or may"),
    "sentence": ("says: A page holds six specimens.", "says: [A, page]", "expected a sentence"),
    "key of an operation": ("    lists: [specimen]\n", "    lists: [specimen]\n    about_: x\n", "did you mean 'about'?"),
    "enum": ("enum: [mg, ml, none]", "enum: mg", "expected"),
}  # fmt: skip


def problems(tmp_path, given, old, new, *others):
    """Check a file with a mistake; return its problems and the line of the mistake."""
    assert old in given
    changed = given.replace(old, new, 1)
    pairs = zip(given.splitlines(), changed.splitlines(), strict=False)
    line = next(number for number, (a, b) in enumerate(pairs, 1) if a != b)
    path = tmp_path / "file.yaml"
    path.write_text(changed, encoding="utf-8")
    result = CliRunner().invoke(command, [*others, str(path)])
    assert isinstance(result.exception, InputError), result.output
    return result.exception.problems, line


def check(found, line, words):
    """Compare the only problem with what it should be."""
    (problem,) = found
    assert problem.line == line
    assert words in f"{problem.what} ({problem.hint})"


@pytest.mark.parametrize("name", IN_TARGETS)
def test_target(tmp_path, name):
    """A target file is compared with the contracts that it names."""
    old, new, words = IN_TARGETS[name]
    check(*problems(tmp_path, TARGET, old, new), words)


@pytest.mark.parametrize("name", IN_CONTRACTS)
def test_contract(tmp_path, name):
    """A mistake in a contract is one problem, whatever follows from it."""
    old, new, words = IN_CONTRACTS[name]
    check(*problems(tmp_path, CONTRACT, old, new), words)


def test_all():
    """There are as many as a reviewer once tried."""
    assert 77 <= len(IN_TARGETS) + len(IN_CONTRACTS)


def test_an_item_is_somewhere(tmp_path):
    """Pointers into the items of a list that is nowhere: the line is that of the item."""
    found, line = problems(tmp_path, TARGET, "    list: /balances\n", "")
    check(found, line + 1, "operations.balances.item: pointers into items, without `list`")


def test_a_signer_needs_something_to_sign(tmp_path):
    """A payment needs `write`; a consent that is signed needs no more than `consent`."""
    found, _ = problems(tmp_path, TARGET, "    - write\n", "")
    check(found, 54, "an SCA signer but nothing to sign")
    desk = TESTS / "consents"
    given = (desk / "target.yaml").read_text(encoding="utf-8")
    assert "write" in given
    path = tmp_path / "reading.yaml"
    path.write_text(given.replace(", write", "").replace("write, ", ""), encoding="utf-8")
    assert CliRunner().invoke(command, [str(desk / "quay.yaml"), str(path)]).exception is None


@pytest.mark.parametrize("kind", FixtureKind)
def test_words_for_a_control_api_need_one(kind):
    """A fixture class gets the contract's own words, so that the words of another have no effect."""
    target = read_target(find_target("sandbox"))
    target = replace(target, fixtures=replace(target.fixtures, kind=kind))
    keys = [key for key, _ in without_effect(target, []) if key[0] == "fixtures"]
    words = [("fixtures", "segments"), ("fixtures", "effects")]
    assert keys == ([] if kind is FixtureKind.CONTROL else words)


NOTES = {
    "value": ("value: SLEV}", "}", "chargeBearer.value: no value"),
    "slot": (BALANCES, "    path: /accounts/{id}/balances\n" + BALANCES, "operations.balances.path: {id}"),
    "expired": ("zone: Europe/Paris", WAIVER.replace("DAY", "2026-01-01").replace("OBLIGATION", "accounts-next-day"), "the waiver expired on 2026-01-01"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTES)
def test_notes(tmp_path, name):
    """What is no error, but leaves obligations open, is a note at the line of its key."""
    old, new, words = NOTES[name]
    given = TARGET.replace(old, new, 1)
    path = tmp_path / "file.yaml"
    path.write_text(given, encoding="utf-8")
    result = CliRunner().invoke(command, ["aisp", "pis", str(path)])
    pairs = zip(TARGET.splitlines(), given.splitlines(), strict=False)
    line = next(number for number, (a, b) in enumerate(pairs, 1) if a != b)
    assert result.exception is None
    assert f"{path}:{line}: note: " in result.output
    assert words in result.output


def test_nothing_is_lacking_for_what_is_never_called(tmp_path):
    """Where the token covers everything, the operation that makes consents needs no values."""
    desk = TESTS / "consents"
    before, rest = (desk / "target.yaml").read_text(encoding="utf-8").split("  permit:\n")
    after = rest[rest.index("  accounts:\n    headers") :].replace(
        '{Consent-ID: "{consent-id}"}', "{}"
    )
    path = tmp_path / "given.yaml"
    path.write_text(f"{before}  permit: {{given: with-token}}\n{after}", encoding="utf-8")
    result = CliRunner().invoke(command, [str(desk / "quay.yaml"), str(path)])
    assert result.exception is None, result.exception
    assert "operations.permit" not in result.output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: pagination", "kind: paginaton", "did you mean 'pagination'?"),
        ("lists: [specimen]", "lists: [specimen", "is a bracket, brace or quote left open?"),
    ],
)
def test_a_contract_that_the_target_file_names_as_well(tmp_path, old, new, words):
    """Its mistake is one problem, at its own line."""
    target = (TESTS / "elsewhere" / "target.yaml").read_text(encoding="utf-8")
    path = tmp_path / "target.yaml"
    path.write_text(
        target.replace("contracts: [lab]", "contracts: [./file.yaml]"), encoding="utf-8"
    )
    assert "./file.yaml" in path.read_text(encoding="utf-8")
    found, line = problems(tmp_path, CONTRACT, old, new, str(path))
    check(found, line, words)
    assert found[0].path.endswith("file.yaml")


def test_a_limit_of_calls_where_no_customer_owns_anything(tmp_path):
    """A thing that is made, and listed later, is nothing that a customer of a trial can own before."""
    contract = """
      assay: 1
      contract: parcels
      title: Parcels
      version: "1"
      interface: parcels
      document: A letter
      zone: unspecified
      resources: {parcel: {says: a parcel, key: number, fields: [number]}}
      operations:
        parcels: {method: GET, path: /parcels, lists: [parcel]}
        send: {method: POST, path: /parcels, makes: parcel}
      rules:
        - {id: hourly, kind: quota, operations: [parcels], limit: 9, per: hour, counts: all, refused-calls: unspecified,
           page-turns: unspecified, says: Nine an hour., source: {section: A, line: 1}}
    """
    path = tmp_path / "parcels.yaml"
    path.write_text(contract, encoding="utf-8")
    result = CliRunner().invoke(command, [str(path)])
    assert isinstance(result.exception, InputError), result.exception
    (problem,) = result.exception.problems
    assert (14, "add a resource without `of` that no operation `makes`") == (
        problem.line,
        problem.hint,
    )


#: Files of the machine that no target file should name: none of them begins with `assay: 1`.
NOT_OURS = {
    "a file of passwords": "root:$6$abcSECRET:19000:0:99999:7:::\n",
    "two lines of it": "root:$6$abcSECRET:19000:0:99999:7:::\nbin:SECRET:19000:0:99999:7:::\n",
    "variables": "TOKEN=SECRET\n",
    "JSON": '{"token": "SECRET", "SECRET": 1}',
    "an open quote": 'key: "SECRET\n',
    "an alias": "a: *SECRET\n",
    "a tag": "a: !SECRET x\n",
    "a key twice": "SECRET: 1\nSECRET: 2\n",
}


@pytest.mark.parametrize("name", NOT_OURS)
@pytest.mark.parametrize("key", ["extends: ./{}", "contracts: [./{}]", "waivers: ./{}"])
def test_nothing_of_a_foreign_file_is_quoted(name, key, tmp_path, monkeypatch):
    """Of a file that a target file names, and that is none of Assay's, no word is printed."""
    monkeypatch.chdir(tmp_path)
    Path("foreign.yaml").write_text(NOT_OURS[name])
    text = TARGET.replace("contracts: [aisp, pis]\n", "")
    Path("t.yaml").write_text(f"{text}{key.format('foreign.yaml')}\n")
    with pytest.raises(InputError) as caught:
        command.main(["t.yaml"], standalone_mode=False)
    assert "SECRET" not in str(caught.value)
    assert "this is no file of Assay" in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ("{}: 1\n", "unknown key 'nothing-of-it-0'"),
        ("operations:\n  accounts:\n    arguments:\n@      {}: {{header: X-{}}}\n", "arguments.nothing-of-it-0: the contract has no such argument here"),
        ("waivers:\n@  - {{obligation: aisp/{}/x, owner: a, reason: b, expires: 2030-01-01}}\n", "waiver of 'aisp/nothing-of-it-0/x'"),
    ],
)  # fmt: skip
def test_many_mistakes(lines, wrong, tmp_path, monkeypatch):
    """Of thousands of mistakes, a hundred are listed, and hints are sought for a thousand at most."""
    searched = []
    monkeypatch.setattr(
        "assay.errors.get_close_matches", lambda word, *_, **__: searched.append(word) or []
    )
    begin, _, line = lines.rpartition("@")
    path = tmp_path / "t.yaml"
    own = "assay: 1\ntarget: t\nextends: sandbox\n" + begin
    path.write_text(own + "".join(line.format(*[f"nothing-of-it-{n}"] * 2) for n in range(4000)))
    with pytest.raises(InputError) as caught:
        command.main([str(path)], standalone_mode=False)
    printed = str(caught.value).splitlines()
    assert 101 == len(printed)
    assert wrong in printed[0]
    assert "and at least 900 more" == printed[-1]
    assert len(searched) <= 2000
