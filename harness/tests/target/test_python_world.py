"""A world that somebody else wrote in Python: found, made, checked, and blamed by its line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import assay.worlds
from assay.errors import CannotArrange, InputError, TargetError
from assay.history import Arrange, Authorise, Effect, Entry, Holding, Lack, Owned, Subject, Withdraw
from assay.prepare import prepare
from assay.run.checked_scene import CheckedScene
from assay.run.conduct import Session, conduct
from assay.run.journal import Journal
from assay.run.python_world import PythonWorld, found
from assay.run.stage import set_up
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.target.encode import Access
from assay.target.read import read_profile
from assay.target.world import NoRequests
from assay.verdict import Standing

NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
HERE = Path(__file__).parent
ONE = Arrange(subject="psu", holdings=(Holding(resource="account"),))


@pytest.fixture(autouse=True)
def unknown_again() -> Iterator[None]:
    """Let Python forget what a test imported, and where from."""
    path, modules = [*sys.path], {*sys.modules}
    yield
    sys.path[:] = path
    for name in {*sys.modules} - modules:
        if name.partition(".")[0] in {"ours", "our_bank", "lib"}:
            del sys.modules[name]


def target(folder: Path, adapter: str, more: str = "", options: str = "{}") -> Path:
    """Write a target file; the adapter stands in its line 7."""
    path = folder / "bank.yaml"
    path.write_text(
        f"""\
assay: 1
target: bank
extends: sandbox
hosts: null
world:
  kind: python
  adapter: {adapter}
  options: {options}
  offers: [psu, consent, roster, entries, clock{more}]
"""
    )
    return path


def made(folder: Path, code: str, adapter: str = "ours:Ours", **given: Any) -> PythonWorld:
    """Write a module beside a target file, and make its world."""
    (folder / "ours.py").write_text(code)
    return found(read_profile(target(folder, adapter, **given)), seed=7)


OURS = """\
class Ours:
    def __init__(self, {}):
        self.given = dict(vars(), self=None)
    def open(self):
        return self
"""


def test_the_example_is_a_world(tmp_path: Path) -> None:
    """The example of the language's page plays a whole rule with a served bank.

    With a clock, dated entries and a bank's own way of making customers.
    """
    (tmp_path / "our_bank").symlink_to(HERE / "our_bank")
    path = target(tmp_path, "our_bank.worlds:SandboxWorld", options="{office: /assay-control/1}")
    with serving(make_app()) as url:
        text = path.read_text().replace("hosts:", f"transport: http\nbase_url: {url}\nhosts:")
        path.write_text(text)
        prepared = prepare(["aisp"], str(path), marks="quota or history_depth or pagination")
        stage = set_up(prepared.profile)
        try:
            result = conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
        finally:
            stage.close()
    open_ = {one.obligation: one.reason for one in result.verdicts if one.reason}
    assert {"aisp/batch-quota/per-customer": "needs a second customer"} == open_
    assert {"conforms": len(result.verdicts) - 1, "unverified": 1} == {
        name: count for name, count in result.counts.items() if count
    }
    assert len(result.verdicts) > 20


def test_the_same_world_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is not beside the target file is found where Python looks."""
    monkeypatch.syspath_prepend(str(HERE))
    path = target(tmp_path, "our_bank.worlds:SandboxWorld", options="{office: /x}")
    world: Any = found(read_profile(path), seed=0).world
    assert "https://www.30001.live.sandbox.example/x" == world.office


