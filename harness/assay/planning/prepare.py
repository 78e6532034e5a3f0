"""From what a user typed to a plan: the one way in, for command line and pytest.

Finds and checks contracts and target, joins them, selects obligations, plans.
Nothing is sent.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.binding.join import BoundContract, bind
from assay.binding.read import find_target, read_target
from assay.binding.target import FixtureKind, Target, TransportKind
from assay.contract.parse import find_contract, parse_contract
from assay.errors import InputError
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan, plan, restrict

if TYPE_CHECKING:
    from assay.estimate.feasibility import Feasibility

#: The contracts that are run when none is named, and the target likewise.
SHIPPED, SANDBOX = ("aisp", "pis"), "sandbox"

#: The binding of each dialect that the sandbox can be served in, by the path of its URL.
DIALECTS = {"/stet/psd2/v1": "stet-1.4.0"}

Select = Callable[[Obligation], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Contracts and target, joined and planned; `reproduce` are the options for both.

    `foresight` is there where only a rehearsal could tell what can be held; `look` makes
    it of another plan of the same target.
    """

    target: Target
    bound: tuple[BoundContract, ...]
    plan: Plan
    reproduce: str
    feasibility: Feasibility | None = None
    look: Callable[[Plan], Feasibility] | None = field(default=None, repr=False, compare=False)

    def part(self, ids: Collection[str]) -> Plan:
        """Return the plan of these obligations alone, with all of today's budget for them."""
        if self.look is None or self.feasibility is None:
            return restrict(self.plan, ids)
        return self.look(restrict(self.feasibility.before, ids)).plan

    def foreseen(self) -> Feasibility:
        """Return what each trial will do, also where the plan needed no look at it."""
        from assay.estimate.feasibility import assess  # noqa: PLC0415 -- seldom needed

        return self.feasibility or assess(self.plan, self.target, now=datetime.now(UTC))

    def whole(self) -> Plan:
        """Return the plan of everything, whatever was selected."""
        return plan(self.bound, self.target)


def load_target(name: str | None) -> Target:
    """Return the profile for a target: a file, a shipped name, a URL, or the sandbox.

    A URL is a sandbox that somebody serves (`assay serve`), in the sandbox's own dialect,
    or in the one whose base path the URL has.
    """
    if name and name.startswith(("http://", "https://")):
        parts = urlsplit(name)
        spoken = DIALECTS.get(parts.path.rstrip("/"), SANDBOX)
        target = read_target(find_target(spoken), base_url=name)
        # The control API has no dialect: it stands at the root of the host.
        fixtures = replace(target.fixtures, url=f"{parts.scheme}://{parts.netloc}")
        own = spoken == SANDBOX
        return replace(
            target, transport=TransportKind.HTTP, fixtures=target.fixtures if own else fixtures
        )
    return read_target(find_target(name or SANDBOX))


def markers(obligation: Obligation) -> frozenset[str]:
    """Return the markers of an obligation: its kind, its contract, its level."""
    kind = obligation.kind
    return frozenset({kind, kind.replace("-", "_"), obligation.contract, obligation.level.value})


def selector(keywords: str = "", marks: str = "") -> Select:
    """Return the selection that pytest would make with these -k and -m expressions.

    Raises:
        InputError: an expression that pytest would not understand.

    """
    if not keywords and not marks:
        return lambda _: True
    by_name = matching("-k", keywords)
    by_mark = _expression("-m", marks)

    def select(obligation: Obligation) -> bool:
        held = markers(obligation)
        return by_name(obligation.id) and by_mark(lambda word: word in held)

    return select


def matching(option: str, text: str) -> Callable[[str], bool]:
    """Return the question whether a name contains the words of a -k expression.

    Raises:
        InputError: an expression that pytest would not understand.

    """
    expression = _expression(option, text)

    def matches(name: str) -> bool:
        lower = name.lower()
        return expression(lambda word: word.lower() in lower)

    return matches


def _expression(option: str, text: str) -> Callable[[Callable[[str], bool]], bool]:
    if not text:
        return lambda _: True
    from _pytest.mark import expression  # noqa: PLC0415 -- what -k means is pytest's

    # Until pytest 9 it had an error of its own; since then it is a SyntaxError.
    unreadable: type[Exception] = getattr(expression, "ParseError", SyntaxError)
    try:
        compiled = expression.Expression.compile(text)
    except (unreadable, SyntaxError) as error:
        hint = "words joined by and, or, not and brackets, as in pytest"
        raise InputError.one(option, f"cannot read {text!r}: {error}", hint=hint) from None

    def evaluate(known: Callable[[str], bool]) -> bool:
        def matcher(word: str, /, **_: str | int | bool | None) -> bool:
            return known(word)

        return compiled.evaluate(matcher)

    return evaluate


def prepare(
    contracts: Sequence[str] = (),
    target_name: str | None = None,
    *,
    keywords: str = "",
    marks: str = "",
    wait: timedelta | None = None,
    ledger: Path | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Prepared:
    """Find, check, join, select and plan; `wait` is how long the run may wait in all.

    `ledger` is where it is kept what was spent today, `now` the clock of the plan.

    Raises:
        InputError: a file or an option cannot be used; or nothing is selected.

    """
    select = selector(keywords, marks)
    target = load_target(target_name)
    parsed = [parse_contract(find_contract(name)) for name in contracts or SHIPPED]
    bound = bind(parsed, target)
    planned = _waiting(plan(bound, target, select), bound, target, select, wait=wait, now=now)
    if not planned.items:
        chosen = " ".join(part for part in (keywords, marks) if part)
        raise InputError.one(
            "selection",
            f"nothing is selected by {chosen!r}" if chosen else "the contracts ask nothing",
            hint="`assay plan` lists every obligation",
        )
    look = _looking(target, ledger, now, waits=wait is not None)
    feasibility = look(planned) if look else None
    words = [f"--contract {shlex.quote(one)}" for one in contracts]
    if target_name:
        words.append(f"--target {shlex.quote(target_name)}")
    if wait is not None:
        words.append(f"--wait {int(wait.total_seconds())}s")
    return Prepared(
        target=target,
        bound=bound,
        plan=feasibility.plan if feasibility else planned,
        reproduce="".join(f" {word}" for word in words),
        feasibility=feasibility,
        look=look,
    )


def _looking(
    target: Target, ledger: Path | None, now: Callable[[], datetime], *, waits: bool
) -> Callable[[Plan], Feasibility] | None:
    """Return what looks ahead where customers are real, or limits are set.

    Elsewhere the plan knows all.
    """
    limits = target.budget.calls, target.safety.only, target.safety.most
    if target.fixtures.kind is FixtureKind.CONTROL and not any(limits):
        return None
    from assay.estimate.feasibility import assess  # noqa: PLC0415 -- not for a bank in this process

    return lambda one: assess(one, target, ledger=ledger, now=now(), waits=waits)


def _waiting(
    planned: Plan,
    bound: Sequence[BoundContract],
    target: Target,
    select: Select,
    *,
    wait: timedelta | None,
    now: Callable[[], datetime],
) -> Plan:
    """Plan what can be waited for where no clock can be moved, and price the rest."""
    from assay.fixtures import waiting  # noqa: PLC0415 -- only for real customers

    if wait is not None:
        waiting.refuse_elsewhere(target)
    if not waiting.lends_itself(target):
        return planned
    from assay.estimate import estimate  # noqa: PLC0415 -- as above

    timed = plan(bound, waiting.timed(target), select)
    screens = len(target.sca.screens)
    most = wait or waiting.NONE
    return estimate.with_waits(planned, timed, now(), screens=screens, most=most)
