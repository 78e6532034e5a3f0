"""The kinds that are no bank's alone, in whole runs against a sound desk and against faulty ones."""

import json
from pathlib import Path

import pytest
from counting_desk import COUNTING_FAULTS, CountingDesk
from desk_bank import Desk
from error_desk import ERROR_FAULTS, ErrorDesk, Fronted

from assay.binding.join import bind
from assay.contexts.context import Depth
from assay.journal.writer import Journal
from assay.kinds import Standing
from assay.onboarding.doctor import examination
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.testing import verdicts
from assay.traffic.session import open_recording

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "desk.yaml", HERE / "desk-target.yaml"

#: What nothing at the desk can show.
NOT_APPLICABLE = {"echo/accounts-in-refusals"}
OPERATIONS = ("accounts", "entries", "order", "show", "call-off")
#: Each fault of the desk, and the obligations that it violates.
FAULTS = {
    "no request id": {f"request-id/{name}-missing" for name in OPERATIONS},
    "any request id": {f"request-id/{name}-invalid" for name in OPERATIONS},
    "no status": {"status/entries-missing"},
    "any status": {"status/entries-invalid"},
    "no pending": {"status/entries-values"},
    "any rows": {"rows/entries-beyond"},
    "fewer rows": {"rows/entries-limit"},
    "no echo": {f"echo/{name}-returned" for name in OPERATIONS},
    "loud echo": {f"echo/{name}-returned" for name in OPERATIONS},
    "no echo in refusals": {
        f"echo/{name}-in-refusals" for name in OPERATIONS if name != "accounts"
    },
    "repeats": {"key/repeated", "key/late", "key/once"},
    "refuses repeats": {"key/repeated", "key/late"},
    "forgets soon": {"key/late"},
    "executes again": {"key/once"},
    "takes another order": {"key/conflict"},
    "begins in the middle": {"order-status/first"},
    "has a word of its own": {"order-status/words"},
    "moves back": {"order-status/order", "order-status/signed"},
    "ends as refused": {"order-status/ended"},
    "signs in silence": {"order-status/signed"},
    "lives again": {"order-status/final", "order-status/ended"},
    "wakes up": {"order-status/final-later"},
    "many decimals": {"amount/too-precise"},
    "long labels": {"label/too-long"},
    "short labels": {"label/longest"},
    "any label": {"label/invalid"},
    "past days": {"day/past"},
    "keeps far days": {"until/reduced"},
    "refuses far days": {"until/reduced"},
    "shows all as pending": {"selected/pending-only"},
    "shows all as booked": {"selected/booked-only"},
    "has another word": {"selected/both-only"},
    "leaves out booked ones": {"selected/booked-all"},
    "leaves out pending ones": {"selected/pending-all"},
    "leaves out both ones": {"selected/both-all"},
    "leaves out the first day": {"selected/since"},
    "shows the last day": {"selected/until"},
    "hides an id": {"entry-id/entry-present"},
    "hides the amount": {"order-amount/order-present"},
    "lists the accounts of all": {"own/account"},
    "shows the entries of another account": {"own/entry"},
    "serves everybody": {"own/entries-foreign"},
    "shows a third decimal": {"order-amount/order"},
}


def run(*faults):
    """Run the contract against a desk; return the verdict of each obligation."""
    return verdicts(CONTRACT, TARGET, Desk(*faults))


def test_the_sound_desk_conforms():
    """Every obligation conforms that can be tested at all."""
    found = run()

    assert NOT_APPLICABLE == {
        name for name, standing in found.items() if standing is Standing.NOT_APPLICABLE
    }
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {*found.values()}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_violates_exactly_its_own_obligations(fault):
    """A fault turns its own facets red and no other."""
    violated = {name for name, standing in run(fault).items() if standing is Standing.VIOLATES}

    assert FAULTS[fault] == violated


# -- limits ----------------------------------------------------------------------------
def run_limits(*faults):
    """Run the contract about limits against a desk."""
    return verdicts(HERE / "counted.yaml", HERE / "counted-target.yaml", CountingDesk(*faults))


def test_a_desk_that_counts_rightly_conforms():
    """One clause names one operation, which has no other one to be compared with."""
    found = run_limits()

    assert {"each/per-method"} == {
        name for name, standing in found.items() if standing is Standing.NOT_APPLICABLE
    }
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {*found.values()}


