"""Signing by a person: what they are told, when they are back, and when nobody is there."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from rows import for_each
from suite_runs import run_suites

from assay.binding.model.target import (
    Fixtures,
    ItemBinding,
    OperationBinding,
    Place,
    Sca,
    ScaKind,
    Spelling,
    Target,
    TransportKind,
)
from assay.binding.wire.encode import Access
from assay.cli.plan import plan_lines
from assay.cli.progress import Progress
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange, InputError
from assay.fixtures.protocol import ReadOnlyFixture
from assay.history import Authorise, Call, Code, Decision, Ending
from assay.journal.writer import Journal
from assay.planning.plan import Plan, count_signatures, plan, restrict
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.running.environment import Environment, set_up
from assay.running.executor import run_probe
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.sca.manual import CallbackServer, ManualSigner, announcement, open_callback_server
from assay.sca.protocol import ScreenFlowResult, StderrPrompt, legible
from assay.transport.http import HttpClient

NOW = datetime(2026, 9, 16, 10, tzinfo=UTC)
LINK = "https://bank.example/sign/R1"
STEP = Authorise(subject="psu", request="R1", approval=LINK)
CALLBACK = "http://127.0.0.1:8765"


@dataclass
class Listener:
    """Somebody who is told things, and remembers them; `then` is what they do about it."""

    told: list[str] = field(default_factory=list)
    counted: list[float] = field(default_factory=list)
    then: Callable[[str], None] = lambda _: None

    def show(self, text: str) -> None:
        self.told.append(text)
        self.then(text)

    def countdown(self, seconds: float) -> None:
        self.counted.append(seconds)


def never(event: threading.Event, seconds: float) -> None:
    """Let time pass, and nothing happen."""


def token_store(path: str | None = None, after: int = 0, **options: Any) -> CallbackServer:
    """Return a reception to whom somebody comes, at a path, when so many seconds have passed."""
    seconds = count()

    def pause(event: threading.Event, span: float) -> None:
        if path is not None and next(seconds) == after:
            server.arrive(path)

    server = CallbackServer(callback=CALLBACK, wait=options.pop("wait", 3), pause=pause, **options)
    return server


def manual(callback_server: CallbackServer, person: Listener | None = None) -> ManualSigner:
    """Return a signer whose request R1 comes back to a known address."""
    signer = ManualSigner(callback_server=callback_server, prompt=person or Listener())
    signer.returns("R1", f"{CALLBACK}/r1")
    return signer


def address(text: str) -> str:
    """Return where a person is told to go when all is done."""
    return text.rsplit(maxsplit=1)[-1].removesuffix("/cannot")


def sign(
    signer: ManualSigner, step: Authorise = STEP, access: Access | None = None
) -> ScreenFlowResult:
    """Have a step signed."""
    return signer.sign(step, access or Access(), lambda _: NOW)


# -- one signature -------------------------------------------------------------


def test_a_person_signs() -> None:
    """Somebody who is back at the request's own address has confirmed."""
    signer = manual(token_store("/r1"))
    walked = sign(signer)
    assert (Ending.CONFIRMED, [NOW], LINK) == (walked.ending, walked.moments, walked.wire.url)
    assert (None, None, []) == (walked.redirected, walked.offered, walked.screens)
    assert (True, False, 1) == (
        signer.callback_server.seen,
        signer.callback_server.absent,
        signer.callback_server.asked,
    )


def test_a_person_refuses() -> None:
    """A refusal is as good, wherever it leads."""
    step = replace(STEP, decision=Decision.REFUSE)
    walked = sign(manual(token_store("/r1")), step)
    assert Ending.REFUSED is walked.ending


def test_a_person_who_cannot() -> None:
    """Who says so has not signed, and is there for the next one."""
    signer = manual(token_store("/r1/cannot"))
    with pytest.raises(CannotArrange, match="reported as not possible"):
        sign(signer)
    assert (True, False) == (signer.callback_server.seen, signer.callback_server.absent)


@for_each("path", ["/", "/r2", "/r1/", "/r1x", "/R1", "", "/cannot", "/favicon.ico"])
def test_others_do_not_resume_it(path: str) -> None:
    """Whoever comes to another address is not the one who is waited for."""
    with pytest.raises(CannotArrange, match="no response within 3 s"):
        sign(manual(token_store(path)))


