"""Drafts of target files: by questions, from documents of other banks, and from our own."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import assay

from assay.binding.read.join import bind
from assay.cli.main import group
from assay.errors import InputError
from assay.files.load import load
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.prepare import load_target
from assay.preparation.target_file import read_target
from assay.sandbox.app import make_app
from assay.sandbox.dialects import BASE_PATHS, DIALECTS
from assay.sandbox.serve import serving

HERE = Path(__file__).parent
ASSAY = [sys.executable, "-c", "from assay.cli.main import main; main()"]


@pytest.fixture
def begin(tmp_path, capsys):
    """Return a function that drafts a target file and returns its path and the output."""

    def init(*args):
        out = tmp_path / "bank.yaml"
        group.main(["init", "--yes", "--out", str(out), *map(str, args)], standalone_mode=False)
        return out, capsys.readouterr().out

    return init


def guessed(path):
    """Return the guesses of a file by the line without them, and the gaps."""
    rows = [row.strip() for row in path.read_text(encoding="utf-8").splitlines()]
    guesses = dict(row.split("  # guessed: ") for row in rows if "  # guessed: " in row)
    return guesses, [row.removeprefix("# TODO: ") for row in rows if "# TODO: " in row]


def optional(*pointers):
    """Return links that the document does not require."""
    return [{"at": pointer, "optional": True} for pointer in pointers]


# -- from our own document -----------------------------------------------------


def test_from_our_own_document_a_run_conforms_but_for_what_is_missing(begin, tmp_path):
    """Every obligation of account information conforms, except those that need a reported gap."""
    target = load_target(None)
    bound = bind([parse_contract(find_contract("aisp"))], target)
    exported = tmp_path / "sandbox.json"
    exported.write_text(json.dumps(document(bound, target)))
    with serving(make_app()) as url:
        args = ["--base-url", url, "--fixtures", "control", "--zone", "Europe/Paris"]
        path, _ = begin("--openapi", exported, *args)
        assay("run", "-c", "aisp", "-t", path, "--out", "report", "--quiet", cwd=tmp_path)
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    verdicts = {one["id"]: one["verdict"] for one in report["obligations"]}
    open_ones = {one for one, verdict in verdicts.items() if verdict == "unverified"}
    for name in ("redirect-only/password-grant", "accounts.available/refused-outside"):
        assert verdicts.pop(f"aisp/{name}") == "not-applicable"
    assert {"conforms", "unverified", "unspecified"} == set(verdicts.values())
    assert {"aisp/no-extended-history/gives-no-more"} == open_ones
    _, missing = guessed(path)
    assert 4 == path.read_text("utf-8").count("credentials: {basic: true}  # guessed: ")
    assert 1 == len([one for one in missing if "`extended_transaction_history: " in one])


def test_a_shipped_dialect_is_a_beginning_that_runs(begin, tmp_path):
    """Without a document, a bank with a shipped dialect conforms at once."""
    with serving(DIALECTS["stet"](make_app())) as host:
        url = f"{host}{BASE_PATHS['stet']}"
        args = ("--extends", "stet-1.4.0", "--base-url", url, "--fixtures", "control")
        path, _ = begin("--contract", "aisp", *args)
        text = path.read_text(encoding="utf-8")
        gap = next(row for row in text.splitlines() if "the URL of the control API" in row)
        # The one line that is missing, as it says itself.
        path.write_text(text.replace(gap, "  " + gap.split("`")[1]), encoding="utf-8")
        run = ("run", "-c", "aisp", "-t", path, "--out", "report", "--quiet")
        code, out, _ = assay(*run, cwd=tmp_path)
    assert 0 == code, out
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    verdicts = {one["verdict"] for one in report["obligations"]}
    assert {"conforms", "unspecified", "not-applicable"} == verdicts


# -- from documents by hand ----------------------------------------------------


def test_a_document_in_the_manner_of_the_berlin_group(begin):
    """Each operation of account information is matched, and bound as far as names allow."""
    path, output = begin("--openapi", HERE / "berlin.yaml", "--auth", "bearer")
    read_target(path)
    data = load(path).data
    assert ["aisp", "pis"] == data["contracts"]
    assert "https://x.example/xs2a" == data["base_url"]
    assert {"X-Request-ID": "{unique}"} == data["headers"]
    assert [{"statuses": [200, 201, 204]}] == data["outcomes"]["accepted"]
    spelt = data["operations"]
    assert {
        "path": "/v1/accounts",
        "credentials": {"basic": True},
        "list": "/accounts",
        "item": {"key": "/iban", "id": "/resourceId", "fields": {"iban": "/iban"}},
    } == spelt["accounts"]
    assert {
        "method": "POST",
        "path": "/v1/consents",
        "arguments": {
            "accounts": {
                "body": ["/access/accounts", "/access/balances", "/access/transactions"],
                "each": {"iban": "{}"},
            }
        },
        "template": {
            "recurringIndicator": False,
            "validUntil": "{today+30}",
            "frequencyPerDay": 4,
        },
        "credentials": {"basic": True},
    } == spelt["consents"]
    assert {
        "path": "/v1/accounts/{account-id}/balances",
        "aliases": [],
        "arguments": {"iban": {"path": "account-id", "found": "accounts"}},
        "credentials": {"basic": True},
        "list": "/balances",
        "item": {
            "fields": {
                "iban": {"body": "/account/iban"},
                "balanceType": "/balanceType",
                "currency": "/balanceAmount/currency",
            }
        },
    } == spelt["balances"]
    assert {
        "path": "/v1/accounts/{account-id}/transactions",
        "aliases": [],
        "arguments": {
            "iban": {"path": "account-id", "found": "accounts"},
            "since": {"query": "dateFrom"},
            "until": {"query": "dateTo"},
        },
        "credentials": {"basic": True},
        "list": ["/transactions/booked", "/transactions/pending"],
        "next": "/transactions/_links/next/href",
        "links": optional("/transactions/_links/account/href", "/transactions/_links/next/href"),
        "item": {
            "key": "/transactionId",
            "on": "/bookingDate",
            # The IBAN in an item is the other side's.
            "fields": {
                "iban": {"body": "/account/iban"},
                "currency": "/transactionAmount/currency",
            },
        },
    } == spelt["transactions"]
    guesses, missing = guessed(path)
    assert "POST /v1/consents has a similar name" == guesses["path: /v1/consents"]
    assert "path: /v1/accounts" not in guesses
    assert "key: /iban" not in guesses
    assert any(one.startswith("Consent-ID is required by GET /v1/acc") for one in missing)
    assert any(
        "bookingStatus" in one and one.endswith("`queries: {bookingStatus: booked}`")
        for one in missing
    )
    assert all(f": TODO: {one}" in output for one in missing)


def test_payments_in_the_manner_of_the_berlin_group(begin):
    """A payment is matched; a value fixed by the contract replaces the document's example."""
    path, _ = begin("--openapi", HERE / "berlin.yaml", "--auth", "bearer", "--contract", "pis")
    spelt = load(path).data["operations"]
    product, ordinary = {"path": "payment-product"}, "sepa-credit-transfers"
    state = {
        "at": "/transactionStatus",
        "values": {
            "open": ["RCVD", "PDNG"],
            "done": ["ACSC"],
            "rejected": ["RJCT"],
            "ended": ["CANC"],
        },
    }
    assert {
        "path": "/v1/payments/{payment-product}",
        "credentials": {"basic": True},
        "modes": {
            **{mode: {**product, "value": ordinary} for mode in ("immediate", "deferred")},
            "instant": {**product, "value": f"instant-{ordinary}"},
        },
        "arguments": {
            "chargeBearer": {"body": "/chargeBearer", "value": "SLEV"},
            "creditorAccount": {"body": "/creditorAccount/iban"},
            "debtorAccount": {"body": "/debtorAccount/iban"},
            "amount": {"body": "/instructedAmount/amount", "value": "12.30", "other": "13.30"},
            "currency": {"body": "/instructedAmount/currency", "value": "EUR"},
            "date": {"body": "/requestedExecutionDate"},
        },
        "template": {"creditorName": "Creditor"},
        "one": "",
        "approval": "/_links/scaRedirect/href",
        "links": optional("/_links/scaRedirect/href"),
        "item": {"key": "/paymentId", "state": state},
    } == spelt["create-payment"]
    assert {
        "path": "/v1/payments/{payment-product}/{paymentId}",
        "credentials": {"basic": True},
        "arguments": {"paymentRequestResourceId": {"path": "paymentId"}},
        "one": "",
        "item": {
            "state": state,
            "fields": {
                "creditorAccount": "/creditorAccount/iban",
                "debtorAccount": "/debtorAccount/iban",
                "amount": "/instructedAmount/amount",
                "currency": "/instructedAmount/currency",
            },
        },
    } == spelt["read-payment"]
    # A DELETE cancels; nothing of the document modifies.
    assert "DELETE" == spelt["cancel-payment"]["method"]
    assert not {"modify-payment", "confirm-payment"} & spelt.keys()
    _, missing = guessed(path)
    assert (
        "no operation of the document matches; if the bank has none, give the reason with "
        "`absent: {operations: "
        "{modify-payment: …}}`, for example `modify-payment: {path: /…}`" in missing
    )


