"""`assay init`: draft of a target file, by questions or from an OpenAPI document."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.errors import InputError, did_you_mean
from assay.report.wording import counted

if TYPE_CHECKING:
    from assay.contract.model import Contract, Operation
    from assay.onboarding.init.defaults import TargetDraft
    from assay.onboarding.init.inherited import InheritedTarget
    from assay.onboarding.init.openapi_operations import OpenApiOperation

EPILOG = """\b
Examples:
  assay init
  assay init --out my-bank.yaml --openapi bank-openapi.yaml
  assay init --openapi bank-openapi.yaml --manual manual.md
  assay init --openapi bank-openapi.yaml --operation accounts='GET /holdings'
  assay init --probe https://sandbox.bank.example/v1 --openapi bank-openapi.yaml
  assay init --yes --base-url https://sandbox.bank.example/v1 --extends stet-1.4.0
  assay init --yes --fixtures python
  assay init --kind content-language

"""

AUTHS = ("none", "bearer", "key", "client-credentials", "authorization-code")
FIXTURES = ("control", "roles", "python", "none")
EXTENDS = ("none", "sandbox", "stet-1.4.0")
EXAMPLE_URL = "https://sandbox.bank.example/v1"
_NAME = re.compile(r"[a-z][a-z0-9]*([.-][a-z0-9]+)*")
#: How many calls a question lists.
MOST_CALLS = 20
_CALL = re.compile(r"(GET|POST|PUT|PATCH|DELETE)[ ]+/\S*")
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
    help="File to write. It must not exist yet.",
)
@click.option(
    "--openapi",
    "document",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="OpenAPI document of the bank to draft the file from (version 2 or 3, JSON or YAML).",
)
@click.option(
    "--manual",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Text with example calls and their answers, for example the bank's manual in Markdown: it"
    " completes the OpenAPI document, or stands in its place.",
)
@click.option(
    "--operation",
    "told",
    multiple=True,
    metavar="NAME='METHOD PATH'",
    help="Which call of the document an operation of the contract is, where no name tells; for"
    " example accounts='GET /holdings'. Repeatable.",
)
@click.option("--name", help="Name of the target in reports.")
@click.option("--base-url", help="Base URL of the API, to which every path is appended.")
@click.option("--environment", type=click.Choice(["sandbox", "live"]), help="Kind of environment.")
@click.option("--zone", help="Time zone of the bank's days (Europe/Paris); `-` if unknown.")
@click.option("--auth", type=click.Choice(AUTHS), help="Authentication of calls.")
@click.option(
    "--presence",
    metavar="NAME[=VALUE]",
    help="Header that marks a call as made with the customer present; `-` if none.",
)
@click.option(
    "--fixtures",
    type=click.Choice(FIXTURES),
    help="Source of test data: a control API, existing test customers (roles), a Python class, or none.",
)
@click.option(
    "--extends", metavar="NAME", help=f"Shipped target to inherit from: {', '.join(EXTENDS)}."
)
@click.option(
    "--probe",
    metavar="URL",
    help="Base URL of a bank to call: what its answers show is proposed line by line, and written"
    " if you accept it. With --yes, only what is certain.",
)
@click.option("-y", "--yes", is_flag=True, help="Accept the defaults without asking.")
@click.option(
    "--kind",
    metavar="NAME",
    help="Write a package skeleton for a new rule kind to the folder assay-NAME instead.",
)
def command(
    contracts: Sequence[str],
    out: Path,
    document: Path | None,
    manual: Path | None,
    yes: bool,
    kind: str | None,
    probe: str | None,
    told: Sequence[str],
    **given: str | None,
) -> int:
    """Draft a target file, with comments that mark guesses and gaps.

    Nothing is overwritten, and nothing sent without --probe. `assay init` asks for each value
    that no option gives.
    """
    if kind is not None:
        return _write_kind(kind)
    if probe is not None:
        given["base_url"] = given["base_url"] or probe
    documents = tuple(filter(None, (document, manual)))
    if out.exists():
        raise InputError.one(str(out), "this file already exists", hint="name another with --out")
    answers = [value for key, value in given.items() if not (key == "extends" and documents)]
    if not yes and not sys.stdin.isatty() and None in answers:
        hint = "use --yes to accept the defaults, or give every answer as an option"
        raise InputError.one("init", "no terminal to ask questions on", hint=hint)
    draft = _draft(contracts, documents, out, yes=yes, given=given, told=_told(told, documents))
    from assay.onboarding.init.target_file import render_target_file  # noqa: PLC0415 -- slow to import

    text = render_target_file(draft)
    if not yes and None in answers:
        from assay.cli.open_points import ask_for_answers  # noqa: PLC0415 -- slow to import

        text += ask_for_answers(draft.contracts)
    for path, content in {**_adapter(out, draft), out: text}.items():
        try:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(content)
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise InputError.one(str(path), what, hint="check the path") from None
    if probe is None:
        return _report(out, text, draft, contracts)
    if draft.fixtures == "python":
        _report(out, text, draft, contracts)
        click.echo(f"  probe     when the class is complete: assay doctor --target {out} --fix")
        return 0
    from assay.cli.doctor import probe as ask  # noqa: PLC0415 -- calls the bank

    return ask(out, contracts if not draft.start.files else (), yes=yes)


def _adapter(out: Path, draft: TargetDraft) -> Mapping[Path, str]:
    """Return the skeleton of a fixture provider beside the target file, if it names one."""
    if draft.fixtures != "python":
        return {}
    from assay.onboarding.init.fixture_template import adapter_module, adapter_text  # noqa: PLC0415

    path = out.with_name(f"{adapter_module(draft.name)}.py")
    if path.exists():
        raise InputError.one(str(path), "this file already exists", hint="name another --name")
    click.echo(f"Writing {path}, the fixture provider. Complete the parts marked FILL IN.")
    return {path: adapter_text(draft.name, out.name, draft.contracts)}


def _write_kind(name: str) -> int:
    from assay.onboarding.init.kind_template import kind_files  # noqa: PLC0415 -- slow to import

    files, folder = kind_files(name), Path(f"assay-{name}")
    try:
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError:
        what = "this folder already exists"
        raise InputError.one(str(folder), what, hint="name another kind") from None
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError.one(str(folder), what, hint="check the path") from None
    click.echo(f"wrote {folder}: {', '.join(files)}")
    click.echo("next:")
    click.echo(f"  test      cd {folder} && python -m pytest")
    click.echo(f"  install   pip install -e {folder}")
    return 0


def _contracts(names: Sequence[str]) -> tuple[Contract, ...]:
    from assay.parsing.parse import parse_contracts  # noqa: PLC0415
    from assay.preparation.prepare import SHIPPED  # noqa: PLC0415

    return tuple(parse_contracts(names or SHIPPED))


def _files(names: Sequence[str], contracts: Sequence[Contract], out: Path) -> dict[str, str]:
    """Return the path of each contract that is given as a file, relative to the target file."""
    from assay.preparation.prepare import SHIPPED  # noqa: PLC0415

    ids = {name: each.id for name, each in zip(names, contracts, strict=False)}
    paths = {name: os.path.relpath(name, out.parent) for name in names if name not in SHIPPED}
    dots = ("." + os.sep, ".." + os.sep)
    return {ids[n]: path if path.startswith(dots) else f"./{path}" for n, path in paths.items()}


def _draft(
    names: Sequence[str],
    documents: Sequence[Path],
    out: Path,
    *,
    yes: bool,
    given: Mapping[str, str | None],
    told: Mapping[str, str],
) -> TargetDraft:
    """Combine the document's answers with those of the options and the user."""
    from assay.onboarding.init.defaults import init_defaults  # noqa: PLC0415

    contracts, extends = _contracts(names), given.get("extends")
    path = documents[0] if documents else None
    manual = documents[1] if documents[1:] else None
    inherited = _inherited(_checked("extends", extends)) if path and extends else None
    base = given.get("base_url") or ""
    start = init_defaults(
        contracts,
        path,
        named=bool(names),
        inherited=inherited,
        base=base,
        manual=manual,
        told=told,
        choose=None if yes or not sys.stdin.isatty() else _choose,
    )
    start = replace(start, files=_files(names, contracts, out))
    own = bool(start.files)  # what is usual of banks is not known of another interface
    answers = {
        "name": _name(out),
        "base_url": EXAMPLE_URL,
        "environment": "sandbox",
        # A document is of any country.
        "zone": "-" if own or (path and not extends) else "Europe/Paris",
        "auth": "bearer",
        "presence": "-" if own or path else "PSU-IP-Address",
        "fixtures": "roles",
        "extends": "none" if own or path else "stet-1.4.0",
        **start.defaults,
    }
    chosen: dict[str, str] = {}
    reasons = dict(start.whys)
    for key, question in QUESTIONS.items():
        answer = given.get(key)
        if answer is None and not yes and not (key == "extends" and path):
            answer = _ask(key, question, answers[key])
        if answer is None:
            answer = answers[key]
            if key in DEFAULT_REASONS:
                reasons.setdefault(key, DEFAULT_REASONS[key])
        else:
            # The user gave the answer: it is no guess.
            reasons.pop(key, None)
        chosen[key] = _checked(key, answer)
    return start.draft(chosen, reasons)