@pytest.mark.parametrize("fault", COUNTING_FAULTS)
def test_a_wrong_count_violates_exactly_its_own_obligations(fault):
    """Counts that are apart, together, too large, too long or too short."""
    found = run_limits(fault)

    assert COUNTING_FAULTS[fault] == {
        name for name, standing in found.items() if standing is Standing.VIOLATES
    }


def test_every_facet_of_a_limit_has_a_fault():
    """No count has never been seen to be wrong."""
    assert set(run_limits()) - {"each/per-method"} == set().union(*COUNTING_FAULTS.values())


# -- errors ----------------------------------------------------------------------------
def run_errors(*faults, target="errors-target.yaml"):
    """Run the contract about errors against a desk."""
    return verdicts(HERE / "errors.yaml", HERE / target, ErrorDesk(*faults))


def about_errors(results):
    """Return the obligations about error bodies, and about the codes and statuses of refusals."""
    return {
        name
        for name in results
        if name.startswith("errors/") or name.endswith(("-code", "-status"))
    }


def test_a_desk_with_the_right_errors_conforms():
    """Its own words for the codes, and a number among them, are those of the contract."""
    results = run_errors()

    assert {"own/entry"} == {
        name for name, standing in results.items() if standing is Standing.NOT_APPLICABLE
    }
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {*results.values()}


@pytest.mark.parametrize("faults", ERROR_FAULTS, ids=lambda faults: faults[0])
def test_a_wrong_error_violates_exactly_its_own_obligations(faults):
    """A wrong code breaks the code of its rule, and the rule itself stands."""
    assert ERROR_FAULTS[faults] == {
        name for name, standing in run_errors(*faults).items() if standing is Standing.VIOLATES
    }


def test_every_facet_of_an_error_has_a_fault():
    """No check of an error has never been seen to fail."""
    allowed_by_both = {"own/entries-foreign-status"}
    named = about_errors(run_errors())
    assert named - allowed_by_both == set().union(*ERROR_FAULTS.values())


def test_nothing_is_violated_where_the_target_file_does_not_say_where_errors_are(tmp_path):
    """What needs the code or a field is unverified; the media type and the statuses are judged."""
    text = (HERE / "errors-target.yaml").read_text("utf-8")
    before, _, rest = text.partition("error:\n")
    silent = tmp_path / "silent.yaml"
    silent.write_text(before + rest[rest.index("operations:") :], "utf-8")

    results = run_errors("errors elsewhere", target=silent)

    unverified = {name for name, each in results.items() if each is Standing.UNVERIFIED}
    assert unverified == {
        name
        for name in about_errors(results)
        if not name.endswith("-status") and name != "errors/media-type"
    }
    assert Standing.VIOLATES not in results.values()


ROBUST = """
  - id: robust
    kind: withstands
    says: No value of an argument causes a server error.
    source: {section: Errors, line: 9}
    operations: [order]
"""


def test_what_a_server_in_front_refuses_is_no_error_of_the_desk(tmp_path):
    """Pages of a server and a firewall, for calls that are too large or odd, violate nothing."""
    path = tmp_path / "robust.yaml"
    path.write_text((HERE / "errors.yaml").read_text("utf-8") + ROBUST, "utf-8")
    fronted = Fronted(ErrorDesk())
    results = verdicts(path, HERE / "errors-target.yaml", fronted)
    assert fronted.refused > 3
    assert [] == [name for name, standing in results.items() if standing is Standing.VIOLATES]
    open_ = [name for name, standing in results.items() if standing is not Standing.CONFORMS]
    assert [] == [name for name in open_ if name.startswith(("errors/", "robust/"))]