def test_nobody_is_let_in_who_is_not_waited_for() -> None:
    """Neither before it is asked for, nor after: a page that is loaded again does nothing."""
    signer = manual(token_store("/r1", after=1))
    assert not signer.callback_server.arrive("/r1")
    assert Ending.CONFIRMED is sign(signer).ending
    assert not signer.callback_server.arrive("/r1")
    assert not signer.callback_server.arrive("")
    with pytest.raises(CannotArrange):
        sign(signer)


def test_nobody_there() -> None:
    """Nobody is waited for twice, and each second is counted down."""
    person = Listener()
    signer = manual(token_store(wait=2.5), person)
    for _ in range(3):
        with pytest.raises(CannotArrange, match="a person who signs"):
            sign(signer)
    assert [2.5, 1.5, 0.5, 0] == person.counted
    assert (1, True) == (signer.callback_server.asked, signer.callback_server.absent)
    assert "unverified" in person.told[-1]


@pytest.mark.parametrize(("seen", "absent"), [(True, False), (False, True)])
def test_a_refusal_that_leads_nowhere(seen: bool, absent: bool) -> None:
    """Who was there before and refuses may be left at the bank, and there for the next one."""
    signer = manual(token_store(seen=seen))
    with pytest.raises(CannotArrange):
        sign(signer, replace(STEP, decision=Decision.REFUSE))
    assert absent is signer.callback_server.absent


@for_each(
    "step",
    [
        replace(STEP, code=Code.WRONG),
        replace(STEP, spoof="https://thief.example"),
        replace(STEP, pace=timedelta(1)),
        replace(STEP, linger=(timedelta(1),)),
        replace(STEP, approval=None),
        replace(STEP, approval="javascript:alert(1)"),
        replace(STEP, approval="file:///etc/passwd"),
    ],
)
def test_what_no_person_is_asked_for(step: Authorise) -> None:
    """Tricks and long waits are for programs, and a link has to be one."""
    signer = manual(token_store())
    with pytest.raises(CannotArrange):
        sign(signer, step)
    assert (0, False) == (signer.callback_server.asked, signer.callback_server.absent)


def test_a_request_that_comes_back_elsewhere() -> None:
    """Where the bank does not lead back here, the person does, and nothing is said of the bank."""
    person, callback_server = Listener(), token_store()
    callback_server.pause = lambda *_: callback_server.arrive(
        urlsplit(address(person.told[-1])).path
    )
    walked = sign(ManualSigner(callback_server=callback_server, prompt=person))
    assert Ending.CONFIRMED is walked.ending


# -- what is said --------------------------------------------------------------


@for_each(
    ("step", "access", "said"),
    [
        (STEP, Access(), ["log in as psu\n", "confirm the request", "returns automatically"]),
        (STEP, Access(id="alice"), ["log in as alice\n"]),
        (replace(STEP, by="eve"), Access(), ["log in as eve\n"]),
        (
            replace(STEP, factor="sms"),
            Access(login="w1-c1", password="hush", codes={"sms": "123", "cap": "456"}),
            ["log in as w1-c1, password hush\n", "choose sms, code 123\n"],
        ),
        (STEP, Access(codes={"sms": "1", "cap": "2"}), ["any factor: sms (code 1), cap (code 2)"]),
        (
            replace(STEP, decision=Decision.REFUSE),
            Access(),
            ["refuse the request", f"open {CALLBACK}/r1 if", "the run waits 3 s"],
        ),
        (
            replace(STEP, approval=LINK + "\x1b[2J\r\n"),
            Access(),
            [LINK + "\ufffd[2J\ufffd\ufffd\n"],
        ),
    ],
)
def test_what_a_person_is_told(step: Authorise, access: Access, said: list[str]) -> None:
    """The link, the customer, the factor, what to do, and what happens then."""
    person = Listener()
    with pytest.raises(CannotArrange):
        sign(manual(token_store(), person), step, access)
    for words in said:
        assert words in person.told[1]
    assert person.told[1].startswith(f"signature 1: open {LINK}")