def _told(told: Sequence[str], documents: Sequence[Path]) -> dict[str, str]:
    """Return which call each operation is said to be."""
    rows = [each.partition("=") for each in told]
    for name, _, line in rows:
        if not _CALL.fullmatch(line.strip()):
            what = f"{name!r} has no call: expected a method and a path"
            raise InputError.one("--operation", what, hint="for example accounts='GET /holdings'")
    if rows and not documents:
        hint = "give the document with --openapi, or a text of calls with --manual"
        raise InputError.one("--operation", "there is no document with this call", hint=hint)
    return {name.strip(): " ".join(line.split()) for name, _, line in rows}


def _choose(operation: Operation, offers: Sequence[OpenApiOperation]) -> OpenApiOperation | None:
    """Ask which call of the document an operation is, whose name does not tell."""
    lines = {str(each): each for each in offers}
    question = (
        f"Which call is {operation.id} ({operation.method} {operation.path} in the contract)?"
    )
    if len(lines) <= MOST_CALLS:
        question += f" {', '.join(lines)}"
    while True:
        answer = " ".join(str(click.prompt(f"{question} (- if none)", default="-")).split())
        if answer == "-" or answer in lines:
            return lines.get(answer)
        hint = did_you_mean(answer, lines)
        click.echo(f"  the document has no call {answer!r}{f' ({hint})' if hint else ''}")


