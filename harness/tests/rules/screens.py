"""Flows through signing screens, for tests of kinds about signatures.

`story` writes one signature down, with the making of its request before it and a look at
it after; `Signing` is a bank that lets every customer sign.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from building import AT, driven
from orders import DONE, ENDED, OPEN, make, payer, read, shown, sign

from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Decision,
    Ending,
    Wire,
)

BACK = "https://tpp.example/back"
ALL = ("login", "password", "factor", "code", "decision")
FACTORS = ("sms", "cap")
CONFIRMED, REFUSED = Ending.CONFIRMED, Ending.REFUSED
DISCONNECTED, STOPPED = Ending.DISCONNECTED, Ending.STOPPED


def page(status=303):
    """Make the last page of a way, with this status."""
    return Wire(method="POST", url="https://bank.example/sign", status=status)


def story(key, ending=CONFIRMED, state=DONE, *, made=None, looked=None, status=None, **seen):
    """Write down that a request was made, signed in some way, and read.

    What is said in `seen` of the way takes the place of that of a plain one; `made` and
    `looked` are what came when it was made and read, if that was not as it should be.
    """
    by = seen.pop("by", "psu")
    arguments = seen.pop("arguments", {})
    status = status or {CONFIRMED: 303, REFUSED: 200, DISCONNECTED: 410, STOPPED: 200}[ending]
    seen = {
        "offered": FACTORS,
        "screens": ALL,
        "coded": True,
        "redirected": BACK if ending is CONFIRMED else None,
        "moments": (AT, AT),
        **seen,
    }
    way = replace(sign(ending, key=key, by=by, **seen), wire=page(status))
    first = make(made or shown(key, OPEN), by=by, key=key, **arguments)
    return first, way, read(looked or shown(key, state), key=key, by=by)


def minutes(*since):
    """Return the moments so many minutes after ten."""
    return tuple(AT + timedelta(minutes=n) for n in since)


@dataclass
class Signing:
    """A bank whose customers sign whatever they like, and which carries everything out."""

    now: datetime = AT
    ticks: timedelta = timedelta(0)
    steps: list = field(default_factory=list)
    events: list = field(default_factory=list)
    offered: tuple = ("sms", "cap", "soft-token")
    asked: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)
    refuses: bool = False
    address: str = f"{BACK}?state=1"

    def play(self, script):
        """Run a probe to its end, and return how many calls and signatures it spent."""
        driven(script, self.reply)
        return sum(isinstance(one, Call | Authorise) for one in self.steps)

    def reply(self, step):
        self.steps.append(step)
        self.events.append(self.answer(step))
        return self.events[-1]

    def ways(self):
        """Return the signatures that the probe asked for."""
        return [one for one in self.steps if isinstance(one, Authorise)]

    def answer(self, step):
        match step:
            case Arrange(subject=subject, holdings=holdings, segment=segment):
                count = holdings[0].count
                names = [f"A{n}" for n in range(count)]
                return replace(payer(subject, *names), now=self.now, segment=segment)
            case Advance(to=to):
                self.now = (to or self.now) + self.ticks
                return Advanced(now=self.now)
            case Call():
                return self.call(step)
            case Authorise():
                return self.sign(step)

    def number(self):
        return 1 + sum(hasattr(one, "n") for one in self.events)

    def call(self, step):
        if step.operation == "create-payment":
            key = f"P{len(self.asked)}"
            sent = {"successfulReportUrl": self.address, **step.arguments}
            self.asked[key] = sent
            no = (None, 403) if self.refuses else None
            came = no or shown(key, OPEN)
            event = make(came, by=step.subject, mode=step.mode, key=key)
            event = replace(event, call=replace(step, arguments=sent))
        else:
            key = step.arguments["paymentRequestResourceId"]
            event = read(shown(key, self.states.get(key, OPEN)), key=key, by=step.subject)
        return replace(event, n=self.number(), at=self.now)

    def sign(self, step):
        moments = [self.now]
        for _ in range(3):
            moments.append(moments[-1] + step.pace)
        for span in step.linger[:-1]:
            moments.append(moments[-1] + span)
        moments.append(moments[-1] + sum(step.linger[-1:], step.pace))
        self.now = moments[-1]
        confirms = step.decision is Decision.CONFIRM
        self.states[step.request] = DONE if confirms else ENDED
        return Authorised(
            n=self.number(),
            step=step,
            ending=CONFIRMED if confirms else REFUSED,
            moments=tuple(moments),
            offered=self.offered,
            screens=ALL,
            coded=True,
            redirected=self.asked[step.request]["successfulReportUrl"] if confirms else None,
            wire=page(),
        )
