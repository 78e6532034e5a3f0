"""Scripted banks for probes about requests: only the answers to calls matter.

What `building.Obliging` is for lists. A bank is a function from a call, and a key that a
new request may have, to what came back; `anything` is one that accepts whatever it is asked.
"""

from dataclasses import replace

from building import AT, ask, driven
from orders import DONE, KEY, history, ruled, shown, sign

from assay.history import Arrange, Authorise, Call, Lack, Lacking, Owned, Subject
from assay.planning.plan import count_calls


def anything(call, key):
    """Accept what is asked, and show the request that is new, or that was asked for."""
    return shown(call.arguments.get(KEY) or key)


def carrying_out(call, key):
    """Accept what is asked, and say of whatever is read that it was executed."""
    return shown(call.arguments[KEY], DONE) if KEY in call.arguments else shown(key)


def play(clause, scenario, bank=anything):
    """Run a probe to its end; return its steps, and what the clause's check says of it all."""
    params, events = ruled(clause), []

    def answer(step):
        key = f"R{len(events) + 1}00-0001-4711"
        events[:] = history(*events, _reply(step, bank, key)).events
        return events[-1]

    steps = driven(params.probe(params.scenario(scenario)), answer)
    said = [f"{one.facet} {one.agreement.value}" for one in params.check(history(*events))]
    return steps, said


def _reply(step, bank, key):
    match step:
        case Call():
            return replace(ask(step.operation, bank(step, key), at=AT), call=step)
        case Arrange():
            things = [one for one in step.holdings for _ in range(one.count)]
            owns = tuple(
                Owned(key=f"{step.subject}-{n}", resource=one.resource, traits=one.traits)
                for n, one in enumerate(things, 1)
            )
            return Subject(name=step.subject, now=AT, owns=owns, segment=step.segment)
        case Authorise():
            return replace(sign(), step=step)
        case Lack():
            return Lacking(mode=step.mode, now=AT)
    raise AssertionError(step)


def calls(steps):
    """Return the calls among steps."""
    return [step for step in steps if isinstance(step, Call)]


def paid(steps):
    """Return how many of the steps are numbered, and so paid for."""
    return sum(isinstance(step, Call | Authorise) for step in steps)


def price(clause, scenario):
    """Return what the plan says that a scenario costs."""
    params = ruled(clause)
    return count_calls(params, params.scenario(scenario))