def test_a_document_in_the_manner_of_stet(begin):
    """The draft agrees with the shipped binding of the dialect, as far as the document goes."""
    path, _ = begin("--openapi", HERE / "stet.json")
    data = load(path).data
    assert ["aisp"] == data["contracts"]
    assert {
        "kind": "client-credentials",
        "token_url": "https://api.bank.example/token",
        "scope": "aisp",
        "client_id_env": "BANK_CLIENT_ID",
        "client_secret_env": "BANK_CLIENT_SECRET",
    } == data["auth"]
    assert {"header": "PSU-IP-Address", "value": "192.0.2.10"} == data["presence"]
    spelt = data["operations"]
    keys = ["/accountId/iban", "/accountId/other/identification"]
    assert {
        "path": "/accounts",
        "credentials": {"basic": True},
        "list": "/accounts",
        "next": "/_links/next/href",
        "links": optional("/_links/self/href", "/_links/next/href"),
        "item": {
            "key": keys,
            "id": "/resourceId",
            "resource": {
                "at": "/cashAccountType",
                "values": {"account": "CACC", "card": "CARD"},
            },
            "fields": {"iban": keys},
        },
        "values": {"PsuIdentity": "/connectedPsu"},
    } == spelt["accounts"]
    assert {
        "accounts": {
            "body": ["/balances", "/transactions"],
            "each": {
                "by": {"account": {"iban": "{}"}, "card": {"other": {"identification": "{}"}}}
            },
        }
    } == spelt["consents"]["arguments"]
    assert {"trustedBeneficiaries": False} == spelt["consents"]["template"]
    assert {
        "iban": {"path": "accountResourceId", "found": "accounts"},
        "since": {"query": "dateFrom", "text": "{}T00:00:00{offset}"},
        "until": {"query": "dateTo", "exclusive": True},
    } == spelt["transactions"]["arguments"]
    assert [] == spelt["transactions"]["aliases"]
    assert {"path": "/trusted-beneficiaries"} == spelt["trusted-beneficiaries"]
    guesses, missing = guessed(path)
    assert "same name" == guesses["currency: /balanceAmount/currency"]
    assert any(one.startswith("the client certificate that the bank requires") for one in missing)
    assert any(one.startswith("the signature of calls that the bank requires") for one in missing)
    assert any("psuIdentity" in one for one in missing)