def _inherited(name: str) -> InheritedTarget | None:
    """Return the shipped target that a draft extends, with all that it extends itself."""
    if name == "none":
        return None
    from assay.files.load import load  # noqa: PLC0415
    from assay.onboarding.init.inherited import InheritedTarget  # noqa: PLC0415
    from assay.preparation.target_file import extended, shipped_file  # noqa: PLC0415

    document = extended(load(shipped_file(name)))
    return InheritedTarget(raw=document.data, spots=document.spots)


#: The questions, in this order.
QUESTIONS: Mapping[str, str] = {
    "base_url": "Base URL of the API, to which paths are appended (for example https://sandbox.bank.example/v1)",
    "environment": "Is it a sandbox, or the live bank?",
    "zone": "Time zone of the bank's calendar day (for example Europe/Paris; - if unknown)",
    "auth": "How are calls authenticated? bearer = a token, key = an API key, client-credentials and authorization-code = OAuth",
    "presence": "Header that marks a call as made with the customer present (for example PSU-IP-Address, or Present=1; - if none)",
    "fixtures": "Where does test data come from? control = control API, roles = existing test customers, python = your own Python class, none",
    "extends": "Known API that the bank implements (stet-1.4.0 = STET 1.4, sandbox = Assay's sandbox bank, none)",
    "name": "Short name of the target in reports (for example acme-sandbox)",
}
#: The reasons in the file for answers that were not given.
DEFAULT_REASONS: Mapping[str, str] = {
    "base_url": "an example, because no URL was given",
    **dict.fromkeys(["zone", "auth", "presence", "extends"], "a default, because none was given"),
}
CHOICES: Mapping[str, Sequence[str]] = {
    "environment": ("sandbox", "live"),
    "auth": AUTHS,
    "fixtures": FIXTURES,
}


def _ask(key: str, question: str, default: str) -> str:
    kind = click.Choice(CHOICES[key]) if key in CHOICES else None
    while True:
        answer: Any = click.prompt(question, default=default, type=kind)
        try:
            return _checked(key, str(answer))
        except InputError as error:
            click.echo(f"  {error.problems[0].what} ({error.problems[0].hint})")
            if key == "name":
                default = _plain_name(str(answer)) or default