@pytest.mark.parametrize(
    ("count", "said"), [(1, "needs 1 signature by"), (7, "needs up to 7 signatures by")]
)
def test_what_is_foretold(count: int, said: str) -> None:
    """Before the first signature, and only then, the run says how long it may take."""
    person = Listener()
    signer = manual(token_store("/r1", signatures=count), person)
    sign(signer)
    with pytest.raises(CannotArrange):
        sign(signer)
    assert [announcement(count)] == [one for one in person.told if "need" in one and "min" in one]
    assert said in person.told[0]
    assert f"about {count} min" in person.told[0]


def test_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody looks at a terminal, there are lines on stderr and no countdown."""
    StderrPrompt().show("hello")
    StderrPrompt().countdown(3)
    assert ("", "hello\n") == capsys.readouterr()


def test_words_beside_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal words stand above the bar, which counts down meanwhile."""
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    environment = set_up(prepare().target)
    session = Session(plan=prepare().plan, environment=environment, journal=Journal(out=None))
    with Progress(session) as progress:
        assert environment.person is progress
        progress.on_trial(session.plan.trials[0])
        progress.show("open [link]https://bank.example/[/link]")
        progress.countdown(65)
        assert "waiting for you: 1:05" == progress._bar.tasks[0].description
        progress.countdown(0)
        assert "aisp/accounts.available" == progress._bar.tasks[0].description
    environment.close()
    assert "open [link]https://bank.example/[/link]" in screen.getvalue()


@pytest.mark.parametrize("text", ["", "a\x1b]0;x\x07b", "a\nb\u202ec", "x" * 5000])
def test_legible(text: str) -> None:
    """A stranger's text is one line of bounded length, and no command to a terminal."""
    shown = legible(text)
    assert shown.isprintable()
    assert len(shown) == min(len(text), 2000)


# -- coming back, for real -----------------------------------------------------


