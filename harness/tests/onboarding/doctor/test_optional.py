"""What a bank may leave out or spell differently is no fault, and does not stop a run."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from examined_banks import BANK, Wrap, bank, rewritten

from assay.errors import Exit
from assay.onboarding.doctor import Weight, examine
from assay.sandbox.access import Decision
from assay.sandbox.app import make_app
from assay.sandbox.messages import KINDS
from assay.sandbox.policies import SOUND, put

STET = """\
assay: 1
target: hal
extends: stet-1.4.0
transport: http
base_url: URL/stet/psd2/v1
hosts: null
dialect: null
zone: Europe/Paris
fixtures: {kind: control, url: URL}
"""


def answering(status: int, method: str, paths: str) -> Wrap:
    """Answer the calls of a method below a path with a status."""

    def wrap(app):
        def answer(environ, start):
            if environ["REQUEST_METHOD"] == method and environ["PATH_INFO"].startswith(paths):
                environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                start(f"{status} .", [("Content-Type", "application/json")])
                return [b"{}"]
            return app(environ, start)

        return answer

    return wrap


def test_a_change_that_is_not_offered(tmp_path):
    """405 to a change is a note where the file says that changes are not offered, else a fault."""
    wrap = answering(405, "PUT", "/payment-requests")
    with bank(tmp_path, wrap) as (path, _):
        first = examine(path).blocking[0]
        assert "operations.modify-payment.method" == first.key
        offered = "not_offered: {payments.modify: no changes here, cancel: no cancellations}\n"
        Path(path).write_text(Path(path).read_text("utf-8") + offered, encoding="utf-8")
        examined = examine(path)
    keys = {one.key for one in examined.findings if one.weight is Weight.NOTE}
    assert () == examined.blocking
    assert {"operations.modify-payment", "operations.cancel-payment"} == keys


def test_a_list_that_no_answer_has(tmp_path):
    """One of two lists may be left out where it would be empty; a similar name is a question."""
    two = BANK.replace("    list: /accounts\n", "    list: [/accounts, /loans]\n", 1)
    with bank(tmp_path, text=two) as (path, _):
        examined = examine(path, ["aisp"])
    (finding,) = examined.findings
    assert (Weight.UNSEEN, "operations.accounts.list[1]") == (finding.weight, finding.key)

    def with_loans(body):
        loans = [{"loan": "L1"}]
        return {**body, "loan": loans} if isinstance(body, dict) and "accounts" in body else body

    with bank(tmp_path, rewritten(with_loans), two) as (path, _):
        (finding,) = examine(path, ["aisp"]).blocking
    assert (Weight.DOUBT, "operations.accounts.list[1]") == (finding.weight, finding.key)
    assert "did you mean /loan?" == finding.hint


def _open(request):
    return Decision.SERVED if request.own else Decision.REFUSED


#: A bank that serves a customer's data without a consent.
OPEN = replace(SOUND, scope=put(SOUND.scope, **dict.fromkeys(KINDS.values(), _open)))
NO_CONSENTS = "absent: {operations: {consents: there are none}}\noperations:\n"
WITH_TOKEN = "operations:\n  consents: {given: with-token}\n"


def without_consents(text: str, instead: str) -> str:
    """Return a target file that binds no consents, and says something instead."""
    before, _, rest = text.partition("  consents:\n")
    return (before + rest[rest.index("  balances:\n") :]).replace("operations:\n", instead)


def test_a_bank_without_consents(tmp_path):
    """404 to a consent is a question, whose hint leads to a file that can be run."""
    refusing = answering(404, "PUT", "/consents")
    with bank(tmp_path, lambda _: refusing(make_app(OPEN))) as (path, _):
        findings = examine(path, ["aisp"]).blocking
        (found,) = [one for one in findings if one.key.startswith("operations.consents")]
        assert Weight.DOUBT is found.weight
        assert "say so under `absent`" in found.hint
        for instead in NO_CONSENTS, WITH_TOKEN:
            text = without_consents(Path(path).read_text("utf-8"), instead)
            other = tmp_path / "other.yaml"
            other.write_text(text, encoding="utf-8")
            examined = examine(str(other), ["aisp"])
            assert Exit.USAGE is not examined.exit, [*map(str, examined.blocking)]


@pytest.mark.parametrize(
    ("instead", "key"),
    [
        (NO_CONSENTS, "absent.operations.consents"),
        (WITH_TOKEN, "operations.consents.given"),
    ],
)
def test_a_bank_that_requires_consents(instead, key, tmp_path):
    """Where all data are refused without a consent, it is doubted that no call makes one."""
    with bank(tmp_path, text=without_consents(BANK, instead)) as (path, _):
        found, *others = examine(path, ["aisp"]).blocking
    assert (Weight.DOUBT, key) == (found.weight, found.key)
    assert "403 from balances" in found.found
    assert {key} == {one.key for one in (found, *others)}
    assert "if the bank has such a call, bind operations.consents" == found.hint


def without_later_days(app, status="400 Bad Request"):
    """Refuse requests for a later day, as a bank that executes everything at once."""

    def answer(environ, start):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"] == "/payment-requests":
            body = environ["wsgi.input"].read(length)
            if b"deferred" in body:
                start(status, [("Content-Type", "application/json")])
                return [b'{"error": "no such payment"}']
            from io import BytesIO  # noqa: PLC0415

            environ["wsgi.input"] = BytesIO(body)
        return app(environ, start)

    return answer


def test_a_bank_without_deferred_payments(tmp_path):
    """A refused deferred request is a question about the mode; without the mode, the file is sound."""
    with bank(tmp_path, without_later_days) as (path, _):
        findings = examine(path, ["pis"]).blocking
        assert {Weight.DOUBT} == {one.weight for one in findings}
        (found,) = findings
        assert found.key == "operations.create-payment.modes.deferred"
        assert "set modes.deferred to null" in found.hint
        text = Path(path).read_text("utf-8")
        mode = "      deferred: {body: /paymentType, value: deferred}\n"
        assert mode in text
        Path(path).write_text(text.replace(mode, ""), encoding="utf-8")
        examined = examine(path, ["pis"])
    assert () == examined.blocking


def test_a_bank_that_limits_calls_has_all_modes(tmp_path):
    """That it takes no deferred request for a while is no question about the mode."""
    limited = partial(without_later_days, status="429 Too Many Requests")
    with bank(tmp_path, limited) as (path, _):
        findings = examine(path, ["pis"]).findings
    assert () == tuple(one for one in findings if one.blocking)
    (found,) = (one for one in findings if one.found.startswith("429"))
    assert "429: the bank currently limits calls" == found.found


def relative(value):
    """Make every link in an answer relative to its address."""
    if isinstance(value, dict):
        return {
            name: relative_reference(one) if name == "href" else relative(one)
            for name, one in value.items()
        }
    return [relative(one) for one in value] if isinstance(value, list) else value


def relative_reference(link: str) -> str:
    """Return a link without its origin and first slash."""
    parts = urlsplit(link)
    return parts.path.rpartition("/")[2] + (f"?{parts.query}" if parts.query else "/")


@pytest.mark.parametrize("leave", [relative, None], ids=["relative", "absent"])
def test_links_may_be_relative_or_absent(leave, tmp_path):
    """Relative references are links, and a link that is left out is not seen: neither is a fault."""

    def without(value):
        value.pop("_links", None)
        return value

    wrap = rewritten(leave or without)
    with bank(tmp_path, wrap, STET) as (path, _):
        findings = examine(path, ["aisp"]).findings
    links = [one for one in findings if ".links[" in one.key]
    assert {Weight.UNSEEN} >= {one.weight for one in links}
    assert bool(links) is (leave is None)
    # An inherited key is at the user's own line with `extends`, and names its own place.
    assert {3} >= {one.line for one in links}
    assert all("stet-1.4.0.yaml:" in one.inherited for one in links)


def silent(app):
    """Leave requests for the base path without an answer for a while."""

    def answer(environ, start):
        if environ["REQUEST_METHOD"] == "HEAD":
            time.sleep(0.6)
        return app(environ, start)

    return answer


def test_the_base_path_need_not_answer(tmp_path):
    """A base path that does not answer is not seen, and everything else is examined."""
    text = BANK.replace("timeout: 5", "timeout: 0.5")
    with bank(tmp_path, silent, text) as (path, _):
        examined = examine(path, ["aisp"])
    assert {("base_url", Weight.UNSEEN)} == {
        (one.key, one.weight) for one in examined.findings if one.weight is not Weight.NOTE
    }


def test_the_day_at_another_member(tmp_path):
    """A day that the bank does not read makes a deferred request an immediate one: a question."""
    moment = '{arguments: {date: {body: /creationDateTime, text: "{}T00:00:00Z"}}}'
    read = "{item: {fields: {date: /creationDateTime}}}"
    text = f"{STET}operations:\n  create-payment: {moment}\n  read-payment: {read}\n"
    with bank(tmp_path, text=text) as (path, _):
        findings = examine(path, ["pis"]).blocking
    assert "operations.create-payment.arguments.date" in {one.key for one in findings}


def test_a_rule_that_is_not_offered_says_nothing_of_its_operation(tmp_path):
    """A wrong path is a question although one rule about the operation is not offered."""
    text = f"{STET}operations: {{consents: {{path: /consnts}}}}\n"
    with bank(tmp_path, text=text) as (path, _):
        keys = {one.key for one in examine(path, ["aisp"]).blocking}
    assert "operations.consents.path" in keys