def _checked(key: str, answer: str) -> str:
    """Return an answer that can be written into the file; InputError says what is wrong."""
    if key in {"zone", "presence"} and answer in {"", "-"}:
        return ""
    problem = CHECKS[key](answer) if key in CHECKS else None
    if problem:
        what, hint = problem
        raise InputError.one(f"--{key.replace('_', '-')}", what, hint=hint)
    return answer.strip()


def _check_name(answer: str) -> tuple[str, str] | None:
    if _NAME.fullmatch(answer.strip()) and len(answer) <= 64:  # noqa: PLR2004 -- of names
        return None
    hint = f"did you mean '{name}'?" if (name := _plain_name(answer)) else "for example my-bank"
    return "expected a name of lower-case letters, digits, dots and hyphens", hint


def _plain_name(answer: str) -> str:
    """Return a name of a target that is similar to a text; empty if there is none."""
    name = re.sub(r"[^a-z0-9.]+", "-", answer.lower()).strip("-.")[:64].strip("-.")
    return name if _NAME.fullmatch(name) else ""


def _check_url(answer: str) -> tuple[str, str] | None:
    from assay.binding.read.checks import bad_url  # noqa: PLC0415

    return bad_url(answer.strip())


def _check_zone(answer: str) -> tuple[str, str] | None:
    from assay.files.load import read_zone  # noqa: PLC0415

    hint = read_zone(answer.strip())
    return ("unknown time zone", hint) if isinstance(hint, str) else None


def _check_header(answer: str) -> tuple[str, str] | None:
    name = answer.partition("=")[0].strip()
    if _HEADER.fullmatch(name) and name.lower() not in {"authorization", "cookie"}:
        return None
    return "expected the name of a header without secrets", "for example PSU-IP-Address"


def _check_extends(answer: str) -> tuple[str, str] | None:
    if answer in EXTENDS:
        return None
    begun = next((name for name in EXTENDS if answer and name.startswith(answer.lower())), "")
    hint = f"did you mean '{begun}'?" if begun else did_you_mean(answer, EXTENDS)
    return f"no shipped target {answer!r} to extend", hint


#: The checks of answers that are not chosen from a list.
CHECKS: Mapping[str, Callable[[str], tuple[str, str] | None]] = {
    "extends": _check_extends,
    "name": _check_name,
    "base_url": _check_url,
    "zone": _check_zone,
    "presence": _check_header,
}


def _name(out: Path) -> str:
    return _plain_name(out.stem.replace(".", "-")) or "my-bank"


def _report(out: Path, text: str, draft: TargetDraft, contracts: Sequence[str]) -> int:
    """Report what was written and what to do next; read the file as `assay check` would."""
    from assay.binding.read.join import bind  # noqa: PLC0415
    from assay.preparation.prepare import SHIPPED  # noqa: PLC0415
    from assay.preparation.target_file import read_target  # noqa: PLC0415

    rows = list(enumerate(text.splitlines(), 1))
    guessed = [number for number, row in rows if "  # guessed: " in row]
    missing = [(number, row.strip()) for number, row in rows if row.lstrip().startswith("# TODO: ")]
    click.echo(
        f"Wrote {out}: {counted(len(guessed), 'guessed line')}, {counted(len(missing), 'gap')}"
    )
    for number, row in missing:
        click.echo(f"  {out}:{number}: {row.removeprefix('# ')}")
    for name in () if contracts else SHIPPED:
        if name not in {each.id for each in draft.contracts}:
            rest = f"to bind what it has, name the contract with --contract {name}"
            click.echo(f"Left out: {name}, of which the document has too little ({rest})")
    # Any problem in it is reported as by `assay check`.
    bind(draft.contracts, read_target(out))
    click.echo("Next:")
    click.echo(f"  review    each line of {out} marked `guessed` or `TODO`")
    click.echo("  edit      assay schema target > assay-target.schema.json (for editors)")
    click.echo(f"  check     assay check {' '.join((*contracts, str(out)))}")
    named = "".join(f" --contract {name}" for name in contracts if not draft.start.files)
    click.echo(f"  examine   assay doctor{named} --target {out}")
    click.echo(f"  plan      assay plan{named} --target {out}")
    return 0