def test_beside_the_target_file_first(tmp_path: Path) -> None:
    """Two target files may have a module of the same name beside them, each its own."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        code = OURS.format("") + f"    name = {name!r}\n"
        world: Any = made(tmp_path / name, code).world
        assert name == world.name


def test_what_is_imported_later(tmp_path: Path) -> None:
    """What the world imports when it is used is found beside it as well."""
    (tmp_path / "lib.py").write_text("HERE = True\n")
    code = "class Ours:\n    def open(self):\n        import lib\n        return lib\n"
    with pytest.raises(TargetError, match="the scene of Ours has no arrange"):
        made(tmp_path, code).open()


@pytest.mark.parametrize(
    ("signature", "options", "given"),
    [
        ("size=1", "{}", {"size": 1}),
        ("size", "{size: 3}", {"size": 3}),
        ("seed", "{}", {"seed": 7}),
        ("seed", "{seed: 3}", {"seed": 3}),
        (
            "size, base_url, *rest",
            "{size: [a]}",
            {"size": ["a"], "base_url": "https://www.30001.live.sandbox.example", "rest": ()},
        ),
        ("**rest", "{size: 3}", {"rest": {"size": 3}}),
    ],
)
def test_options(tmp_path: Path, signature: str, options: str, given: dict[str, Any]) -> None:
    """A class is given its options, and seed and base_url if it asks for them."""
    world: Any = made(tmp_path, OURS.format(signature), options=options).world
    assert given == {name: one for name, one in world.given.items() if name != "self"}


CODES = {
    "nowhere": "import nowhere_at_all",
    "unreadable": "x = = 1",
    "dividing": "\n1 / 0",
    "leaving": "raise SystemExit",
    "bare": "class Ours: ...",
    "no class": "def made(): ...",
    "sized": OURS.format("size"),
    "of any size": OURS.format("size=1"),
    "raising": "class Ours:\n    def __init__(self):\n        raise ValueError('secret')",
}


@pytest.mark.parametrize(
    ("adapter", "code", "line", "words"),
    [
        ("their:Ours", "bare", 7, "there is no module 'their' … looked beside bank.yaml"),
        ("ours.sub:Ours", "bare", 7, "there is no module 'ours.sub' … beside bank.yaml"),
        ("ours:Ours", "nowhere", 7, "ours imports 'nowhere_at_all' … install"),
        ("ours:Ours", "unreadable", 7, "cannot be imported: ours.py:1: SyntaxError"),
        ("ours:Ours", "dividing", 7, "cannot be imported: ours.py:2: ZeroDivisionError"),
        ("ours:Ours", "leaving", 7, "cannot be imported: ours.py:1: SystemExit"),
        ("ours:Our", "bare", 7, "ours has no class 'Our' … mean 'Ours'?"),
        ("ours:made", "no class", 7, "ours has no class 'made'"),
        ("ours:Ours", "bare", 7, "Ours has no method open … assay.worlds.World"),
        ("ours:Ours", "raising", 7, "Ours cannot be made: ours.py:3: ValueError"),
        ("ours:Ours", "sized", 8, "options: Ours needs the option 'size' … {size: …}"),
        ("ours:Ours", "of any size", 8, "sise: Ours takes no such option … mean 'size'?"),
    ],
)
def test_no_world(tmp_path: Path, adapter: str, code: str, line: int, words: str) -> None:
    """What is wrong before the run is told with the line of the target file, and no traceback."""
    options = "{sise: 3}" if code == "of any size" else "{}"
    with pytest.raises(InputError) as told:
        made(tmp_path, CODES[code], adapter, options=options)
    (problem,) = told.value.problems
    assert (str(tmp_path / "bank.yaml"), line) == (problem.path, problem.line)
    what, _, hint = words.partition(" … ")
    assert what in problem.what
    assert hint in problem.hint
    assert "secret" not in str(told.value)
    assert told.value.__suppress_context__ or not told.value.__context__


def test_python_has_its_own(tmp_path: Path) -> None:
    """A module of Python's own is never put aside for one beside the target file."""
    (tmp_path / "json.py").write_text("class Ours: ...\n")
    with pytest.raises(InputError, match="json has no class 'Ours'"):
        found(read_profile(target(tmp_path, "json:Ours")), seed=0)


