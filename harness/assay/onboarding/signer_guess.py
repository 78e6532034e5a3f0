"""The signer of a target file, guessed from forms that a bank shows: who is asked for what, in which words.

A field is recognised by its type, by its name, or by its place before a password; the way to sign by its
choices; the decision by one of two buttons that refuses. Nothing is filled in or sent here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from assay.contract.model import Contract, Json
from assay.onboarding.init.openapi_operations import is_plain_name, words
from assay.rules.rule import facts_of
from assay.sca.html_forms import ONE_TIME, Form

#: The words in the names of a form's fields for what a customer fills in, and those of decisions.
_PARTS: Final = {
    "login": ["login", "user", "username", "customer", "number", "identifier"],
    "password": ["password", "secret", "pin"],
    "factor": ["factor", "device", "method"],
    "code": ["code", "otp"],
    "decision": ["decision", "action", "answer"],
}
_DECISIONS: Final = {
    "confirm": ["confirm", "approve", "accept", "sign", "authorise", "authorize"],
    "refuse": [
        *("refuse", "reject", "decline", "deny", "cancel", "refuser", "annuler", "rechazar"),
        *("cancelar", "recusar", "ablehnen", "abbrechen", "weigeren", "annuleren", "afwijzen"),
        *("rifiuta", "rifiutare", "annulla", "odrzuc", "anuluj"),
    ],
}
#: A word in capitals.
_CAPITALS: Final = re.compile(r"\b[A-Z][A-Z-]+\b")


def guessed_signer(
    forms: Iterable[Form], contracts: Iterable[Contract], text: str = ""
) -> dict[str, Json] | None:
    """Return the section `sca` for the screens with these forms; None if none asks for a password.

    A `text` may have the words for ways to sign that no form offers.
    """
    factors = _factors(contracts)
    screens: list[dict[str, str]] = []
    said: dict[str, dict[str, Json]] = {"factors": {}, "decisions": {}}
    deciding = ""
    for form in forms:
        fields = dict(_fields(form, factors))
        for name in [name for name, part in fields.items() if part == "decision"]:
            deciding, chosen = name, _decisions(form.choices.get(name, ()))
            said["decisions"] |= chosen
        for name in [name for name, part in fields.items() if part == "factor"]:
            said["factors"] |= {
                meant: word
                for word in form.choices.get(name, ())
                if (meant := _meant(words(word), factors))
            }
        asked = {name: part for name, part in fields.items() if part != "decision"}
        if len({*asked.values()}) == len(asked) and asked not in screens:
            screens += [asked] if asked else []
    if not any("password" in screen.values() for screen in screens):
        return None
    said["factors"] |= _told_factors(said["factors"], factors, text)
    if deciding:
        # Where each screen can be left by a refusal, the one with the code decides.
        last = next((each for each in screens if "code" in each.values()), None)
        if last is None:
            screens.append({deciding: "decision"})
        else:
            last[deciding] = "decision"
    screens.sort(key=lambda each: ("password" not in each.values(), "decision" in each.values()))
    listed: list[Json] = [{**screen} for screen in screens]
    return {"kind": "forms", "screens": listed, **{key: each for key, each in said.items() if each}}


def _told_factors(known: Mapping[str, Json], factors: Iterable[str], text: str) -> dict[str, Json]:
    """Return the ways to sign that no form offers and a text names, if all words are in capitals."""
    if not known or not all(str(word).isupper() for word in known.values()):
        return {}
    told = {*_CAPITALS.findall(text)}
    return {n: n.upper() for n in factors if n not in known and n.upper() in told}


def asked_by(form: Form, contracts: Iterable[Contract]) -> dict[str, str]:
    """Return the screen that a form is, as far as its fields tell; empty if they do not."""
    fields = dict(_fields(form, _factors(contracts)))
    asked = {name: part for name, part in fields.items() if part != "decision"} or fields
    return asked if len({*asked.values()}) == len(asked) else {}


def _factors(contracts: Iterable[Contract]) -> dict[str, Sequence[str]]:
    """Return the words in the name of each way to sign that the contracts have."""
    return {
        name: words(name)
        for contract in contracts
        for by_segment in facts_of(contract).factors_by_segment.values()
        for offered in by_segment.values()
        for name in offered
    }


def _fields(form: Form, factors: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield what a customer fills in or chooses, as far as it can be told."""
    typed = [name for name, kind in form.kinds.items() if kind != "hidden" and is_plain_name(name)]
    secret = [name for name in typed if form.kinds[name] == "password"]
    before = typed[typed.index(secret[0]) - 1] if secret and typed.index(secret[0]) else ""
    for name in typed:
        if form.kinds[name] == ONE_TIME:
            yield name, "code"
        elif [name] == secret:
            yield name, "password"
        elif name == before:
            yield name, "login"
        elif part := _meant(words(name), _PARTS):
            yield name, part
    for name, choices in form.choices.items():
        if not is_plain_name(name) or not all(map(str.isprintable, choices)):
            continue  # it could not be written into a file as it is
        if any(_meant(words(each), factors) for each in choices):
            yield name, "factor"
        elif "refuse" in _decisions(choices) or _meant(words(name), _PARTS) == "decision":
            yield name, "decision"


def _decisions(choices: Sequence[str]) -> dict[str, Json]:
    """Return which choice confirms and which refuses; of two, the other one confirms."""
    found: dict[str, Json] = {
        meant: each for each in choices if (meant := _meant(words(each), _DECISIONS))
    }
    left = [each for each in choices if each not in found.values()]
    if "refuse" in found and len(left) == 1:
        found.setdefault("confirm", left[0])
    return {name: found[name] for name in _DECISIONS if name in found}


def _meant(name: Sequence[str], usual: Mapping[str, Iterable[str]]) -> str:
    """Return the only one of several meanings whose words a name has; empty if there is none."""
    near = [meaning for meaning, known in usual.items() if {*name} & {*known}]
    return near[0] if len(near) == 1 else ""