def free() -> str:
    """Return a callback that is free."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def target(**options: Any) -> Target:
    sca = Sca(kind=ScaKind.MANUAL, callback=free(), wait=60)
    return Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="http://127.0.0.1:1",
        sca=replace(sca, **options),
        path="t.yaml",
        lines={"sca": 7},
        fixtures=Fixtures(offers=frozenset({Capability.WRITE, Capability.TPPS})),
    )


@pytest.fixture
def listening() -> Iterator[CallbackServer]:
    """Listen on this machine."""
    one = open_callback_server(target())
    yield one
    one.close()


def test_two_signatures_in_a_row(listening: CallbackServer) -> None:
    """Each is resumed by its own browser, while others come to the door."""
    answers: list[int] = []
    signer = ManualSigner(callback_server=listening, prompt=Listener())
    for request in ("R1", "R2"):
        signer.returns(request, signer.return_address() or "")
    one, two = (signer.addresses[request] for request in ("R1", "R2"))
    order = {"R1": [two, one], "R2": [one, f"{listening.callback}/", f"{two}?state=1#x"]}

    def visit(request: str) -> None:
        for url in order[request]:
            answers.append(httpx.get(url, trust_env=False).status_code)  # noqa: PERF401

    for request in ("R1", "R2"):
        thread = threading.Thread(target=visit, args=[request], daemon=True)
        signer.prompt.then = lambda text, thread=thread: (
            thread.start() if text.startswith("signature") else None
        )
        walked = sign(signer, replace(STEP, request=request))
        thread.join(5)
        assert Ending.CONFIRMED is walked.ending
    assert [404, 200, 404, 404, 200] == answers


def test_the_door(listening: CallbackServer) -> None:
    """Only this machine is answered, whatever it sends, and with nothing but a sentence."""
    assert "127.0.0.1" == listening._server.server_address[0]
    with httpx.Client(base_url=listening.callback, trust_env=False) as browser:
        for method, path in (("GET", "/x?y"), ("POST", "/"), ("GET", "/%00"), ("GET", "//a/b")):
            answer = browser.request(method, path)
            assert (404, "no-store") == (answer.status_code, answer.headers["cache-control"])
            assert "/x" not in answer.text
        assert 501 == browser.delete("/").status_code


def test_addresses_cannot_be_guessed() -> None:
    """Each is another, below the callback, and long."""
    one = token_store()
    made = {one.address() for _ in range(100)}
    assert 100 == len(made)
    assert all(each.startswith(f"{CALLBACK}/") and len(each) > 50 for each in made)


def test_a_port_that_is_taken(listening: CallbackServer) -> None:
    """A run that could not be come back to says so before it begins."""
    taken = target(callback=listening.callback)
    with pytest.raises(InputError, match=r"t\.yaml:7: sca\.callback: cannot listen at http"):
        set_up(taken)


def test_closing_the_stage_closes_the_door() -> None:
    """After a run nobody listens, and the port can be had again."""
    prepared = target()
    for _ in range(2):
        environment = set_up(prepared)
        environment.expect_signatures(3)
        assert environment.callback_server is not None
        assert 3 == environment.callback_server.signatures
        environment.close()
        with pytest.raises(httpx.ConnectError):
            httpx.get(prepared.sca.callback, trust_env=False)


# -- where a request comes back to ---------------------------------------------

ORDER = Operation(
    id="order",
    method="POST",
    path="/visits",
    makes="visit",
    returns="backTo",
    arguments=("work", "backTo"),
)
SHOW = Operation(id="show", method="GET", path="/visits/{visitId}", shows="visit", about="visitId")
FIXED = "https://tpp.example/back"
BINDINGS = {
    "order": OperationBinding(
        one="",
        arguments={
            "work": Spelling(place=Place.BODY, name="/work", value="repair", other="test"),
            "backTo": Spelling(place=Place.BODY, name="/backTo", value=FIXED, other=FIXED + "2"),
        },
        item=ItemBinding(key=("/id",)),
    )
}


class Still(ReadOnlyFixture):
    """A world where only the clock is asked for."""

    def open(self) -> Still:
        return self

    def clock(self, to: datetime | None) -> datetime:
        return NOW

    def tpp(self) -> Access:
        return Access(id="another", token="t")

    def close(self) -> None:
        pass


def ordered(*calls: Call, kind: ScaKind = ScaKind.MANUAL) -> tuple[list[Any], list[Any], Any]:
    """Make calls; return what was sent as `backTo`, what is known of it, and who signs."""
    sent: list[Any] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content).get("backTo"))
        body = json.dumps({"id": f"V{len(sent)}"}).encode()
        return httpx.Response(201, stream=httpx.ByteStream(body))

    def probe() -> Any:
        for call in calls:  # noqa: UP028 -- answers are sent in
            yield call

    bound = replace(target(kind=kind), operations=BINDINGS)
    client = HttpClient(base_url=bound.base_url, transport=httpx.MockTransport(respond))
    environment = Environment(
        target=bound,
        client=client,
        fixtures=Still(),
        callback_server=token_store(),
        common=Access(token="c", tokens={"another": "c2"}),
    )
    signer, number = environment.signer(Still()), count(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "signer", lambda *_: signer)
        driven = run_probe(
            probe(),
            environment,
            {"order": ORDER, "show": SHOW},
            number=lambda: next(number),
            record=lambda *_: None,
        )
    assert "" == driven.stopped
    told = [one.call.arguments.get("backTo") for one in driven.history.exchanges]
    return sent, told, signer


CALL = Call(operation="order", subject="psu")


def test_where_a_request_comes_back_to() -> None:
    """To the person's own machine, each to another place, as the history tells."""
    other = replace(CALL, arguments={"work": "test"})
    sent, told, signer = ordered(CALL, other, replace(CALL, varied=("work",)))
    assert sent == told
    assert 3 == len({*sent})
    assert all(one.startswith(f"{CALLBACK}/") for one in sent)
    assert dict(zip(("V1", "V2", "V3"), sent, strict=True)) == signer.addresses


def test_what_is_asked_for_twice_is_alike() -> None:
    """The same request is the same in this, too, whoever makes it and whatever it deviates in."""
    sent, _, signer = ordered(CALL, replace(CALL, variation="once more"), replace(CALL, by="tpp"))
    assert 1 == len({*sent})
    assert {"V1", "V2", "V3"} == signer.addresses.keys()