class Scene(NoRequests):
    """A scene that answers with whatever a test gives it."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def _tell(self, *_: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    arrange = clock = close = provider = lack = register = withdraw = sign = effects = _tell


def checked(answer: Any, *, moves: bool = True) -> CheckedScene:
    return CheckedScene(scene=Scene(answer), name="Ours", moves=moves)


def owned(key: str = "A", resource: str = "account", *days: int, **traits: Any) -> Owned:
    entries = tuple(Entry(key=f"{key}{day}", on=date(2026, 9, day)) for day in days)
    return Owned(key=key, resource=resource, traits=traits, entries=entries)


def subject(*owns: Any, **changed: Any) -> Subject:
    return Subject(**{"name": "psu", "now": NOW, "owns": owns or (owned(),), **changed})


def test_a_sound_answer() -> None:
    """What is as it should be is passed on as it is."""
    answer = subject(owned(), owned("B", "card"), fresh=False, segment="any"), Access(token="t")
    assert answer == checked(answer).arrange(ONE)
    effects = (Effect(request="P", on=NOW.date(), fields={"a": 1}),)
    assert effects == checked(effects).effects()
    assert checked(None).effects() is None
    assert NOW == checked(NOW).clock(NOW)
    assert checked(True).withdraw(Withdraw(subject="psu", request="P"))
    checked(None).close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "did not return a Subject and an Access"),
        (subject(), "did not return a Subject and an Access"),
        ((subject(),), "did not return a Subject and an Access"),
        (("psu", Access()), "did not return a Subject and an Access"),
        ((subject(), None), "did not return an Access"),
        ((subject(), Access(token=b"t")), "did not return an Access whose parts are texts"),
        ((subject(), Access(codes={"sms": 123456})), "did not return an Access"),
        ((subject(), Access(codes=None)), "did not return an Access"),
        ((subject(name="alice"), Access()), "not called as the step says"),
        ((subject(now=None), Access()), "no moment with an offset"),
        ((subject(now=datetime(2026, 9, 16)), Access()), "no moment with an offset"),  # noqa: DTZ001
        ((subject(fresh=None), Access()), "fresh is neither"),
        ((subject(owns=[owned()]), Access()), "owns is no tuple of Owned"),
        ((subject(owns=("A",)), Access()), "owns is no tuple of Owned"),
        ((subject(owned(7)), Access()), "owns is no tuple of Owned"),
        ((subject(owned(inactive=None)), Access()), "owns is no tuple of Owned"),
        ((subject(Owned(key="A", resource="account", entries=None)), Access()), "no tuple of"),
        (
            (
                subject(Owned(key="A", resource="account", entries=(Entry(key="E", on=NOW),))),
                Access(),
            ),
            "owns is no tuple of Owned",
        ),
        ((subject(owns=()), Access()), "thing 1 .* is not the account asked for"),
        ((subject(owned("C", "card"), owned()), Access()), "thing 1 .* is not the account"),
    ],
)
def test_a_wrong_customer(answer: Any, why: str) -> None:
    """What a customer must be is looked at, and nothing that he is goes into the message."""
    with pytest.raises(TargetError, match=why) as told:
        checked(answer).arrange(ONE)
    assert "Ours.arrange" in str(told.value)
    assert "alice" not in str(told.value)


@pytest.mark.parametrize(
    ("holding", "owns", "why"),
    [
        (Holding(resource="card", count=2), (owned("C", "card"),), "thing 2 .* the card asked"),
        (Holding(resource="card", traits={"off": True}), (owned("C", "card"),), "card off=True"),
        (
            Holding(resource="card", traits={"off": False}),
            (owned("C", "card", off=True),),
            "card off=False",
        ),
        (
            Holding(resource="card", entries=(date(2026, 9, 1), date(2026, 9, 1))),
            (owned("C", "card", 1),),
            "card with 2 entries",
        ),
    ],
)
def test_a_state_that_was_asked_for(holding: Holding, owns: tuple[Owned, ...], why: str) -> None:
    """States and dated entries that were asked for have to be there."""
    step = Arrange(subject="psu", holdings=(holding,))
    with pytest.raises(TargetError, match=why):
        checked((subject(*owns), Access())).arrange(step)


def test_a_segment_that_was_asked_for() -> None:
    """So has the kind of customer."""
    step = Arrange(subject="psu", holdings=(), segment="PRO")
    with pytest.raises(TargetError, match="not of segment PRO"):
        checked((subject(), Access())).arrange(step)
    answer = subject(segment="PRO"), Access()
    assert answer == checked(answer).arrange(step)


@pytest.mark.parametrize("answer", ["now", None, datetime(2026, 9, 16), 1])  # noqa: DTZ001
def test_a_wrong_moment(answer: Any) -> None:
    """A moment has an offset."""
    for ask in (
        lambda scene: scene.clock(None),
        lambda scene: scene.lack(Lack(mode="soon")),
        lambda scene: scene.register(None, Access(), ""),
    ):
        with pytest.raises(TargetError, match="did not return a moment with an offset"):
            ask(checked(answer))


def test_other_wrong_answers() -> None:
    """Nothing else is believed either."""
    step = Authorise(subject="psu", request="P", approval=None)
    for answer in (None, 1, "yes"):
        with pytest.raises(TargetError, match="sign did not return True or False"):
            checked(answer).sign(step, Access(), "sms")
    for answer in ((), "P", [], {}):
        with pytest.raises(TargetError, match="provider did not return an Access"):
            checked(answer).provider()
    effect = Effect(request="P", on=NOW.date())
    for answer in (
        [effect],
        ("P",),
        (Effect(request=1, on=NOW.date()),),
        (Effect(request="P", on=NOW),),
    ):
        with pytest.raises(TargetError, match="effects did not return a tuple of Effect"):
            checked(answer).effects()


def test_a_clock_that_was_not_offered() -> None:
    """A clock is not moved behind the back of the target file."""
    with pytest.raises(CannotArrange, match=r"world.offers: clock"):
        checked(NOW, moves=False).clock(NOW)
    assert NOW == checked(NOW, moves=False).clock(None)


@pytest.mark.parametrize("kind", [CannotArrange, TargetError])
def test_what_a_world_says_on_purpose(kind: type[Exception]) -> None:
    """Is passed on: in one line, and not at length."""
    with pytest.raises(kind) as told:
        checked(kind("a \x1b[31mgold card\n" + "!" * 1000)).arrange(ONE)
    assert str(told.value).startswith("a \ufffd[31mgold card\ufffd!!")
    assert 300 == len(str(told.value))


@pytest.mark.parametrize("error", [KeyError("alice"), SystemExit("alice"), InputError([])])
def test_what_it_did_not_mean_to_say(error: BaseException) -> None:
    """Is not: only where it happened, and what kind of error it was."""
    with pytest.raises(TargetError) as told:
        checked(error).arrange(ONE)
    where, line, rest = str(told.value).split(":")
    assert ("test_python_world.py", True) == (where, line.isdigit())
    assert f" {type(error).__name__} in Ours.arrange" == rest


def test_the_line_is_in_its_own_files(tmp_path: Path) -> None:
    """An error below, in a library, is told by the line that led there."""
    code = "import json\nclass Ours:\n    def open(self):\n        json.loads('alice')\n"
    with pytest.raises(TargetError, match=r"^ours\.py:4: JSONDecodeError in Ours\.open$"):
        made(tmp_path, code).open()


def test_a_scene_that_lacks_something(tmp_path: Path) -> None:
    """Whoever forgets a method is told which, and what has it."""
    code = "class Ours:\n    def open(self): return self\n    def arrange(self, step): ...\n"
    with pytest.raises(TargetError, match=r"has no clock \(assay.worlds.NoRequests"):
        made(tmp_path, code).open()


BROKEN = """\
from datetime import datetime, UTC
from assay.worlds import Access, NoRequests, Owned, Subject
class Ours(NoRequests):
    def open(self):
        return self
    def arrange(self, step):
        if step.holdings[0].resource == "card":
            return {"alice": "FR7630001007941234567890185"}["bob"]
        owns = [Owned(key="A", resource="account")] * sum(o.count for o in step.holdings)
        return Subject(name=step.subject, now=datetime.now(UTC), owns=tuple(owns)), Access(token="t")
    def clock(self, to):
        return datetime.now(UTC)
    def close(self):
        raise ValueError
"""


def test_a_world_that_fails_is_not_the_bank(tmp_path: Path) -> None:
    """A trial in which the world fails is undecided, and says where; the others go on."""
    (tmp_path / "ours.py").write_text(BROKEN)
    words = "accounts-default or cards-default or eligible"
    prepared = prepare(["aisp"], str(target(tmp_path, "ours:Ours")), keywords=words)
    stage = set_up(prepared.profile)
    result = conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
    failed = "the world failed: ours.py:8: KeyError in Ours.arrange"
    whys = {one.reason for one in result.verdicts if one.standing is Standing.INDETERMINATE}
    assert failed in whys
    assert () == result.faults
    assert "bob" not in str(result)


def test_one_place_for_all_names() -> None:
    """What an adapter is written with comes from one module, and is there."""
    names = assay.worlds.__all__
    assert sorted(names) == names
    assert [] == [name for name in names if not hasattr(assay.worlds, name)]
    assert {"World", "Scene", "Subject", "Owned", "Entry", "Access", "CannotArrange"} < {*names}
