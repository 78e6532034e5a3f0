"""`assay init`: a commented first target file, from answers or an OpenAPI document."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.contract.model import Contract
    from assay.init.target_file import TargetDraft

EPILOG = """\b
Examples:
  assay init
  assay init --out my-bank.yaml --openapi bank-openapi.yaml
  assay init --yes --base-url https://sandbox.bank.example/v1 --extends stet-1.4.0

\b
Nothing is sent, and no file is overwritten. There is no question for an option that is given.
"""

AUTHS = ("none", "bearer", "key", "client-credentials", "authorization-code")
FIXTURES = ("control", "roles", "none")
EXTENDS = ("none", "sandbox", "stet-1.4.0")
EXAMPLE_URL = "https://sandbox.bank.example/v1"
_NAME = re.compile(r"[a-z][a-z0-9]*([.-][a-z0-9]+)*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@click.command(epilog=EPILOG)
@options.contracts
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("my-bank.yaml"),
    show_default=True,
    metavar="FILE",
    help="Target file to write. An existing file is never overwritten.",
)
@click.option(
    "--openapi",
    "document",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="OpenAPI 3 document of the bank (JSON or YAML), from which bindings are guessed.",
)
@click.option("--name", help="Name of the target in reports.")
@click.option("--base-url", help="Base URL to which every path is appended.")
@click.option(
    "--environment", type=click.Choice(["sandbox", "live"]), help="Whether the target is live."
)
@click.option(
    "--zone", help="Time zone of the bank's calendar day, such as Europe/Paris; - if unknown."
)
@click.option("--auth", type=click.Choice(AUTHS), help="How calls are authenticated.")
@click.option(
    "--presence", help="Header that marks a call as made with the customer present; - if none."
)
@click.option("--fixtures", type=click.Choice(FIXTURES), help="Source of the test data.")
@click.option("--extends", type=click.Choice(EXTENDS), help="Shipped target to build on.")
@click.option("-y", "--yes", is_flag=True, help="Ask no questions and take the defaults.")
def command(
    contracts: Sequence[str], out: Path, document: Path | None, yes: bool, **given: str | None
) -> int:
    """Write a commented first target file, which marks what was guessed and what is missing."""
    if out.exists():
        raise InputError.one(
            str(out), "this file exists already", hint="choose another file with --out"
        )
    needed = [answer for key, answer in given.items() if not (key == "extends" and document)]
    if not yes and not sys.stdin.isatty() and None in needed:
        hint = "use --yes to take the defaults, or give every answer as an option"
        raise InputError.one("init", "there is no terminal for the questions", hint=hint)
    draft = _draft(
        _contracts(contracts), document, out, yes=yes, given=given, named=bool(contracts)
    )
    from assay.init.target_file import written  # noqa: PLC0415 -- with all that it needs, only here

    text = written(draft)
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError.one(str(out), what, hint="check the path") from None
    return _print_next_steps(out, text, draft)


def _contracts(names: Sequence[str]) -> tuple[Contract, ...]:
    from assay.contract.parse import find_contract, parse_contract  # noqa: PLC0415
    from assay.planning.prepare import SHIPPED  # noqa: PLC0415

    return tuple(parse_contract(find_contract(one)) for one in names or SHIPPED)


def _draft(
    contracts: tuple[Contract, ...],
    path: Path | None,
    out: Path,
    *,
    yes: bool,
    given: Mapping[str, str | None],
    named: bool,
) -> TargetDraft:
    """Return the draft of what the document and the answers say."""
    from assay.init.defaults import init_defaults  # noqa: PLC0415

    start = init_defaults(contracts, path, named=named)
    answers = {
        "name": _name(out),
        "base_url": EXAMPLE_URL,
        "environment": "sandbox",
        "zone": "Europe/Paris",
        "auth": "bearer",
        "presence": "PSU-IP-Address" if path is None else "-",
        "fixtures": "roles",
        "extends": "none" if path else "stet-1.4.0",
        **start.defaults,
    }
    final: dict[str, str] = {}
    whys = dict(start.whys)
    for key, question in QUESTIONS.items():
        answer = given.get(key)
        if answer is None and not yes and not (key == "extends" and path):
            answer = _ask(key, question, answers[key])
        if answer is None:
            answer = answers[key]
            if key in GUESSED:
                whys.setdefault(key, GUESSED[key])
        else:
            whys.pop(key, None)  # a given answer is no guess
        final[key] = _valid(key, answer)
    return start.draft(final, whys)


#: The questions, in this order.
QUESTIONS: Mapping[str, str] = {
    "name": "Name of the target in reports (small letters, digits, hyphens)",
    "base_url": "Base URL, to which every path is appended",
    "environment": "Is the target a sandbox, or live",
    "zone": "Time zone of the bank's calendar day (- if unknown)",
    "auth": "How calls are authenticated",
    "presence": "Header that marks a call as made with the customer present (- if none)",
    "fixtures": "Source of the test data: a control API, or existing test customers (roles)",
    "extends": "Shipped target with the API that the bank uses",
}
#: The comment on a default that was taken without an answer.
GUESSED: Mapping[str, str] = {
    "base_url": "no answer was given; this is an example",
    "zone": "no answer was given",
    "auth": "no answer was given",
    "presence": "no answer was given",
}
CHOICES: Mapping[str, Sequence[str]] = {
    "environment": ("sandbox", "live"),
    "auth": AUTHS,
    "fixtures": FIXTURES,
    "extends": EXTENDS,
}


def _ask(key: str, question: str, default: str) -> str:
    kind = click.Choice(CHOICES[key]) if key in CHOICES else None
    while True:
        answer: Any = click.prompt(question, default=default, type=kind)
        try:
            return _valid(key, str(answer))
        except InputError as error:
            click.echo(f"  {error.problems[0].what} ({error.problems[0].hint})")


def _valid(key: str, answer: str) -> str:
    """Return an answer as it is written to the file.

    Raises:
        InputError: the answer is not valid.

    """
    if key in {"zone", "presence"} and answer in {"", "-"}:
        return ""
    error = ERRORS[key](answer) if key in ERRORS else None
    if error:
        what, hint = error
        raise InputError.one(f"--{key.replace('_', '-')}", what, hint=hint)
    return answer.strip()


def _name_error(answer: str) -> tuple[str, str] | None:
    if _NAME.fullmatch(answer.strip()) and len(answer) <= 64:  # noqa: PLR2004 -- of names
        return None
    return "expected a name of small letters, digits, dots and hyphens", "for example my-bank"


def _url_error(answer: str) -> tuple[str, str] | None:
    from assay.binding.checks import bad_url  # noqa: PLC0415

    return bad_url(answer.strip())


def _zone_error(answer: str) -> tuple[str, str] | None:
    from assay.contract.files.load import read_zone  # noqa: PLC0415

    hint = read_zone(answer.strip())
    return ("there is no such time zone", hint) if isinstance(hint, str) else None


def _header_error(answer: str) -> tuple[str, str] | None:
    if _HEADER.fullmatch(answer.strip()) and answer.lower() not in {"authorization", "cookie"}:
        return None
    return "expected the name of a header that carries no secret", "for example PSU-IP-Address"


#: What is wrong with an answer, and a hint, for each question without choices.
ERRORS: Mapping[str, Callable[[str], tuple[str, str] | None]] = {
    "name": _name_error,
    "base_url": _url_error,
    "zone": _zone_error,
    "presence": _header_error,
}


def _name(out: Path) -> str:
    """Return the default name of a target, from the name of its file."""
    name = re.sub(r"[^a-z0-9]+", "-", out.stem.lower()).strip("-")[:64].strip("-")
    return name if _NAME.fullmatch(name) else "my-bank"


def _print_next_steps(out: Path, text: str, draft: TargetDraft) -> int:
    """Print what was written and what is left to do, and check the file."""
    from assay.binding.join import bind  # noqa: PLC0415
    from assay.binding.read import read_target  # noqa: PLC0415

    rows = list(enumerate(text.splitlines(), 1))
    guessed = [number for number, row in rows if "  # guessed: " in row]
    missing = [
        (number, row.strip()) for number, row in rows if row.lstrip().startswith("# missing")
    ]
    click.echo(f"wrote {out}: {len(guessed)} lines guessed, {len(missing)} missing")
    for number, row in missing:
        click.echo(f"  {out}:{number}: {row.removeprefix('# ')}")
    # Reports the same problems as `assay check`.
    bind(draft.contracts, read_target(out))
    click.echo("next:")
    click.echo(f"  edit      each line of {out} with `guessed` or `missing`")
    click.echo(f"  check     assay check {out}")
    click.echo(f"  examine   assay doctor --target {out}")
    click.echo(f"  plan      assay plan --target {out}")
    return 0