@pytest.mark.parametrize(
    ("call", "there"),
    [
        (replace(CALL, arguments={"backTo": "https://x.example"}), "https://x.example"),
        (replace(CALL, varied=("backTo",)), FIXED + "2"),
        (replace(CALL, without=("backTo",)), None),
    ],
)
def test_a_probe_that_minds_where(call: Call, there: str | None) -> None:
    """What a probe says of the address holds, and nobody is waited for there."""
    sent, _, signer = ordered(call)
    assert ([there], {}) == (sent, signer.addresses)


def test_others_do_not_mind() -> None:
    """Where no person signs, requests come back to where the profile says."""
    sent, told, _ = ordered(CALL, kind=ScaKind.NONE)
    assert [FIXED] == sent == told


# -- a whole run ---------------------------------------------------------------


@pytest.fixture(scope="module")
def sandbox() -> Iterator[str]:
    """Serve the sandbox bank."""
    with serving(make_app()) as url:
        yield url


def lay(folder: Path, url: str) -> str:
    """Lay a person over the sandbox's own target file."""
    path = folder / "t.yaml"
    path.write_text(
        f"assay: 1\ntarget: t\nextends: sandbox\ntransport: http\nbase_url: {url}\nhosts: []\n"
        f"sca: {{kind: manual, callback: '{free()}', wait: 30}}\n",
        encoding="utf-8",
    )
    return str(path)


class Customer(Listener):
    """Somebody who does what is said, at the sandbox's screens."""

    def show(self, text: str) -> None:
        super().show(text)
        if text.startswith("signature"):
            threading.Thread(target=self.act, args=[text], daemon=True).start()

    @staticmethod
    def act(text: str) -> None:
        """Sign, or refuse, and come back."""
        link, login, password = re.search(
            r"open (\S+)\n  log in as (\S+), password (\S+)\n", text
        ).groups()
        factor, code = re.search(r"(?:choose|factor:) ([\w-]+)(?:, | \()code (\d+)", text).groups()
        decision = "refuse" if "refuse the request" in text else "confirm"
        with httpx.Client(trust_env=False) as browser:
            page = browser.get(link)
            for form in (
                {"login": login, "password": password},
                {"factor": factor},
                {"code": code},
                {"decision": decision},
            ):
                action = re.search(r'action="([^"]+)"', page.text)[1]
                page = browser.post(str(page.url.join(action)), data=form)
            browser.get(page.headers.get("location") or address(text))


def held(target: str, keywords: str, **how: Any) -> tuple[Plan, Any, Environment]:
    """Hold a run."""
    prepared = prepare(["pis"], target, keywords=keywords)
    environment = set_up(prepared.target)
    for name, value in how.items():
        setattr(
            environment if hasattr(environment, name) else environment.callback_server, name, value
        )
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    result = run_session(session)
    environment.close()
    return prepared.plan, result, environment


#: What takes signatures, both ways, beside what takes none.
SOME = "pis/sca.required or pis/payments.content or pis/report-url"


def test_a_run_with_a_person(sandbox: str, tmp_path: Path) -> None:
    """A person who does as told gets the verdicts that a program gets, without the screens."""
    customer = Customer()
    plan_, result, environment = held(lay(tmp_path, sandbox), SOME, person=customer)
    asked = [text for text in customer.told if text.startswith("signature")]
    assert len(asked) <= count_signatures(plan_)
    assert [announcement(count_signatures(plan_))] == [
        text for text in customer.told if text not in asked
    ]
    assert environment.callback_server.asked == len(asked) > 1
    assert any("refuse the request" in text for text in asked)
    assert (plan_.calls, ()) == (result.exchanges, result.faults)
    screens = {
        one.obligation.id for one in plan_.items if Capability.SCREENS in one.obligation.needs
    }
    for verdict in result.verdicts:
        expected = Standing.UNVERIFIED if verdict.obligation in screens else Standing.CONFORMS
        assert expected is verdict.standing, verdict