def test_a_journal_of_errors_is_judged_as_the_run_was(tmp_path):
    """A journal has what the target file locates in a refusal, and no more of its body."""
    target = read_target(HERE / "errors-target.yaml")
    planned = plan(bind([parse_contract(HERE / "errors.yaml")], target), target)
    faults = ("an unknown class", "another code for 401", "422 as 403")
    environment = set_up(target, bank=lambda _: ErrorDesk(*faults))
    written = tmp_path / "journal.jsonl"
    session = Session(plan=planned, environment=environment, journal=Journal.at(written))
    before = {each.obligation: each.standing for each in run_session(session).verdicts}

    files = {
        "contracts": [str(HERE / "errors.yaml")],
        "target_name": str(HERE / "errors-target.yaml"),
    }
    result = open_recording(written, **files).close(tmp_path / "again.jsonl")

    assert before == {each.obligation: each.standing for each in result.verdicts}
    assert 4 == sum(standing is Standing.VIOLATES for standing in before.values())


def recorded_call(n, path, status, body, token="Bearer t-1"):
    """Return an entry of a HAR file."""
    headers = [
        {"name": "Authorization", "value": token},
        {"name": "X-Request-ID", "value": f"00000000-0000-4000-8000-{n:012}"},
    ]
    text, kind = (
        json.dumps(body),
        "application/json" if status < 400 else "application/problem+json",
    )
    return {
        "startedDateTime": f"2026-09-16T08:00:{n:02}Z",
        "time": 1,
        "request": {
            "method": "GET",
            "url": f"https://desk.example{path}",
            "headers": headers if token else headers[1:],
        },
        "response": {
            "status": status,
            "headers": [{"name": "Content-Type", "value": kind}],
            "content": {"size": len(text), "mimeType": kind, "text": text},
        },
    }


def test_the_traffic_of_others_is_judged(tmp_path):
    """A wrong form is a violation; a code can be wrong for a reason that no one knows."""
    wrong = {"problem": {"errors": [{"class": "X", "detail": {"code": "else"}}]}}
    entries = [
        recorded_call(1, "/accounts", 200, [{"number": "A-1"}]),
        recorded_call(2, "/accounts", 401, wrong, token=""),
    ]
    recording = tmp_path / "recording.har"
    recording.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}))

    files = {
        "contracts": [str(HERE / "errors.yaml")],
        "target_name": str(HERE / "errors-target.yaml"),
    }
    result = open_recording(recording, **files).close(tmp_path / "journal.jsonl")

    decided = {
        each.obligation.removeprefix("errors/"): each.standing.value
        for each in result.verdicts
        if each.standing in {Standing.CONFORMS, Standing.VIOLATES}
    }
    assert "violates" == decided.pop("errors/class-allowed")
    assert {"errors/media-type", "errors/class-present", "errors/code-present"} <= set(decided)
    assert {"conforms"} == {*decided.values()}


def test_no_context_makes_a_right_error_wrong():
    """With another TPP, on another day, without the customer: the refusals are the same."""
    files = str(HERE / "errors.yaml"), str(HERE / "errors-target.yaml")
    prepared = prepare(files[:1], files[1], contexts=Depth.EACH)
    assert prepared.plan.contextual
    environment = set_up(prepared.target, bank=lambda _: ErrorDesk())
    result = run_session(
        Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    )
    assert not [each for each in result.verdicts if each.standing is Standing.VIOLATES]


@pytest.mark.parametrize(
    ("right", "wrong", "key"),
    [
        ("", "", None),
        ("list: /problem/errors", "list: /errors", "error.list"),
        ("list: /problem/errors", "one: /problem/error", "error.one"),
        ("code: [/detail/code, /number]", "code: /code", "error.code"),
        ("at: /class,", "at: /klass,", "error.fields.class"),
    ],
)
def test_the_doctor_doubts_a_pointer_that_finds_no_error(right, wrong, key, tmp_path, monkeypatch):
    """A wrong pointer is named before a run, and blamed on no bank."""
    text = (HERE / "errors-target.yaml").read_text("utf-8")
    path = tmp_path / "target.yaml"
    path.write_text(text.replace(right, wrong), "utf-8")

    def made(target, ledger=None):
        return set_up(target, bank=lambda _: ErrorDesk())

    monkeypatch.setattr(examination, "set_up", made)
    result = examination.examine(str(path), [str(HERE / "errors.yaml")])
    assert ([key] if key else []) == [each.key for each in result.findings if "error" in each.key]


def test_every_facet_has_a_fault():
    """No check has never been seen to fail."""
    others = {name for name in run() if name.startswith("content/")}
    assert set(run()) - NOT_APPLICABLE - others == set().union(*FAULTS.values())