PAGES = {
    "link header": (
        {},
        {},
        {"Link": {"schema": {"type": "string"}}},
        {"header": "Link"},
    ),
    "cursor": (
        {"meta": {"type": "object", "properties": {"nextCursor": {"type": "string"}}}},
        {"after": {"type": "string"}},
        {},
        {"cursor": "/meta/nextCursor", "query": "after"},
    ),
    "page": (
        {"hasMore": {"type": "boolean"}},
        {"pageSize": {"type": "integer"}, "page": {"type": "integer", "default": 0}},
        {},
        {"page": "page", "first": 0, "more": "/hasMore"},
    ),
    "offset": (
        {"totalCount": {"type": "integer"}},
        {"offset": {"type": "integer"}},
        {},
        {"offset": "offset", "total": "/totalCount"},
    ),
    "none": ({}, {}, {}, None),
}


@pytest.mark.parametrize("how", PAGES)
def test_the_way_to_the_next_page_is_guessed(begin, tmp_path, how):
    """The next page is guessed by a link, header, cursor, number or offset, or is a gap."""
    members, query, headers, wanted = PAGES[how]
    items = {"type": "array", "items": {"type": "object", "properties": {"iban": {}}}}
    answer = {"type": "object", "properties": {"accounts": items, **members}}
    source = tmp_path / "told.json"
    source.write_text(
        json.dumps(
            {
                "openapi": "3.0.0",
                "paths": {
                    "/accounts": {
                        "get": {
                            "parameters": [
                                {"name": name, "in": "query", "schema": shape}
                                for name, shape in query.items()
                            ],
                            "responses": {
                                "200": {
                                    "headers": headers,
                                    "content": {"application/json": {"schema": answer}},
                                }
                            },
                        }
                    }
                },
            }
        )
    )
    path, _ = begin("--openapi", source)
    assert wanted == load(path).data["operations"]["accounts"].get("next")
    missing = [one for one in guessed(path)[1] if "`next: " in one]
    assert (wanted is None) is bool(missing)


