"""Errors that say why a call is refused: in runs, in recordings, and in the doctor's examination."""

from pathlib import Path

import pytest
from embedded import Gate, run_plan, standings
from foreign.dialects import ERRORS
from foreign.faults import ERROR_FAULTS, SEVERAL
from literal_har import entry, write

from assay.binding.read.join import bind
from assay.contexts.context import Depth
from assay.journal.writer import Journal
from assay.kinds import Standing
from assay.onboarding.doctor import examination
from assay.parsing.parse import parse_contract
from assay.planning.plan import plan
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target
from assay.running.environment import set_up
from assay.testing import verdicts
from assay.traffic.session import open_recording

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "errors.yaml", HERE / "errors-target.yaml"
#: What servers and firewalls in front of a desk answer by themselves, as pages of their own.
PAGE = b"<html><head><title>Request not accepted</title></head></html>"


class Fronted(Gate):
    """A desk behind a server and a firewall with the limits that are usual for them."""

    refused = 0

    def before(self, environ, body):
        """Answer before the desk what is too large, or looks like an attack."""
        headers = [str(value) for name, value in environ.items() if name.startswith("HTTP_")]
        url = environ["PATH_INFO"] + environ.get("QUERY_STRING", "")
        status = (
            "400 Bad Request" if max(map(len, headers)) > 8_000 else
            "404 Not Found" if len(url) > 8_000 else
            "400 Bad Request" if len(body) > 8_192 or b";--" in body or ";--" in url else ""
        )  # fmt: skip
        if "/assay-control/" in url or not status:
            return None
        self.refused += 1
        return status, [("Content-Type", "text/html")], PAGE


def about_errors(results):
    """Return the obligations about error bodies, and about the codes and statuses of refusals."""
    return {
        name
        for name in results
        if name.startswith("errors/") or name.endswith(("-code", "-status"))
    }


def test_every_facet_of_an_error_has_a_fault():
    """No check of an error has never been seen to fail."""
    allowed_by_both = {"own/entries-foreign-status"}
    named = about_errors(verdicts(CONTRACT, TARGET, ERRORS()))
    assert named - allowed_by_both == {name for fault in ERROR_FAULTS for name in fault.breaks}


def test_nothing_is_violated_where_the_target_file_does_not_say_where_errors_are(tmp_path):
    """What needs the code or a field is unverified; the media type and the statuses are judged."""
    text = (TARGET).read_text("utf-8")
    before, _, rest = text.partition("error:\n")
    silent = tmp_path / "silent.yaml"
    silent.write_text(before + rest[rest.index("operations:") :], "utf-8")

    (elsewhere,) = (fault for fault in ERROR_FAULTS if fault.name == "errors elsewhere")
    results = verdicts(CONTRACT, silent, elsewhere.of(ERRORS)())

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
    path.write_text((CONTRACT).read_text("utf-8") + ROBUST, "utf-8")
    fronted = Fronted(ERRORS())
    results = verdicts(path, TARGET, fronted)
    assert fronted.refused > 3
    assert [] == [name for name, standing in results.items() if standing is Standing.VIOLATES]
    open_ = [name for name, standing in results.items() if standing is not Standing.CONFORMS]
    assert [] == [name for name in open_ if name.startswith(("errors/", "robust/"))]


def test_a_journal_of_errors_is_judged_as_the_run_was(tmp_path):
    """A journal has what the target file locates in a refusal, and no more of its body."""
    target = read_target(TARGET)
    planned = plan(bind([parse_contract(CONTRACT)], target), target)
    written = tmp_path / "journal.jsonl"
    result = run_plan(planned, target, lambda _: SEVERAL(), journal=Journal.at(written))
    before = standings(result)

    files = {
        "contracts": [str(CONTRACT)],
        "target_name": str(TARGET),
    }
    result = open_recording(written, **files).close(tmp_path / "again.jsonl")

    assert before == standings(result)
    assert 4 == sum(standing is Standing.VIOLATES for standing in before.values())


def recorded_call(n, path, status, body, token="t-1"):
    """Return an entry of a HAR file."""
    kind = "application/json" if status < 400 else "application/problem+json"
    return entry(
        f"2026-09-16T08:00:{n:02}Z",
        "GET",
        f"https://desk.example{path}",
        status,
        body,
        token=token,
        headers={"X-Request-ID": f"00000000-0000-4000-8000-{n:012}"},
        answered={"Content-Type": kind},
    )


def test_the_traffic_of_others_is_judged(tmp_path):
    """A wrong form is a violation; a code can be wrong for a reason that no one knows."""
    wrong = {"problem": {"errors": [{"class": "X", "detail": {"code": "else"}}]}}
    entries = [
        recorded_call(1, "/accounts", 200, [{"number": "A-1"}]),
        recorded_call(2, "/accounts", 401, wrong, token=""),
    ]
    recording = write(tmp_path / "recording.har", entries)

    files = {
        "contracts": [str(CONTRACT)],
        "target_name": str(TARGET),
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
    files = str(CONTRACT), str(TARGET)
    prepared = prepare(files[:1], files[1], contexts=Depth.EACH)
    assert prepared.plan.contextual
    result = run_plan(prepared.plan, prepared.target, lambda _: ERRORS())
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
    text = (TARGET).read_text("utf-8")
    path = tmp_path / "target.yaml"
    path.write_text(text.replace(right, wrong), "utf-8")

    def made(target, ledger=None):
        return set_up(target, bank=lambda _: ERRORS())

    monkeypatch.setattr(examination, "set_up", made)
    result = examination.examine(str(path), [str(CONTRACT)])
    assert ([key] if key else []) == [each.key for each in result.findings if "error" in each.key]