def test_a_run_with_nobody(sandbox: str, tmp_path: Path) -> None:
    """What needs a person is unverified, says so, and nobody is waited for twice."""
    person = Listener()
    _, result, environment = held(
        lay(tmp_path, sandbox), SOME, person=person, pause=lambda *_: None, wait=2
    )
    by_id = {one.obligation: (one.standing, one.reason) for one in result.verdicts}
    standing, reason = by_id["pis/sca.required/nothing-after-refusal"]
    assert Standing.UNVERIFIED is standing
    assert reason.startswith("needs a person who signs")
    assert {Standing.UNVERIFIED, Standing.CONFORMS} == {one for one, _ in by_id.values()}
    assert (1, True) == (environment.callback_server.asked, environment.callback_server.absent)


# -- who needs a person comes last ---------------------------------------------


def planned(kind: ScaKind) -> Plan:
    """Plan everything for a target where so is signed."""
    base = prepare(["pis"])
    target = replace(base.target, sca=replace(base.target.sca, kind=kind, callback=CALLBACK))
    return plan(base.bound, target)


def test_trials_that_need_a_person_come_last() -> None:
    """And all else stays as it was, also in a part of the plan."""
    whole, plain = planned(ScaKind.MANUAL), planned(ScaKind.FORMS)
    assert [one.obligation for one in whole.items] == [one.obligation for one in plain.items]
    part = restrict(whole, {one.obligation.id for one in whole.items[::2]})
    for member in (whole, part):
        signed = [trial.signed for trial in member.trials]
        assert signed == sorted(signed)
        assert {True, False} == {*signed}
        assert member.signed == sum(signed)
    ids = [trial.id for trial in whole.trials]
    order = [trial.id for trial in plain.trials if trial.id in ids]
    for needed in (True, False):
        some = [trial.id for trial in whole.trials if trial.signed is needed]
        assert some == [id_ for id_ in order if id_ in some]
    assert [trial.signed for trial in plain.trials] != sorted(
        trial.signed for trial in plain.trials
    )


def test_the_plan_says_who_is_needed() -> None:
    """`assay plan` tells how many signatures a person is asked for, where one signs."""
    whole = planned(ScaKind.MANUAL)
    said = f"up to {count_signatures(whole)} signatures by a person, in {whole.signed} trials"
    said += " that run last"
    assert whole.signed < count_signatures(whole) < 2 * whole.calls
    assert said in list(plan_lines(whole))
    assert not any("by a person" in one for one in plan_lines(planned(ScaKind.FORMS)))


def pytest_run(target: str, *args: str, cwd: Path) -> tuple[int, str]:
    """Run the shipped suites under pytest."""
    code, out, err = run_suites("--contract", "pis", "--target", target, *args, cwd=cwd)
    return code, out + err


def test_under_pytest_they_come_last_too(sandbox: str, tmp_path: Path) -> None:
    """Items are in the order of the plan's trials: who needs a person comes last."""
    code, out = pytest_run(lay(tmp_path, sandbox), "--collect-only", "-q", cwd=tmp_path)
    signed = {
        one.id for trial in planned(ScaKind.MANUAL).trials if trial.signed for one in trial.settles
    }
    listed = [name in signed for name in re.findall(r"\[(pis/[^\]]+)\]", out)]
    assert (0, True) == (code, any(listed))
    assert listed == sorted(listed)


def test_under_pytest_a_person_is_spoken_to(sandbox: str, tmp_path: Path) -> None:
    """Past pytest's capturing, and the door is closed when it ends."""
    target = lay(tmp_path, sandbox)
    path = Path(target)
    path.write_text(path.read_text(encoding="utf-8").replace("wait: 30", "wait: 0.01"), "utf-8")
    code, out = pytest_run(target, "-k", "nothing-after-refusal", "-rs", cwd=tmp_path)
    assert "signature 1: open http://127.0.0.1" in out
    assert "needs a person who signs" in out
    assert (3, False) == (code, "INTERNALERROR" in out)


def test_one_person_cannot_be_in_many_places(sandbox: str, tmp_path: Path) -> None:
    """Where a person signs, pytest's workers are refused in one line."""
    code, out = pytest_run(lay(tmp_path, sandbox), "-n", "2", cwd=tmp_path)
    assert (4, True) == (code, "a person signs (`sca.kind: manual`): do not use -n" in out)