# -- hostile and broken documents ----------------------------------------------


def test_a_hostile_document_cannot_write_into_the_file(begin, tmp_path):
    """Names and texts of a document cannot leave comments or values."""
    evil = "x\nauth: {kind: none}\n# \u202e \u0085 \U0001f600 'a\": {"
    schema = {
        "type": "object",
        "properties": {
            evil: {"type": "string"},
            "accounts": {
                "type": "array",
                "items": {"type": "object", "properties": {"iban": {}, "a/b~c": {}, evil: {}}},
            },
            "kind": {"enum": [evil, "\U0001f600"]},
            "_links": {"type": "object", "properties": {"next": {"type": "string"}}},
            "again": {"$ref": "#/components/schemas/again"},
        },
    }
    document = {
        "openapi": "3.0.0",
        "servers": [{"url": "javascript:alert(1)"}, {"url": "https://u:p@x.example"}],
        "paths": {
            "/accounts" + evil: {"get": {}},
            "/accounts": {
                "get": {
                    "operationId": evil,
                    "summary": evil,
                    "parameters": [
                        {"name": evil, "in": "header", "required": True},
                        {"name": 'X-"a', "in": "header", "required": True},
                        {"$ref": "https://elsewhere.example/p.yaml"},
                        {"$ref": "#/components/parameters/loop"},
                    ],
                    "responses": {"200": {"content": {"application/json": {"schema": schema}}}},
                }
            },
        },
        "components": {
            "parameters": {"loop": {"$ref": "#/components/parameters/loop"}},
            "schemas": {
                "again": {
                    "type": "object",
                    "properties": {
                        one: {"$ref": "#/components/schemas/again"} for one in ("a", "b", "c")
                    },
                }
            },
        },
    }
    source = tmp_path / "told.json"
    source.write_text(json.dumps(document))
    path, _ = begin("--openapi", source)
    data = load(path).data
    assert {"kind": "bearer"} == data["auth"]
    assert "https://sandbox.bank.example/v1" == data["base_url"]
    assert "/accounts" == data["operations"]["accounts"]["list"]
    assert "/_links/next" == data["operations"]["accounts"]["next"]
    assert "javascript" not in path.read_text(encoding="utf-8")


