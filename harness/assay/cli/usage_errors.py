"""Usage errors of click in Assay's style: `assay: --seed: expected an integer, found 'x'`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import click

from assay.errors import did_you_mean

#: What click says of a value, and what is said instead.
_VALUES: Mapping[str, Callable[[re.Match[str]], str]] = {
    r"(?P<value>'.*') is not a valid integer(?: range)?": lambda m: (
        f"an integer, found {m['value']}"
    ),
    r"(?P<value>'.*') is not a valid float(?: range)?": lambda m: f"a number, found {m['value']}",
    r"(?P<value>\S+) is not in the range (?P<range>.+)": lambda m: (
        f"a number in the range {m['range']}, found {m['value']}"
    ),
    r"(?P<value>'.*') is not one of (?P<words>.+)": lambda m: (
        f"one of {m['words']}, found {m['value']}"
    ),
    r"\S+ '(?P<value>.*)' does not exist": lambda m: f"a path that exists, found {m['value']!r}",
    r"\S+ '(?P<value>.*)' is a directory": lambda m: f"a file, found the folder {m['value']!r}",
    r"\S+ '(?P<value>.*)' is a file": lambda m: f"a folder, found the file {m['value']!r}",
}


#: What click says of a word that belongs to no option.
_EXTRA = re.compile(r"Got unexpected extra arguments? \((?P<first>\S+).*\)")


def usage_message(error: click.ClickException) -> str:
    """Return an error of the command line as one line, with the command that shows the usage."""
    message = _message(error)
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} (see `{context.command_path} --help`)" if context else message


def _message(error: click.ClickException) -> str:
    match error:
        case click.NoSuchOption():
            known = [name for param in _parameters(error) for name in param.opts]
            hint = did_you_mean(error.option_name, known)
            suffix = f"; {hint}" if hint.startswith("did you") else ""
            return f"there is no option {error.option_name}{suffix}"
        case click.MissingParameter() if error.param is not None:
            return f"the argument {_name(error.param)} is missing"
        case click.BadParameter() if error.param is not None:
            return f"{_name(error.param)}: {_expected(error.message)}"
        case click.UsageError() if match := _EXTRA.fullmatch(error.format_message()):
            named = "--target" in [name for each in _parameters(error) for name in each.opts]
            hint = f"; did you mean --target {match['first']}?" if named else ""
            return f"{_plain(error.format_message())}{hint}"
        case _:
            return _plain(error.format_message())


def _parameters(error: click.UsageError) -> list[click.Parameter]:
    return error.ctx.command.get_params(error.ctx) if error.ctx is not None else []


def _name(parameter: click.Parameter) -> str:
    """Return the long name of an option, or the name of an argument as the usage has it."""
    if isinstance(parameter, click.Argument):
        return (parameter.metavar or (parameter.name or "").upper()).strip("[].")
    return max(parameter.opts, key=len)


def _expected(message: str) -> str:
    """Return what click says of a value as what is expected, and what is there."""
    plain = message.strip().removesuffix(".")
    for pattern, words in _VALUES.items():
        match = re.fullmatch(pattern, plain, re.DOTALL)
        if match:
            return f"expected {words(match)}"
    return _plain(message)


def _plain(message: str) -> str:
    """Return a sentence as part of a line."""
    text = message.strip().removesuffix(".")
    return text[:1].lower() + text[1:]
