"""Consents that have an id, a signature and an end: a sound bank conforms, each fault is found."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from foreign.bank import Refused, Request
from foreign.dialects import QUAY
from foreign.faults import QUAY_FAULTS
from literal_har import entry, write

from assay.binding.read.join import bind
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


def of(bank, *standings):
    """Run the contract against a bank; return the obligations that stand so."""
    found = verdicts(CONTRACT, TARGET, bank())
    return {obligation for obligation, standing in found.items() if standing in standings}


@pytest.mark.parametrize("facet", ["signed/signed-served", "one/new-served"])
def test_a_consent_that_opens_nothing_violates_what_serves(facet):
    """Where a signed consent is refused, what must be served is red."""

    class Closed(QUAY):
        def usable(self, consent):
            others = consent.world.requests.values()
            first = next(each for each in others if each.owner is consent.owner)
            return super().usable(consent) and facet.startswith("one") and first is consent

    assert facet in of(Closed, Standing.VIOLATES)


def test_a_recording_of_the_run_gives_the_same_verdicts(tmp_path):
    """What a run wrote is judged again to the same verdicts, and has no id of a consent."""
    text = TARGET.read_text("utf-8").replace("transport: embedded", "transport: http")
    with serving(QUAY()) as address:
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


class NamesPayersUnattended(QUAY):
    """The payers of entries are named whenever the customer is not there."""

    def names_payer(self, call, consent):
        return super().names_payer(call, consent) or call.header("Customer-Here") != "1"


@pytest.mark.parametrize(
    ("bank", "expected"), [(QUAY, "conforms"), (NamesPayersUnattended, "violates")]
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

    class ByCustomer(QUAY):
        def chosen(self, call):
            own = [each for each in call.world.requests.values() if each.owner is call.customer]
            valid = [each for each in own if each.status == "valid"]
            if not own:
                raise Refused(403)
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


class OwnIds(QUAY):
    """A bank whose paths have ids of its own, which its list of accounts shows under a consent."""

    def account(self, consent, number):
        return {**super().account(consent, number), "ref": f"ref-{number}"}

    def list_entries(self, call, number=""):
        return super().list_entries(call, number.removeprefix("ref-"))


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
    found, usual = verdicts(CONTRACT, own_ids, OwnIds()), verdicts(CONTRACT, TARGET, QUAY())
    assert usual == found


@pytest.mark.parametrize(
    "fault",
    [each for each in QUAY_FAULTS if each.breaks and not each.name.startswith("ended")][::4],
    ids=lambda each: each.name,
)
def test_faults_are_found_where_ids_are_looked_up(fault, own_ids):
    """The consent of the look-up hides no fault."""
    found = verdicts(CONTRACT, own_ids, fault.of(OwnIds)())
    assert fault.breaks <= {
        each for each, standing in found.items() if standing is Standing.VIOLATES
    }


def test_a_recording_of_a_client_is_judged_by_the_consents_that_its_requests_name(tmp_path):
    """Of two consents, a request may name either; what a HAR file does not show is left open."""

    def call(n, method, path, status, body, **more):
        url, at = f"https://quay.example{path}", f"2026-09-16T09:00:{n:02d}Z"
        return entry(at, method, url, status, body, token="t-of-a-customer", **more)

    def made(n, id_):
        sent = {"accounts": [{"number": "PT-1"}], "until": "2027-01-01"}
        return call(n, "POST", "/consents", 201, {"id": id_, "status": "received"}, sent=sent)

    def read(n, id_, status):
        named = {"Consent-ID": id_, "Customer-Here": "1"}
        body = {"entries": []} if status == 200 else {}
        return call(n, "GET", "/accounts/PT-1/entries", status, body, headers=named)

    entries = [
        *(made(1, "consent-4711"), made(2, "consent-4712")),
        *(read(3, "consent-4711", 200), read(4, "consent-4712", 403), read(5, "consent-0", 403)),
    ]
    write(tmp_path / "x.har", entries)
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
class ByToken(QUAY):
    """A bank without consents: the token of a customer opens what the customer owns."""

    def check(self, call, mode, body, request=None):
        self.seen.append(body)
        raise Refused(404)

    def opened(self, call):
        body = {"accounts": [{"number": each} for each in call.customer.accounts]}
        return Request("", call.world, call.customer, None, body)


class LeaksToOthers(ByToken):
    """A customer can read the entries of another one."""

    def owner_of(self, call, consent, number):
        return next(each for each in call.world.customers if number in each.accounts)

    def covers(self, consent, number):
        return True


class ServesNothing(ByToken):
    """The token opens no entries."""

    def covers(self, consent, number):
        return False


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
    assert [] == bank.seen


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


def below_consents(bank):
    """Return a bank whose accounts are read below a consent."""

    def app(environ, start_response):
        path = re.sub("^/consents/[^/]+/accounts$", "/accounts", environ["PATH_INFO"])
        return bank({**environ, "PATH_INFO": path}, start_response)

    return app


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
    assert {
        f"quay/there/{one}" for one in ("answers", "at-once", "survives-malformed")
    } == items.keys()
    found = verdicts(contract, target, below_consents(QUAY()))
    assert Standing.UNVERIFIED is found["there/answers"]
