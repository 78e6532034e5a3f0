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

from assay.binding.join import Bound, bind
from assay.binding.read import find_target, read_profile
from assay.binding.target import Profile, Transport, WorldKind
from assay.contract.parse import find_contract, parse_contract
from assay.errors import InputError
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan, plan, restrict

if TYPE_CHECKING:
    from assay.estimate.feasibility import Foresight

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

    profile: Profile
    bound: tuple[Bound, ...]
    plan: Plan
    reproduce: str
    foresight: Foresight | None = None
    look: Callable[[Plan], Foresight] | None = field(default=None, repr=False, compare=False)

    def part(self, ids: Collection[str]) -> Plan:
        """Return the plan of these obligations alone, with all of today's budget for them."""
        if self.look is None or self.foresight is None:
            return restrict(self.plan, ids)
        return self.look(restrict(self.foresight.before, ids)).plan

    def foreseen(self) -> Foresight:
        """Return what each trial will do, also where the plan needed no look at it."""
        from assay.estimate.feasibility import foresee  # noqa: PLC0415 -- seldom needed

        return self.foresight or foresee(self.plan, self.profile, now=datetime.now(UTC))

    def whole(self) -> Plan:
        """Return the plan of everything, whatever was selected."""
        return plan(self.bound, self.profile)


def find_profile(target: str | None) -> Profile:
    """Return the profile for a target: a file, a shipped name, a URL, or the sandbox.

    A URL is a sandbox that somebody serves (`assay serve`), in the sandbox's own dialect,
    or in the one whose base path the URL has.
    """
    if target and target.startswith(("http://", "https://")):
        parts = urlsplit(target)
        spoken = DIALECTS.get(parts.path.rstrip("/"), SANDBOX)
        profile = read_profile(find_target(spoken), base_url=target)
        # The control API has no dialect: it stands at the root of the host.
        world = replace(profile.world, url=f"{parts.scheme}://{parts.netloc}")
        own = spoken == SANDBOX
        return replace(profile, transport=Transport.HTTP, world=profile.world if own else world)
    return read_profile(find_target(target or SANDBOX))


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
    target: str | None = None,
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
    profile = find_profile(target)
    parsed = [parse_contract(find_contract(name)) for name in contracts or SHIPPED]
    bound = bind(parsed, profile)
    planned = _waiting(plan(bound, profile, select), bound, profile, select, wait=wait, now=now)
    if not planned.items:
        chosen = " ".join(part for part in (keywords, marks) if part)
        raise InputError.one(
            "selection",
            f"nothing is selected by {chosen!r}" if chosen else "the contracts ask nothing",
            hint="`assay plan` lists every obligation",
        )
    look = _looking(profile, ledger, now, waits=wait is not None)
    foresight = look(planned) if look else None
    words = [f"--contract {shlex.quote(one)}" for one in contracts]
    if target:
        words.append(f"--target {shlex.quote(target)}")
    if wait is not None:
        words.append(f"--wait {int(wait.total_seconds())}s")
    return Prepared(
        profile=profile,
        bound=bound,
        plan=foresight.plan if foresight else planned,
        reproduce="".join(f" {word}" for word in words),
        foresight=foresight,
        look=look,
    )


def _looking(
    profile: Profile, ledger: Path | None, now: Callable[[], datetime], *, waits: bool
) -> Callable[[Plan], Foresight] | None:
    """Return what looks ahead where customers are real, or limits are set.

    Elsewhere the plan knows all.
    """
    limits = profile.budget.calls, profile.safety.only, profile.safety.most
    if profile.world.kind is WorldKind.CONTROL and not any(limits):
        return None
    from assay.estimate.feasibility import foresee  # noqa: PLC0415 -- not for a bank in this process

    return lambda one: foresee(one, profile, ledger=ledger, now=now(), waits=waits)


def _waiting(
    planned: Plan,
    bound: Sequence[Bound],
    profile: Profile,
    select: Select,
    *,
    wait: timedelta | None,
    now: Callable[[], datetime],
) -> Plan:
    """Plan what can be waited for where no clock can be moved, and price the rest."""
    from assay.fixtures import waiting  # noqa: PLC0415 -- only for real customers

    if wait is not None:
        waiting.refuse_elsewhere(profile)
    if not waiting.lends_itself(profile):
        return planned
    from assay.estimate import estimate  # noqa: PLC0415 -- as above

    timed = plan(bound, waiting.timed(profile), select)
    screens = len(profile.sca.screens)
    most = wait or waiting.NONE
    return estimate.with_waits(planned, timed, now(), screens=screens, most=most)
