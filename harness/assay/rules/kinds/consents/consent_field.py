"""`consent-field`: a field is shown only under a consent that asks for it.

A mode of the operation that makes consents asks for more: a list of accounts whose owner is named,
or a permission to read details. Under a consent in the mode the items have the field, under one in
no mode they have not. "Have not" is judged only if the field was seen in the same history: a field
that never shows may be in another place than the target file says.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from assay.contract.model import Capability, Operation
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange, History, Holding, Item, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, consented_keys
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentPhase,
    ConsentUse,
    mode_of_consent,
    shown_uses,
    signed_in_mode,
    the_consent,
)
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.parameters import Raw, known
from assay.rules.queries import has_value, is_part, names_another, plain, question
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, bound, needs
from assay.rules.steps import Part
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, doubt

SHOWN, WITHHELD = "shown-in-mode", "withheld-otherwise"
#: How many things the customer owns, where they are listed.
EACH: Final = 2


def _field_of_items() -> Any:
    """Declare a field of what the clause's operation lists."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        listed = raw["operations"].get(clause["operation"], {}).get("lists", ())
        shown = [raw["resources"].get(each, {}).get("fields", ()) for each in listed]
        if shown:
            yield from known(at, name, [field for fields in shown for field in fields], "field")

    return parameters.word(key="field", references=check)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentField(Kind):
    """A list, and the field of its items that a mode of a consent asks for."""

    name = "consent-field"
    own_consents = True
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.LIMIT

    consent: Lifecycle = the_consent()
    operation: Operation = parameters.operation(lists=True)
    mode: str = mode_of_consent()
    field: str = _field_of_items()

    def facts(self) -> Facts:
        """Return the field, which is shown only in the mode."""
        shown = f"under a consent in the mode {self.mode}"
        return Facts(conditional_fields={(self.operation.id, self.field): shown})

    def facets(self) -> tuple[Facet, ...]:
        """Return that the field is shown in the mode, and in none it is not."""
        create = self.consent.create
        requires = (
            *bound(create, "key"),
            *bound(create, "mode", self.mode),
            *bound(self.operation, "field", self.field),
        )
        return tuple(
            make_facet(
                id_, description, "mode", needs(Capability.PSU, Capability.CONSENT), requires
            )
            for id_, description in (
                (SHOWN, f"{self.field} is shown under a consent in the mode {self.mode}"),
                (WITHHELD, f"{self.field} is not shown under a consent without a mode"),
            )
        )

    # -- the probe ---------------------------------------------------------------------
    def probe(self, scenario: Scenario) -> Script:
        """Read under a consent in no mode, under one in the mode, and when that was ended."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        owner = steps.owners(self.contract, self.operation)[0]
        count = 1 if self.operation.about else EACH
        things = Holding(resource=owner, count=count, entries=entries)
        psu = yield from steps.arrange("psu", things)
        yield from self._read(psu)
        asked = f"under a consent in the mode {self.mode}"
        made = yield from self._read(psu, self.mode, asked)
        end = request_steps.call_about(self.consent.end, made)
        if end is not None:
            yield from steps.send(end)
            yield from self._read(psu, None, f"after one {asked}")

    def _read(self, psu: Subject, mode: str | None = None, variation: str = "") -> Part[Exchange]:
        """Make a consent and have it signed, and read all pages; return how it was made."""
        made = yield from steps.send(request_steps.request(self.consent, psu, mode))
        yield from steps.sign(made)
        arguments = steps.arguments(self.operation, psu.owns[0].key)
        yield from steps.walk(
            Call(
                operation=self.operation.id,
                subject=psu.name,
                arguments=arguments,
                variation=variation,
            )
        )
        return made

    # -- the check ---------------------------------------------------------------------
    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each answer by the mode of the consent under which it was given."""
        subjects = history.subjects
        asked: list[tuple[ConsentUse, bool]] = []
        others: list[ConsentUse] = []
        for use in shown_uses(self.consent, self.operation, history):
            consent = use.consent
            if use.foreign or consent.ended or consent.perhaps_replaced or consent.perhaps_over:
                continue
            if consent.phase is ConsentPhase.AUTHORISED:
                others.append(use)
            elif signed_in_mode(use, self.consent, self.mode):
                covered = self._covered(use, subjects[use.exchange.call.subject])
                if covered:
                    asked.append((use, self._is_shown(covered)))
        # Not every item need have it, so that of several pages one is enough.
        enough = {_answer(use) for use, shown in asked if shown and is_part(use.exchange)}
        ended = {_answer(use) for use, _ in asked if not names_another(use.exchange)}
        for use, shown in asked:
            whole = not is_part(use.exchange) or _answer(use) in ended - enough
            agreement = AGREES if shown else DISAGREES if whole else UNCLEAR
            yield self._evidence(SHOWN, use, agreement, shown=shown)
        seen = any(shown for _, shown in asked)
        for use in others:
            shown = self._is_shown(use.exchange.items)
            # Another consent in no mode does not ask for the field either.
            sure = all(plain(other.made.call) for other in use.others)
            if sure and (shown or seen):
                agreement = DISAGREES if shown else AGREES
                evidence = self._evidence(WITHHELD, use, agreement, shown=shown)
                fresh = use.consent.fresh or use.exchange.call.consent is not None
                yield evidence if fresh else doubt(evidence, EARLIER)

    def _covered(self, use: ConsentUse, subject: Subject) -> Collection[Item]:
        """Return the items of an answer that belong to what the consent certainly covers."""
        items = use.exchange.items
        if use.owned is not None:
            return items
        keys = consented_keys(use.consent.instance.made.call, self.consent.create)
        whole = {owned.key for owned in subject.owns} <= keys
        named = any(root.id in self.operation.lists for root in steps.roots(self.contract))
        return [
            item
            for item in items
            if (item.key in keys if named and item.key is not None else whole)
        ]

    def _is_shown(self, items: Collection[Item]) -> bool:
        """Whether an item has the field."""
        return any(has_value(item.fields.get(self.field)) for item in items)

    def _evidence(
        self, facet: str, use: ConsentUse, agreement: Agreement, *, shown: bool
    ) -> Evidence:
        in_mode = facet == SHOWN
        items = use.exchange.items
        having = (item for item in items if has_value(item.fields.get(self.field)))
        under = f"a consent {f'in the mode {self.mode}' if in_mode else 'without a mode'}"
        return Evidence(
            facet=facet,
            agreement=agreement,
            expected=f"{self.field}{'' if in_mode else ' withheld'} under {under}",
            seen="it is shown" if shown else "no item has it",
            exchanges=(*use.consent.numbers, use.exchange.n),
            variation=use.exchange.call.variation,
            decisive=use.exchange.n,
            member=use.exchange.member_of(next(having, None), "field", self.field),
        )


def _answer(use: ConsentUse) -> Hashable:
    """Return the same value for the pages of one answer, and for answers to the same question."""
    return use.consent.numbers, question(use.exchange.call)
