"""`assay init`: a commented target file, by asking or from an OpenAPI document."""

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
  assay init --kind content-language

\b
Nothing is sent, and no file is written over. What an option says is not asked.
"""

AUTHS = ("none", "bearer", "key", "client-credentials", "authorization-code")
WORLDS = ("control", "roles", "none")
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
    help="The file to write; never one that is there already.",
)
@click.option(
    "--openapi",
    "document",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The bank's OpenAPI 3 document, in JSON or YAML, to guess from.",
)
@click.option("--name", help="The target's name in reports.")
@click.option("--base-url", help="What every path is appended to.")
@click.option("--environment", type=click.Choice(["sandbox", "live"]), help="What it is.")
@click.option("--zone", help="Whose calendar day it is, such as Europe/Paris; - if unknown.")
@click.option("--auth", type=click.Choice(AUTHS), help="How calls are authenticated.")
@click.option("--presence", help="The header that says that the customer is there; - if none.")
@click.option("--world", type=click.Choice(WORLDS), help="Who arranges what a check needs.")
@click.option("--extends", type=click.Choice(EXTENDS), help="A shipped target to build on.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take the defaults.")
@click.option(
    "--kind",
    metavar="NAME",
    help="Write the skeleton of a package with a rule kind instead, into the folder assay-NAME.",
)
def command(
    contracts: Sequence[str],
    out: Path,
    document: Path | None,
    yes: bool,
    kind: str | None,
    **given: str | None,
) -> int:
    """Write a commented target file: a beginning, which says what was guessed and what is missing."""
    if kind is not None:
        return _write_kind(kind)
    if out.exists():
        raise InputError.one(str(out), "this file exists already", hint="name another with --out")
    asked = [one for key, one in given.items() if not (key == "extends" and document)]
    if not yes and not sys.stdin.isatty() and None in asked:
        hint = "say --yes to take the defaults, or give every answer as an option"
        raise InputError.one("init", "there is no terminal to ask at", hint=hint)
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
        raise InputError.one(str(out), what, hint="is the path right?") from None
    return _told(out, text, draft)


def _write_kind(name: str) -> int:
    """Write the skeleton of a package with a rule kind."""
    from assay.init.kind_template import kind_files  # noqa: PLC0415 -- only here

    files, folder = kind_files(name), Path(f"assay-{name}")
    try:
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError:
        what = "this folder exists already"
        raise InputError.one(str(folder), what, hint="name another kind") from None
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError.one(str(folder), what, hint="is the path right?") from None
    click.echo(f"wrote {folder}: {', '.join(files)}")
    click.echo("next:")
    click.echo(f"  test      cd {folder} && python -m pytest")
    click.echo(f"  install   pip install -e {folder}")
    return 0


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
    """Put together what the document says and what is asked."""
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
    told: dict[str, str] = {}
    whys = dict(start.whys)
    for key, question in QUESTIONS.items():
        answer = given.get(key)
        if answer is None and not yes and not (key == "extends" and path):
            answer = _ask(key, question, answers[key])
        if answer is None:
            answer = answers[key]
            if key in UNSAID:
                whys.setdefault(key, UNSAID[key])
        else:
            # Somebody said so: it is no guess any more.
            whys.pop(key, None)
        told[key] = _sound(key, answer)
    return start.draft(told, whys)


#: What is asked, in this order.
QUESTIONS: Mapping[str, str] = {
    "name": "The target's name in reports",
    "base_url": "Base URL, to which every path is appended",
    "environment": "Is it a sandbox, or live",
    "zone": "Whose calendar day it is (- if nobody knows)",
    "auth": "How calls are authenticated",
    "presence": "The header that says that the customer is there (- if none)",
    "fixtures": "Who arranges what a check needs: a control API, or test customers that exist (roles)",
    "extends": "A shipped target whose dialect the bank speaks",
}
#: What an answer is taken for, where nobody gave one.
UNSAID: Mapping[str, str] = {
    "base_url": "nobody said, so this is an example",
    "zone": "nobody said",
    "auth": "nobody said",
    "presence": "nobody said",
}
CHOICES: Mapping[str, Sequence[str]] = {
    "environment": ("sandbox", "live"),
    "auth": AUTHS,
    "fixtures": WORLDS,
    "extends": EXTENDS,
}


def _ask(key: str, question: str, default: str) -> str:
    kind = click.Choice(CHOICES[key]) if key in CHOICES else None
    while True:
        answer: Any = click.prompt(question, default=default, type=kind)
        try:
            return _sound(key, str(answer))
        except InputError as error:
            click.echo(f"  {error.problems[0].what} ({error.problems[0].hint})")


def _sound(key: str, answer: str) -> str:
    """Return an answer that can stand in a file, or say what is wrong with it."""
    if key in {"zone", "presence"} and answer in {"", "-"}:
        return ""
    wrong = SOUND[key](answer) if key in SOUND else None
    if wrong:
        raise InputError.one(f"--{key.replace('_', '-')}", wrong[0], hint=wrong[1])
    return answer.strip()


def _sound_name(answer: str) -> tuple[str, str] | None:
    if _NAME.fullmatch(answer.strip()) and len(answer) <= 64:  # noqa: PLR2004 -- of names
        return None
    return "expected a name of small letters, digits, dots and hyphens", "for example my-bank"


def _sound_url(answer: str) -> tuple[str, str] | None:
    from assay.binding.checks import bad_url  # noqa: PLC0415

    return bad_url(answer.strip())


def _sound_zone(answer: str) -> tuple[str, str] | None:
    from assay.contract.files.load import read_zone  # noqa: PLC0415

    hint = read_zone(answer.strip())
    return ("there is no such time zone", hint) if isinstance(hint, str) else None


def _sound_header(answer: str) -> tuple[str, str] | None:
    if _HEADER.fullmatch(answer.strip()) and answer.lower() not in {"authorization", "cookie"}:
        return None
    return "expected the name of a header that carries no secret", "for example PSU-IP-Address"


#: What an answer has to be, where it is not chosen.
SOUND: Mapping[str, Callable[[str], tuple[str, str] | None]] = {
    "name": _sound_name,
    "base_url": _sound_url,
    "zone": _sound_zone,
    "presence": _sound_header,
}


def _name(out: Path) -> str:
    """Return the name of a target whose file is called so."""
    name = re.sub(r"[^a-z0-9]+", "-", out.stem.lower()).strip("-")[:64].strip("-")
    return name if _NAME.fullmatch(name) else "my-bank"


def _told(out: Path, text: str, draft: TargetDraft) -> int:
    """Say what was written, what is left to do, and whether it can be read as it is."""
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
    # What is wrong with it, if anything, is told as `assay check` would.
    bind(draft.contracts, read_target(out))
    click.echo("next:")
    click.echo(f"  look at   each line of {out} that says `guessed` or `missing`")
    click.echo(f"  check     assay check {out}")
    click.echo(f"  examine   assay doctor --target {out}")
    click.echo(f"  plan      assay plan --target {out}")
    return 0
