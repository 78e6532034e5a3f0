"""The `auth` section of a target file: how calls are authenticated, and where the token is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.binding.features import describe
from assay.contract.model import Json
from assay.init.authentication import GuessedAuth
from assay.init.defaults import TargetDraft
from assay.init.yaml_writer import YamlEntry, gap

__all__ = ["auth_section", "used_auth"]

#: The URLs that the OAuth kinds need.
ADDRESSES: Final = {
    "client-credentials": ("token_url",),
    "authorization-code": ("authorize_url", "token_url", "redirect_uri"),
}


def auth_section(draft: TargetDraft) -> YamlEntry:
    """Return the section, with what is missing in it."""
    says = ["", "Authentication of calls. Secrets are read from environment variables."]
    if draft.auth in {"bearer", "key"} and draft.fixtures != "none":
        says.append("Each customer under `fixtures` has its own token.")
    guess = used_auth(draft)
    below = tuple(_auth_entries(draft, guess, "" if draft.fixtures != "none" else "TOKEN"))
    by_tpp = tuple(_tpp_entries(draft, guess))
    if by_tpp:
        below += (YamlEntry(key="tpp", below=by_tpp, why=guess.tpp.why if guess.tpp else ""),)
    others = (*guess.others, *(guess.tpp.others if guess.tpp else ()))
    if others:
        first, *more = others
        rest = f" and {len(more)} more" if more else ""
        what = f"the document specifies different authentication for {first}{rest}"
        below += (gap("auth", "tpp", what=what, example="{kind: …}"),)
    why = draft.whys.get("auth", "")
    if not (by_tpp or others) and draft.auth not in ADDRESSES and len(below) <= 2:  # noqa: PLR2004 -- fits a line
        value = {entry.key: entry.value for entry in below}
        return YamlEntry(key="auth", value=value, why=why, says=tuple(says))
    return YamlEntry(key="auth", below=below, why=why, says=tuple(says))


def used_auth(draft: TargetDraft) -> GuessedAuth:
    """Return what the document says of the kind of authentication that the user chose."""
    guess = draft.start.auth
    return guess if draft.auth == guess.kind else GuessedAuth(kind=draft.auth)


def _tpp_entries(draft: TargetDraft, guess: GuessedAuth) -> Iterator[YamlEntry]:
    """Yield how calls made as the TPP are authenticated, where that must be said."""
    operations = [each for contract in draft.contracts for each in contract.operations.values()]
    if not any(operation.by_tpp and operation.available for operation in operations):
        return
    if guess.tpp:
        yield from _auth_entries(draft, guess.tpp, "TPP_TOKEN", "TPP_")
    elif guess.kind in {"bearer", "key"} and draft.fixtures == "roles":
        # The token of a listed customer is not the TPP's.
        yield from _auth_entries(draft, guess, "TPP_TOKEN", "TPP_")


def _auth_entries(
    draft: TargetDraft, guess: GuessedAuth, token: str, prefix: str = ""
) -> Iterator[YamlEntry]:
    """Yield the settings of one kind of authentication, and what of it is missing."""
    yield YamlEntry(key="kind", value=guess.kind)
    if guess.member:
        yield _token_in(guess)
    elif guess.kind == "key":
        yield YamlEntry(key="header", value=guess.given.get("header", "X-Api-Key"))
    if guess.kind in {"bearer", "key"} and token:
        yield YamlEntry(key="token_env", value=f"{draft.prefix}_{token}")
    if guess.kind not in ADDRESSES:
        return
    for key, value in guess.given.items():
        yield YamlEntry(key=key, value=value)
    yield YamlEntry(key="client_id_env", value=f"{draft.prefix}_{prefix}CLIENT_ID")
    yield YamlEntry(key="client_secret_env", value=f"{draft.prefix}_{prefix}CLIENT_SECRET")
    for name in ADDRESSES[guess.kind]:
        if name not in guess.given:
            what = f"{describe('auth', name).title}, instead of the line below"
            yield gap("auth", name, what=what, example="https://…")
            yield YamlEntry(key=name, value="https://bank.example/unknown")


def _token_in(guess: GuessedAuth) -> YamlEntry:
    """Return that the token is in the body, besides the usual place."""
    header = guess.given.get("header", "X-Api-Key") if guess.kind == "key" else "Authorization"
    places: Json = [{"header": header}, {"body": guess.member}]
    why = "every body has a member named like a token"
    return YamlEntry(key="token_in", value=places, why=why)
