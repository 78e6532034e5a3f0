"""Consents that have an id, a signature and an end: a sound bank conforms, each fault is found."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from quay_bank import Bank, Consent
from quay_faults import FAULTS, NEUTRAL, RefusedError

from assay.binding.join import bind
from assay.cli.main import group
from assay.errors import InputError
from assay.history import Accepted, Call, Item, Wire
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import read_target
from assay.rules.verdict import Standing
from assay.sandbox.serve import serving
from assay.testing import accepted, exchange, problems, verdicts
from assay.traffic.har_to_history import UNKNOWN, UsedConsents
from assay.traffic.parse_request import ParsedRequest

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "quay.yaml", HERE / "target.yaml"
#: What cannot be tested at this bank: one operation alone has no other one to be counted with, and
#: nothing can be read without a consent.
NOT_APPLICABLE = {
    *("daily/per-method", "own/entry"),
    *("all/all-without-consent", "owner/withheld-before"),
}


def of(bank, *standings):
    """Run the contract against a bank; return the obligations that stand so."""
    found = verdicts(CONTRACT, TARGET, bank())
    return {obligation for obligation, standing in found.items() if standing in standings}


@pytest.mark.parametrize("bank", NEUTRAL, ids=lambda each: each.__name__)
def test_a_sound_bank_conforms(bank):
    """All kinds work at a bank whose consents are signed, also those that know nothing of them."""
    found = verdicts(CONTRACT, TARGET, bank())
    left = {
        obligation for obligation, standing in found.items() if standing is not Standing.CONFORMS
    }

    assert NOT_APPLICABLE == left
    assert {Standing.NOT_APPLICABLE} == {found[each] for each in left}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.__name__)
def test_a_fault_turns_its_own_facets_red(fault):
    """A violation is reported for what the fault breaks, and for nothing else."""
    assert fault.breaks == of(fault, Standing.VIOLATES)


def test_every_facet_has_a_fault():
    """Each facet of the kinds about consents is broken by some bank."""
    new = {"signed", "until", "revoked", "one", "holder", "payer"}
    facets = {each for each in verdicts(CONTRACT, TARGET, Bank()) if each.split("/")[0] in new}
    served = {"signed/signed-served", "one/new-served"}

    assert facets == served | {facet for each in FAULTS for facet in each.breaks} - {
        "scope/entry-refused"
    }


@pytest.mark.parametrize(
    ("facet", "status"), [("signed/signed-served", "valid"), ("one/new-served", "valid")]
)
def test_a_consent_that_opens_nothing_violates_what_serves(facet, status):
    """Where a signed consent is refused, what must be served is red."""

    class Closed(Bank):
        def usable(self, consent, now):
            first = all(each.customer is not consent.customer for each in self.before(consent))
            return super().usable(consent, now) and facet.startswith("one") and first

        def before(self, consent):
            world = next(each for each in self.worlds.values() if consent.id in each.consents)
            return [*world.consents.values()][: [*world.consents].index(consent.id)]

    assert facet in of(Closed, Standing.VIOLATES)


def test_a_recording_of_the_run_gives_the_same_verdicts(tmp_path):
    """What a run wrote is judged again to the same verdicts, and has no id of a consent."""
    text = TARGET.read_text("utf-8").replace("transport: embedded", "transport: http")
    with serving(Bank()) as address:
        (tmp_path / "target.yaml").write_text(text.replace("https://quay.example", address))
        words = ["--contract", CONTRACT, "--target", tmp_path / "target.yaml", "--no-doctor"]
        run = CliRunner().invoke(
            group,
            [
                *("run", *map(str, words), "--journeys", "15"),
                *("--allow-incomplete", "--out", str(tmp_path / "run")),
            ],
        )
    assert run.exit_code in {0, 3}, run.output
    judged = CliRunner().invoke(
        group,
        [
            *("judge", str(tmp_path / "run" / "journal.jsonl"), *map(str, words[:4])),
            *("--allow-incomplete", "--out", str(tmp_path / "again")),
        ],
    )
    assert judged.exit_code in {0, 3}, judged.output
    first, second = (
        json.loads((tmp_path / name / "report.json").read_text("utf-8"))["counts"]
        for name in ("run", "again")
    )

    assert first["violates"] == second["violates"] == 0
    assert first["conforms"] == second["conforms"]
    journal = (tmp_path / "run" / "journal.jsonl").read_text("utf-8")
    assert "<consent-id-1>" in journal
    assert '"c-' not in journal


class NamesPayersUnattended(Bank):
    """The payers of entries are named whenever the customer is not there."""

    def entries(self, environ, number, customer, world):
        status, body = super().entries(environ, number, customer, world)
        if environ.get("HTTP_CUSTOMER_HERE") != "1":
            body = {"entries": [{**each, "from": {"name": "Rui"}} for each in body["entries"]]}
        return status, body


@pytest.mark.parametrize(
    ("bank", "expected"), [(Bank, "conforms"), (NamesPayersUnattended, "violates")]
)
def test_a_fault_in_one_context_is_found_there(bank, expected, tmp_path):
    """A field that only calls without the customer disclose is withheld in all others."""
    text = TARGET.read_text("utf-8").replace("transport: embedded", "transport: http")
    with serving(bank()) as address:
        (tmp_path / "target.yaml").write_text(text.replace("https://quay.example", address))
        words = ["run", "--contract", CONTRACT, "--target", tmp_path / "target.yaml", "--no-doctor"]
        words += ["-k", "payer", "--contexts", "each", "--out", tmp_path / "run"]
        CliRunner().invoke(group, [*map(str, words)])
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    found = {each["facet"]: each for each in report["obligations"]}

    assert "conforms" == found["shown-in-mode"]["verdict"]
    assert expected == found["withheld-otherwise"]["verdict"]
    alone = "without the customer" in found["withheld-otherwise"]["reason"]
    assert alone is (expected == "violates"), found["withheld-otherwise"]["reason"]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("consent: permit}", "consent: permits}", "did you mean 'permit'"),
        ("consent: permit}", "consent: revoke}", "makes no consent"),
        ("grants: accounts, until: until,", "until: until,", "is no consent"),
        ("until: until, arguments", "arguments", "has no last day"),
        ("ends: consent, ", "", "no operation ends 'consent'"),
        ("operation: entries,", "operation: accounts,", "not about a single item"),
    ],
)
def test_a_wrong_name_is_a_finding(right, wrong, said, tmp_path):
    """Each has a line and a hint."""
    path = tmp_path / "quay.yaml"
    path.write_text(CONTRACT.read_text("utf-8").replace(right, wrong))
    assert any(said in each and "quay.yaml:" in each for each in problems(path))


def test_without_an_output_a_former_consent_cannot_be_named(tmp_path):
    """At a bank whose calls do not name their consent, the facets about a former one do not apply."""

    class ByCustomer(Bank):
        def chosen(self, consent_id, customer, world):
            own = [each for each in world.consents.values() if each.customer is customer]
            valid = [each for each in own if each.status == "valid"]
            if not own:
                raise RefusedError(403)
            return (valid or own)[-1]

    text = TARGET.read_text("utf-8").replace("    outputs: {consent-id: /id}\n", "")
    (tmp_path / "target.yaml").write_text(
        text.replace('    headers: {Consent-ID: "{consent-id}"}\n', "")
    )
    found = verdicts(CONTRACT, tmp_path / "target.yaml", ByCustomer())
    named = {"one/former-kept", "one/former-refused", "signed/others-refused"}

    assert {Standing.NOT_APPLICABLE} == {found[each] for each in named}
    assert set() == {each for each, standing in found.items() if standing is Standing.VIOLATES}
    assert Standing.CONFORMS is found["signed/unsigned-refused"] is found["revoked/ended-refused"]


class OwnIds(Bank):
    """A bank whose paths have ids of its own, which its list of accounts shows under a consent."""

    def accounts(self, environ, customer, world):
        status, body = super().accounts(environ, customer, world)
        items = [{**each, "ref": f"ref-{each['number']}"} for each in body["accounts"]]
        return status, {**body, "accounts": items}

    def entries(self, environ, number, customer, world):
        return super().entries(environ, number.removeprefix("ref-"), customer, world)


@pytest.fixture
def own_ids(tmp_path):
    """Return a target file for a bank with ids of its own."""
    text = TARGET.read_text("utf-8").replace(
        "  entries:\n", "  entries:\n    arguments: {number: {path: number, found: accounts}}\n"
    )
    path = tmp_path / "own-ids.yaml"
    path.write_text(text.replace("item: {key: /number,", "item: {key: /number, id: /ref,"))
    return path


def test_ids_that_a_list_has_under_a_consent_are_looked_up(own_ids):
    """A consent is made for the look-up alone, and ended, so that it changes no verdict."""
    found, usual = verdicts(CONTRACT, own_ids, OwnIds()), verdicts(CONTRACT, TARGET, Bank())
    assert usual == found


@pytest.mark.parametrize(
    "fault",
    [each for each in FAULTS if not each.__name__.startswith("Ended")][::4],
    ids=lambda each: each.__name__,
)
def test_faults_are_found_where_ids_are_looked_up(fault, own_ids):
    """The consent of the look-up hides no fault."""
    mixed = type(fault.__name__, (OwnIds, fault), {})
    found = verdicts(CONTRACT, own_ids, mixed())
    assert fault.breaks <= {
        each for each, standing in found.items() if standing is Standing.VIOLATES
    }


def test_a_recording_of_a_client_is_judged_by_the_consents_that_its_requests_name(tmp_path):
    """Of two consents, a request may name either; what a HAR file does not show is left open."""

    def entry(n, method, path, status, body, headers=(), sent=None):  # noqa: PLR0917
        request = {
            "method": method,
            "url": f"https://quay.example{path}",
            "headers": [{"name": "Authorization", "value": "Bearer t-of-a-customer"}]
            + [{"name": name, "value": value} for name, value in headers],
            "queryString": [],
        }
        if sent is not None:
            request["postData"] = {"mimeType": "application/json", "text": json.dumps(sent)}
        content = {"mimeType": "application/json", "text": json.dumps(body)}
        typed = [{"name": "Content-Type", "value": "application/json"}]
        response = {"status": status, "headers": typed, "content": content}
        at = f"2026-09-16T09:00:{n:02d}Z"
        return {"startedDateTime": at, "time": 5, "request": request, "response": response}

    def made(n, id_):
        sent = {"accounts": [{"number": "PT-1"}], "until": "2027-01-01"}
        return entry(n, "POST", "/consents", 201, {"id": id_, "status": "received"}, sent=sent)

    def read(n, id_, status):
        named = [("Consent-ID", id_), ("Customer-Here", "1")]
        body = {"entries": []} if status == 200 else {}
        return entry(n, "GET", "/accounts/PT-1/entries", status, body, named)

    entries = [
        *(made(1, "consent-4711"), made(2, "consent-4712")),
        *(read(3, "consent-4711", 200), read(4, "consent-4712", 403), read(5, "consent-0", 403)),
    ]
    har = {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}
    (tmp_path / "x.har").write_text(json.dumps(har))
    words = ["judge", tmp_path / "x.har", "--contract", CONTRACT, "--target", TARGET]
    judged = CliRunner().invoke(group, [*map(str, words), "--out", str(tmp_path / "run")])
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))

    assert 0 == report["counts"]["violates"], judged.output
    written = "".join(each.read_text("utf-8") for each in (tmp_path / "run").rglob("*.json*"))
    assert "consent-4711" not in written
    assert "consent-4712" not in written


def test_a_call_says_which_consent_it_names_if_that_is_not_the_last():
    """The key of the former one, nothing for the last, and a word for one that is unknown."""
    used = UsedConsents(target=read_target(TARGET))
    for id_ in ("c-1", "c-2"):
        item = Item(key=id_, resource="consent")
        outcome = Accepted(items=(item,), outputs={"consent-id": id_})
        made = exchange(Call(operation="permit", subject="psu"), accepted())
        made = replace(made, outcome=outcome)
        assert [("consent-id", id_)] == [*used.learn(made)]

    def named(id_, subject="psu"):
        headers = (("Consent-Id", id_),)
        wire = Wire(method="GET", url="https://quay.example/accounts", request_headers=headers)
        return used.named(Call(operation="accounts", subject=subject), ParsedRequest(wire))

    assert ["c-1", None, UNKNOWN] == [named(id_) for id_ in ("c-1", "c-2", "c-3")]
    assert ["c-2", None] == [named(id_, "other") for id_ in ("c-2", "c-3")]


# -- a consent that is given with the token -------------------------------------------
class ByToken(Bank):
    """A bank without consents: the token of a customer opens what the customer owns."""

    def __init__(self):
        super().__init__()
        self.consents_made = 0

    def make(self, body, customer, world):
        self.consents_made += 1
        raise RefusedError(404)

    def opened(self, environ, customer, world):
        return Consent("", customer, [*customer.accounts], "2027-01-01")

    def covers(self, consent, number):
        return number in consent.accounts


class LeaksToOthers(ByToken):
    """A customer can read the entries of another one."""

    def entries(self, environ, number, customer, world):
        owner = next(each for each in world.customers.values() if number in each.accounts)
        return super().entries(environ, number, owner, world)


class ServesNothing(ByToken):
    """The token opens no entries."""

    def entries(self, environ, number, customer, world):
        raise RefusedError(403)


@pytest.fixture
def with_token(tmp_path):
    """Return a target file for a bank without consents."""
    text = TARGET.read_text("utf-8").replace('    headers: {Consent-ID: "{consent-id}"}\n', "")
    start, end = text.index("  permit:\n"), text.index("  accounts:\n")
    path = tmp_path / "with-token.yaml"
    path.write_text(text[:start] + "  permit: {given: with-token}\n" + text[end:])
    return path


#: What needs a consent that covers less, or none at all.
NARROWER = {
    *("scope/entry-before", "scope/entry-refused", "scope/entry-usurped"),
    *("owner/withheld-before", "kept/until", "own/entry", "daily/per-method"),
}


def test_a_consent_that_is_given_with_the_token_covers_everything(with_token):
    """What needs a consent that covers it is tested; what needs a narrower one does not apply."""
    bank = ByToken()
    found = verdicts(CONTRACT, with_token, bank)
    left = {each for each, standing in found.items() if standing is Standing.NOT_APPLICABLE}
    about = {
        each
        for each in found
        if each.split("/")[0] in {"signed", "until", "revoked", "one", "effect", "holder", "payer"}
    }

    assert NARROWER | about | {"all/consented-with-consent", "stable/smaller-consent"} == left
    assert left == {each for each, standing in found.items() if standing is not Standing.CONFORMS}
    assert {
        "scope/entry-granted",
        "scope/entry-foreign",
        "owner/disclosed-after",
    } <= found.keys() - left
    assert 0 == bank.consents_made


@pytest.mark.parametrize(
    ("bank", "facets"),
    [
        (LeaksToOthers, {"scope/entry-foreign"}),
        (ServesNothing, {"scope/entry-granted"}),
    ],
)
def test_faults_of_a_bank_without_consents(bank, facets, with_token):
    """What runs can also turn red."""
    found = verdicts(CONTRACT, with_token, bank())
    assert facets <= {each for each, standing in found.items() if standing is Standing.VIOLATES}


def test_the_reason_says_that_the_token_covers_everything(with_token):
    """Each obligation that does not apply names the token."""
    contract, target = parse_contract(CONTRACT), read_target(with_token)
    planned = plan(bind([contract], target), target)
    reasons = {each.obligation.id: each.reason for each in planned.items}

    for name in NARROWER - {"own/entry", "daily/per-method"} | {
        "signed/signed-served",
        "effect/each-named",
    }:
        assert "given with the token" in reasons[f"quay/{name}"], name


def test_only_an_operation_that_transmits_consents_is_given_with_the_token(with_token, tmp_path):
    """Elsewhere the key is an error, with its line."""
    text = with_token.read_text("utf-8").replace(
        "  accounts:\n", "  accounts:\n    given: with-token\n"
    )
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(InputError, match=r"wrong\.yaml:\d+: operations\.accounts\.given"):
        bind([parse_contract(CONTRACT)], read_target(tmp_path / "wrong.yaml"))


def test_a_path_without_an_output_is_left_open_by_plan_and_run_alike(tmp_path):
    """Where nothing makes a consent before it, the call is impossible; both name the key."""
    contract, target = tmp_path / "quay.yaml", tmp_path / "target.yaml"
    contract.write_text(CONTRACT.read_text("utf-8").replace("[owner], consent: permit", "[owner]"))
    text = TARGET.read_text("utf-8")
    slot = '  accounts:\n    path: "/consents/{consent-id}/accounts"\n'
    target.write_text(text.replace("  accounts:\n", slot))
    words = ["--contract", str(contract), "--target", str(target), "-k", "there"]
    planned = CliRunner().invoke(group, ["plan", *words, "--json"])
    lines = [json.loads(line) for line in planned.output.splitlines() if line.startswith("{")]
    items = {each["obligation"]: each for each in lines if "obligation" in each}

    for item in items.values():
        assert "unverified" == item["disposition"], item
        assert "operations.permit.outputs.consent-id" in item["reason"]
    assert {"quay/there/answers", "quay/there/survives-malformed"} == items.keys()
    found = verdicts(contract, target, Bank())
    assert Standing.UNVERIFIED is found["there/answers"]