BROKEN = {
    "": "this is not an OpenAPI document",
    "[]": "this is not an OpenAPI document",
    "swagger: '1.2'": "this is not an OpenAPI document",
    "swagger: '2.0'": "none of the 0 operations in the document",
    "{": "JSON cannot be read",
    "{" * 5000: "JSON cannot be read",
    '{"openapi": ' + "[" * 100_000: "JSON cannot be read",
    "openapi: 3.0.0\npaths: {": "YAML cannot be read",
    "openapi: 3.0.0\npaths: " + "[" * 5000: "too deeply nested",
    "openapi: 3.0.0\npaths: {/weather: {get: {}}}": "none of the 1 operations in the document",
    "openapi: 3.0.0\npaths: 7": "none of the 0 operations in the document",
    "a: &a [*a]\nopenapi: 3.0.0": "none of the 0 operations in the document",
    "openapi: 3.0.0\npaths: {*x : 1}": "none of the 0 operations in the document",
}


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_document_is_one_clear_line(tmp_path, monkeypatch, content):
    """A file that is no OpenAPI document, or of another kind of interface, is refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "told").write_text(content)
    with pytest.raises(InputError) as caught:
        group.main(["init", "--yes", "--openapi", "told"], standalone_mode=False)
    assert str(caught.value).startswith("told")
    assert BROKEN[content] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [tmp_path / "told"] == list(tmp_path.iterdir())


def test_a_bomb_of_aliases_does_no_harm(begin, tmp_path):
    """A document whose aliases expand to a billion values is read without expanding them."""
    bomb = ["a0: &a0 {type: object, properties: {x: {type: string}}}"]
    bomb += [
        f"a{n}: &a{n} {{type: object, properties: {{{', '.join(f'{c}: *a{n - 1}' for c in 'pqrst')}}}}}"
        for n in range(1, 13)
    ]
    answer = "{200: {content: {application/json: {schema: *a12}}}}"
    bomb += ["openapi: 3.0.0", f"paths: {{/accounts: {{get: {{responses: {answer}}}}}}}"]
    source = tmp_path / "told.yaml"
    source.write_text("\n".join(bomb))
    path, _ = begin("--openapi", source, "--contract", "aisp")
    assert "/accounts" == load(path).data["operations"]["accounts"]["path"]


# -- by asking -----------------------------------------------------------------


def test_the_defaults_are_a_file_that_can_be_read(begin):
    """With --yes, the file extends a shipped dialect and marks the defaults as guesses."""
    path, output = begin()
    target = read_target(path)
    assert ("bank", "https://sandbox.bank.example/v1") == (target.name, target.base_url)
    assert {"accounts", "create-payment"} <= target.operations.keys()
    assert target.sca.kind.value == "none"
    guesses, missing = guessed(path)
    assert "an example, because no URL was given" == guesses[f"base_url: {target.base_url}"]
    assert 1 == len(missing)
    assert f"assay check {path}" in output


@pytest.mark.parametrize("extends", ["none", "sandbox", "stet-1.4.0"])
@pytest.mark.parametrize("world", ["control", "roles", "none"])
@pytest.mark.parametrize(
    "auth", ["none", "bearer", "key", "client-credentials", "authorization-code"]
)
def test_every_answer_gives_a_file_that_can_be_read(begin, extends, world, auth):
    """With every combination of answers, the file is valid and binds to the contracts."""
    path, _ = begin("--extends", extends, "--fixtures", world, "--auth", auth, "--zone", "-")
    target = read_target(path)
    assert (world, auth) == (target.fixtures.kind.value, target.auth.kind.value)
    assert not target.hosts
    assert ("none" == extends) is (not target.operations)


def test_a_code_needs_screens_and_the_file_says_so(tmp_path):
    """The file has a signer to replace, so it can be checked; the gap is reported with its line."""
    args = ("init", "--yes", "--openapi", HERE / "berlin.yaml", "--out", "b.yaml")
    code, out, err = assay(*args, cwd=tmp_path)
    assert (0, "") == (code, err)
    what = "the signer that logs in for a token, and its screens, instead of the line below"
    assert f"TODO: {what}" in out
    assert 0 == assay("check", "b.yaml", cwd=tmp_path)[0]


def test_it_asks_at_a_terminal(tmp_path):
    """Each answer is used as given, and an invalid one is asked again."""
    control, terminal = pty.openpty()
    args = [
        "init",
        "--out",
        "b.yaml",
        "--fixtures",
        "roles",
        "--extends",
        "none",
        "--contract",
        "aisp",
    ]
    with subprocess.Popen(
        [*ASSAY, *args], cwd=tmp_path, stdin=terminal, stdout=subprocess.PIPE, text=True
    ) as process:
        answers = ["ftp://x", "https://x.example/v1", "", "-", "", "X-There", "My Bank", ""]
        answers += ["y", "page-turn", "page-turns-free, names-share", "p. 3: #7", *["-"] * 9]
        os.write(control, "".join(f"{one}\n" for one in answers).encode())
        output, _ = process.communicate(timeout=60)
    os.close(terminal)
    os.close(control)
    assert 0 == process.returncode
    assert 2 == output.count("expected ")
    assert "extends" not in output.lower()
    data = load(tmp_path / "b.yaml").data
    assert ("my-bank", "https://x.example/v1") == (data["target"], data["base_url"])
    assert "zone" not in data
    assert {"header": "X-There", "value": "192.0.2.10"} == data["presence"]
    answer = {"value": ["page-turns-free", "names-share"], "source": "p. 3: #7"}
    assert {"aisp/what-counts": answer} == data["decided"]
    (line,) = guessed(tmp_path / "b.yaml")[0].items()
    assert ('presence: {header: X-There, value: "192.0.2.10"}', "the value is a usual one") == line


def test_what_is_a_usual_name_only_is_marked(tmp_path):
    """The header of a key and the value of presence are defaults; a value that was given is none."""
    args = ("init", "--yes", "--auth", "key", "--fixtures", "none", "--out", "b.yaml")
    for presence, value, marked in (("X-There", "192.0.2.10", True), ("X-There=1", "1", False)):
        (tmp_path / "b.yaml").unlink(missing_ok=True)
        assert 0 == assay(*args, "--presence", presence, cwd=tmp_path)[0]
        assert {"header": "X-There", "value": value} == load(tmp_path / "b.yaml").data["presence"]
        marks = {
            line.partition(":")[0]: why for line, why in guessed(tmp_path / "b.yaml")[0].items()
        }
        assert "a usual name" in marks.values()
        assert marked == ("presence" in marks)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--yes", "--out", "there.yaml"], "there.yaml: this file already exists"),
        (["--yes", "--out", "no/x.yaml"], "no/x.yaml: cannot be written"),
        (["--yes", "--base-url", "x"], "--base-url: expected an http or https URL"),
        (["--yes", "--name", "Acme"], "digits, dots and hyphens (did you mean 'acme'?)"),
        (["--yes", "--extends", "stet"], "'stet' to extend (did you mean 'stet-1.4.0'?)"),
        (["--yes", "--extends", "sandbx"], "(did you mean 'sandbox'?)"),
        (["--yes", "--zone", "Paris"], "--zone: unknown time zone"),
        (["--yes", "--presence", "Authorization"], "--presence: expected the name of a header"),
        (["--yes", "--openapi", "no.json"], "no.json: the file cannot be read"),
        (["--yes", "--openapi", "https://x.example/openapi.json"], "this is a URL, not a file"),
        (["--yes", "--contract", "nope"], "nope"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(tmp_path, monkeypatch, args, told):
    """An invalid option is one line of error, and no file is written or changed."""
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    with pytest.raises(InputError) as caught:
        group.main(["init", *args], standalone_mode=False)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [there] == list(tmp_path.iterdir())
    assert "mine" == there.read_text()


def test_without_a_terminal_it_says_so_and_ends(tmp_path):
    """Without a terminal, nothing is asked: exit code 2, one line, no traceback."""
    code, out, err = assay("init", cwd=tmp_path)
    assert (2, "") == (code, out)
    assert (
        "assay: init: no terminal to ask questions on "
        "(use --yes to accept the defaults, or give every answer as an option)\n"
    ) == err
    assert [] == list(tmp_path.iterdir())
