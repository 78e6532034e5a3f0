"""Every typical mistake in a target file: its line is named, and the bank is not blamed."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import assay
from examined_banks import BANK as SOUND
from rows import for_each

from assay.binding.model.features import BINDING_FEATURES
from assay.errors import Exit
from assay.onboarding.doctor import Weight, examine
from assay.onboarding.doctor.examination import EXAMINED_BY, STEPS
from assay.onboarding.doctor.pointers import POINTERS
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow


class Mistake(NamedTuple):
    """A wrong text in place of the right one, with the line and key that must be reported."""

    name: str
    line: int
    key: str
    right: str
    wrong: str


MISTAKES = (
    Mistake("base path", 6, "base_url", "base_url: URL", "base_url: URL/aisp/v9"),
    Mistake("no such host", 6, "base_url", "base_url: URL", "base_url: http://bank.invalid"),
    Mistake("nobody listens", 6, "base_url", "base_url: URL", "base_url: http://127.0.0.1:9"),
    Mistake("tls where there is none", 6, "base_url",
            "base_url: URL\ntimeout: 5", "base_url: SECURE\ntimeout: 0.5"),
    Mistake("path", 80, "operations.balances.path",
            "  balances:\n", "  balances:\n    path: /account/balance\n"),
    Mistake("method", 80, "operations.balances.method",
            "  balances:\n", "  balances:\n    method: POST\n"),
    Mistake("alias", 80, "operations.balances.aliases[0]",
            "  balances:\n", "  balances:\n    aliases: [/balance]\n"),
    Mistake("list", 62, "operations.accounts.list", "list: /accounts", "list: /data/accounts"),
    Mistake("key", 68, "operations.accounts.item.key", "      key: /iban", "      key: /id"),
    Mistake("key that is something else", 68, "operations.accounts.item.key",
            "      key: /iban", "      key: /name"),
    Mistake("key of entries", 100, "operations.transactions.item.key",
            "      key: /id\n", "      key: /label\n"),
    Mistake("key of what is made", 134, "operations.create-payment.item.key",
            "  key: /paymentRequestResourceId\n      state: &state",
            "  key: /status\n      state: &state"),
    Mistake("date", 101, "operations.transactions.item.on", "on: /bookingDate", "on: /valueDate"),
    Mistake("date that is none", 101, "operations.transactions.item.on",
            "on: /bookingDate", "on: /label"),
    Mistake("field", 87, "operations.balances.item.fields.currency",
            "currency: /currency\n      volatile: []\n  trans",
            "currency: /curency\n      volatile: []\n  trans"),
    Mistake("field that is another", 86, "operations.balances.item.fields.balanceType",
            "balanceType: /balanceType", "balanceType: /currency"),
    Mistake("field of a request", 154, "operations.read-payment.item.fields.amount",
            "        amount: /amount\n        currency",
            "        amount: /currency\n        currency"),
    Mistake("next", 63, "operations.accounts.next",
            "    next: /links/next\n    links: [/links/self, /links/next]\n    values",
            "    next: /links/nxt\n    links: [/links/self]\n    values"),
    Mistake("page parameter", 97, "operations.transactions.next",
            "    list: /transactions\n    next: /links/next",
            "    list: /transactions\n    next: {page: seite}"),
    Mistake("first page", 97, "operations.transactions.next",
            "    list: /transactions\n    next: /links/next",
            "    list: /transactions\n    next: {page: page, first: 0}"),
    Mistake("cursor", 97, "operations.transactions.next",
            "    list: /transactions\n    next: /links/next",
            "    list: /transactions\n    next: {cursor: /cursor, query: cursor}"),
    Mistake("link", 82, "operations.balances.links[0]",
            "links: [/links/self]\n    item:\n      fields:",
            "links: [/_links/self]\n    item:\n      fields:"),
    Mistake("value", 65, "operations.accounts.values.PsuIdentity",
            "PsuIdentity: /PsuIdentity", "PsuIdentity: /psuIdentity"),
    Mistake("query parameter", 80, "operations.balances.arguments.iban",
            "    arguments: {iban: {query: iban}}\n",
            "    arguments: {iban: {query: accountId}}\n"),
    Mistake("since", 92, "operations.transactions.arguments.since",
            "since: {query: dateFrom}", "since: {query: from}"),
    Mistake("until", 93, "operations.transactions.arguments.until",
            "until: {query: dateTo}", "until: {query: to}"),
    Mistake("body of a consent", 77, "operations.consents.arguments.accounts",
            "{accounts: {body: /accounts}}", "{accounts: {body: /access/accounts}}"),
    Mistake("body of a request", 114, "operations.create-payment.arguments.categoryPurpose",
            "categoryPurpose: {body: /categoryPurpose,", "categoryPurpose: {body: /purpose,"),
    Mistake("value of an argument", 113, "operations.create-payment.arguments.chargeBearer.value",
            "value: SLEV", "value: SHAR"),
    Mistake("another value that is none", 114, "operations.create-payment.arguments.categoryPurpose.other",
            "value: DVPM, other: SUPP", "value: DVPM, other: SUP"),
    Mistake("mode", 125, "operations.create-payment.modes.immediate",
            "immediate: {body: /paymentType, value: immediate}",
            "immediate: {body: /type, value: immediate}"),
    Mistake("argument that nobody reads", 120, "operations.create-payment.arguments.debtorAccount",
            "debtorAccount: {body: /debtorAccount}", "debtorAccount: {body: /debtor}"),
    Mistake("presence the wrong way round", 14, "presence.when",
            "  value: 192.0.2.10", "  value: 192.0.2.10\n  when: absent"),
    Mistake("presence by another name", 12, "presence.header",
            "header: PSU-IP-Address", "header: PSU-IP"),
    Mistake("accepted", 61, "outcomes.accepted",
            "operations:\n  acc",
            "outcomes:\n  accepted: [{statuses: [201]}]\n\noperations:\n  acc"),
    Mistake("rejected", 63, "outcomes.rejected[1]",
            "operations:\n  acc",
            "outcomes:\n  rejected:\n    - {statuses: [4xx]}\n    - {statuses: [200]}\n\noperations:\n  acc"),
    Mistake("unavailable unknown", 61, "outcomes.unavailable",
            "operations:\n  acc",
            "outcomes:\n  unavailable: [{statuses: [404]}]\n  rejected: [{statuses: [400, 403, 404, 409, 422, 429]}]\n\noperations:\n  acc"),
    Mistake("accepted too much", 65, "outcomes.accepted[1]",
            "operations:\n  acc",
            "outcomes:\n  unavailable: [{statuses: [501]}]\n  rejected: [{statuses: [400]}]\n  accepted:\n    - {statuses: [2xx]}\n    - {statuses: [4xx]}\n\noperations:\n  acc"),
    Mistake("media type", 62, "outcomes.accepted[0].media_type",
            "operations:\n  acc",
            "outcomes:\n  accepted:\n    - {statuses: [2xx], media_type: application/hal+json}\n\noperations:\n  acc"),
    Mistake("outcomes of one operation", 81, "operations.balances.outcomes.accepted",
            "  balances:\n", "  balances:\n    outcomes:\n      accepted: [{statuses: [204]}]\n"),
    Mistake("state at the start", 138, "operations.create-payment.item.state.values.open",
            "open: [received, pending]", "open: [receivd, pending]"),
    Mistake("state at the end", 139, "operations.read-payment.item.state.values.done",
            "done: [executed]", "done: [executd]"),
    Mistake("state elsewhere", 136, "operations.create-payment.item.state.at",
            "        at: /status", "        at: /state"),
    Mistake("resource", 73, "operations.accounts.item.resource.values.card",
            "          card: card", "          card: deferred-card"),
    Mistake("resource elsewhere", 70, "operations.accounts.item.resource.at",
            "        at: /kind", "        at: /type"),
    Mistake("approval", 107, "operations.create-payment.approval",
            "    approval: /links/consentApproval", "    approval: /_links/approval"),
    Mistake("login field", 49, "sca.screens[0].user",
            "{login: login, password: password}", "{user: login, password: password}"),
    Mistake("factor field", 50, "sca.screens[1].faktor", "{factor: factor}", "{faktor: factor}"),
    Mistake("code field", 51, "sca.screens[2].otp", "{code: code}", "{otp: code}"),
    Mistake("factor", 55, "sca.factors.sms", "    sms: sms", "    sms: SMS-OTP"),
    Mistake("decision", 53, "sca.decisions.confirm",
            "  # The last", "  decisions: {confirm: ja}\n  # The last"),
    Mistake("segment", 35, "fixtures.segments.corporate",
            "corporate: CORPORATE", "corporate: COMPANY"),
    Mistake("effect", 41, "fixtures.effects.creditorAccount",
            "    creditorAccount: /creditor\n", "    creditorAccount: /beneficiary\n"),
    Mistake("zone", 8, "zone", "zone: Europe/Paris", "zone: America/New_York"),
    Mistake("control url", 17, "fixtures.url",
            "  kind: control\n", "  kind: control\n  url: URL/control\n"),
    Mistake("no token", 10, "auth", "auth: {kind: bearer}", "auth: {kind: none}"),
    Mistake("token in another header", 10, "auth.kind",
            "auth: {kind: bearer}", "auth: {kind: key, header: X-Token}"),
    Mistake("one token for all", 10, "auth",
            "auth: {kind: bearer}", "auth: {kind: bearer, token_env: DOCTOR_UNSET}"),
    Mistake("a field of nothing", 85, "operations.balances.item.fields.ibann",
            "        iban: /iban\n        balanceType",
            "        ibann: /iban\n        balanceType"),
    Mistake("the bank's own name", 68, "operations.accounts.item.id",
            "    item:\n      key: /iban\n",
            "    item:\n      id: /resourceId\n      key: /iban\n"),
    Mistake("single item", 159, "operations.modify-payment.one",
            '  modify-payment:\n    one: ""', "  modify-payment:\n    one: /paymentRequest"),
    Mistake("unknown operation", 76, "operations.consent", "  consents:\n", "  consent:\n"),
)  # fmt: skip

#: The sandbox accepts every media type, so no mistake in a header can be made there, and it needs
#: no outputs. A consent that no call makes is in `test_optional`.
WITHOUT_MISTAKE = {"given", "headers", "output", "submission", "submitted", "volatile"}
#: Mistakes that do not hide one another, by name: one run finds them all. Each of the
#: others has a run of its own.
TOGETHER = (
    ("path", "list", "value", "login field", "segment"),
    ("method", "key", "next", "resource elsewhere", "factor field", "zone"),
    ("alias", "key that is something else", "resource", "code field", "factor"),
    ("key of entries", "key of what is made", "date", "field", "field that is another", "page parameter", "link"),
    ("date that is none", "field of a request", "first page", "query parameter", "state at the start", "state at the end", "effect"),
    ("cursor", "since", "until", "body of a request"),
    ("presence by another name", "state elsewhere"),
    ("the bank's own name", "single item"),
)  # fmt: skip
BY_NAME = {one.name: one for one in MISTAKES}
RUNS = (
    *TOGETHER,
    *((name,) for name in BY_NAME if not any(name in names for names in TOGETHER)),
)


@pytest.fixture(scope="module")
def url():
    """Serve the sound bank on a free port, for all the files."""
    with serving(make_app()) as served:
        yield served


def written(text: str, url: str, folder: Path) -> Path:
    """Write a target file for the served bank."""
    path = folder / "bank.yaml"
    secure = url.replace("http:", "https:")
    path.write_text(text.replace("SECURE", secure).replace("URL", url), encoding="utf-8")
    return path


@pytest.mark.parametrize("names", RUNS, ids=lambda names: "+".join(names).replace(" ", "-"))
def test_mistakes_are_named_before_anything_is_judged(names, url, tmp_path):
    """A run reports exactly the wrong lines and ends before any verdict."""
    text = SOUND
    for mistake in map(BY_NAME.get, names):
        assert SOUND.count(mistake.right) == text.count(mistake.right) == 1
        text = text.replace(mistake.right, mistake.wrong)
    path = written(text, url, tmp_path)
    out = tmp_path / "out"
    code, _, said = assay("run", "--target", path, "--out", out, cwd=tmp_path)
    assert (2, False) == (code, out.exists())
    assert len(names) == sum(f"{path}:" in line for line in said.splitlines())
    expected = sorted((BY_NAME[name].line, BY_NAME[name].key) for name in names)
    named = re.findall(rf"(.*){re.escape(str(path))}:(\d+): (.+?): ", said)
    assert [("assay: ", line, key) for line, key in expected] == sorted(
        (start, int(line), key) for start, line, key in named
    )


#: The checks whose faults no bank can cause by the way in which it answers ordinary calls; and
#: credentials with which nothing at all is accepted.
CERTAIN = {
    "auth",
    "target",
    "unused",
    "secrets",
    "files",
    "host",
    "port",
    "ready",
    "fixtures",
    "effects",
}


@pytest.mark.parametrize("names", RUNS, ids=lambda names: "+".join(names).replace(" ", "-"))
def test_every_doubt_can_be_confirmed(names, url, tmp_path):
    """With the lines that the doctor prints, pasted as they are, only certain faults stop a run."""
    text, confirmed = SOUND, ""
    for mistake in map(BY_NAME.get, names):
        text = text.replace(mistake.right, mistake.wrong)
    while True:
        path = written(f"{text}{confirmed}", url, tmp_path)
        blocking = {
            ("auth" if finding.key[:4] == "auth" else step.step.name, finding.weight)
            for step in examine(str(path)).outcomes
            for finding in step.findings or ()
            if finding.blocking
        }
        if not any(weight is Weight.DOUBT for _, weight in blocking):
            break
        _, printed, _ = assay("doctor", "--target", path, cwd=tmp_path)
        *_, lines = printed.rpartition("confirmed:\n")
        further = "".join(f"{line}\n" for line in lines.splitlines() if line.startswith("  "))
        assert further
        confirmed = f"{confirmed or 'confirmed:' + chr(10)}{further.replace('REASON', 'as here')}"
    assert {name for name, _ in blocking} <= CERTAIN


def test_there_are_enough_of_them():
    """There are sixty-two mistakes, no two are the same, and each is made in one run."""
    assert (62, 62) == (len(MISTAKES), len(BY_NAME))
    assert sorted(BY_NAME) == sorted(name for names in RUNS for name in names)


def test_the_sound_file_is_found_sound(url, tmp_path):
    """The sound file has no findings, and no check is skipped."""
    examined = examine(str(written(SOUND, url, tmp_path)))
    assert (Exit.OK, ()) == (examined.exit, examined.findings)
    assert [] == [one.step.name for one in examined.outcomes if one.findings is None]
    assert 71 == examined.calls


def test_without_the_examination_the_bank_would_be_blamed(url, tmp_path):
    """Without the examination, a wrong presence header turns obligations of a sound bank red."""
    path = written(SOUND.replace("header: PSU-IP-Address", "header: PSU-IP"), url, tmp_path)
    asked = ("run", "--target", path, "--out", tmp_path / "out", "-k", "online-unlimited")
    code, printed, _ = assay(*asked, "--no-doctor", cwd=tmp_path)
    assert 1 == code
    assert "violates" in printed
    assert 2 == assay(*asked, cwd=tmp_path)[0]


def test_a_sound_file_is_examined_and_then_run(url, tmp_path):
    """The calls of the examination are announced, and the run follows."""
    path = written(SOUND, url, tmp_path)
    asked = ("--target", path, "--out", tmp_path / "out", "-k", "accounts.available")
    code, printed, said = assay("run", *asked, cwd=tmp_path)
    assert (0, "") == (code, said)
    assert printed.startswith("doctor: about 80 calls (accounts 18, balances 4, ")
    assert (tmp_path / "out" / "journal.jsonl").exists()


def test_a_guess_is_listed_and_breaks_nothing(url, tmp_path):
    """A line marked as guessed is a note; a line marked as missing is not seen."""
    guessed = SOUND.replace("list: /accounts", "list: /accounts  # guessed: the only list")
    examined = examine(str(written(guessed, url, tmp_path)))
    assert Exit.OK == examined.exit
    assert [(Weight.NOTE, 62, "list", "guessed: the only list")] == [
        (one.weight, one.line, one.key, one.found) for one in examined.findings
    ]
    missing = SOUND.replace("\ntimeout: 5", "\n# missing: the second host\ntimeout: 5")
    assert Exit.INCOMPLETE == examine(str(written(missing, url, tmp_path))).exit


def test_every_feature_is_examined_or_has_a_reason():
    """The features are those of the binding; none is in both tables; each check exists."""
    assert {*EXAMINED_BY} == {
        name for name, row in BINDING_FEATURES.items() if not row.not_examined
    }
    assert {*EXAMINED_BY.values()} <= {step.name for step in STEPS}
    assert {*POINTERS} == {name for name, step in EXAMINED_BY.items() if step == "pointers"}


@for_each("feature", sorted(EXAMINED_BY.keys() - WITHOUT_MISTAKE))
def test_every_examined_feature_has_a_mistake(feature):
    """Some mistake of `test_mistakes` is found at the very key of the feature."""
    steps = [re.escape(step) for step in BINDING_FEATURES[feature].place("OPERATION", "NAME")]
    key = r"\.".join(steps).replace("OPERATION", "[^.]+").replace("NAME", "[^.]+")
    assert any(re.fullmatch(rf"{key}([.\[].*)?", mistake.key) for mistake in MISTAKES)
